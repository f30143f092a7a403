/* buf.c: text being built: bounds that stick, JSON strings, doubles that read back, text made harmless. */
#include "base/buf.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void the_bound_sticks(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 5);
    buf_puts(&b, "abc");
    buf_puts(&b, "defg");
    assert_true(b.failed);
    buf_puts(&b, "x");
    assert_string_equal(b.p, "abc");
    buf_clear(&b);
    assert_false(b.failed);
    buf_puts(&b, "12345");
    assert_false(b.failed);
    buf_putc(&b, '6');
    assert_true(b.failed);
    assert_null(buf_room(&b, 1));
    buf_clear(&b);
    buf_printf(&b, "%s", "ab");
    buf_printf(&b, "%d", 12345);
    assert_true(b.failed);
    assert_string_equal(b.p, "ab");
}

static void growing_keeps_the_text(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 1 << 20);
    for (int i = 0; i < 10000; i++)
        buf_printf(&b, "%05d", i);
    assert_int_equal(b.n, 50000);
    for (int i = 0; i < 10000; i++)
        assert_true(atoi((char[]){b.p[5 * i], b.p[5 * i + 1], b.p[5 * i + 2], b.p[5 * i + 3], b.p[5 * i + 4], 0}) == i);
    assert_int_equal(b.p[b.n], 0);
    struct buf none CLEANUP_BUF;
    buf_init(&none, 10);
    assert_int_equal(buf_text(&none).n, 0);
    assert_non_null(buf_text(&none).p);
}

static void json_strings(void **state)
{
    static const struct { struct str text; const char *json; } rows[] = {
        {{"plain", 5}, "\"plain\""}, {{"q\"b\\", 4}, "\"q\\\"b\\\\\""}, {{"\n\t\r", 3}, "\"\\n\\t\\r\""}, {{"\0\x01\x7f", 3}, "\"\\u0000\\u0001\\u007f\""},
        {{"\xc2\x85", 2}, "\"\\u0085\""}, {{"\xc3\xbc\xf0\x9f\x98\x80", 6}, "\"\xc3\xbc\xf0\x9f\x98\x80\""}, {{"a\xff" "b\xc3", 4}, "\"a\xef\xbf\xbd" "b\xef\xbf\xbd\""},
        {{"\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", 9}, "\"\\ufffe\\uffff\xef\xbf\xbd\""}, {{"a\xe2\x80\xae\xd8\x9c", 6}, "\"a\\u202e\\u061c\""}, {{"\xed\xa0\x80", 3}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, {{"", 0}, "\"\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 1000);
        buf_json(&b, rows[i].text);
        if (strcmp(b.p, rows[i].json) != 0)
            fail_msg("row %zu: %s", i, b.p);
    }
}

static void doubles_read_back(void **state)
{
    static const struct { double v; const char *text; } rows[] = {
        {0, "0"}, {1, "1"}, {0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"}, {1e15, "1e+15"}, {123456, "123456"}, {-2.5, "-2.5"}, {DBL_MAX, "1.7976931348623157e+308"}, {5e-324, "4.94065645841247e-324"},
        {NAN, "NaN"}, {INFINITY, "Infinity"}, {-INFINITY, "-Infinity"}, {-0.0, "-0"},
    };
    unsigned seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 100);
        buf_double(&b, rows[i].v);
        if (strcmp(b.p, rows[i].text) != 0)
            fail_msg("%s, wanted %s", b.p, rows[i].text);
    }
    for (int i = 0; i < 50000; i++) {
        union { uint64_t u; double d; } v = {.u = (uint64_t)rand_r(&seed) << 42 ^ (uint64_t)rand_r(&seed) << 21 ^ (uint64_t)rand_r(&seed)};
        struct buf b CLEANUP_BUF = {0};
        if (!isfinite(v.d))
            continue;
        buf_init(&b, 100);
        buf_double(&b, v.d);
        assert_true(strtod(b.p, NULL) == v.d);
    }
}

static void plain_text_is_harmless(void **state)
{
    static const struct { struct str text; size_t max; const char *plain; } rows[] = {
        {{"abc", 3}, 10, "abc"}, {{"abc", 3}, 2, "ab..."}, {{"\x1b[31m", 5}, 10, "\\x1b[31m"}, {{"a\nb", 3}, 10, "a\\x0ab"}, {{"\xc2\x9b", 2}, 10, "\\x9b"}, {{"\xff", 1}, 10, "\\xff"},
        {{"\xc3\xbc\xc3\xbc\xc3\xbc", 6}, 2, "\xc3\xbc\xc3\xbc..."}, {{"\0", 1}, 5, "\\x00"}, {{"a\xe2\x80\xae" "b", 5}, 9, "a\\u202eb"}, {{"\xd8\x9c", 2}, 9, "\\u061c"}, {{"\xe2\x81\xa9\xe2\x80\xa6", 6}, 9, "\\u2069\xe2\x80\xa6"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 100);
        buf_plain(&b, rows[i].text, rows[i].max);
        if (strcmp(b.p, rows[i].plain) != 0)
            fail_msg("row %zu: %s", i, b.p);
    }
    struct buf b CLEANUP_BUF;
    buf_init(&b, 100);
    buf_utf8(&b, (struct str){"a\0\xff\xc3\xbc", 5});
    assert_string_equal(b.p, "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xbc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_sticks), cmocka_unit_test(growing_keeps_the_text), cmocka_unit_test(json_strings), cmocka_unit_test(doubles_read_back), cmocka_unit_test(plain_text_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
