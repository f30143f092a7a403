/* stats.c: statistics over samples, by published closed methods (no random numbers: the same samples give the same answer). */
#include "base/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
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

/* P(|T| <= t) for Student's t with df degrees of freedom and t = sqrt(df) tan(angle): the finite
 * sums of Abramowitz and Stegun, 26.7.3 and 26.7.4. */
static double t_within(double angle, size_t df)
{
    double c2 = cos(angle) * cos(angle), term = df % 2 ? cos(angle) : 1, sum = 0;
    for (size_t k = df % 2 ? 1 : 0; k + 2 <= df; k += 2) {
        sum += term;
        term *= c2 * (double)(k + 1) / (double)(k + 2);
    }
    return df % 2 ? (angle + sin(angle) * sum) * 2 / M_PI : sin(angle) * sum;
}

double stats_t975(size_t df)
{
    if (df > 1000) { /* Cornish-Fisher expansion around the normal point; error below 1e-9 here */
        double z = 1.959963984540054, n = (double)df;
        return z + (z * z * z + z) / (4 * n) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
    }
    double low = 0, high = M_PI / 2;
    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2;
        if (t_within(mid, df) < 0.95)
            low = mid;
        else
            high = mid;
    }
    return sqrt((double)df) * tan(low);
}

void stats_of(double *v, size_t n, struct stats *ret)
{
    qsort(v, n, sizeof(*v), by_value);
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

/* The standard normal point z with P(Z <= z) = p, 0.5 <= p < 1, by bisection on erfc. */
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

/* P(X <= k), X binomial with n trials of 1/2; by logarithms, so that a large n does not underflow to a wrong answer. */
static double binomial_half(size_t k, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i <= k; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) - (double)n * M_LN2);
    return sum < 1 ? sum : 1;
}

/* Variance of the logarithm of the median: the width between two order statistics around the
 * median over the width that the normal distribution has at their exact binomial level. */
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

static double *sorted_copy(const double *v, size_t n)
{
    double *copy = n <= SIZE_MAX / sizeof(*v) ? malloc(n * sizeof(*v)) : NULL;
    if (copy) {
        for (size_t i = 0; i < n; i++)
            copy[i] = v[i];
        qsort(copy, n, sizeof(*copy), by_value);
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
