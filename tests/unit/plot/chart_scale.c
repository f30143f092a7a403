/* chart_scale.c: limits and ticks that people read, boxes, and lines that keep their extremes. */
#include "plot/chart_scale.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *ticks_of(const struct chart_axis *axis, double low, double high, int wanted, struct buf *b)
{
    const double x[] = {low, high}, y[] = {1, 2};
    const struct chart_series s = {.mark = CHART_POINTS, .x = x, .y = y, .n = 2};
    struct chart c = {.title = "t", .x = *axis, .series = &s, .count = 1};
    struct chart_scale sx, sy;
    struct chart_ticks t;
    assert_true(chart_scales(&c, wanted, 4, &sx, &sy));
    chart_scale_ticks(&sx, wanted, &t);
    buf_clear(b);
    for (size_t i = 0; i < t.n; i++) {
        buf_puts(b, i ? " | " : "");
        chart_tick_text(&sx, &t, t.at[i], 20, b);
    }
    return b->p;
}

static void ticks_are_round(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 4096);
    assert_string_equal(ticks_of(&(struct chart_axis){.zero = true}, 3, 97, 5, &b), "0 | 20 | 40 | 60 | 80");
    assert_string_equal(ticks_of(&(struct chart_axis){.log = true}, 0.9, 1100, 6, &b), "1 | 10 | 100 | 1000");
    assert_string_equal(ticks_of(&(struct chart_axis){.log = true, .two = true}, 1024, 65536, 8, &b), "1 Ki | 2 Ki | 4 Ki | 8 Ki | 16 Ki | 32 Ki | 64 Ki");
    assert_string_equal(ticks_of(&(struct chart_axis){.nines = true}, 0.5, 0.999, 6, &b), "0 % | 50 % | 90 % | 99 % | 99.9 %");
    assert_string_equal(ticks_of(&(struct chart_axis){.time = true}, 1795785212501.0, 1795785212501.0 + 3 * 86400e3, 5, &b),
                        "28 Nov | 29 Nov | 30 Nov");
}

static void a_box_has_quartiles_and_whiskers(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5, 100, NAN}, lane[] = {0};
    const struct chart_series s = {.mark = CHART_BOX, .x = x, .y = lane, .n = 7};
    const struct chart c = {.title = "t", .series = &s, .count = 1};
    struct chart_box b;
    (void)state;
    assert_true(chart_box_of(&c, &s, &b));
    assert_int_equal(b.n, 6);
    assert_true(b.median == 3.5 && b.low == 2.25 && b.high == 4.75);
    assert_true(b.from == 1 && b.to == 5); /* 100 is beyond */
}

static void a_reduced_line_keeps_minimum_maximum_and_gaps(void **state)
{
    enum { N = 10000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), low = INFINITY, high = -INFINITY;
    const struct chart_series s = {.mark = CHART_LINE, .x = x, .y = y, .n = N};
    const struct chart c = {.title = "t", .series = &s, .count = 1};
    struct chart_scale sx, sy;
    struct chart_path p;
    size_t gaps = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i;
        y[i] = (double)(i % 7);
    }
    y[1234] = -50, y[8765] = 60, y[5000] = NAN;
    assert_true(chart_scales(&c, 5, 5, &sx, &sy));
    sx.from = 0, sx.to = 100, sy.from = 0, sy.to = 100;
    assert_true(chart_path_of(&c, &s, y, &sx, &sy, 100, &p));
    assert_true(p.n < 1000);
    for (size_t i = 0; i < p.n; i++) {
        gaps += isnan(p.y[i]);
        low = fmin(low, p.y[i]), high = fmax(high, p.y[i]);
    }
    assert_int_equal(gaps, 1);
    assert_true(fabs(low - chart_scale_position(&sy, -50)) < 1e-9 && fabs(high - chart_scale_position(&sy, 60)) < 1e-9);
    chart_path_deinit(&p);
    free(x);
    free(y);
}

static void an_axis_states_unit_and_direction(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 4096);
    chart_axis_text(&(struct chart_axis){.label = "read.clat", .unit = "us", .better = CHART_LOWER}, &b);
    assert_string_equal(b.p, "read.clat, us (lower is better)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(a_box_has_quartiles_and_whiskers),
        cmocka_unit_test(a_reduced_line_keeps_minimum_maximum_and_gaps),
        cmocka_unit_test(an_axis_states_unit_and_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
