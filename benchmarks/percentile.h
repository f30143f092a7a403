/* percentile.h: how many values a percentile needs before it is believed. */
#ifndef BENCHMARKS_PERCENTILE_H
#define BENCHMARKS_PERCENTILE_H
#include "base/str.h"

/* Returns the end of the name or key that names a percentile: "p99" of "latency.tail_p99", "p99_9",
 * "percentile_75"; "" where there is none. It points into the name. */
struct str percentile_in(struct str name);
/* Returns the minimum number of values for a statement on the percentile that the name ends in, as
 * stats_quantile_needs defines it. 0: the name is none of a percentile. */
uint64_t percentile_needs(struct str name);
/* Writes "p99 of 16 values, 662 needed" for a name that ends in a percentile; values NaN: their
 * number is not known. A text longer than size - 1 is cut. */
void percentile_reason(struct str name, double values, char *to, size_t size);
#endif
