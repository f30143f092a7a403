/* series_sweep: what --sweep is taken for, and what becomes of a command's words. */
#include "series/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The values with "|" between, or the error's text behind "!". */
static void show(const char *option, char *to, size_t size)
{
    struct arena a;
    struct parameter_sweep s = {.points = 1};
    struct err err = {0};
    arena_init(&a, 0);
    to[0] = 0;
    if (sweep_add(&s, option, &a, &err))
        snprintf(to, size, "!%s", err.text);
    else
        for (size_t i = 0; i < s.axes[0].count && i < 20; i++)
            snprintf(to + strlen(to), size - strlen(to), "%s%s", i ? "|" : s.axes[0].integers ? "#" : "", s.axes[0].values[i]);
    arena_deinit(&a);
}

static void lists_and_ranges(void **state)
{
    static const struct { const char *option, *values; } rows[] = { /* # before the values: all are integers */
        {"n=1,2,4", "#1|2|4"},
        {"n=1", "#1"},
        {"n=a", "a"},
        {"n=1,a", "1|a"},
        {"n=,x", "|x"},
        {"n=x,", "x|"},
        {"n=1..4", "#1|2|3|4"},
        {"n=4..1", "#4|3|2|1"},
        {"n=-1..1", "#-1|0|1"},
        {"n=1..-1", "#1|0|-1"},
        {"n=3..3", "#3"},
        {"n=1..10+3", "#1|4|7|10"},
        {"n=1..9+3", "#1|4|7"},
        {"n=9..1-4", "#9|5|1"},
        {"n=1..16*2", "#1|2|4|8|16"},
        {"n=3..20*2", "#3|6|12"},
        {"n=9223372036854775806..9223372036854775807", "#9223372036854775806|9223372036854775807"},
        {"n=4611686018427387904..9223372036854775807*2", "#4611686018427387904"},
        {"n=1..2,8", "#1|2|8"},
        {"n=1..", "1.."},
        {"n=..3", "..3"},
        {"n=../x", "../x"},
        {"n=1...3", "1...3"},
        {"n=1..3x", "1..3x"},
        {"n=1..3+x", "1..3+x"},
        {"n=1.5..3", "1.5..3"},
        {"n=\\1..3", "1..3"},
        {"n=a\\,b,c", "a,b|c"},
        {"n=a\\\\", "a\\"},
        {"n=a\\", "a\\"},
        {"n={m}", "{m}"},
        {"n=a=b", "a=b"},
        {"a.b-c_1=x", "x"},
        {"n=1,1", "!--sweep n=1,1: \"1\" comes twice; --repeat N runs each value N times"},
        {"n=", "!--sweep n=: expected NAME=VALUES, for example n=1,2,4"},
        {"n", "!--sweep n: expected NAME=VALUES, for example n=1,2,4 (a name has letters, digits, _ . -)"},
        {"1n=2", "!--sweep 1n=2: expected NAME=VALUES, for example n=1,2,4 (a name has letters, digits, _ . -)"},
        {"a b=2", "!--sweep a b=2: expected NAME=VALUES, for example n=1,2,4 (a name has letters, digits, _ . -)"},
        {"n=1..3+0", "!--sweep n=1..3+0: 1..3+0: expected a step >= 1"},
        {"n=0..3*2", "!--sweep n=0..3*2: 0..3*2: expected a factor >= 2 and a beginning >= 1"},
        {"n=3..1+1", "!--sweep n=3..1+1: 3..1+1 has no values"},
        {"n=8..1*2", "!--sweep n=8..1*2: 8..1*2 has no values"},
        {"n=1..99999", "!--sweep n=1..99999: more than 10000 values"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got[2000];
        show(rows[i].option, got, sizeof got);
        if (strcmp(got, rows[i].values) != 0)
            fail_msg("%s: got \"%s\", wanted \"%s\"", rows[i].option, got, rows[i].values);
    }
}

static void words_are_replaced_once(void **state)
{
    static const struct { const char *word, *second, *used; } rows[] = { /* at the second of four points: n=1 m={n} */
        {"{n}", "1", "n"},
        {"a{n}b{m}c", "a1b{n}c", "nm"},
        {"{m}{n}", "{n}1", "nm"},
        {"{x}", "{x}", ""},
        {"{", "{", ""},
        {"}", "}", ""},
        {"{n", "{n", ""},
        {"{}", "{}", ""},
        {"${n}", "$1", "n"},
        {"{{n}}", "{n}", ""},
        {"{{n}", "{1", "n"},
        {"{{n}}{n}", "{n}1", "n"},
        {"{{{n}}}", "{{n}}", ""},
        {"{{x}}", "{{x}}", ""},
        {"{{n}}}", "{n}}", ""},
        {"{nn}", "{nn}", ""},
        {"{n }", "{n }", ""},
        {"", "", ""},
        {"{\"n\": {n}}", "{\"n\": 1}", "n"},
    };
    struct arena a;
    struct parameter_sweep s = {.points = 1};
    (void)state;
    arena_init(&a, 0);
    assert_int_equal(sweep_add(&s, "n=1,2", &a, NULL), 0);
    assert_int_equal(sweep_add(&s, "m=x,{n}", &a, NULL), 0);
    assert_int_equal(s.points, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;
        buf_init(&b, 1000);
        sweep_replace(&s, 1, rows[i].word, &b);
        if (!str_is(buf_text(&b), rows[i].second))
            fail_msg("%s: got \"%s\"", rows[i].word, b.p);
        assert_int_equal(sweep_uses(&s, 0, rows[i].word), strchr(rows[i].used, 'n') != NULL);
        assert_int_equal(sweep_uses(&s, 1, rows[i].word), strchr(rows[i].used, 'm') != NULL);
        buf_deinit(&b);
    }
    arena_deinit(&a);
}

static void points_count_the_last_axis_fastest(void **state)
{
    struct arena a;
    struct parameter_sweep s = {.points = 1};
    struct buf b;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, 1000);
    sweep_add(&s, "a=1,2", &a, NULL);
    sweep_add(&s, "b=x,y,z", &a, NULL);
    for (size_t i = 0; i < s.points; i++) {
        buf_puts(&b, i ? "; " : "");
        sweep_label(&s, i, &b);
    }
    assert_string_equal(b.p, "a=1 b=x; a=1 b=y; a=1 b=z; a=2 b=x; a=2 b=y; a=2 b=z");
    buf_deinit(&b);
    arena_deinit(&a);
}

static void keys_are_legal_and_differ(void **state)
{
    struct arena a;
    struct parameter_sweep s = {.points = 1};
    (void)state;
    arena_init(&a, 0);
    char long_one[400] = "v=-1,1,1.5,1_5,A,a,/tmp/x,ü,,x y,";
    memset(long_one + strlen(long_one), 'z', 200);
    assert_int_equal(sweep_add(&s, long_one, &a, NULL), 0);
    const char *const *keys = sweep_keys(&s, &a);
    assert_non_null(keys);
    for (size_t i = 0; i < s.points; i++) {
        assert_true(keys[i][0] >= 'a' && keys[i][0] <= 'z');
        assert_int_equal(strspn(keys[i], "abcdefghijklmnopqrstuvwxyz0123456789_."), strlen(keys[i]));
        assert_null(strstr(keys[i], ".."));
        assert_true(strlen(keys[i]) < 140);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    }
    assert_string_equal(keys[0], "v_minus_1");
    assert_string_equal(keys[1], "v_1");
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_ranges),
        cmocka_unit_test(words_are_replaced_once),
        cmocka_unit_test(points_count_the_last_axis_fastest),
        cmocka_unit_test(keys_are_legal_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
