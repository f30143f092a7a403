/* screen.c (test): widths of text, broken lines, the prefix on terminals and in logs, colours. */
#include "base/screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static void widths_are_those_of_a_terminal(void **state)
{
    static const struct { const char *text; size_t width; } rows[] = {
        {"", 0}, {"abc", 3}, {"\xc3\xa4", 1}, {"e\xcc\x81", 1}, {"\xe6\xbc\xa2\xe5\xad\x97", 4}, {"\xf0\x9f\x98\x80", 2}, {"\xff", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(screen_text_width(str_of(rows[i].text)), rows[i].width);
}

static void a_cut_is_visible(void **state)
{
    struct buf b;
    (void)state;
    buf_init(&b, 4096);
    screen_clip(&b, STR("one two three"), 9);
    assert_string_equal(b.p, "one two …");
    buf_clear(&b);
    screen_clip_middle(&b, STR("memory.read_bandwidth_MiB_per_s"), 15);
    assert_string_equal(b.p, "memory.…B_per_s");
    buf_deinit(&b);
}

static void lines_break_at_blanks(void **state)
{
    static const struct { size_t width, first, indent; const char *text, *shown; } rows[] = {
        {SIZE_MAX, 4, 2, "one two three", "one two three"},
        {12, 4, 2, "one two three four", "one two\n  three four"},
        {20, 0, 4, "a-name-that-is-longer-than-the-screen x", "a-name-that-is-longer-than-the-screen\n    x"},
        {20, 0, 0, "", ""},
    };
    struct buf b;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct screen s = {.width = rows[i].width};
        buf_init(&b, 4096);
        screen_wrap(&s, str_of(rows[i].text), rows[i].first, rows[i].indent, &b);
        assert_string_equal(b.p ? b.p : "", rows[i].shown);
        buf_deinit(&b);
    }
}

static void the_prefix_stands_once_or_on_every_line(void **state)
{
    static const char text[] = "fio finished\n\n  write.bw 1\n\n  run x\n";
    struct screen terminal = {.width = 80, .is_terminal = true}, log = {.width = SIZE_MAX};
    struct buf b;
    (void)state;
    buf_init(&b, 4096);
    screen_prefix(&terminal, "benchwrap", STR(text), &b);
    assert_string_equal(b.p, "benchwrap: fio finished\n\n  write.bw 1\n\n  run x\n");
    buf_clear(&b);
    screen_prefix(&log, "benchwrap", STR(text), &b);
    assert_string_equal(b.p, "benchwrap: fio finished\nbenchwrap:   write.bw 1\nbenchwrap:   run x\n");
    buf_deinit(&b);
}

static void colours_are_left_out_without_a_terminal(void **state)
{
    struct screen none = {.width = SIZE_MAX}, coloured = {.width = 80, .is_terminal = true, .has_colour = true};
    struct buf b;
    (void)state;
    buf_init(&b, 4096);
    screen_puts(&none, STYLE_BAD, "worse", &b);
    screen_puts(&coloured, STYLE_PLAIN, " plain ", &b);
    screen_puts(&coloured, STYLE_BAD, "worse", &b);
    assert_string_equal(b.p, "worse plain \033[31mworse\033[0m");
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_those_of_a_terminal),
        cmocka_unit_test(a_cut_is_visible),
        cmocka_unit_test(lines_break_at_blanks),
        cmocka_unit_test(the_prefix_stands_once_or_on_every_line),
        cmocka_unit_test(colours_are_left_out_without_a_terminal),
    };
    return cmocka_run_group_tests_name("base/screen", tests, NULL, NULL);
}
