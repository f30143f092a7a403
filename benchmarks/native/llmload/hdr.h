/* hdr.h: histograms of whole numbers with a bounded relative error, that can be added up (after Gil
 * Tene's HdrHistogram).
 *
 * Buckets are linear below 2048 and have 1024 steps per power of two above: a value is known to
 * 1/2048 (0.05 %). Count, sum, sum of squares, minimum and maximum are exact. Memory is 272 KiB of
 * address space, resident only where values fall. */
#ifndef LLMLOAD_HDR_H
#define LLMLOAD_HDR_H
#include "base/json_out.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { HDR_BITS = 11, HDR_TOP = 42 /* values up to 2^42 - 1 (73 minutes in ns); larger ones count as that */ };
enum { HDR_BUCKETS = (HDR_TOP - HDR_BITS + 2) << (HDR_BITS - 1) };

struct hdr {
    uint64_t *counts; /* [HDR_BUCKETS]; NULL until the first value */
    uint64_t n, above; /* values, and those beyond the range */
    uint64_t lost; /* of n: values that no bucket counts (out of memory): there are no ranks then */
    int64_t min, max; /* exact; min > max while n == 0 */
    double mean, m2; /* Welford: mean, sum of squared deviations */
    uint64_t open; /* further values of which only a bound is known: in no other member but open_max */
    int64_t open_max; /* none of the open ones is greater */
};

void hdr_init(struct hdr *h);
void hdr_deinit(struct hdr *h);
/* Adds a value; a negative one counts as 0. Out of memory: it is counted in n, `lost` and the moments
 * alone, and percentiles are NaN from then on. */
void hdr_add(struct hdr *h, int64_t value);
/* Adds a value `times` times. */
void hdr_add_many(struct hdr *h, int64_t value, uint64_t times);
/* Adds `times` values of which only an upper bound is known: each is at most `most`. */
void hdr_add_open(struct hdr *h, int64_t most, uint64_t times);
/* Adds the values of `from`, which stays unchanged. */
void hdr_merge(struct hdr *into, const struct hdr *from);
/* Returns the p-quantile, 0..1, as the value of rank ceil(p n) (middle of its bucket, within
 * min..max) of the known values. NaN: none is known, or values were lost. */
double hdr_quantile(const struct hdr *h, double p);
/* Returns the mean of all values, open ones too, to 1 %. NaN: the open ones could change it by more,
 * or none is known. */
double hdr_mean(const struct hdr *h);
double hdr_sd(const struct hdr *h); /* population standard deviation (as vLLM's) of the known values; NaN for n == 0 */
/* Computes the 95 % confidence interval of the p-quantile from the binomial distribution of ranks.
 * Open values widen it: each may be below or above the others. False: too few values, or some were
 * lost; *ret_low and *ret_high are unchanged. */
bool hdr_interval(const struct hdr *h, double p, double *ret_low, double *ret_high);
/* Returns whether the p-quantile, or the end of its interval, would be an open value if all open ones were the
 * largest. */
bool hdr_may_be_open(const struct hdr *h, double p);
/* Returns whether the p-quantile can be stated: not from fewer than stats_quantile_needs values, nor
 * where it may be an open one, nor where values were lost. */
bool hdr_states(const struct hdr *h, double p);
/* Appends why it cannot be stated; nothing where it can be. */
void hdr_why_not(const struct hdr *h, double p, struct buf *to);
/* Returns the maximum. NaN: it may be an open value, or none is known. */
double hdr_max(const struct hdr *h);
/* Returns the next bucket that has values, in their order: its bounds and count. The caller begins with *at = 0. False:
 * there is none. */
bool hdr_next(const struct hdr *h, size_t *at, int64_t *ret_low, int64_t *ret_high, uint64_t *ret_count);
/* Appends the member {"n":…,"open":…,"above":…,"min":…,"max":…,"mean":…,"m2":…,"buckets":[[index,count],…]}. */
void hdr_print(const struct hdr *h, const char *key, struct json_out *j);
struct json;
/* Adds a histogram that hdr_print wrote. Returns 0, or -1 with *err where it contradicts itself, or
 * when out of memory; `into` may have its open values then. */
int hdr_read(struct hdr *into, const struct json *from, struct err *err);
#endif
