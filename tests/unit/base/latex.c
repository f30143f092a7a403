/* latex.c: foreign text has no meaning in LaTeX. */
#include "base/latex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void commands_are_words(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 16);
    latex_text(&b, STR("\\input{x} $a_1^2$ 5% #1 & ~"), 100);
    assert_string_equal(b.p, "\\textbackslash{}input\\{x\\} \\$a\\_1\\textasciicircum{}2\\$ 5\\% \\#1 \\& \\textasciitilde{}");
}

static void controls_and_directions_are_written_out(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 16);
    latex_text(&b, STR("a\x1b[0m\xe2\x80\xae\xff\tb\n…"), 100);
    assert_string_equal(b.p, "a\\textbackslash{}x1b{[}0m\\textbackslash{}xe2\\textbackslash{}x80\\textbackslash{}xae\\textbackslash{}xff b \\ldots{}");
    buf_clear(&b);
    latex_text(&b, STR("abc"), 2);
    assert_string_equal(b.p, "ab...");
}

static void nothing_is_an_option_or_a_ligature(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 16);
    latex_text(&b, STR("[x]*,,"), 100);
    assert_string_equal(b.p, "{[}x{]}{*}{,}{,}");
    buf_clear(&b);
    latex_text(&b, STR("\u00e9\u4e2d\u2192"), 100);
    assert_string_equal(b.p, "\u00e9\\bwletter{4E2D}{\u4e2d}\\bwletter{2192}{\u2192}");
    buf_clear(&b);
    latex_text(&b, STR("a\xd8\x9c\xe2\x80\x8f\xe2\x80\xa8" "b"), 100); /* marks of the direction, and a separator of lines */
    assert_string_equal(b.p, "a\\textbackslash{}u061c\\textbackslash{}u200f\\textbackslash{}u2028b");
    buf_clear(&b);
    latex_text(&b, STR("a.b a_long/word.that_needs=breaks"), 100);
    assert_string_equal(b.p, "a.b a\\_\\allowbreak{}long/\\allowbreak{}word.\\allowbreak{}that\\_\\allowbreak{}needs=\\allowbreak{}breaks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_an_option_or_a_ligature), cmocka_unit_test(commands_are_words), cmocka_unit_test(controls_and_directions_are_written_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
