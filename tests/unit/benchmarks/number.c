/* number.c, expr.c: numbers as they are printed, words for none, and conditions. */
#include "benchmarks/number.h"
#include "benchmarks/expr.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void printed_numbers_and_words(void **state)
{
    static const struct { const char *text; unsigned flags; enum number_kind kind; double value; } rows[] = {
        {"0.412345", 0, NUMBER_GOOD, 0.412345}, {"21190275", 0, NUMBER_GOOD, 21190275}, {"1.0e+03", 0, NUMBER_GOOD, 1000}, {" 12 ", 0, NUMBER_GOOD, 12},
        {"-3.5", 0, NUMBER_GOOD, -3.5}, {"4,096", 0, NUMBER_NOT, 0}, {"4,096.5", 0, NUMBER_GOOD, 4096.5}, {"4,096.", 0, NUMBER_NOT, 0}, {"1,234,567.", 0, NUMBER_GOOD, 1234567}, {"0,500", 0, NUMBER_NOT, 0}, {"0,500,000", 0, NUMBER_NOT, 0},
        {"1.234,5", 0, NUMBER_NOT, 0}, {"1e-400", 0, NUMBER_MISSING, 0}, {"0e-400", 0, NUMBER_GOOD, 0}, {"6.90515e-310", 0, NUMBER_MISSING, 0}, {"3e-308", 0, NUMBER_GOOD, 3e-308}, {"0x10", 0, NUMBER_NOT, 0}, {"1_000", 0, NUMBER_NOT, 0}, {"1,234,567.5", 0, NUMBER_GOOD, 1234567.5}, {"4,09", 0, NUMBER_NOT, 0},
        {"4,0960", 0, NUMBER_NOT, 0}, {"1,2", 0, NUMBER_NOT, 0}, {",123", 0, NUMBER_NOT, 0}, {"15.8k", 0, NUMBER_NOT, 0}, {"15.8k", NUMBER_SI, NUMBER_GOOD, 15800},
        {"2K", NUMBER_BINARY, NUMBER_GOOD, 2048}, {"3M", NUMBER_SI, NUMBER_GOOD, 3e6}, {"97.5%", NUMBER_PERCENT, NUMBER_GOOD, 97.5}, {"97.5%", 0, NUMBER_NOT, 0},
        {"NA", 0, NUMBER_MISSING, 0}, {"N/A", 0, NUMBER_MISSING, 0}, {"-", 0, NUMBER_MISSING, 0}, {"nan", 0, NUMBER_MISSING, 0}, {"-nan", 0, NUMBER_MISSING, 0},
        {"-nan%", NUMBER_PERCENT, NUMBER_NOT, 0}, {"inf", 0, NUMBER_MISSING, 0}, {"-Infinity", 0, NUMBER_MISSING, 0}, {"", 0, NUMBER_MISSING, 0},
        {"1e999", 0, NUMBER_MISSING, 0}, {"0x10", 0, NUMBER_NOT, 0}, {"1.2.3", 0, NUMBER_NOT, 0}, {"12 MB", 0, NUMBER_NOT, 0}, {"was", 0, NUMBER_NOT, 0},
        {"%", NUMBER_PERCENT, NUMBER_NOT, 0}, {"k", NUMBER_SI, NUMBER_NOT, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double v = 0;
        enum number_kind kind = number_parse(str_of(rows[i].text), rows[i].flags, &v);
        if (kind != rows[i].kind || (kind == NUMBER_GOOD && v != rows[i].value))
            fail_msg("\"%s\": kind %d value %.17g", rows[i].text, (int)kind, v);
    }
}

static void name(void *context, struct str text, struct value *ret)
{
    (void)context;
    if (str_is(text, "tasks"))
        *ret = (struct value){.kind = VALUE_TEXT, .text = STR("4")};
    if (str_is(text, "phase.write"))
        *ret = (struct value){.kind = VALUE_TEXT, .text = STR("true")};
    if (str_is(text, "version"))
        *ret = (struct value){.kind = VALUE_TEXT, .text = STR("3.10")};
    if (str_is(text, "word"))
        *ret = (struct value){.kind = VALUE_TEXT, .text = STR("nan")};
    if (str_is(text, "api"))
        *ret = (struct value){.kind = VALUE_TEXT, .text = STR("POSIX")};
}

static void call(void *context, struct str function, const struct str *args, size_t n, struct value *ret)
{
    (void)context;
    (void)function;
    *ret = (struct value){.kind = VALUE_NUMBER, .number = (double)n + (double)args[0].n};
}

static bool function_ok(struct str function, size_t n)
{
    return str_is(function, "f") && n == 1;
}

static void conditions_are_told(void **state)
{
    static const struct { const char *text; int truth; } rows[] = {
        {"tasks == 4", 1}, {"tasks * 2 + 1 == 9", 1}, {"1 + 2 * 3 == 7", 1}, {"(1 + 2) * 3 == 9", 1}, {"10 - 2 - 3 == 5", 1}, {"api == 'POSIX'", 1}, {"api != 'MPIIO'", 1},
        {"phase.write", 1}, {"not phase.write", 0}, {"nothing", -1}, {"not nothing", 1}, {"nothing == 1", -1}, {"nothing or tasks > 3", 1}, {"nothing and tasks > 3", 0},
        {"tasks / 0 > 1", -1}, {"-tasks < 0", 1}, {"f(abc) == 4", 1}, {"f('x y') == 4", 1}, {"api > 3", -1}, {"version == '3.1'", 0}, {"version != '3.1'", 1}, {"version == '3.10'", 1}, {"version == 3.1", 1}, {"tasks == '4'", 1},
        {"word == 'nan'", 1}, {"not not tasks", 1}, {"1 or 0 and 0", 1}, {"order", -1},
    };
    static const struct expr_names names = {.name = name, .call = call};
    struct arena a;
    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct expr *e;
        struct err err = {0};
        if (expr_new(&e, str_of(rows[i].text), function_ok, &a, &err))
            fail_msg("%s: %s", rows[i].text, err.text);
        if (expr_truth(e, &names) != rows[i].truth)
            fail_msg("%s is %d", rows[i].text, expr_truth(e, &names));
    }
    arena_deinit(&a);
}

static void wrong_expressions_are_refused_with_a_place(void **state)
{
    static const char *const rows[] = {"", "1 +", "(1", "1 2", "'x", "f(", "f()", "g(x)", "f(a, b)", "== 1", "1..2", "a &", "not"};
    struct arena a;
    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct expr *e;
        struct err err = {0};
        if (!expr_new(&e, str_of(rows[i]), function_ok, &a, &err) || !err.text[0])
            fail_msg("\"%s\" was taken", rows[i]);
    }
    char deep[2000];
    memset(deep, '(', sizeof(deep));
    struct err err = {0};
    struct expr *e;
    assert_int_equal(expr_new(&e, (struct str){deep, sizeof(deep)}, function_ok, &a, &err), -1);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_numbers_and_words),
        cmocka_unit_test(conditions_are_told),
        cmocka_unit_test(wrong_expressions_are_refused_with_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
