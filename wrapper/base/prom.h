/* prom.h: the samples of a page of metrics in Prometheus' text format (0.0.4) or OpenMetrics 1.0,
 * one after the other, without copying.
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/ */
#ifndef BASE_PROM_H
#define BASE_PROM_H
#include "base/buf.h"

struct prom_sample {
    struct str name, labels; /* labels: the text between the braces, escapes included */
    struct str text; /* name and labels as the page has them */
    double value; /* NaN and infinities are possible */
};

/* Reads the next sample of *rest, which moves on. 1: *ret is set; 0: the end; -1: a line that is no
 * sample (it is skipped; the caller counts). */
int prom_next(struct str *rest, struct prom_sample *ret);
/* Cuts the first label off a sample's labels; `value` gets its value without escapes. False: the end, or no label. */
bool prom_label_next(struct str *labels, struct str *ret_name, struct buf *value);
#endif
