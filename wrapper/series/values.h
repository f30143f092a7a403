/* values.h: what one run of a series measured, read from the detail of its record (benchwrap.json). */
#ifndef SERIES_VALUES_H
#define SERIES_VALUES_H
#include "base/json.h"
#include "series/notes.h"

/* Reads status, verdict, reason, what disturbed the run, and one value for each metric about the
 * program: the statistic that the rules prefer, else its only statistic, else its only value, else
 * the median, else the last that it has of max, min and mean. Percentiles are separate metrics
 * ("read.clat.p99_us"). Without a headline metric of the rules run.wall_s is it. Texts are in the
 * arena. */
void series_values_take(struct series_repetition *run, const struct json *detail, struct arena *a);
/* Writes the key of the run's metric that the value was: for "write.bw_MiB_per_s" and "max"
 * "write.bw_MiB_per_s.max"; of a percentile, which is within the key there ("read.clat.p99_us"),
 * "read.clat_us.p99". */
void series_value_key(const struct series_run_value *v, char *to, size_t size);
#endif
