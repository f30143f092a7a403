/* entry_stats.h: statistics over the samples that one run has of a metric. */
#ifndef RUNS_ENTRY_STATS_H
#define RUNS_ENTRY_STATS_H
#include "base/stats.h"
#include "mlruns-format/tree.h"

/* Over all finite samples. e: NULL where the run lacks the metric. False: there is no such sample, or out of memory. */
bool entry_stats_of(const struct tree_entry *e, struct stats *ret);
/* Returns the median of a metric with repetitions or with values over time, which describes it
 * better than the last sample. NaN: entry_stats_of returns false, as for a table over sizes. */
double entry_stats_median(const struct tree_entry *e);
/* Returns the milliseconds from the earliest to the latest sample. */
int64_t entry_stats_span_ms(const struct tree_entry *e);
#endif
