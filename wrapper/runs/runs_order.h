/* runs_order.h: runs in the order of --sort. */
#ifndef RUNS_RUNS_ORDER_H
#define RUNS_RUNS_ORDER_H
#include "runs/runs.h"

/* Sorts runs->all by the keys of a chain ("metrics.bw DESC"), the first of which counts most, as MLflow's order_by does: NaN and then runs without the
 * fact come last, and equal runs stay newest first, then by id. 0; -1 with err: ERR_USAGE where a key is none. */
int runs_sort(struct runs *runs, const struct opt_value *keys, struct arena *a, struct err *err);
#endif
