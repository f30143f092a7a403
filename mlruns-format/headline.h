/* headline.h: the headline metrics of a run, which tables and reports show first. */
#ifndef MLRUNS_FORMAT_HEADLINE_H
#define MLRUNS_FORMAT_HEADLINE_H
#include "mlruns-format/tree.h"

enum { HEADLINES_SHOWN = 2, HEADLINES_MAX = 8 };
struct headline {
    const char *key, *unit;
    double value;
};

/* Reads the value of largest step in the tail of metrics/<key>; false if there is none that can be
 * read. */
bool headline_value(const struct folder *tree, const struct tree_run *run, const char *key, struct arena *a, double *ret);
/* Chooses the metrics to show: those that the tag `benchwrap.headline` names, else statistics whose
 * series exists too, else the first ones. Wall time comes last; the curve of a sweep over a number
 * is left out. ret holds `max` of them. Returns how many there are. Each costs one file to read. */
size_t headlines_of(const struct folder *tree, const struct tree_run *run, size_t max, struct arena *a, struct headline *ret);
/* Returns the metric whose last sample, which MLflow's table shows, is that value: KEY.median
 * where the value is the median of several samples, and of a repetition, whose parent run has
 * it (not of a point of a sweep). `ui` adds this metric where the run has none. In the arena,
 * or `key` itself. */
const char *headline_column(const struct folder *tree, const struct tree_run *run, const char *key, struct arena *a);
/* Appends "write.bw 1882 MiB/s", behind a comma where `to` is not empty. */
void headline_show(struct buf *to, const struct headline *h);
#endif
