/* html_out.c: foreign text cannot leave its place in HTML or SVG. */
#include "base/html_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void markup_is_escaped(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 16);
    html_text(&b, STR("<script>alert('x')</script> & \"y\""), 100);
    assert_string_equal(b.p, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;");
}

static void controls_and_directions_are_written_out(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 16);
    html_text(&b, STR("a\x1b[31m\n\t\xe2\x80\xae" "b\xff\x7f\xc2\x85\xe2\x81\xa6ü\xef\xbf\xbf"), 100);
    assert_string_equal(b.p, "a\\x1b[31m  \\u202eb\\xff\\x7f\\x85\\u2066ü\\uffff");
    assert_true(str_valid_utf8(buf_text(&b)));
}

static void a_long_text_is_cut_visibly(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 16);
    html_text(&b, STR("<<<<"), 2);
    assert_string_equal(b.p, "&lt;&lt;…");
    buf_clear(&b);
    html_text(&b, STR("äö"), 2);
    assert_string_equal(b.p, "äö");
}

static void lines_keep_their_ends_and_lose_colours(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 16);
    html_lines(&b, STR("\x1b[1;31mred\x1b[0m\r\n\tx\x1b[2J<\r\x1b[3"));
    assert_string_equal(b.p, "red\n\tx\\x1b[2J&lt;\\x0d\\x1b[3");
}

static void a_path_names_no_scheme(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 16);
    html_path(&b, "javascript:alert(1)");
    assert_string_equal(b.p, "./javascript%3Aalert%281%29");
    buf_clear(&b);
    html_link(&b, "runs/a b\".html", "<x>");
    assert_string_equal(b.p, "<a href=\"runs/a%20b%22.html\">&lt;x&gt;</a>");
    buf_clear(&b);
    html_element(&b, "h2", "c", "a<b");
    html_element(&b, "p", NULL, "t");
    assert_string_equal(b.p, "<h2 class=\"c\">a&lt;b</h2>\n<p>t</p>\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(controls_and_directions_are_written_out),
        cmocka_unit_test(a_long_text_is_cut_visibly),
        cmocka_unit_test(lines_keep_their_ends_and_lose_colours),
        cmocka_unit_test(a_path_names_no_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
