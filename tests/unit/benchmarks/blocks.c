/* blocks.c: the tests of one output are told one by one, where the rules want child runs of them. */
#include "rules_case.h"

#define TAIL "readers:\n- name: b\n  regex: '^test (?<l>\\S+)'\n  block: {label: l}\n- name: r\n  regex: '^v=(?<v>\\S+)'\n  metrics: [{name: v, cell: v, unit: s, better: lower}]\n" \
             "required: [{metric: v}]\nchecks:\n- {must_not: '^BAD', reason: it is bad}\n- {must: '^over', once: true, reason: it did not end}\n"

static void read_it(const char *rules_text, const char *text, int exit_code, struct record *record, struct rules_outcome *out)
{
    struct rules *rules;
    struct rules_run *run;
    struct err err = {0};
    if (rules_case_load(&rules, rules_text, &err))
        fail_msg("%s", err.text);
    assert_int_equal(rules_begin(&run, rules, NULL, NULL, NULL), 0);
    rules_feed(run, "stdout", text, strlen(text));
    record_init(record, "00000000000000000000000000000000", 1);
    assert_int_equal(rules_end(run, exit_code, 0, 1, record, out, NULL), 0);
    rules_free(rules);
}

static void each_test_has_its_own_verdict(void **state)
{
    struct record record;
    struct rules_outcome out;
    (void)state;
    read_it("blocks: {name: t, runs: true}\n" TAIL, "test a\nv=1\ntest b\nBAD luck\nv=2\ntest c\n", 0, &record, &out);
    assert_string_equal(out.reason, "b. it is bad: BAD luck; it did not end; c.v is missing");
    assert_int_equal(out.blocks, 3);
    assert_string_equal(out.block[0].name, "a");
    assert_int_equal(out.block[0].verdict, VERDICT_PASS);
    assert_true(out.block[0].complete);
    assert_string_equal(out.block[1].reason, "it is bad: BAD luck");
    assert_int_equal(out.block[1].verdict, VERDICT_FAIL);
    assert_string_equal(out.block[2].reason, "v is missing");
    assert_false(out.block[2].complete);
    record_deinit(&record);
}

static void a_check_of_the_whole_output_counts_in_all_tests(void **state)
{
    static const char text[] = "test a\nv=1\ntest b\nv=2\nlate 1\n";
    static const char *const checks[] = {"- {expect: 'rows(r) == 2', once: true, reason: rows of one test only}\n",
                                         "- {name: values, must: '^v=', reason: no value}\n- {expect: 'matches(values) == 2', once: true, reason: matches of one test only}\n",
                                         "- {must: '^end', when: 'rows(late) > 0', once: true, reason: it did not end}\n"};
    static const char *const reasons[] = {"", "", "it did not end"};
    (void)state;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct record record;
        struct rules_outcome out;
        char rules[600];
        snprintf(rules, sizeof rules,
                 "blocks: t\nreaders:\n- {name: b, regex: '^test (?<l>\\S+)', block: {label: l}}\n- name: r\n  regex: '^v=(?<v>\\S+)'\n"
                 "  metrics: [{name: v, cell: v, unit: s, better: lower}]\n- {name: late, regex: '^late (?<n>\\d+)'}\nchecks:\n%s",
                 checks[i]);
        read_it(rules, text, 0, &record, &out);
        assert_string_equal(out.reason, reasons[i]);
        record_deinit(&record);
    }
}

static void the_exit_status_is_that_of_each(void **state)
{
    struct record record;
    struct rules_outcome out;
    (void)state;
    read_it("blocks: {name: t, runs: true}\n" TAIL, "test a\nv=1\ntest b\nv=2\nover\n", 3, &record, &out);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(out.block[i].reason, "exit status 3");
        assert_int_equal(out.block[i].verdict, VERDICT_FAIL);
        assert_true(out.block[i].complete);
    }
    record_deinit(&record);
}

static void one_test_or_no_wish_means_none(void **state)
{
    struct record record;
    struct rules_outcome out;
    (void)state;
    read_it("blocks: {name: t, runs: true}\n" TAIL, "test a\nv=1\nover\n", 0, &record, &out);
    assert_int_equal(out.blocks, 0);
    record_deinit(&record);
    read_it("blocks: {name: t}\n" TAIL, "test a\nv=1\ntest b\nv=2\nover\n", 0, &record, &out);
    assert_int_equal(out.blocks, 0);
    assert_int_equal(out.verdict, VERDICT_PASS);
    record_deinit(&record);
    rules_refused("blocks: {runs: true}\n" TAIL, "blocks: expected the name of one test");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_test_has_its_own_verdict),
        cmocka_unit_test(a_check_of_the_whole_output_counts_in_all_tests),
        cmocka_unit_test(the_exit_status_is_that_of_each),
        cmocka_unit_test(one_test_or_no_wish_means_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
