/* entry_stats.h: statistics over the samples that one run has of a metric. */
#ifndef RUNS_ENTRY_STATS_H
#define RUNS_ENTRY_STATS_H
#include "base/stats.h"
#include "mlruns-format/tree.h"

/* Over all finite samples. e: NULL where the run lacks the metric. False: there is no such sample, or out of memory. */
bool entry_stats_of(const struct tree_entry *e, struct stats *ret);
/* Returns the number of points of the sweep whose parent the run is; 0: it is none. Its params are
 * read. */
size_t entry_stats_points(const struct tree_run *run);
/* Returns whether the metric has values of several points of the run's sweep, of which no statistic
 * describes anything: the wall times of all points, or a statistic with the swept number as step. */
bool entry_stats_is_over_points(const struct tree_run *run, const struct tree_entry *e);
/* Returns the median of a metric with repetitions or with values over time, which describes it
 * better than the last sample. NaN: entry_stats_of returns false, or the values are
 * of several points of a sweep. e: NULL where the run lacks the metric. */
double entry_stats_median(const struct tree_run *run, const struct tree_entry *e);
/* Returns the milliseconds from the earliest to the latest sample. */
int64_t entry_stats_span_ms(const struct tree_entry *e);
#endif
