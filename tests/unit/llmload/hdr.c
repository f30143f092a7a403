/* hdr.c: histograms give ranks, moments, intervals and least samples; merging is adding; printing and reading back changes nothing. */
#include "benchmarks/native/llmload/hdr.h"

#include "base/json.h"
#include "benchmarks/native/llmload/metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

static bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b) + 1e-9;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void ranks_are_those_of_the_sorted_values(void **state)
{
    enum { N = 20000 };
    static int64_t v[N];
    struct hdr h, parts[2];
    double sum = 0;
    uint64_t x = 7;
    (void)state;
    hdr_init(&h), hdr_init(&parts[0]), hdr_init(&parts[1]);
    for (int i = 0; i < N; i++) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        v[i] = (int64_t)(x >> (24 + i % 30));
        sum += (double)v[i];
        hdr_add(&h, v[i]);
        hdr_add(&parts[i % 2], v[i]);
    }
    qsort(v, N, sizeof *v, by_value);
    hdr_merge(&parts[0], &parts[1]);
    static const double p[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        double truth = (double)v[(int)ceil(p[i] * N) - 1];
        assert_true(near(hdr_quantile(&h, p[i]), truth, 1.0 / 1024));
        assert_true(hdr_quantile(&h, p[i]) == hdr_quantile(&parts[0], p[i]));
    }
    assert_true(near(h.mean, sum / N, 1e-9) && near(parts[0].mean, h.mean, 1e-9) && near(hdr_sd(&parts[0]), hdr_sd(&h), 1e-9));
    assert_int_equal(h.min, v[0]);
    assert_int_equal(h.max, v[N - 1]);
    struct buf b CLEANUP_BUF;
    struct json *j;
    struct hdr back;
    struct err err;
    buf_init(&b, 16 << 20);
    hdr_init(&back);
    struct json_out out = {.to = &b, .layout = JSON_TIGHT};
    hdr_print(&h, NULL, &out);
    assert_int_equal(json_parse(&j, buf_text(&b), NULL, &err), 0);
    assert_int_equal(hdr_read(&back, j, &err), 0);
    assert_true(back.n == h.n && back.min == h.min && back.max == h.max && hdr_quantile(&back, 0.99) == hdr_quantile(&h, 0.99));
    json_free(j);
    hdr_deinit(&h), hdr_deinit(&parts[0]), hdr_deinit(&parts[1]), hdr_deinit(&back);
}

static void damaged_ones_are_refused(void **state)
{
    static const char *const bad[] = {"{}", "{\"n\":-1}", "{\"n\":2,\"buckets\":[[1,1]]}", "{\"n\":1,\"buckets\":[[999999999,1]]}",
                                      "{\"n\":1,\"buckets\":[[-1,1]]}"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hdr h;
        struct json *j;
        struct err err;
        hdr_init(&h);
        assert_int_equal(json_parse(&j, str_of(bad[i]), NULL, &err), 0);
        assert_int_equal(hdr_read(&h, j, &err), -1);
        assert_int_equal(h.n, 0);
        json_free(j);
        hdr_deinit(&h);
    }
}

/* 1,000 values of which the greatest 30 are not known: the percentiles that may be among them are not stated, and the others' intervals hold them. */
static void open_values_are_no_lower_tail(void **state)
{
    (void)state;
    struct hdr h, sum, back;
    struct err err = {0};
    struct json *j;
    double low, high;
    struct buf b CLEANUP_BUF;
    buf_init(&b, 1 << 20);
    hdr_init(&h), hdr_init(&sum), hdr_init(&back);
    for (int i = 1; i <= 970; i++)
        hdr_add(&h, i);
    hdr_add_open(&sum, 1000, 30);
    hdr_merge(&sum, &h);
    struct json_out out = {.to = &b, .layout = JSON_TIGHT};
    hdr_print(&sum, NULL, &out);
    assert_int_equal(json_parse(&j, buf_text(&b), NULL, &err), 0);
    assert_int_equal(hdr_read(&back, j, &err), 0);
    json_free(j);
    assert_true(back.n == 970 && back.open == 30 && back.open_max == 1000);
    assert_false(hdr_states(&back, 0.99)); /* truly 990 */
    assert_false(hdr_states(&back, 0.999));
    assert_true(isnan(hdr_max(&back)));
    buf_clear(&b);
    hdr_why_not(&back, 0.99, &b);
    assert_string_equal(b.p, "30 of 1000 times are not known, and it may be one of them");
    assert_true(hdr_states(&back, 0.9) && hdr_interval(&back, 0.9, &low, &high));
    assert_true(low <= 870 && high >= 900); /* 900 were the open ones the greatest, 870 were they the least */
    assert_true(hdr_states(&h, 0.99) && hdr_max(&h) == 970);
    hdr_add_open(&h, 969, 1); /* below the known maximum */
    assert_true(hdr_max(&h) == 970);
    assert_true(isnan(hdr_mean(&back)) && fabs(hdr_mean(&h) - 485.5) < 1e-9); /* 30 of 1000 could add 15, one of 971 half of one */
    hdr_add_open(&h, 6000, 1); /* 11 more */
    assert_true(isnan(hdr_mean(&h)));
    hdr_deinit(&h), hdr_deinit(&sum), hdr_deinit(&back);
}

/* The interval holds the true median in about 95 of 100 samples. */
static void intervals_cover(void **state)
{
    int held = 0;
    uint64_t x = 1;
    (void)state;
    for (int run = 0; run < 400; run++) {
        struct hdr h;
        double low, high;
        hdr_init(&h);
        for (int i = 0; i < 101; i++) {
            x = x * 6364136223846793005U + 1442695040888963407U;
            hdr_add(&h, (int64_t)((x >> 33) % 2000)); /* its median is 999.5 */
        }
        assert_true(hdr_interval(&h, 0.5, &low, &high));
        held += low <= 999.5 && 999.5 <= high;
        hdr_deinit(&h);
    }
    assert_true(held > 400 * 90 / 100 && held < 400);
}

static void a_merged_series_keeps_its_sums(void **state)
{
    struct metrics a, b;
    struct err err;
    (void)state;
    assert_int_equal(metrics_init(&a, &err), 0);
    assert_int_equal(metrics_init(&b, &err), 0);
    series_at(&a.series, 50000000)->tokens += 3;
    series_at(&b.series, (int64_t)10000 * 1000000000)->tokens += 4; /* needs wider buckets */
    series_in_flight(&b.series, 0, (int64_t)7 * 1000000000);
    metrics_merge(&a, &b);
    uint64_t tokens = 0, flying = 0;
    for (size_t i = 0; i < a.series.n; i++)
        tokens += a.series.b[i].tokens, flying += a.series.b[i].in_flight_ns;
    assert_int_equal(tokens, 7);
    assert_int_equal(flying, (uint64_t)7 * 1000000000);
    metrics_deinit(&a);
    metrics_deinit(&b);
}

#ifndef __SANITIZE_ADDRESS__ /* its allocator ends the process */
/* Values that came while memory was short are in no bucket: ranks of the others would be those of a part. */
static void values_without_memory_leave_no_percentiles(void **state)
{
    struct rlimit all, none = {0, RLIM_INFINITY};
    struct hdr h, sum;
    struct buf why CLEANUP_BUF;
    (void)state;
    hdr_init(&h), hdr_init(&sum);
    buf_init(&why, 200);
    assert_int_equal(getrlimit(RLIMIT_AS, &all), 0);
    none.rlim_max = all.rlim_max;
    void *filler[64]; /* what the heap has left */
    for (size_t i = 0; i < 64; i++)
        filler[i] = malloc(i < 32 ? 1 << 18 : 1 << 13);
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    hdr_add_many(&h, 9000000, 90);
    assert_int_equal(setrlimit(RLIMIT_AS, &all), 0);
    for (size_t i = 0; i < 64; i++)
        free(filler[i]);
    hdr_add_many(&h, 1000000, 10);
    hdr_add_many(&sum, 1000000, 5);
    hdr_merge(&sum, &h);
    assert_true(near(h.mean, 8200000, 1e-9));
    assert_false(hdr_states(&h, 0.5) || hdr_states(&sum, 0.5));
    assert_true(isnan(hdr_quantile(&h, 0.5)) && isnan(hdr_quantile(&sum, 0.5)));
    hdr_why_not(&sum, 0.5, &why);
    assert_string_equal(why.p, "out of memory for the distribution");
    hdr_deinit(&h), hdr_deinit(&sum);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_those_of_the_sorted_values),
        cmocka_unit_test(damaged_ones_are_refused),
        cmocka_unit_test(open_values_are_no_lower_tail),
        cmocka_unit_test(intervals_cover),
        cmocka_unit_test(a_merged_series_keeps_its_sums),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(values_without_memory_leave_no_percentiles),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
