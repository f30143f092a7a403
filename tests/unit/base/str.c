/* str.c: borrowed text: cutting, trimming, numbers, durations, sizes, UTF-8. */
#include "base/str.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void cutting_and_trimming(void **state)
{
    struct str rest = STR("a,,b");
    (void)state;
    assert_true(str_is(str_cut(&rest, ','), "a"));
    assert_true(str_is(str_cut(&rest, ','), ""));
    assert_non_null(rest.p);
    assert_true(str_is(str_cut(&rest, ','), "b"));
    assert_null(rest.p);
    rest = STR("  one\ttwo\n");
    assert_true(str_is(str_word(&rest), "one"));
    assert_true(str_is(str_word(&rest), "two"));
    assert_int_equal(str_word(&rest).n, 0);
    assert_true(str_is(str_trim(STR(" \t x y \r\n")), "x y"));
    assert_true(str_is(str_trim(STR("  ")), ""));
    assert_true(str_is_anycase(STR("Content-TYPE"), "content-type"));
    assert_true(str_is_anycase(STR(""), ""));
    assert_false(str_is_anycase(STR("date"), "dat") || str_is_anycase(STR("dat"), "date") || str_is_anycase(STR("d[te"), "d{te"));
    assert_true(str_is(str_sub(STR("abc"), 1, 99), "bc"));
    assert_true(str_is(str_sub(STR("abc"), 9, 1), ""));
    assert_true(str_starts(STR("abc"), "ab") && !str_starts(STR("a"), "ab") && str_ends(STR("abc"), "bc") && str_has(STR("abc"), "b"));
    assert_int_equal(str_find(STR("abcb"), STR("b")), 1);
    assert_int_equal(str_find(STR("abc"), STR("x")), -1);
    assert_true(str_cmp(STR("a"), STR("ab")) < 0 && str_cmp(STR("b"), STR("ab")) > 0 && str_cmp(STR("a"), STR("a")) == 0);
    assert_int_equal(str_of(NULL).n, 0);
}

static void natural(void **state)
{
    /* Whatever they are, their order is total. */
    static const char *const rows[] = {"",         "0.05",  "0.5",    "1",          "01",          "1.5", "1.10.2",  "2",      "4k",
                                       "4K",       "4KiB",  "1m",     "2g",         "a",           "b",   "b4.rate", "b16",    "b16.bw",
                                       "b16.rate", "b16x2", "b16x10", "b1024",      "b4kbytes",    "b4k", "b4096",   "b8kind", "b1m.rate",
                                       "c",        "p99",   "p999",   "rank-2.log", "rank-10.log", "é"};
    const char *sorted[sizeof rows / sizeof *rows];
    enum { N = sizeof rows / sizeof *rows };
    (void)state;
    for (size_t i = 0; i < N; i++)
        sorted[i] = rows[(i * 7) % N];
    qsort(sorted, N, sizeof *sorted, str_natural_order);
    for (size_t i = 0; i + 1 < N; i++)
        if (str_natural(sorted[i], sorted[i + 1]) >= 0 || str_natural(sorted[i + 1], sorted[i]) <= 0)
            fail_msg("\"%s\" and \"%s\"", sorted[i], sorted[i + 1]);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < N; k++)
                if (str_natural(rows[i], rows[j]) < 0 && str_natural(rows[j], rows[k]) < 0 && str_natural(rows[i], rows[k]) >= 0)
                    fail_msg("no order: \"%s\", \"%s\", \"%s\"", rows[i], rows[j], rows[k]);
    static const struct {
        const char *first, *second;
    } pairs[] = {{"b16", "b1024"},
                 {"b16.rate", "b1024.rate"},
                 {"0.25", "0.5"},
                 {"4k", "1m"},
                 {"4KiB", "1MiB"},
                 {"1.10.2", "2.0.0"},
                 {"rank-2.log", "rank-10.log"},
                 {"t1.n16", "t1.n128"},
                 {"read.b9.bw", "read.b10.bw"},
                 {"b1023", "b1k"},
                 {"1k", "1025"},
                 {"999999999999999", "1000000000000000"},
                 {"a", "a1"},
                 {"1", "a"},
                 {"x2min", "x10min"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (str_natural(pairs[i].first, pairs[i].second) >= 0 || str_natural(pairs[i].second, pairs[i].first) <= 0)
            fail_msg("\"%s\" stands not before \"%s\"", pairs[i].first, pairs[i].second);
    assert_int_equal(str_natural("b16", "b16"), 0);
}

static void integers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t v;
    } rows[] = {
        {"0", true, 0},
        {"-1", true, -1},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"0x10", false, 0},
        {"1e3", false, 0},
        {"-", false, 0},
        {"+5", true, 5},
        {"010", true, 10},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t v = 77;
        bool ok = str_int(str_of(rows[i].text), &v);
        if (ok != rows[i].ok || v != (ok ? rows[i].v : 77))
            fail_msg("\"%s\": %d %lld", rows[i].text, ok, (long long)v);
    }
    uint64_t u = 7;
    assert_true(str_uint(STR("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_false(str_uint(STR("-1"), &u));
    assert_false(str_uint(STR("18446744073709551616"), &u));
    assert_false(str_uint((struct str){"1\0"
                                       "2",
                                       3},
                          &u));
}

static void doubles(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        double v;
    } rows[] = {
        {"1.5", true, 1.5},
        {"-0", true, -0.0},
        {"1e308", true, 1e308},
        {"5e-324", true, 5e-324},
        {".5", true, 0.5},
        {"5.", true, 5},
        {"inf", true, INFINITY},
        {"-inf", true, -INFINITY},
        {"Infinity", true, INFINITY},
        {"nan", true, NAN},
        {"NaN", true, NAN},
        {"0x1p3", false, 0},
        {"1,5", false, 0},
        {"1.5x", false, 0},
        {"", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"e5", false, 0},
        {"nan(1)", false, 0},
        {"1e", false, 0},
        {"--1", false, 0},
        {"0.00000000000000000000000000000000000000000000000000000000000000000000000000000001", true, 1e-80},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double v = 77;
        bool ok = str_double(str_of(rows[i].text), &v);
        if (ok != rows[i].ok || (ok ? !(v == rows[i].v || (isnan(v) && isnan(rows[i].v))) : v != 77))
            fail_msg("\"%s\": %d %g", rows[i].text, ok, v);
    }
}

static void durations_and_sizes(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } times[] = {
        /* -1: refused */
        {"5", 5}, {"1.5s", 1.5}, {"250ms", 0.25}, {"2m", 120}, {"2min", 120}, {"1h", 3600}, {"1d", 86400}, {"100us", 1e-4},
        {"", -1}, {"s", -1},     {"-1", -1},      {"1w", -1},  {"nan", -1},   {"inf", -1},  {"1e300", -1}, {"5 s", -1},
        {"11574d", 999993600}, {"11575d", -1}, {"9300000000", -1}, /* as nanoseconds they must fit 64 bits */
    };
    static const struct {
        const char *text;
        bool ok;
        uint64_t bytes;
    } sizes[] = {
        {"4096", true, 4096},  {"64K", true, 65536},   {"64k", true, 65536},     {"64KiB", true, 65536},   {"1M", true, 1 << 20},
        {"1g", true, 1 << 30}, {"1GB", true, 1 << 30}, {"1T", true, 1ULL << 40}, {"1P", true, 1ULL << 50}, {"16384P", false, 0},
        {"", false, 0},        {"K", false, 0},        {"1.5M", false, 0},       {"-1", false, 0},         {"1X", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        double v = -1;
        str_duration(str_of(times[i].text), &v);
        if (fabs(v - times[i].seconds) > 1e-12)
            fail_msg("\"%s\": %g", times[i].text, v);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t v = 77;
        bool ok = str_size(str_of(sizes[i].text), &v);
        if (ok != sizes[i].ok || v != (ok ? sizes[i].bytes : 77))
            fail_msg("\"%s\": %d %llu", sizes[i].text, ok, (unsigned long long)v);
    }
}

static void utf8(void **state)
{
    static const struct {
        const char *text;
        size_t n;
    } rows[] = {
        {"a", 1},
        {"\xc3\xbc", 2},
        {"\xe2\x98\x83", 3},
        {"\xf0\x9f\x98\x80", 4},
        {"\x80", 0},
        {"\xc0\x80", 0},
        {"\xc1\xbf", 0},
        {"\xe0\x80\x80", 0},
        {"\xed\xa0\x80", 0},
        {"\xf0\x80\x80\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xc3", 0},
        {"\xe2\x98", 0},
        {"\xc3"
         "a",
         0},
        {"\xff", 0},
        {"\xef\xbf\xbf", 3},
        {"\xf4\x8f\xbf\xbf", 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_utf8(rows[i].text, strlen(rows[i].text)) != rows[i].n)
            fail_msg("row %zu", i);
    assert_int_equal(str_utf8("", 0), 0);
    char odd[] = "a\x1b[1mb\xc2\x85" "c\xe2\x80\xae" "d\x7f\t\n\xc3\xbc\xe2\x80\x94";
    assert_false(str_is_plain(str_of(odd)));
    str_make_plain(odd, sizeof odd - 1);
    assert_string_equal(odd, "a [1mb  c   d \t\n\xc3\xbc\xe2\x80\x94");
    assert_true(str_is_plain(str_of(odd)));
    assert_true(str_valid_utf8(STR("a\xc3\xbc")) && !str_valid_utf8(STR("a\xc3")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutting_and_trimming), cmocka_unit_test(natural), cmocka_unit_test(integers), cmocka_unit_test(doubles),
        cmocka_unit_test(durations_and_sizes),  cmocka_unit_test(utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
