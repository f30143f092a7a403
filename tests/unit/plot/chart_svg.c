/* chart_svg.c: charts hold every mark at its place and no line over a missing value; foreign text is escaped. */
#include "plot/chart_svg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *draw(struct buf *b, const struct chart *c)
{
    buf_clear(b);
    chart_svg(b, c);
    assert_false(b->failed);
    assert_true(str_valid_utf8(buf_text(b)));
    assert_true(str_starts(buf_text(b), "<svg ") && str_ends(buf_text(b), "</svg>\n"));
    assert_null(strstr(b->p, "nan"));
    assert_null(strstr(b->p, "inf"));
    return b->p;
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static void no_line_joins_over_a_missing_value(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 2, NAN, 4, 5};
    const struct chart_series s = {.mark = CHART_LINE, .x = x, .y = y, .n = 5};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw(&b, &(struct chart){.title = "t", .series = &s, .count = 1}), *path = strstr(t, "<path class=\"l ");
    assert_non_null(path);
    path = strstr(path, " d=\"");
    assert_int_equal(count_of(str_of(path).p, "M") > 1, 1); /* a second piece */
    assert_non_null(strstr(t, "1 left out: 1 not finite or not possible on this axis"));
}

static void a_single_value_between_gaps_is_drawn(void **state)
{
    static const double x[] = {1, 2, 3}, y[] = {NAN, 2, NAN};
    const struct chart_series s = {.mark = CHART_LINE, .x = x, .y = y, .n = 3};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    assert_non_null(strstr(draw(&b, &(struct chart){.title = "t", .series = &s, .count = 1}), "h0\"/>"));
}

static void words_of_the_caller_explain_what_is_missing(void **state)
{
    static const double x[] = {1, 2, 3}, y[] = {1, NAN, -5};
    const struct chart_series s = {.mark = CHART_POINTS, .x = x, .y = y, .n = 3};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const struct chart c = {.title = "t", .y = {.log = true}, .series = &s, .count = 1, .left_out = 3, .left_why = "2 <failed>, 1 without it"};
    assert_int_equal(chart_left_out(&c), 4); /* and one that is below zero */
    assert_non_null(strstr(draw(&b, &c), "4 left out: 2 &lt;failed&gt;, 1 without it, 1 not finite or not possible on this axis"));
}

static void bars_stand_on_the_axis(void **state)
{
    static const double x[] = {0, 1, 2, NAN}, x2[] = {1, 2, 3, 4}, y[] = {5, 10, 0, 3};
    const struct chart_series s = {.name = "a", .mark = CHART_BARS, .x = x, .x2 = x2, .y = y, .n = 4};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw(&b, &(struct chart){.title = "h", .x = {.zero = true}, .y = {.zero = true}, .series = &s, .count = 1}), *bars = strstr(t, "<g class=\"bar");
    assert_non_null(bars);
    assert_int_equal(count_of(bars, "<rect x="), 2); /* the empty bin and the one without a place are none */
    assert_non_null(strstr(bars, "height=\"280.00\""));
    assert_non_null(strstr(bars, "height=\"140.00\""));
}

static void foreign_text_is_escaped(void **state)
{
    static const double v[] = {1};
    static const char *const labels[] = {"</title><script>"}, *const names[] = {"<b>"};
    const struct chart_series s = {.name = "<i>\xff", .mark = CHART_BOX, .x = v, .y = v, .n = 1, .labels = labels, .named = true};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw(&b, &(struct chart){.title = "<script>&\"\x01\xe2\x80\xae", .note = "<n>", .x = {.label = "<x>", .unit = "<u>"},
                                             .y = {.label = "<y>", .names = names, .count = 1}, .series = &s, .count = 1});
    assert_non_null(strstr(t, "&lt;script&gt;&amp;&quot;\\x01\\u202e"));
    assert_null(strstr(t, "<script>"));
    assert_null(strstr(t, "<b>"));
    assert_null(strstr(t, "<i>"));
    assert_null(strstr(t, "<x>"));
    assert_non_null(strstr(t, "&lt;u&gt;"));
}

static void nothing_to_draw_is_said(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    assert_non_null(strstr(draw(&b, &(struct chart){.title = "t"}), "no values"));
}

static void many_points_are_a_small_file_and_keep_their_extremes(void **state)
{
    size_t n = 100000;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    struct chart_series s = {.name = "a", .mark = CHART_LINE, .x = x, .y = y, .n = n};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 8 << 20);
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = (double)(i * 7919 % 1000);
    }
    y[50007] = 1000; /* alone at the top of the axis */
    draw(&b, &(struct chart){.title = "h", .y = {.zero = true}, .series = &s, .count = 1});
    assert_true(b.n < 60000);
    s.mark = CHART_POINTS;
    draw(&b, &(struct chart){.title = "h", .y = {.zero = true}, .series = &s, .count = 1});
    assert_true(b.n < 1 << 20);
    free(x);
    free(y);
}

static void marks_and_dashes_differ_in_grey(void **state)
{
    static const double x[] = {1, 2}, y[] = {1, 2};
    const struct chart_series s[] = {{.name = "a", .mark = CHART_CURVE, .x = x, .y = y, .n = 2}, {.name = "b", .mark = CHART_CURVE, .x = x, .y = y, .n = 2}};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw(&b, &(struct chart){.title = "h", .series = s, .count = 2});
    assert_non_null(strstr(t, "\"l s0 d0\""));
    assert_non_null(strstr(t, "\"l s1 d1\""));
    assert_non_null(strstr(t, "prefers-color-scheme:dark"));
}

static void axes_carry_unit_and_direction(void **state)
{
    static const double x[] = {1, 2}, y[] = {1, 2};
    const struct chart_series s = {.mark = CHART_CURVE, .x = x, .y = y, .n = 2};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw(&b, &(struct chart){.title = "h", .y = {.label = "write.bw", .unit = "MiB/s", .better = CHART_HIGHER}, .series = &s, .count = 1});
    assert_non_null(strstr(t, "write.bw, MiB/s (higher is better)"));
}

static void odd_ranges_do_not_hang(void **state)
{
    static const double sets[][2] = {{0, 0}, {-5, -5}, {1e308, -1e308}, {5e-324, 0}, {1e15, 1e15 + 1}, {INFINITY, 1}, {1e-300, 1e300}};
    static const double x[] = {1, 2};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int log = 0; log < 4; log++) {
            const struct chart_series s[] = {{.name = "p", .mark = CHART_POINTS, .x = x, .y = sets[i], .n = 2},
                                             {.name = "s", .mark = CHART_SPANS, .x = x, .x2 = x, .y = sets[i], .n = 2},
                                             {.name = "w", .mark = CHART_WHISKERS, .x = x, .y = sets[i], .y2 = sets[i], .n = 2},
                                             {.name = "t", .mark = CHART_STEPS, .x = sets[i], .x2 = sets[i], .y = x, .n = 2}};
            draw(&b, &(struct chart){.title = "h", .x = {.log = log & 1, .time = log == 2}, .y = {.log = log & 1, .two = log == 3, .nines = log == 2}, .series = s, .count = 4});
            assert_true(b.n < 100000);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_joins_over_a_missing_value),
        cmocka_unit_test(a_single_value_between_gaps_is_drawn),
        cmocka_unit_test(words_of_the_caller_explain_what_is_missing),
        cmocka_unit_test(bars_stand_on_the_axis),
        cmocka_unit_test(foreign_text_is_escaped),
        cmocka_unit_test(nothing_to_draw_is_said),
        cmocka_unit_test(many_points_are_a_small_file_and_keep_their_extremes),
        cmocka_unit_test(marks_and_dashes_differ_in_grey),
        cmocka_unit_test(axes_carry_unit_and_direction),
        cmocka_unit_test(odd_ranges_do_not_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
