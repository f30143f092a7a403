/* row.h: the data of a run in a listing besides its meta.yaml. */
#ifndef RUNS_ROW_H
#define RUNS_ROW_H
#include "mlruns-format/headline.h"

struct run_row {
    const char *verdict, *parent, *benchmark, *incomplete, *site, *stale; /* the tags; NULL: absent */
    bool wall_known, is_series; /* is_series: the parent run of repetitions or of a sweep */
    bool has_wall_metric; /* it is read last, so that the run still was there */
    double wall; /* seconds */
    size_t headlines; /* that were read; a run may have more */
    struct headline headline[HEADLINES_MAX];
};

/* Reads the row of a run through the folder of its tree, with at most `headlines` of its headline
 * metrics, into the arena; NULL: out of memory (a->failed). */
const struct run_row *row_read(const struct folder *tree, const struct tree_run *run, size_t headlines, struct arena *a);
#endif
