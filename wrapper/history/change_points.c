/* change_points.c: find change points by a sequential series_scan with two tests, each of which bounds the false alarms by itself.
 *
 * The series_scan reads the values in order, as a CI job that runs after each new value would. After each value it compares the
 * newest k values (k of a geometric grid) with those of the same level before them, at most REACH on both sides:
 * - Student's t over scan_clipped_value logarithms. Its variance is raised where neighbouring values are correlated, and a straight line
 *   must not fit better than the step: slow drift is no change point.
 * - the permutation test, which holds for values of any distribution. With few values its smallest possible p is large; then
 *   no value of one side may be between those of the other.
 * At the end each change point moves to the place that separates the complete neighbouring levels best, and is dropped if
 * these do not differ any more, or not surely enough among so many values.
 *
 * E-divisive (D. Matteson, N. James, A nonparametric approach for multiple change point analysis of multivariate data, JASA
 * 109 (2014) 334-345) costs O(n^2) for each split and O(n^2) for each permutation. This series_scan costs O(n log n), needs no random
 * numbers, and reports the same points whether it runs once or after each value. False alarms and detection by simulation:
 * docs/howto-history.md, printed by tests/bench/history_rates.c. */
#include "history/change_points.h"

#include "base/array.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REACH = 128,
    REACH_FEW = 64 /* against few new values: drift moves older ones further away */,
    RECENT = 2 * REACH,
    GRID_MAX = 32,
    RESCALE = 16,
    FEW = 8,
    DRIFT_MIN = 7,
    COMPLETE_MIN = 12,
    CHANGE_DECIDED = 5
};
#define LEVEL 1.5e-3 /* of each test, two-sided; see level_of */
#define LEVEL_FEW 5e-5 /* with less than FEW earlier values */
#define LEVEL_Z 3.1747 /* of the normal distribution at LEVEL */
#define LEVEL_ALL 0.02
#define CLIP 4.0 /* robust standard deviations */
#define ODD 6.0
#define SUDDEN 0.7
#define SHARED 0.3

struct series_scan {
    const double *v; /* as given */
    double *y; /* their logarithms, or the values */
    double used[RECENT + RESCALE]; /* the newest values of the level as the tests use them: scan_clipped_value */
    double sum[RECENT + RESCALE + 1], square[RECENT + RESCALE + 1],
        lag[RECENT + RESCALE + 1]; /* their prefix sums, those of squares and of products of neighbour_levels */
    size_t n, base; /* base: where the prefix sums begin */
    double center, scale, low, high;
    bool logs;
    double unit; /* of y without logarithms */
    double min_effect;
    double least_log; /* the smallest shift of logarithms that is searched */
    double inverse[REACH + 1]; /* 1 / k */
    double critical[2 * REACH + 1]; /* t by degrees of freedom; 0: not computed yet */
    size_t grid[GRID_MAX], grid_count;
    double work[RECENT + 1];
};

/* Returns the median of n > 0 numbers, whose order changes. The scan needs it for every few values:
 * sorting needed a sixth of its time. */
static double scan_median(double *v, size_t n)
{
    size_t low = 0, high = n - 1, middle = (n - 1) / 2;
    while (low < high) {
        double pivot = v[low + (high - low) / 2];
        size_t i = low, k = high;
        for (;; i++, k--) {
            while (v[i] < pivot)
                i++;
            while (v[k] > pivot)
                k--;
            if (i >= k)
                break;
            double one = v[i];
            v[i] = v[k];
            v[k] = one;
        }
        if (middle <= k)
            high = k;
        else
            low = k + 1;
    }
    if (n % 2)
        return v[middle];
    double next = INFINITY;
    for (size_t i = middle + 1; i < n; i++)
        next = v[i] < next ? v[i] : next;
    return v[middle] + 0.5 * (next - v[middle]);
}

/* ---- Student's t ---- */

/* Returns P(|T| > t), by the continued fraction of the incomplete beta function (Abramowitz and
 * Stegun 26.5.8, 26.7.1). */
static double student_tail(double t, double df)
{
    double x = df / (df + t * t), a = df / 2, b = 0.5;
    if (!(x < 1))
        return 1;
    bool swap = x > (a + 1) / (a + b + 2);
    double p = swap ? b : a, q = swap ? a : b, z = swap ? 1 - x : x;
    double front = exp(lgamma(p + q) - lgamma(p) - lgamma(q) + p * log(z) + q * log1p(-z)) / p;
    double c = 1, d = 1 - (p + q) * z / (p + 1), f;
    d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
    f = d;
    for (int m = 1; m < 300; m++) {
        double even = m * (q - m) * z / ((p + 2 * m - 1) * (p + 2 * m)), odd = -(p + m) * (p + q + m) * z / ((p + 2 * m) * (p + 2 * m + 1));
        for (int half = 0; half < 2; half++) {
            double k = half ? odd : even;
            d = 1 + k * d;
            c = 1 + k / c;
            d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
            c = fabs(c) < 1e-300 ? 1e-300 : c;
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-12)
            break;
    }
    return swap ? 1 - front * f : front * f;
}

/* Returns the t with a tail of LEVEL. */
static double critical_t(struct series_scan *s, size_t df)
{
    double *t = &s->critical[df];
    if (*t == 0 && df > 40) { /* Cornish-Fisher expansion around the normal point */
        double z = LEVEL_Z, n = (double)df, z2 = z * z;
        *t = z + z * (z2 + 1) / (4 * n) + z * (5 * z2 * z2 + 16 * z2 + 3) / (96 * n * n) +
             z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / (384 * n * n * n);
    } else if (*t == 0) {
        double low = 0, high = 1e5;
        for (int i = 0; i < 60; i++) {
            double middle = (low + high) / 2;
            *(student_tail(middle, (double)df) > LEVEL ? &low : &high) = middle;
        }
        *t = high;
    }
    return *t;
}

/* ---- the scale of a level ---- */

/* Computes median and robust standard deviation of n <= RECENT values. */
static void level_scale(struct series_scan *s, size_t from, size_t to)
{
    size_t n = to - from;
    memcpy(s->work, s->y + from, n * sizeof *s->work);
    double center = scan_median(s->work, n);
    for (size_t i = 0; i < n; i++)
        s->work[i] = fabs(s->work[i] - center);
    double scale = 1.4826 * scan_median(s->work, n);
    double least = s->logs ? s->min_effect / 8 : fabs(center) * s->min_effect / 8; /* rounded values have no spread at all */
    s->center = center;
    s->scale = scale > least ? scale : least;
}

/* Returns how far from the center values count as they are: never less than what a change of
 * interest needs. Zeros have no scale. */
static double clip_width(const struct series_scan *s)
{
    double least = 3 * s->min_effect * (s->logs ? 1 : fabs(s->center)), wide = fmax(CLIP * s->scale, least);
    return wide > 0 ? wide : INFINITY;
}

/* Returns value i relative to the centre of its level, with outliers moved to the limits. */
static double scan_clipped_value(const struct series_scan *s, size_t i)
{
    double y = s->y[i];
    return (y < s->low ? s->low : y > s->high ? s->high : y) - s->center;
}

static bool is_beyond(const struct series_scan *s, size_t i)
{
    double wide = (ODD - CLIP) * s->scale;
    return s->y[i] < s->low - wide || s->y[i] > s->high + wide;
}

/* Returns whether the value is far off and its neighbours are not: its own size is no evidence
 * about the level. */
static bool is_isolated(const struct series_scan *s, size_t i, size_t end)
{
    return is_beyond(s, i) && i > s->base && i + 1 < end && !is_beyond(s, i - 1) && !is_beyond(s, i + 1);
}

static void set_sums(struct series_scan *s, size_t i, size_t end)
{
    size_t k = i - s->base;
    double y = is_isolated(s, i, end) ? (scan_clipped_value(s, i - 1) + scan_clipped_value(s, i + 1)) / 2 : scan_clipped_value(s, i);
    double before = k ? s->used[k - 1] : 0;
    s->used[k] = y;
    s->sum[k + 1] = s->sum[k] + y;
    s->square[k + 1] = s->square[k] + y * y;
    s->lag[k + 1] = s->lag[k] + y * before;
}

/* Adds value i; of the one before it is known now whether it is isolated. */
static void add_sums(struct series_scan *s, size_t i)
{
    if (i > s->base)
        set_sums(s, i - 1, i + 1);
    set_sums(s, i, i + 1);
}

/* Computes the sums of the level that began at `start`, of its newest values before `to`. */
static void begin_sums(struct series_scan *s, size_t start, size_t to)
{
    s->base = to - start > RECENT - RESCALE ? to - (RECENT - RESCALE) : start;
    size_t from = to - s->base > REACH ? to - REACH : s->base;
    level_scale(s, from, to);
    double wide = clip_width(s);
    s->low = s->center - wide;
    s->high = s->center + wide;
    s->sum[0] = s->square[0] = s->lag[0] = 0;
    for (size_t i = s->base; i < to; i++)
        add_sums(s, i);
}

/* ---- the tests ---- */

struct two_levels {
    double before, shift, t, p_square; /* of scan_clipped_value values; p_square: the pooled sum of squares */
    size_t m, k;
};

/* Computes the means of [from, at) and [at, to), their difference and its Student's t from the
 * prefix sums. Both sides have a value at least. */
static void compare_levels(const struct series_scan *s, size_t from, size_t at, size_t to, struct two_levels *ret)
{
    const double *sum = s->sum - s->base, *square = s->square - s->base;
    double m = (double)(at - from), k = (double)(to - at);
    double a = (sum[at] - sum[from]) / m, b = (sum[to] - sum[at]) / k;
    double rest = square[to] - square[from] - m * a * a - k * b * b, df = m + k - 2;
    double least = s->scale * s->scale / 16 * df;
    *ret = (struct two_levels){.before = a, .shift = b - a, .m = at - from, .k = to - at, .p_square = rest > 0 ? rest : 0};
    double variance = (rest > least ? rest : least) / df;
    ret->t = (b - a) / sqrt(variance * (1 / m + 1 / k));
}

/* Returns the factor by which the variance of a mean grows because neighbouring values are alike:
 * (1 + r) / (1 - r). r is their correlation within the levels, 0 where chance explains it. */
static double variance_inflation(const struct series_scan *s, size_t from, size_t at, size_t to, const struct two_levels *is)
{
    const double *sum = s->sum - s->base, *lag = s->lag - s->base;
    double n = (double)(to - from), m = (double)(at - from), k = (double)(to - at);
    double a = (sum[at] - sum[from]) / m, b = (sum[to] - sum[at]) / k;
    double before = lag[at] - lag[from + 1] - (m - 1) * a * a, after = k > 1 ? lag[to] - lag[at + 1] - (k - 1) * b * b : 0;
    if (!(is->p_square > 0) || n < 12)
        return 1;
    double r = (before + after) / is->p_square;
    r = r < 0.8 / sqrt(n) ? 0 : r > 0.9 ? 0.9 : r - 0.4 / sqrt(n);
    return (1 + r) / (1 - r);
}

/* Returns the sum of squares of what a straight line through the clipped values does not
 * explain. */
static double line_rest(const struct series_scan *s, size_t from, size_t to)
{
    double n = (double)(to - from), mean = (s->sum[to - s->base] - s->sum[from - s->base]) / n, xy = 0, xx = n * (n * n - 1) / 12;
    double yy = s->square[to - s->base] - s->square[from - s->base] - n * mean * mean;
    for (size_t i = from; i < to; i++)
        xy += s->used[i - s->base] * ((double)(i - from) - (n - 1) / 2);
    return yy - xy * xy / xx;
}

/* Returns whether the ranges of the values in [from, at) and [at, to) are disjoint. up: the later
 * one is the higher one. */
static bool is_apart(const struct series_scan *s, size_t from, size_t at, size_t to, bool up)
{
    double end = s->y[at], begin = s->y[from];
    for (size_t i = at; i < to; i++)
        end = up ? fmin(end, s->y[i]) : fmax(end, s->y[i]);
    for (size_t i = from; i < at; i++)
        begin = up ? fmax(begin, s->y[i]) : fmin(begin, s->y[i]);
    return up ? end > begin : end < begin;
}

/* Sums over all values, each weighted by the chance that the tilted sample has it. They determine
 * the saddle point. */
struct tilted {
    double log_sum, n, x, nn, nx, xx;
};

/* Fills *ret for a sample that has each x[i] with the odds share / (1 - share) * exp(a + b x[i]):
 * the logarithm of the sum that normalizes it, and expectation, variances and covariance of its
 * size and sum. */
static void tilt_sample(const double *x, size_t n, double share, double a, double b, struct tilted *ret)
{
    *ret = (struct tilted){0};
    for (size_t i = 0; i < n; i++) {
        double e = a + b * x[i], odds = share / (1 - share) * exp(e < 600 ? e : 600), in = odds / (1 + odds), var = in / (1 + odds);
        ret->log_sum += log1p(odds) + log1p(-share);
        ret->n += in;
        ret->x += in * x[i];
        ret->nn += var;
        ret->nx += var * x[i];
        ret->xx += var * x[i] * x[i];
    }
}

/* Returns the two-sided p of the permutation test: the chance that k values drawn from all n have a
 * mean as far off as the last k. It is computed by the saddle point instead of random permutations:
 * J. Robinson, Saddlepoint approximations for permutation tests and confidence intervals, JRSS B 44
 * (1982) 91-101, with the tail formula of I. M. Skovgaard (J. Appl. Prob. 24 (1987) 875-887). NaN:
 * the sample is at the end of the distribution. */
static double permutation_p(struct series_scan *s, size_t from, size_t at, size_t to)
{
    enum { STEPS = 60 };
    double *x = s->work, mean = 0, square = 0, share = (double)(to - at) / (double)(to - from), k = (double)(to - at), sum = 0;
    size_t n = to - from;
    for (size_t i = 0; i < n; i++)
        mean += (x[i] = s->used[from + i - s->base]) / (double)n;
    for (size_t i = 0; i < n; i++) {
        x[i] -= mean;
        square += x[i] * x[i] / (double)n;
    }
    if (!(square > 0))
        return 1;
    for (size_t i = 0; i < n; i++) {
        x[i] /= sqrt(square);
        sum += from + i >= at ? x[i] : 0;
    }
    double a = 0, b = 0;
    struct tilted t;
    for (int step = 0; step < STEPS; step++) {
        tilt_sample(x, n, share, a, b, &t);
        double det = t.nn * t.xx - t.nx * t.nx, dn = k - t.n, dx = sum - t.x;
        if (!(det > 1e-12) || fabs(b) > 50)
            return NAN;
        double da = (t.xx * dn - t.nx * dx) / det, db = (t.nn * dx - t.nx * dn) / det, most = fmax(fabs(da), fabs(db)),
               part = most > 1 ? 1 / most : 1;
        a += da * part;
        b += db * part;
        if (most < 1e-9)
            break;
    }
    tilt_sample(x, n, share, a, b, &t);
    double rate = 2 * (b * sum + a * k - t.log_sum), det = t.nn * t.xx - t.nx * t.nx;
    if (!(rate > 1e-6) || !(det > 0))
        return 1;
    double w = sqrt(rate), u = fabs(b) * sqrt(det / ((double)n * share * (1 - share)));
    double p = erfc(w / M_SQRT2) + 2 * exp(-rate / 2) / sqrt(2 * M_PI) * (1 / u - 1 / w);
    return p > 1 ? 1 : p;
}

/* Returns the smallest p that the permutation test can have with m and k values. */
static double permutation_least(size_t m, size_t k)
{
    return 2 * exp(lgamma((double)m + 1) + lgamma((double)k + 1) - lgamma((double)(m + k) + 1));
}

/* Returns true for a jump and false for a drift. At a jump the values next to `at` differ by SUDDEN
 * of `shift` (not 0) or more, and two levels fit the values better than one straight line. `shift`
 * is the difference of the complete levels [from, at) and [at, to). */
static bool is_sudden(const struct series_scan *s, size_t from, size_t at, size_t to, double shift)
{
    enum { NEAR = 16, LINE_MIN = 12 };
    struct two_levels near;
    size_t k = to - at > NEAR ? to - at : NEAR, begin = at - from > k ? at - k : from;
    compare_levels(s, at - from > NEAR ? at - NEAR : from, at, to - at > NEAR ? at + NEAR : to, &near);
    if (near.shift / shift < SUDDEN)
        return false;
    compare_levels(s, begin, at, to, &near);
    return to - begin < LINE_MIN || line_rest(s, begin, to) > near.p_square;
}

/* Returns the place in (from, to) that separates two levels best, with at least `least_before` and
 * `least_after` values on its sides. usual: the result where no place has so many. */
static size_t best_place(const struct series_scan *s, size_t from, size_t to, size_t least_before, size_t least_after, size_t usual)
{
    struct two_levels is;
    double best = -1;
    for (size_t at = from + least_before; at + least_after <= to; at++) {
        compare_levels(s, from, at, to, &is);
        double gain = is.shift * is.shift * (double)is.m * (double)is.k;
        if (gain > best) {
            best = gain;
            usual = at;
        }
    }
    return usual;
}

static double effect_of(const struct series_scan *s, double shift)
{
    if (!(fabs(shift) > 0))
        return 0;
    if (s->logs)
        return shift < 0 ? exp(-shift) - 1 : exp(shift) - 1;
    return s->center != 0 ? fabs(shift / s->center) : INFINITY;
}

/* Returns whether at least four fifths of the values [at, to) are on the new side of the level
 * `before`: a few outliers among them would move the mean, too. */
static bool is_on_new_side(const struct series_scan *s, size_t at, size_t to, double before, double shift)
{
    size_t missed = 0;
    for (size_t i = at; i < to; i++)
        missed += (scan_clipped_value(s, i) - before) / shift < SHARED;
    return missed <= (to - at) / 5;
}

/* Returns the level of significance of both tests for the newest k values after m earlier ones.
 * Most of the accepted false alarms are spent at CHANGE_DECIDED new values, so that a change of 5 %
 * at 2 % noise is found by then. The level is stricter with many earlier values, which find such a
 * change anyway, and with fewer than FEW, which do not show what is usual. */
static double level_of(size_t m, size_t k)
{
    enum { USUAL = 20 };
    if (m < FEW)
        return LEVEL_FEW;
    double level = m > USUAL ? LEVEL * pow((double)USUAL / (double)m, 0.75) : LEVEL;
    return k == CHANGE_DECIDED ? level : level * (k > CHANGE_DECIDED ? 0.07 : k == CHANGE_DECIDED - 1 ? 0.25 : 0.1);
}

/* Returns whether Student's t finds the levels different. *ret_p: its p, set only where t is beyond
 * its critical value. */
static bool is_t_significant(struct series_scan *s, size_t from, size_t at, size_t to, const struct two_levels *is, double level,
                             double *ret_p)
{
    if (fabs(is->t) < critical_t(s, is->m + is->k - 2))
        return false;
    *ret_p = student_tail(fabs(is->t) / sqrt(variance_inflation(s, from, at, to, is)), (double)(is->m + is->k - 2));
    return *ret_p <= level;
}

/* Returns whether all tests show a change at `at`, of levels [from, at) and [at, to). newest: also
 * those that distinguish it from drift and outliers. ret_p: the larger of both p. */
static bool is_change(struct series_scan *s, size_t from, size_t at, size_t to, bool newest, double level, double *ret_p)
{
    struct two_levels is;
    compare_levels(s, from, at, to, &is);
    double p, least = permutation_least(is.m, is.k), any = least;
    *ret_p = 1;
    if (effect_of(s, is.shift) < s->min_effect || !is_t_significant(s, from, at, to, &is, level, &p))
        return false;
    if (newest && !is_on_new_side(s, at, to, is.before, is.shift))
        return false;
    if (!is_apart(s, from, at, to, is.shift > 0)) {
        any = permutation_p(s, from, at, to);
        any = any >= least ? any : least; /* also of NaN */
        if (any > 2 * level)
            return false;
    }
    if (newest && is.k >= DRIFT_MIN && !is_sudden(s, from, at, to, is.shift))
        return false;
    *ret_p = p > any ? p : any;
    return true;
}

/* ---- the scan ---- */

/* Returns whether the means are nearer to each other than what is searched. It only has to be
 * quick: where it is close, the tests decide. */
static bool is_too_small(const struct series_scan *s, size_t from, size_t at, size_t to)
{
    static const double NEARLY = 1 - 1e-6;
    const double *sum = s->sum - s->base;
    double shift = (sum[to] - sum[at]) * s->inverse[to - at] - (sum[at] - sum[from]) * s->inverse[at - from];
    return fabs(shift) < (s->logs ? s->least_log : s->min_effect * fabs(s->center)) * NEARLY;
}

/* Returns whether there is a change among the newest values of the level [start, to). *ret_at: the
 * first value of the new level. */
static bool scan_newest(struct series_scan *s, size_t start, size_t to, size_t *ret_at)
{
    for (size_t g = 0; g < s->grid_count; g++) {
        size_t k = s->grid[g], at = to - k, reach = k <= REACH_FEW / 8 ? REACH_FEW : REACH;
        if (to - start < k + CHANGE_BEFORE_MIN)
            return false;
        size_t from = at - start > reach ? at - reach : start;
        struct two_levels is;
        double p;
        if (from < s->base)
            from = s->base;
        if (is_too_small(s, from, at, to))
            continue;
        compare_levels(s, from, at, to, &is);
        if (fabs(is.t) < critical_t(s, is.m + is.k - 2) || effect_of(s, is.shift) < s->min_effect)
            continue; /* nearly always: what follows costs more */
        double level = level_of(at - start < REACH ? at - start : REACH, k); /* also of the better place: it is of the same alarm */
        if (!is_t_significant(s, from, at, to, &is, level, &p))
            continue;
        at = best_place(s, from, to, CHANGE_BEFORE_MIN, CHANGE_AFTER_MIN, at);
        if (!is_change(s, from, at, to, true, level, &p))
            continue;
        *ret_at = at;
        return true;
    }
    return false;
}

static bool add_point(struct change_points *to, size_t *capacity, size_t at, size_t seen)
{
    if (!ARRAY_FITS(to->list, *capacity, to->count + 1))
        return false;
    to->list[to->count++] = (struct change_point){.at = at, .seen = seen};
    return true;
}

/* Appends the change points of the complete series to *ret, which must be empty. Returns false when
 * out of memory. The caller frees the list in both cases. */
static bool scan_all(struct series_scan *s, struct change_points *ret)
{
    size_t start = 0, scaled = 0, capacity = 0, at;
    for (size_t to = CHANGE_BEFORE_MIN + CHANGE_AFTER_MIN; to <= s->n; to++) {
        size_t n = to - start;
        if (n < CHANGE_BEFORE_MIN + CHANGE_AFTER_MIN)
            continue;
        if (!scaled || to - scaled >= RESCALE || (n < 4 * RESCALE && to - scaled >= n / 4)) {
            begin_sums(s, start, to);
            scaled = to;
        } else {
            add_sums(s, to - 1);
        }
        if (!scan_newest(s, start, to, &at))
            continue;
        if (!add_point(ret, &capacity, at, to))
            return false;
        start = at;
        scaled = 0;
    }
    return true;
}

/* ---- all levels ---- */

/* Finds the neighbouring levels of the i-th change point, at most REACH values of each. */
static void neighbour_levels(const struct series_scan *s, const struct change_points *points, size_t i, size_t *from, size_t *to)
{
    size_t at = points->list[i].at, begin = i ? points->list[i - 1].at : 0, end = i + 1 < points->count ? points->list[i + 1].at : s->n;
    *from = at - begin > REACH ? at - REACH : begin;
    *to = end - at > REACH - RESCALE ? at + REACH - RESCALE : end;
}

/* Sets the scale by the spread within the two levels, so that a large step is not scan_clipped_value away. */
static void scale_levels(struct series_scan *s, size_t from, size_t at, size_t to)
{
    level_scale(s, from, at);
    double one = s->scale, center = s->center, wide = clip_width(s);
    level_scale(s, at, to);
    double other = s->scale, end = s->center;
    wide = fmax(wide, clip_width(s));
    s->low = (center < end ? center : end) - wide;
    s->high = (center < end ? end : center) + wide;
    s->scale = one < other ? one : other;
    s->center = center;
    s->base = from;
    s->sum[0] = s->square[0] = s->lag[0] = 0;
    for (size_t i = from; i < to; i++)
        add_sums(s, i);
}

/* Returns whether change i remains among all n values: a level needs COMPLETE_MIN values to be
 * tested, and a p below a share of LEVEL_ALL, unless so few values cannot reach it. */
static bool is_sure_among_all(const struct series_scan *s, const struct change_points *points, size_t i, const struct two_levels *is,
                              double p)
{
    bool complete = i + 1 < points->count || s->n - points->list[i].at >= COMPLETE_MIN;
    double level = LEVEL_ALL / (double)s->n;
    return !complete || p <= level || permutation_least(is->m, is->k) > level / 10;
}

/* Moves each change point to where it separates its levels best, and tests it again. Returns the weakest that fails, or count. */
static size_t weakest_point(struct series_scan *s, struct change_points *points)
{
    size_t weakest = points->count;
    double least = INFINITY;
    for (size_t i = 0; i < points->count; i++) {
        struct change_point *c = &points->list[i];
        struct two_levels is;
        size_t from, to;
        double p;
        neighbour_levels(s, points, i, &from, &to);
        scale_levels(s, from, c->at, to);
        c->at = best_place(s, from, to, CHANGE_AFTER_MIN, CHANGE_AFTER_MIN, c->at);
        compare_levels(s, from, c->at, to, &is);
        bool holds =
            is_change(s, from, c->at, to, false, level_of(c->at - from, CHANGE_DECIDED), &p) && is_sure_among_all(s, points, i, &is, p);
        c->p = p;
        if (!holds && fabs(is.t) < least) {
            least = fabs(is.t);
            weakest = i;
        }
    }
    return weakest;
}

/* Sets the medians before and after the change point, and the ratio with its interval, over the
 * levels next to it. */
static void describe_point(const struct series_scan *s, const struct change_points *points, size_t i)
{
    struct change_point *c = &points->list[i];
    size_t from, to;
    neighbour_levels(s, points, i, &from, &to);
    c->ratio_known = stats_ratio(s->v + from, c->at - from, s->v + c->at, to - c->at, &c->ratio, &c->low, &c->high);
    double work[2 * REACH];
    struct stats of;
    memcpy(work, s->v + from, (c->at - from) * sizeof *work);
    stats_of(work, c->at - from, &of);
    c->before = of.median;
    memcpy(work, s->v + c->at, (to - c->at) * sizeof *work);
    stats_of(work, to - c->at, &of);
    c->after = of.median;
}

/* Finds values far from the median of their level, with the newest REACH values of it at a time. */
static bool find_odd(struct series_scan *s, struct change_points *points)
{
    enum { ODD_MIN = 6 };
    size_t capacity = 0;
    for (size_t i = 0; i <= points->count; i++) {
        size_t begin = i ? points->list[i - 1].at : 0, end = i < points->count ? points->list[i].at : s->n;
        for (size_t from = begin; from < end && end - begin >= ODD_MIN;) {
            size_t to = end - from > 2 * REACH ? from + REACH : end, first = end - from < REACH && end - begin > REACH ? end - REACH : from;
            level_scale(s, first, to - first > RECENT ? first + RECENT : to);
            for (size_t k = from; k < to; k++) {
                double off = s->y[k] - s->center;
                if (fabs(off) < ODD * s->scale || effect_of(s, off) < s->min_effect)
                    continue;
                if (!ARRAY_FITS(points->odd, capacity, points->odd_count + 1))
                    return false;
                bool newest = k + CHANGE_AFTER_MIN > s->n;
                points->odd[points->odd_count++] = (struct odd_value){
                    .at = k, .kind = newest ? ODD_UNCONFIRMED : ODD_OUTLIER, .expected = s->logs ? exp(s->center) : s->center * s->unit};
            }
            from = to;
        }
    }
    /* only those that continue to the end may become a change */
    bool open = true;
    for (size_t i = points->odd_count, last = s->n; i-- > 0;) {
        struct odd_value *o = &points->odd[i];
        open = open && o->kind == ODD_UNCONFIRMED && o->at + 1 == last;
        last = o->at;
        if (!open)
            o->kind = ODD_OUTLIER;
    }
    return true;
}

/* Prepares the search in v[0..n), which is borrowed. s->y, which the caller frees, has logarithms
 * where all values are positive, else values divided by the largest magnitude, so that squares do
 * not overflow. Returns false when out of memory. */
static bool scan_begin(struct series_scan *s, const double *v, size_t n, double min_effect)
{
    *s = (struct series_scan){.v = v, .n = n, .logs = n > 0, .min_effect = min_effect};
    for (size_t i = 0; i < n; i++)
        s->logs = s->logs && v[i] > 0;
    s->y = malloc((n + 1) * sizeof *s->y);
    double most = 0; /* so that squares cannot overflow */
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(v[i]));
    for (size_t i = 0; s->y && i < n; i++)
        s->y[i] = s->logs ? log(v[i]) : most > 0 ? v[i] / most : 0;
    s->unit = most > 0 ? most : 1;
    s->least_log = log1p(min_effect);
    for (size_t k = 1; k <= REACH; k++)
        s->inverse[k] = 1 / (double)k;
    for (size_t k = CHANGE_AFTER_MIN; k <= REACH; k += k < 6 ? 1 : k / 4)
        s->grid[s->grid_count++] = k;
    return s->y != NULL;
}

bool change_points_find(const double *v, size_t n, double min_effect, struct change_points *ret)
{
    *ret = (struct change_points){0};
    struct series_scan *s = malloc(sizeof *s);
    bool good = s && scan_begin(s, v, n, min_effect) && scan_all(s, ret);
    for (size_t weakest; good && (weakest = weakest_point(s, ret)) < ret->count; ret->count--)
        memmove(&ret->list[weakest], &ret->list[weakest + 1], (ret->count - weakest - 1) * sizeof *ret->list);
    for (size_t i = 0; good && i < ret->count; i++)
        describe_point(s, ret, i);
    good = good && find_odd(s, ret);
    if (s) {
        free(s->y);
    }
    free(s);
    return good;
}

void change_points_deinit(struct change_points *points)
{
    free(points->list);
    free(points->odd);
    *points = (struct change_points){0};
}
