/* tally: no value is left out silently. */
#include "probes/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

/* Checks the text that a tally of the words of `values` records. */
static void check_tally(const char *values, const char *expected)
{
    struct host h = {.root = -1};
    struct record r;
    struct tally t = {0};
    record_init(&r, "0123456789abcdef0123456789abcdef", 0);
    for (struct str rest = str_of(values), word; (word = str_word(&rest)).n;)
        tally_add(&t, word);
    tally_emit(&t, &h, &r, "key");
    const struct fact *f = record_find(&r, FACT_PARAM, "key");
    if (*expected) {
        assert_non_null(f);
        assert_true(str_is(f->text, expected));
    } else
        assert_null(f);
    record_deinit(&r);
}

static void values_are_counted(void **state)
{
    char long_value[120];
    (void)state;
    check_tally("", "");
    check_tally("a a", "a");
    check_tally("a b a", "a*2 b*1");
    check_tally("a b c d e f g h i j a", "a*2 b*1 c*1 d*1 e*1 f*1 g*1 h*1, others*2");
    snprintf(long_value, sizeof long_value, "a %0100d", 0);
    check_tally(long_value, "a*1, others*1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
