/* perf_report.h: reads what `perf report` prints about a recorded profile. */
#ifndef WRAPPER_RUN_PERF_REPORT_H
#define WRAPPER_RUN_PERF_REPORT_H
#include "mlruns-format/code_profile.h"

struct perf_report {
    struct code_profile profile; /* merged */
    const char *event; /* what the samples are of, "cpu-clock:ppp"; "": not named */
    uint64_t lost; /* samples that perf reports as lost */
    size_t unread; /* lines of another form: a name with a line break in it */
};

/* The arguments by which `perf report` prints the text that perf_report_parse reads. */
#define PERF_REPORT_OPTIONS "--stdio", "--no-inline", "--percent-limit=0", "--fields=sample,dso,sym,comm", "--field-separator=\t"
/* Reads the text, any bytes, into the arena. perf replaces the separator in all names, so a line is a row
 * only where four fields are in it. */
void perf_report_parse(struct str text, struct arena *a, struct perf_report *ret);
#endif
