/* stats.c: statistics over samples, by published closed methods (no random numbers: the same
 * samples yield the same result). */
#include "base/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = at <= 0 ? 0 : (size_t)at;
    if (i >= n - 1)
        return sorted[n - 1];
    double part = at - (double)i;
    return part == 0 ? sorted[i] : sorted[i] + part * (sorted[i + 1] - sorted[i]);
}

static bool is_quantile_bounded(double q, uint64_t n)
{
    return pow(q, (double)n) + (double)n * pow(q, (double)n - 1) * (1 - q) <= 0.01;
}

uint64_t stats_quantile_needs(double q)
{
    uint64_t low = 1, high = 2;
    while (!is_quantile_bounded(q, high) && high < (1ULL << 40))
        low = high, high *= 2;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        *(is_quantile_bounded(q, middle) ? &high : &low) = middle;
    }
    return high;
}

bool stats_has_rate(double events, double seconds)
{
    const double enough = 10, long_s = 0.1;
    return seconds >= long_s || (seconds > 0 && events >= enough);
}

/* Returns P(|T| <= t) for Student's t with df degrees of freedom and t = sqrt(df) tan(angle): the
 * finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4. */
static double t_within(double angle, size_t df)
{
    double c2 = cos(angle) * cos(angle), term = df % 2 ? cos(angle) : 1, sum = 0;
    for (size_t k = df % 2 ? 1 : 0; k + 2 <= df; k += 2) {
        sum += term;
        term *= c2 * (double)(k + 1) / (double)(k + 2);
    }
    return df % 2 ? (angle + sin(angle) * sum) * 2 / M_PI : sin(angle) * sum;
}

/* Returns the two-sided point of Student's t with df degrees of freedom: P(|T| <= point) =
 * within. */
static double t_point(size_t df, double within)
{
    double low = 0, high = M_PI / 2;
    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2;
        if (t_within(mid, df) < within)
            low = mid;
        else
            high = mid;
    }
    return sqrt((double)df) * tan(low);
}

double stats_t975(size_t df)
{
    if (df > 1000) { /* Cornish-Fisher expansion around the normal point; error below 1e-9 here */
        double z = 1.959963984540054, n = (double)df;
        return z + (z * z * z + z) / (4 * n) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
    }
    return t_point(df, 0.95);
}

void stats_of(double *v, size_t n, struct stats *ret)
{
    qsort(v, n, sizeof(*v), compare_doubles);
    struct stats s = {.n = n, .min = v[0], .max = v[n - 1], .median = stats_quantile(v, n, 0.5), .sd = NAN, .ci_low = NAN, .ci_high = NAN};
    double sum = 0, squares = 0; /* around the middle value: no cancellation for large, close values */
    for (size_t i = 0; i < n; i++)
        sum += v[i] - s.median;
    double shift = sum / (double)n;
    s.mean = s.median + shift;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - s.mean) * (v[i] - s.mean);
    if (n >= 2)
        s.sd = sqrt(squares / (double)(n - 1));
    if (n >= 3) {
        double half = stats_t975(n - 1) * s.sd / sqrt((double)n);
        s.ci_low = s.mean - half;
        s.ci_high = s.mean + half;
    }
    *ret = s;
}

/* Returns the point z of the standard normal distribution with P(Z <= z) = p, 0.5 <= p < 1. */
static double normal_point(double p)
{
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2;
        if (0.5 * erfc(mid / M_SQRT2) > 1 - p)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Returns P(X <= k) for n trials with a chance of 1/2. It adds logarithms, since a large n would
 * underflow to a wrong answer. */
static double binomial_half(size_t k, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i <= k; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) - (double)n * M_LN2);
    return sum < 1 ? sum : 1;
}

/* Calculates the variance of the logarithm of the median: the width between two order statistics
 * around the median over the width that the normal distribution has at their exact binomial level.
 * False: a value is not positive. */
static bool log_median_variance(const double *sorted, size_t n, double *ret)
{
    double at = round(((double)n + 1) / 2 - sqrt((double)n));
    size_t c = at < 1 ? 1 : (size_t)at;
    if (!(sorted[c - 1] > 0))
        return false;
    double z = normal_point(1 - binomial_half(c - 1, n));
    double width = (log(sorted[n - c]) - log(sorted[c - 1])) / (2 * z);
    *ret = width * width;
    return true;
}

/* Returns the n values in ascending order, which the caller frees. NULL: out of memory. */
static double *sorted_copy(const double *v, size_t n)
{
    double *copy = n <= SIZE_MAX / sizeof(*v) ? malloc(n * sizeof(*v)) : NULL;
    if (copy) {
        for (size_t i = 0; i < n; i++)
            copy[i] = v[i];
        qsort(copy, n, sizeof(*copy), compare_doubles);
    }
    return copy;
}

/* Distribution-free interval for the ratio of two medians: R. M. Price and D. G. Bonett, Distribution-free confidence
 * intervals for difference and ratio of medians, Journal of Statistical Computation and Simulation 72 (2002) 119-124.
 * Chosen over a bootstrap: closed, repeatable, and its coverage holds for skewed samples of five and more. */
bool stats_ratio(const double *a, size_t na, const double *b, size_t nb, double *ret_ratio, double *ret_low, double *ret_high)
{
    if (na < 3 || nb < 3)
        return false;
    double *x = sorted_copy(a, na), *y = sorted_copy(b, nb), vx, vy;
    bool good = x && y && log_median_variance(x, na, &vx) && log_median_variance(y, nb, &vy);
    double mx = good ? stats_quantile(x, na, 0.5) : 0, my = good ? stats_quantile(y, nb, 0.5) : 0;
    good = good && mx > 0 && my > 0;
    if (good) {
        double half = 1.959963984540054 * sqrt(vx + vy);
        *ret_ratio = my / mx;
        *ret_low = *ret_ratio * exp(-half);
        *ret_high = *ret_ratio * exp(half);
    }
    free(x);
    free(y);
    return good;
}

struct moments {
    double mean, variance; /* the latter of the mean */
};

/* Returns the mean, and the variance of the mean; logs: of the logarithms. n >= 2. */
static struct moments moments_of(const double *v, size_t n, bool logs)
{
    struct moments m = {0};
    for (size_t i = 0; i < n; i++)
        m.mean += (logs ? log(v[i]) : v[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        m.variance += ((logs ? log(v[i]) : v[i]) - m.mean) * ((logs ? log(v[i]) : v[i]) - m.mean) / (double)(n - 1) / (double)n;
    return m;
}

/* Returns the p of Welch's test (B. L. Welch, Biometrika 34 (1947) 28-35), of logarithms where all
 * values are positive. Degrees of freedom are rounded down. Both groups have two values or more. */
static double welch_p(const double *a, size_t na, const double *b, size_t nb)
{
    bool logs = true;
    for (size_t i = 0; i < na; i++)
        logs = logs && a[i] > 0;
    for (size_t i = 0; i < nb; i++)
        logs = logs && b[i] > 0;
    struct moments x = moments_of(a, na, logs), y = moments_of(b, nb, logs);
    double sum = x.variance + y.variance, off = fabs(y.mean - x.mean);
    if (!(sum > 0))
        return off > 0 ? 0 : 1;
    double df = sum * sum / (x.variance * x.variance / (double)(na - 1) + y.variance * y.variance / (double)(nb - 1));
    size_t whole = df < 1 ? 1 : (size_t)df;
    return 1 - t_within(atan(off / sqrt(sum * (double)whole)), whole);
}

double stats_ratio_p(const double *a, size_t na, const double *b, size_t nb)
{
    double ratio, low, high;
    if (!stats_ratio(a, na, b, nb, &ratio, &low, &high))
        return NAN;
    double half = log(high / ratio), z = half > 0 ? 1.959963984540054 * fabs(log(ratio)) / half : ratio == 1 ? 0 : INFINITY;
    double p = erfc(z / M_SQRT2), welch = welch_p(a, na, b, nb);
    return p > welch ? p : welch;
}

/* Two intervals, and a value counts as far off only outside both, so that each bounds the false alarms by itself:
 * - the prediction interval for one more value of a normal distribution, mean -+ t(n - 1) s sqrt(1
 *   + 1/n), calculated with the logarithms where all values
 *   are positive (times and rates vary by factors);
 * - the distribution-free one between the r-th smallest and the r-th largest, which one more exchangeable value leaves with a chance of 2 r / (n + 1):
 *   below 159 values that is their full range.
 * With the level used here, false claims in simulation (tests/unit/base/stats.c): 1.5 to 2.5 % of
 * normal and log-normal values, at most 5 % of
 * exponential ones and of Student's t with 3 degrees; from 39 values on the second interval alone keeps them below 5 % for any distribution.
 * G. J. Hahn and W. Q. Meeker, Statistical Intervals (Wiley 1991), sections 4.7 and 5.4. */
bool stats_expect(const double *v, size_t n, double x, struct stats_expected *ret)
{
    double *w = n >= STATS_EXPECT_MIN ? sorted_copy(v, n) : NULL;
    if (!w)
        return false;
    size_t r = (size_t)(STATS_EXPECT_P / 2 * ((double)n + 1));
    double low = w[r > 1 ? r - 1 : 0], high = w[n - (r > 1 ? r : 1)];
    bool amount = w[0] >= 0 && x >= 0, logs = w[0] > 0 && x >= 0; /* next to positive values, the logarithm of zero is infinitely far off */
    for (size_t i = 0; logs && i < n; i++)
        w[i] = log(w[i]);
    struct stats s;
    stats_of(w, n, &s);
    free(w);
    double scale = s.sd * sqrt(1 + 1 / (double)n), off = fabs((logs ? log(x) : x) - s.mean),
           half = t_point(n - 1, 1 - STATS_EXPECT_P) * scale;
    double t_low = logs ? exp(s.mean - half) : s.mean - half, t_high = logs ? exp(s.mean + half) : s.mean + half;
    ret->low = t_low < low ? t_low : low;
    if (amount && ret->low < 0) /* nothing shows that there are negative ones */
        ret->low = 0;
    ret->high = t_high > high ? t_high : high;
    ret->p = x >= ret->low && x <= ret->high ? 1 : 0; /* without any spread there is nothing between */
    if (scale > 0)
        ret->p = 1 - t_within(atan(off / scale / sqrt((double)n - 1)), n - 1);
    if (x >= ret->low && x <= ret->high && ret->p <= STATS_EXPECT_P)
        ret->p = STATS_EXPECT_P * 1.000001; /* within the range that the values themselves have: no claim */
    if (ret->p < 0)
        ret->p = 0;
    return true;
}

struct ranked {
    double p;
    size_t i;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

/* S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979) 65-70. */
bool stats_holm(const double *p, size_t n, double level, bool *ret)
{
    struct ranked *all = n <= SIZE_MAX / sizeof *all ? malloc((n + 1) * sizeof *all) : NULL;
    if (!all)
        return false;
    for (size_t i = 0; i < n; i++) {
        all[i] = (struct ranked){p[i], i};
        ret[i] = false;
    }
    qsort(all, n, sizeof *all, by_p);
    for (size_t k = 0; k < n && all[k].p <= level / (double)(n - k); k++)
        ret[all[k].i] = true;
    free(all);
    return true;
}

double stats_mad(const double *v, size_t n)
{
    double *w = sorted_copy(v, n);
    if (!w)
        return NAN;
    double median = stats_quantile(w, n, 0.5);
    for (size_t i = 0; i < n; i++)
        w[i] = fabs(w[i] - median);
    qsort(w, n, sizeof *w, compare_doubles);
    double mad = stats_quantile(w, n, 0.5);
    free(w);
    return mad;
}

bool stats_is_below(double high, double other_low)
{
    return high < other_low;
}
