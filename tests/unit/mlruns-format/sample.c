/* tree_sample.c: lines of metric files, and which of their samples MLflow shows. */
#include "mlruns-format/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void lines_are_parsed(void **state)
{
    struct tree_sample s;
    (void)state;
    assert_true(tree_sample_parse(STR("17 2.5 3"), &s));
    assert_true(s.time_ms == 17 && s.value == 2.5 && s.step == 3);
    assert_true(tree_sample_parse(STR("17 2.5\r"), &s));
    assert_true(s.time_ms == 17 && s.value == 2.5 && s.step == 0);
    assert_true(tree_sample_parse(STR("17 2.5 3 set digest"), &s));
    assert_int_equal(s.step, 3);
    static const char *const bad[] = {"", "\r", "17", "x 2 3", "17 x 3", "17 2 x", "17 2 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tree_sample_parse(str_of(bad[i]), &s))
            fail_msg("\"%s\" is accepted", bad[i]);
}

static void step_then_time_then_value_decide(void **state)
{
    struct tree_sample list[4] = {{.time_ms = 5, .step = 1, .value = 9}, {.time_ms = 4, .step = 2, .value = 1}, {.time_ms = 6, .step = 2, .value = 1},
                                  {.time_ms = 99, .step = 99, .value = 99}};
    struct tree_entry e = {.samples = list, .count = 3}; /* the fourth does not count */
    (void)state;
    assert_ptr_equal(tree_entry_latest(&e), &list[2]);
    list[1].time_ms = 6;
    assert_ptr_equal(tree_entry_latest(&e), &list[1]); /* of equal ones the first */
    list[2].value = 2;
    assert_ptr_equal(tree_entry_latest(&e), &list[2]);
    e.count = 0;
    assert_null(tree_entry_latest(&e));
    assert_false(tree_sample_is_later(&list[0], &list[0]));
}

static void samples_are_sorted_by_time_step_and_value(void **state)
{
    struct tree_sample a = {.time_ms = 1, .step = 2, .value = 3}, b = a;
    (void)state;
    assert_int_equal(tree_sample_order(&a, &b), 0);
    b.value = 4;
    assert_true(tree_sample_order(&a, &b) < 0 && tree_sample_order(&b, &a) > 0);
    a.step = 3;
    assert_true(tree_sample_order(&a, &b) > 0 && tree_sample_order(&b, &a) < 0);
    b.time_ms = 2;
    assert_true(tree_sample_order(&a, &b) < 0 && tree_sample_order(&b, &a) > 0);
}

static void the_latest_line_of_a_file(void **state)
{
    struct tree_sample s;
    size_t line = 0;
    (void)state;
    assert_int_equal(tree_latest_sample(STR("1 10 0\n2 30 2\n3 20 1\n"), &s, &line), 0);
    assert_true(s.value == 30 && s.step == 2);
    assert_int_equal(tree_latest_sample(STR("1 10 1\n2 30 2 set digest\n"), &s, &line), 0);
    assert_true(s.value == 10); /* MLflow reads no step from a line with a dataset */
    assert_int_equal(tree_latest_sample(STR("1 10 0\nx\n"), &s, &line), -1);
    assert_int_equal(line, 2);
    assert_int_equal(tree_latest_sample(STR("1 10 0\n\n"), &s, &line), -1);
    assert_int_equal(line, 2);
    assert_int_equal(tree_latest_sample(STR(""), &s, &line), -1);
    assert_int_equal(line, 1);
    assert_int_equal(tree_latest_sample(STR("\n"), &s, &line), -1);
    assert_int_equal(line, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_parsed), cmocka_unit_test(step_then_time_then_value_decide),
                                       cmocka_unit_test(samples_are_sorted_by_time_step_and_value), cmocka_unit_test(the_latest_line_of_a_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
