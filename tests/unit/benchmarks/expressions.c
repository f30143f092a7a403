/* expressions.c: choices and values in expressions; what is not known spreads and is held against nobody. */
#include "rules_case.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define READERS "readers:\n- name: r\n  regex: '^v=(?<v>\\S+)'\n  metrics: [{name: v, cell: v, unit: s, better: lower, headline: min}]\n" \
                "- name: o\n  regex: '^o=(?<v>\\S+)'\n  metrics: [{name: o, cell: v, unit: s, better: lower}]\n- name: p\n  regex: '^p99=(?<v>\\S+)'\n" \
                "  metrics: [{name: lat, cell: v, unit: s, better: lower, stat: p99}]\n"
#define CHECK(expr) READERS "checks: [{expect: \"" expr "\", reason: no}]\n"

static void what_expressions_tell(void **state)
{
    static const struct { const char *expr, *text; bool holds; } rows[] = {
        {"min(2, 3) == 2", "", true}, {"max(2, 1 + 2) == 3", "", true}, {"either(nothing, 3) == 3", "", true}, {"either(2, 3) == 3", "", false}, {"either(value(o), 3) == 4", "o=4\n", true}, {"min(-1, max(1, 2)) == -1", "", true}, {"min(1, 2) == 2", "", false},
        {"min(1, nothing) == 5", "", true}, {"value(o) == 3", "o=3\n", true}, {"value(o) == 4", "o=3\n", false},
        {"value(v.min) == 1", "v=1\nv=4\n", true}, {"value(v.max) == 4 and value(v.mean) == 2.5 and value(v.n) == 2", "v=1\nv=4\n", true},
        {"value(v) == 7", "v=1\nv=4\n", true /* several: not known */}, {"defined(nothing)", "", false},
        {"value(lat.p99) == 9", "p99=9\n", true}, {"value(lat.p99) == 8", "p99=9\n", false}, {"value(lat) == 8", "p99=9\n", true /* not known */},
        {"value(v.min) > 5", "v=1\nv=NA\n", true /* some are missing: not known */}, {"value(unknown.max) > 5", "", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[2000];
        struct rules *rules;
        struct err err = {0};
        struct rules_case c = {rows[i].expr, text, rows[i].text, ""};
        struct buf got;
        snprintf(text, sizeof(text), READERS "checks: [{expect: \"%s\", reason: no}]\n", rows[i].expr);
        if (rules_case_load(&rules, text, &err))
            fail_msg("%s: %s", rows[i].expr, err.text);
        buf_init(&got, 1 << 20);
        rules_case_read(rules, &c, 1 << 20, &got);
        if ((strstr(got.p, "fail: no") == NULL) != rows[i].holds)
            fail_msg("%s: %s", rows[i].expr, got.p);
        buf_deinit(&got);
        rules_free(rules);
    }
    rules_refused(CHECK("min(1)"), "is expected");
    rules_refused(CHECK("min(1, 2, 3)"), "is expected");
    rules_refused(CHECK("median(1, 2)"), "there is no function median");
}

static void a_computed_metric_of_metrics(void **state)
{
    static const char rules[] = READERS "computed:\n- {name: gap, value: 'value(v.max) - value(v.min)', unit: s, better: lower}\n"
                                        "- {name: worst, value: 'max(value(gap), value(o))', unit: s, better: lower}\n";
    static const struct rules_case cases[] = {
        {"both known", rules, "v=1\nv=4\no=2\n",
         "metric v_s 1\nmetric v_s@1 4\nmetric v_s.max 4\nmetric v_s.min 1\nmetric v_s.mean 2.5\nmetric v_s.median 2.5\nmetric v_s.sd 2.12132034\nmetric v_s.n 2\n"
         "metric o_s 2\nmetric gap_s 3\nmetric worst_s 3\npass\n"},
        {"one is not", rules, "v=1\nv=4\n",
         "metric v_s 1\nmetric v_s@1 4\nmetric v_s.max 4\nmetric v_s.min 1\nmetric v_s.mean 2.5\nmetric v_s.median 2.5\nmetric v_s.sd 2.12132034\nmetric v_s.n 2\n"
         "metric gap_s 3\npass\n"},
        {"contradictory values are none", rules, "o=1\no=2\nv=1\nv=4\n",
         "missing o_s: the output has several different values where one is expected\nmetric v_s 1\nmetric v_s@1 4\nmetric v_s.max 4\nmetric v_s.min 1\nmetric v_s.mean 2.5\n"
         "metric v_s.median 2.5\nmetric v_s.sd 2.12132034\nmetric v_s.n 2\nmetric gap_s 3\nfail: o: the output has several different values where one is expected\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

/* A hostile output ends the reading, and then nothing of it is believed. */
static void lines_too_hard_end_the_reading(void **state)
{
    static const char rules_text[] = "readers:\n- name: r\n  regex: '^v=(?<v>\\d+)'\n  metrics: [{name: v, cell: v, unit: s, better: lower}]\nchecks:\n"
                                     "- {must_not: '^(a|aa)+$', reason: bad}\n";
    struct rules *rules;
    struct buf text, got;
    (void)state;
    assert_int_equal(rules_case_load(&rules, rules_text, NULL), 0);
    buf_init(&text, 1 << 20);
    buf_init(&got, 1 << 20);
    buf_puts(&text, "v=5\n");
    for (int i = 0; i < 2000; i++)
        buf_puts(&text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\n");
    struct rules_case c = {"hostile", rules_text, text.p, ""};
    rules_case_read(rules, &c, 1 << 20, &got);
    assert_non_null(strstr(got.p, "missing v_s: the lines of the output are too hard for the patterns"));
    assert_null(strstr(got.p, "metric v_s"));
    assert_non_null(strstr(got.p, "fail: the lines of the output are too hard for the patterns, so they were not all read"));
    buf_deinit(&text);
    buf_deinit(&got);
    rules_free(rules);
}

/* One line that could not be read may hold the result that counts. */
static void a_line_too_hard_fails_the_run(void **state)
{
    static const char rules_text[] = "readers:\n- name: r\n  regex: '^v (?:a|aa)+ (?<v>\\d+)$'\n  metrics: [{name: v, cell: v, unit: s, better: lower, many: last}]\n";
    static const struct rules_case cases[] = {
        {"read", rules_text, "v aa 5\n", "metric v_s 5\npass\n"},
        {"a stale one is no pass", rules_text, "v aa 5\nv aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! 7\n",
         "warning ignored 1 line, too hard to match\nmetric v_s 5\n"
         "fail: not read: 1 line, too hard for the patterns\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_expressions_tell),
        cmocka_unit_test(a_computed_metric_of_metrics),
        cmocka_unit_test(lines_too_hard_end_the_reading),
        cmocka_unit_test(a_line_too_hard_fails_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
