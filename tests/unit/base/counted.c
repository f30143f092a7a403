/* Words for what is counted per second, and multiples of it. */
#include "base/counted.h"
#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void every_multiple_of_every_noun(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double factor;
    } multiples[] = {{"k", 1e3},   {"K", 1e3},      {"M", 1e6},    {"G", 1e9},    {"T", 1e12},
                     {"Ki", 1024}, {"Mi", 1048576}, {"kilo", 1e3}, {"mega", 1e6}, {"giga", 1e9}};
    static const char *const nouns[] = {"elem",    "elements", "cells", "packets", "requests", "messages", "msg",
                                        "rows",    "events",   "steps", "pkts",    "queries",  "keys",     "hashes",
                                        "updates", "points",   "atoms", "batches", "entries",  "samples"};
    for (size_t m = 0; m < sizeof multiples / sizeof *multiples; m++)
        for (size_t n = 0; n < sizeof nouns / sizeof *nouns; n++) {
            char text[60];
            snprintf(text, sizeof text, "%s%s/s", multiples[m].text, nouns[n]);
            const struct unit *u = units_find(str_of(text));
            assert_non_null(u);
            assert_string_equal(u->dimension, "op/s");
            assert_true(u->factor == multiples[m].factor);
        }
}

static void words_are_no_multiples(void **state)
{
    (void)state;
    static const char *const words[] = {"messages", "Messages", "kernels",      "Keys",    "Tasks",
                                        "games",    "points",   "transactions", "entries", "Pixels"};
    struct str noun;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_true(counted_is_noun(str_of(words[i])));
        assert_true(counted_split(str_of(words[i]), &noun) == 0);
        assert_false(counted_may_hide(str_of(words[i])));
    }
    static const char *const unsure[] = {"Mfoos", "kfoos", "mrows", "gcells", "mbit", "MBIT", "exaflops", "million", "K", "Xbytes", "Eops"};
    for (size_t i = 0; i < sizeof unsure / sizeof *unsure; i++)
        assert_true(counted_may_hide(str_of(unsure[i])));
    assert_false(counted_may_hide(str_of("foos")));
    assert_false(counted_may_hide(str_of("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_multiple_of_every_noun),
        cmocka_unit_test(words_are_no_multiples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
