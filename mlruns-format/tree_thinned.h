/* tree_thinned.h: all samples of series of which a run's metric files have the smallest and the
 * largest of each bucket only. Statistics over those points would be wrong. */
#ifndef MLRUNS_FORMAT_TREE_THINNED_H
#define MLRUNS_FORMAT_TREE_THINNED_H
#include "mlruns-format/tree.h"

/* Returns whether a metric file with this many points can be a thinned series. */
bool tree_may_be_thinned(size_t points);
/* Reads artifacts/series.jsonl of the folder `run` into the arena: sets *ret to the series of this
 * file, each with all its samples. key: read this series only; NULL: all. Returns 0; 1: the run has
 * no such file; -1: it is damaged or too long, or out of memory. */
int tree_thinned_read(const struct folder *run, const char *key, struct arena *a, struct tree_entry **ret, struct err *err);
#endif
