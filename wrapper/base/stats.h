/* stats.h: statistics over samples: mean, median, sample standard deviation, quantiles, confidence interval. */
#ifndef BASE_STATS_H
#define BASE_STATS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stats {
    size_t n;
    double min, max, mean, median;
    double sd; /* sample standard deviation (n - 1); NaN for n < 2 */
    double ci_low, ci_high; /* 95 % interval of the mean (Student's t); NaN for n < 3: too few */
};

/* Calculates the statistics of v, which is sorted in place. n >= 1. Non-finite values are the
 * caller's to leave out. */
void stats_of(double *v, size_t n, struct stats *ret);
/* Returns quantile q in 0..1 of sorted v, by linear interpolation (type 7 of Hyndman and Fan). n >=
 * 1. */
double stats_quantile(const double *sorted, size_t n, double q);
/* Returns the fewest values for a statement on quantile q in 0..1: at least two of them are above
 * it with 99 % confidence, the smallest n with q^n + n q^(n-1) (1-q) <= 0.01. The rule is MLPerf's
 * early stopping: p50 11, p90 64, p95 130, p99 662, p99.9 6636. */
uint64_t stats_quantile_needs(double q);
/* Returns whether so many events in so many seconds show a rate: 10 of them, or 0.1 s. Fewer in less
 * time show the begin and the end of the work. NaN seconds: false. */
bool stats_has_rate(double events, double seconds);
/* Calculates the 95 % interval of the ratio median(b)/median(a). False: either side has fewer than
 * 3 samples, a median is not positive, or out of memory. Method and source: see stats.c. */
bool stats_ratio(const double *a, size_t na, const double *b, size_t nb, double *ret_ratio, double *ret_low, double *ret_high);
/* Returns how likely two samples differ so much, or more, where nothing has changed: the larger of
 * two p values, so that each bounds the false claims by itself: that of stats_ratio's interval, and
 * that of Welch's t test (of the logarithms where all values are positive). For stats_holm: with
 * few samples the tails of the first alone are too light. NaN where stats_ratio is false. */
double stats_ratio_p(const double *a, size_t na, const double *b, size_t nb);
/* The range in which one more value is expected, after v[n] of the same process. */
struct stats_expected {
    double low, high; /* contains the value with a confidence of 97.5 % */
    double p; /* chance of a value as far off as x or farther, if nothing has changed; above 1 - 0.975 while x is inside */
};
enum { STATS_EXPECT_MIN = 5 };
#define STATS_EXPECT_P                                                                                                                     \
    0.025 /* a claim at this level is false in at most 5 % of the cases: half of it is kept for tails heavier than normal */
/* Calculates the range for one more value, and the chance of x. False: n < STATS_EXPECT_MIN, or out of
 * memory. Method: see stats.c. */
bool stats_expect(const double *v, size_t n, double x, struct stats_expected *ret);
/* Applies Holm's step-down procedure: sets ret[i] where p[i] is significant, so that the chance of
 * one false claim or more among all n is at most `level`. False: out of memory. */
bool stats_holm(const double *p, size_t n, double level, bool *ret);
/* Returns the median of the distances from the median; n >= 1. NaN: out of memory. */
double stats_mad(const double *v, size_t n);
/* Returns the two-sided 97.5 % point of Student's t with df degrees of freedom, df >= 1. */
double stats_t975(size_t df);
/* Returns whether 95 % intervals show that one mean is below another. high: the end of its
 * interval; other_low: the begin of the other's. NaN: not known, false. */
bool stats_is_below(double high, double other_low);
#endif
