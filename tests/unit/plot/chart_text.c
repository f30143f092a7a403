/* chart_text.c: charts in characters: marks, gaps, boxes and cells; nothing of foreign text reaches the terminal as it is. */
#include "plot/chart_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const char *draw_text(struct buf *b, const struct chart *c, size_t width)
{
    const struct screen screen = {.width = width};
    buf_clear(b);
    chart_text(b, c, &screen);
    assert_false(b->failed);
    assert_true(str_valid_utf8(buf_text(b)));
    for (struct str rest = buf_text(b), line; (line = str_cut(&rest, '\n')).p;)
        assert_true(screen_text_width(line) <= (width < 40 ? 40 : width));
    return b->p;
}

static void lines_fit_the_screen_and_have_marks(void **state)
{
    static const double x[] = {1, 2, 3, 4}, y[] = {1, 5, NAN, 2};
    const struct chart_series s[] = {{.name = "a", .mark = CHART_CURVE, .x = x, .y = y, .n = 4}, {.name = "b", .mark = CHART_CURVE, .x = x, .y = x, .n = 4}};
    const struct chart c = {.title = "title", .x = {.label = "nodes"}, .y = {.label = "rate", .unit = "MiB/s"}, .series = s, .count = 2};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    for (size_t width = 40; width <= 200; width += 40) {
        const char *t = draw_text(&b, &c, width);
        assert_non_null(strstr(t, "● a   ■ b"));
        assert_non_null(strstr(t, "rate, MiB/s"));
        assert_non_null(strstr(t, "1 left out"));
    }
}

static void boxes_print_median_and_number(void **state)
{
    static const double one[] = {1, 2, 3, 4, 90}, lane0[] = {1, 1, 1, 1, 1}, two[] = {50}, lane1[] = {0};
    static const char *const names[] = {"late", "early"}, *const labels[] = {NULL, NULL, NULL, NULL, "node7"};
    const struct chart_series s[] = {{.name = "early", .mark = CHART_BOX, .x = one, .y = lane0, .n = 5, .labels = labels, .named = true},
                                     {.name = "late", .mark = CHART_BOX, .x = two, .y = lane1, .n = 1}};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw_text(&b, &(struct chart){.title = "t", .x = {.label = "v"}, .y = {.names = names, .count = 2}, .series = s, .count = 2}, 80);
    const char *early = strstr(t, "early"), *late = strstr(t, "late");
    assert_true(early && late && early < late); /* the greatest lane is at the top */
    assert_non_null(strstr(t, "3  5\n"));
    assert_non_null(strstr(t, "50  1\n"));
    assert_non_null(strstr(t, "node7 90"));
}

static void cells_print_values_and_what_is_missing(void **state)
{
    static const double x[] = {0, 1, 0, 1}, y[] = {0, 0, 1, 1}, v[] = {10, 20, 30, NAN};
    static const char *const across[] = {"4k", "8k"}, *const up[] = {"read", "write"};
    const struct chart_series s = {.mark = CHART_CELLS, .x = x, .y = y, .y2 = v, .n = 4};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw_text(&b, &(struct chart){.title = "t", .x = {.label = "bs", .names = across, .count = 2}, .y = {.label = "mode", .names = up, .count = 2},
                                                  .shade = {.label = "rate"}, .series = &s, .count = 1}, 80);
    assert_non_null(strstr(t, "mode over bs: rate"));
    assert_non_null(strstr(t, "10 "));
    assert_non_null(strstr(t, "30 █"));
    assert_non_null(strstr(t, "write"));
    assert_non_null(strstr(t, " - "));
}

static void bars_fill_from_below(void **state)
{
    static const double x[] = {0, 1}, x2[] = {1, 2}, y[] = {1, 10};
    const struct chart_series s = {.mark = CHART_BARS, .x = x, .x2 = x2, .y = y, .n = 2};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw_text(&b, &(struct chart){.title = "t", .y = {.label = "n", .zero = true}, .series = &s, .count = 1}, 60);
    assert_non_null(strstr(t, "██████"));
}

static void foreign_text_is_harmless(void **state)
{
    static const double v[] = {1};
    static const char *const names[] = {"\x1b[31mred\xff"};
    const struct chart_series s = {.name = "\x1b]0;x\x07", .mark = CHART_BOX, .x = v, .y = v, .n = 1};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    const char *t = draw_text(&b, &(struct chart){.title = "a\x1b[2Jb", .note = "\n\x1b", .x = {.label = "\x9b"}, .y = {.names = names, .count = 1}, .series = &s, .count = 1,
                                                  .left_out = 1, .left_why = "\x1b[0m"}, 80);
    assert_null(strchr(t, '\x1b'));
    assert_null(strchr(t, '\x07'));
    assert_non_null(strstr(t, "a\\x1b[2Jb"));
}

static void nothing_to_draw_is_said(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    assert_non_null(strstr(draw_text(&b, &(struct chart){.title = "t"}, 80), "no values"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_fit_the_screen_and_have_marks), cmocka_unit_test(boxes_print_median_and_number),
        cmocka_unit_test(cells_print_values_and_what_is_missing), cmocka_unit_test(bars_fill_from_below),
        cmocka_unit_test(foreign_text_is_harmless), cmocka_unit_test(nothing_to_draw_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
