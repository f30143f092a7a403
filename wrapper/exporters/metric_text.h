/* metric_text.h: series as text of Prometheus: the text format 0.0.4 and OpenMetrics 1.0. */
#ifndef EXPORTERS_METRIC_TEXT_H
#define EXPORTERS_METRIC_TEXT_H
#include "exporters/metric_series.h"

enum metric_text_form {
    METRIC_TEXT_PLAIN,       /* 0.0.4, without times */
    METRIC_TEXT_OPENMETRICS, /* 1.0, without times, with # EOF */
    METRIC_TEXT_BACKFILL,    /* 1.0 with the time of each sample, for promtool */
};
#define METRIC_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRIC_TEXT_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Appends all series. leave_out: labels that are not written, NULL-terminated; NULL: none. */
void metric_text_put(const struct metric_set *set, enum metric_text_form form, const char *const *leave_out, struct buf *to);
#endif
