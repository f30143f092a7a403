/* svg.c: charts hold every mark at its place, foreign text escaped, and say so when there is nothing to draw. */
#include "base/svg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *chart(struct buf *b, const struct svg_chart *c)
{
    buf_clear(b);
    svg_write_chart(b, c);
    assert_false(b->failed);
    assert_true(str_valid_utf8(buf_text(b)));
    assert_true(str_starts(buf_text(b), "<svg ") && str_ends(buf_text(b), "</svg>\n"));
    return b->p;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static void bars_stand_on_the_axis(void **state)
{
    static const double x[] = {0, 1, 2, NAN}, x2[] = {1, 2, 3, 4}, y[] = {5, 10, 0, 3};
    struct svg_series s = {"a", SVG_BARS, x, x2, y, 4};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t =
        chart(&b, &(struct svg_chart){.title = "h", .x = {"ms", false, false}, .y = {"n", false, true}, .series = &s, .count = 1});
    /* the drawing is 668 wide (74 … 742) over x 0 … 3, 322 high (58 … 380) over y 0 … 10 */
    assert_non_null(strstr(t, "<rect x=\"74.00\" y=\"219.0\" width=\"222.67\" height=\"161.00\"/>"));
    assert_non_null(strstr(t, "<rect x=\"296.67\" y=\"58.0\" width=\"222.67\" height=\"322.00\"/>"));
    assert_int_equal(count(t, "<rect x="), 4); /* three bars, one mark of the legend */
}

static void lines_leave_gaps_and_log_axes_leave_out(void **state)
{
    static const double x[] = {1, 10, 100, 1000, 10000}, y[] = {1, 2, NAN, 4, 0};
    struct svg_series s = {NULL, SVG_LINE, x, NULL, y, 5};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t =
        chart(&b, &(struct svg_chart){.title = "h", .x = {"x", true, false}, .y = {"y", true, false}, .series = &s, .count = 1});
    assert_non_null(strstr(t, "d=\"M74.0 380.0L296.7 283.1M742.0 186.1\"")); /* log10(2) of 322 above the bottom */
}

static void steps_go_on_to_their_ends(void **state)
{
    static const double x[] = {0, 1, 2, 3}, x2[] = {1, 2, 3, 4}, y[] = {5, 10, NAN, 5};
    struct svg_series s = {NULL, SVG_STEPS, x, x2, y, 4};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t =
        chart(&b, &(struct svg_chart){.title = "h", .x = {"x", false, true}, .y = {"y", false, true}, .series = &s, .count = 1});
    assert_non_null(strstr(t, "d=\"M74.0 219.0H241.0L241.0 58.0H408.0M575.0 219.0H742.0\""));
    s.n = 1; /* a run that is over within its first slice */
    t = chart(&b, &(struct svg_chart){.title = "h", .x = {"x", false, true}, .y = {"y", false, true}, .series = &s, .count = 1});
    assert_non_null(strstr(t, "d=\"M74.0 58.0H742.0\""));
}

static void foreign_text_is_escaped(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t =
        chart(&b, &(struct svg_chart){.title = "<script>&\"\xff\x01", .note = "n", .x = {"x", false, false}, .y = {"y", false, false}});
    assert_non_null(strstr(t, "&lt;script&gt;&amp;&quot;\xef\xbf\xbd "));
    assert_non_null(strstr(t, "no values"));
    assert_null(strstr(t, "<script>"));
}

static void a_million_points_are_a_small_file(void **state)
{
    size_t n = 1000000;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    struct svg_series s = {"a", SVG_LINE, x, NULL, y, n};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 8 << 20);
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = sin((double)i / 1e5);
    }
    chart(&b, &(struct svg_chart){.title = "h", .x = {"x", false, false}, .y = {"y", false, false}, .series = &s, .count = 1});
    assert_true(b.n < 200000);
    free(x);
    free(y);
}

static void odd_ranges_do_not_hang(void **state)
{
    static const double sets[][2] = {{0, 0}, {-5, -5}, {1e308, -1e308}, {5e-324, 0}, {1e15, 1e15 + 1}, {INFINITY, 1}};
    static const double x[] = {1, 2};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int log = 0; log < 2; log++) {
            struct svg_series s[] = {
                {"p", SVG_POINTS, x, NULL, sets[i], 2}, {"s", SVG_SPANS, x, x, sets[i], 2}, {"t", SVG_STEPS, sets[i], sets[i], x, 2}};
            const char *t =
                chart(&b, &(struct svg_chart){.title = "h", .x = {"x", log, false}, .y = {"y", log, false}, .series = s, .count = 3});
            assert_null(strstr(t, "nan"));
            assert_true(b.n < 100000);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_stand_on_the_axis),
        cmocka_unit_test(lines_leave_gaps_and_log_axes_leave_out),
        cmocka_unit_test(steps_go_on_to_their_ends),
        cmocka_unit_test(foreign_text_is_escaped),
        cmocka_unit_test(a_million_points_are_a_small_file),
        cmocka_unit_test(odd_ranges_do_not_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
