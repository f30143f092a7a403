/* hdr.c: histograms with a bounded relative error; see hdr.h. */
#include "benchmarks/native/llmload/hdr.h"

#include "base/json.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 1 << (HDR_BITS - 1) }; /* per power of two */

void hdr_init(struct hdr *h)
{
    *h = (struct hdr){.min = INT64_MAX, .max = INT64_MIN};
}

void hdr_deinit(struct hdr *h)
{
    free(h->counts);
    hdr_init(h);
}

static size_t bucket_of(uint64_t v)
{
    if (v < 2 * STEPS)
        return (size_t)v;
    unsigned shift = 63U - (unsigned)__builtin_clzll(v) - (HDR_BITS - 1);
    return ((size_t)shift << (HDR_BITS - 1)) + (size_t)(v >> shift);
}

/* Values beyond the range are in the last bucket. */
static size_t bucket_clipped(int64_t v)
{
    return bucket_of((uint64_t)(v >> HDR_TOP ? ((int64_t)1 << HDR_TOP) - 1 : v));
}

/* Returns the smallest value of bucket i. */
static int64_t bucket_low(size_t i)
{
    if (i < 2 * STEPS)
        return (int64_t)i;
    unsigned shift = (unsigned)(i >> (HDR_BITS - 1)) - 1;
    return (int64_t)((i - ((size_t)shift << (HDR_BITS - 1))) << shift);
}

static int64_t bucket_high(size_t i)
{
    return i + 1 < HDR_BUCKETS ? bucket_low(i + 1) - 1 : ((int64_t)1 << HDR_TOP) - 1;
}

static bool have_counts(struct hdr *h)
{
    if (!h->counts)
        h->counts = calloc(HDR_BUCKETS, sizeof *h->counts);
    return h->counts != NULL;
}

void hdr_add_many(struct hdr *h, int64_t value, uint64_t times)
{
    if (!times)
        return;
    if (value < 0)
        value = 0;
    double n = (double)h->n, k = (double)times, share = k / (n + k), d = (double)value - h->mean;
    h->mean += d * share;
    h->m2 += d * d * n * share;
    h->n += times;
    h->min = value < h->min ? value : h->min;
    h->max = value > h->max ? value : h->max;
    h->above += value >> HDR_TOP ? times : 0;
    if (have_counts(h))
        h->counts[bucket_clipped(value)] += times;
    else
        h->lost += times;
}

void hdr_add(struct hdr *h, int64_t value)
{
    hdr_add_many(h, value, 1);
}

void hdr_add_open(struct hdr *h, int64_t most, uint64_t times)
{
    h->open += times;
    h->open_max = times && most > h->open_max ? most : h->open_max;
}

void hdr_merge(struct hdr *into, const struct hdr *from)
{
    hdr_add_open(into, from->open_max, from->open);
    if (!from->n)
        return;
    double a = (double)into->n, b = (double)from->n, d = from->mean - into->mean;
    into->mean += d * b / (a + b);
    into->m2 += from->m2 + d * d * a * b / (a + b);
    into->n += from->n;
    into->above += from->above;
    into->lost += from->lost;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    if (from->counts && have_counts(into)) /* no other pages are touched */
        for (size_t i = bucket_clipped(from->min), last = bucket_clipped(from->max); i <= last; i++)
            into->counts[i] += from->counts[i];
    else
        into->lost += from->n - from->lost;
}

/* Returns the value of rank 1..n; NaN where ranks are not known. */
static double hdr_rank(const struct hdr *h, uint64_t rank)
{
    if (!h->n || h->lost)
        return NAN;
    if (rank <= 1)
        return (double)h->min;
    if (rank >= h->n)
        return (double)h->max;
    uint64_t seen = 0;
    size_t i = bucket_clipped(h->min);
    while (i < HDR_BUCKETS && (seen += h->counts[i]) < rank)
        i++;
    double middle = i < HDR_BUCKETS ? ((double)bucket_low(i) + (double)bucket_high(i)) / 2 : (double)h->max;
    return fmin(fmax(middle, (double)h->min), (double)h->max);
}

double hdr_quantile(const struct hdr *h, double p)
{
    double rank = ceil(p * (double)h->n - 1e-9);
    return hdr_rank(h, rank < 1 ? 1 : (uint64_t)rank);
}

double hdr_mean(const struct hdr *h)
{
    const double allowed = 0.01;
    double farthest = fmax((double)h->open_max - h->mean, h->mean); /* of an open value from the mean; none is negative */
    double change = (double)h->open * farthest / (double)(h->n + h->open);
    return h->n && (!h->open || change <= allowed * h->mean) ? h->mean : NAN;
}

double hdr_sd(const struct hdr *h)
{
    return h->n ? sqrt(h->m2 / (double)h->n) : NAN;
}

/* Ranks l < u of n with P(l <= B < u) >= 0.95 for B binomial(n, p): exact sums where n is small,
 * the normal approximation with a rank to spare else. */
static void interval_ranks(uint64_t count, double p, int64_t *ret_low, int64_t *ret_high)
{
    enum { EXACT = 2000 };
    double n = (double)count;
    int64_t low, high;
    if (count <= EXACT) {
        double sum = 0;
        low = -1, high = -1;
        for (uint64_t k = 0; k <= count; k++) {
            double kk = (double)k;
            sum += exp(lgamma(n + 1) - lgamma(kk + 1) - lgamma(n - kk + 1) + kk * log(p) + (n - kk) * log1p(-p));
            if (sum <= 0.025)
                low = (int64_t)k;
            if (high < 0 && sum >= 0.975)
                high = (int64_t)k;
        }
        low += 1, high += 1; /* X(l) with P(B < l) <= 0.025; X(u) with P(B >= u) <= 0.025 */
    } else {
        double half = 1.959964 * sqrt(n * p * (1 - p));
        low = (int64_t)floor(n * p - half);
        high = (int64_t)ceil(n * p + half) + 1;
    }
    *ret_low = low, *ret_high = high;
}

bool hdr_interval(const struct hdr *h, double p, double *ret_low, double *ret_high)
{
    int64_t low, high;
    if (h->n < 3 || h->lost)
        return false;
    interval_ranks(h->n + h->open, p, &low, &high);
    low -= (int64_t)h->open; /* were all open values among the smallest */
    if (low < 1 || high > (int64_t)h->n || high < 1)
        return false;
    *ret_low = hdr_rank(h, (uint64_t)low);
    *ret_high = hdr_rank(h, (uint64_t)high);
    return true;
}

bool hdr_may_be_open(const struct hdr *h, double p)
{
    int64_t low, high, own = (int64_t)ceil(p * (double)(h->n + h->open) - 1e-9);
    if (!h->open)
        return false;
    interval_ranks(h->n + h->open, p, &low, &high);
    return own > (int64_t)h->n || high > (int64_t)h->n || high < 1;
}

bool hdr_states(const struct hdr *h, double p)
{
    return h->n >= stats_quantile_needs(p) && !hdr_may_be_open(h, p) && !h->lost;
}

void hdr_why_not(const struct hdr *h, double p, struct buf *to)
{
    if (h->n < stats_quantile_needs(p))
        buf_printf(to, "%llu samples, %llu needed", (unsigned long long)h->n, (unsigned long long)stats_quantile_needs(p));
    else if (hdr_may_be_open(h, p))
        buf_printf(to, "%llu of %llu times are not known, and it may be one of them", (unsigned long long)h->open,
                   (unsigned long long)(h->n + h->open));
    else if (h->lost)
        buf_puts(to, "out of memory for the distribution");
}

double hdr_max(const struct hdr *h)
{
    return h->n && (!h->open || h->open_max <= h->max) ? (double)h->max : NAN;
}

bool hdr_next(const struct hdr *h, size_t *at, int64_t *ret_low, int64_t *ret_high, uint64_t *ret_count)
{
    for (size_t i = *at; h->counts && i < HDR_BUCKETS; i++)
        if (h->counts[i]) {
            *ret_low = bucket_low(i);
            *ret_high = bucket_high(i);
            *ret_count = h->counts[i];
            *at = i + 1;
            return true;
        }
    return false;
}

void hdr_print(const struct hdr *h, const char *key, struct json_out *j)
{
    json_open(j, key, '{');
    json_uint(j, "n", h->n);
    json_uint(j, "open", h->open);
    json_int(j, "open_max", h->open_max);
    if (h->n) {
        json_uint(j, "above", h->above);
        json_uint(j, "lost", h->lost);
        json_int(j, "min", h->min);
        json_int(j, "max", h->max);
        json_printf(j, "mean", "%.17g", h->mean);
        json_printf(j, "m2", "%.17g", h->m2);
        json_open(j, "buckets", '[');
        for (size_t i = 0; h->counts && i < HDR_BUCKETS; i++)
            if (h->counts[i])
                json_printf(j, NULL, "[%zu,%llu]", i, (unsigned long long)h->counts[i]);
        json_close(j, ']');
    }
    json_close(j, '}');
}

int hdr_read(struct hdr *into, const struct json *from, struct err *err)
{
    struct hdr h;
    uint64_t sum = 0;
    hdr_init(&h);
    int64_t n = json_integer(json_get(from, "n"), -1);
    if (n < 0)
        return err_set(err, ERR_INPUT, "a histogram has no count");
    hdr_add_open(into, json_integer(json_get(from, "open_max"), 0), (uint64_t)json_integer(json_get(from, "open"), 0));
    if (n == 0)
        return 0;
    if (!have_counts(&h))
        return err_memory(err, "a histogram");
    h.n = (uint64_t)n;
    h.above = (uint64_t)json_integer(json_get(from, "above"), 0);
    h.min = json_integer(json_get(from, "min"), 0);
    h.max = json_integer(json_get(from, "max"), 0);
    h.mean = json_number(json_get(from, "mean"), 0);
    h.m2 = json_number(json_get(from, "m2"), 0);
    for (const struct json *b = json_first(json_get(from, "buckets")); b; b = json_next(b)) {
        int64_t at = json_integer(json_at(b, 0), -1), count = json_integer(json_at(b, 1), -1);
        if (at < (int64_t)bucket_clipped(h.min) || at > (int64_t)bucket_clipped(h.max) || count < 0) {
            hdr_deinit(&h);
            return err_set(err, ERR_INPUT, "a histogram has a bucket that cannot be");
        }
        h.counts[at] += (uint64_t)count;
        sum += (uint64_t)count;
    }
    int64_t lost = json_integer(json_get(from, "lost"), 0);
    h.lost = lost > 0 ? (uint64_t)lost : 0;
    int status = sum + h.lost == h.n ? 0 : err_set(err, ERR_INPUT, "a histogram's buckets do not add up to its count");
    if (status == 0)
        hdr_merge(into, &h);
    hdr_deinit(&h);
    return status;
}
