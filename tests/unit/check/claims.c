/* claims.c: what a run claims and no stored output shows: metrics, withheld output, references of a site. */
#include "checked_run.h"

static const char *findings(const char *facts, const char *record)
{
    return checked_findings(check_claims, &(struct run_check){0}, facts, record);
}

static void metrics_by_the_word_of_a_program(void **state)
{
    (void)state;
    assert_string_equal(findings("m:a=1", "{\"metrics\": {\"a\": {\"source\": \"rule:ior:results\"}}}"), "");
    assert_string_equal(findings("m:a=1", "{\"metrics\": {\"a\": {\"source\": \"log\"}}}"), "claimed run: 1 metric (a) by the word of \"log\"");
    assert_string_equal(findings("m:a=1", "{\"metrics\": {\"a\": {\"source\": \"log\"}, \"b\": {\"source\": \"x\"}, \"run.wall_s\": {\"source\": \"x\"}}}"),
                        "claimed run: 2 metrics (a …) by the word of \"log\"");
    assert_string_equal(findings("m:a=1 t:benchwrap.series=sweep", "{\"metrics\": {\"a\": {\"source\": \"series\"}}}"), "");
    assert_string_equal(findings("m:a=1", "{\"metrics\": {\"a\": {\"source\": \"series\"}}}"), "claimed run: 1 metric (a) by the word of \"series\"");
    assert_string_equal(findings("m:a=1", "{\"metrics\": {\"slurm.x\": {\"source\": \"sacct\"}}}"), "");
    assert_string_equal(findings("m:a=1", "{\"metrics\": {\"a\": {\"source\": \"sacct\"}}}"), "claimed run: 1 metric (a) by the word of \"sacct\"");
    assert_string_equal(findings("m:a=1", "{\"metrics\": {\"gpu.power_W\": {\"source\": \"probe:gpu\"}}}"), "");
    assert_string_equal(findings("m:a=1", "{\"metrics\": {\"a.x\": {\"source\": \"probe:gpu\"}}}"), "claimed run: 1 metric (a.x) by the word of \"probe:gpu\"");
    assert_string_equal(findings("t:benchwrap.adopted=x", "{\"metrics\": {\"a\": {\"source\": \"log\"}}}"),
                        "claimed run: 1 metric (a) of an adopted run: no stored output shows them");
    assert_string_equal(findings("t:benchmark=ior", "{\"metrics\": {\"a\": {\"source\": \"log\"}}}"),
                        "unverifiable run: it is said to be of the benchmark ior, whose rules have not read it: 1 metric (a) by the word of \"log\"");
    assert_string_equal(findings("t:benchmark=nothing", "{\"metrics\": {\"a\": {\"source\": \"log\"}}}"), "claimed run: 1 metric (a) by the word of \"log\"");
    struct run_check with_rules = {.rules_text = STR("name: x")};
    assert_string_equal(checked_findings(check_claims, &with_rules, "t:benchmark=ior", "{\"metrics\": {\"a\": {\"source\": \"log\"}}}"),
                        "claimed run: 1 metric (a) by the word of \"log\"");
}

static void output_that_is_withheld(void **state)
{
    static const char stdout_withheld[] = "{\"missing\": [{\"key\": \"stdout.log\", \"reason\": \"withheld: a secret\"}]}",
                      other[] = "{\"missing\": [{\"key\": \"stdout.log\", \"reason\": \"too long\"}, {\"key\": \"a\", \"reason\": \"withheld\"}]}";
    (void)state;
    assert_string_equal(findings("t:benchwrap.profile=public t:benchwrap.unverifiable=x", stdout_withheld), "");
    assert_true(strncmp(findings("t:benchwrap.profile=private t:benchwrap.unverifiable=x", stdout_withheld), "record run/artifacts/benchwrap.json: its output is withheld", 58) == 0);
    assert_true(strncmp(findings("t:benchwrap.profile=public", stdout_withheld), "record run/", 11) == 0);
    assert_string_equal(findings("t:a=b", other), "");
    struct run_check finished = {.meta_good = true, .meta = {.status = RUN_FINISHED}}, failed = {.meta_good = true, .meta = {.status = RUN_FAILED}},
                     damaged = {.meta = {.status = RUN_FINISHED}};
    static const char facts[] = "t:benchwrap.profile=public t:benchwrap.unverifiable=x";
    assert_string_equal(checked_findings(check_claims, &finished, facts, stdout_withheld),
                        "verdict run/meta.yaml: the run claims to be FINISHED, and its output was withheld since a required metric is not in it");
    assert_string_equal(checked_findings(check_claims, &failed, facts, stdout_withheld), "");
    assert_string_equal(checked_findings(check_claims, &damaged, facts, stdout_withheld), "");
    assert_non_null(strstr(findings("t:benchwrap.profile=public t:benchwrap.unverifiable=x t:benchwrap.verdict=pass", stdout_withheld),
                           "verdict run/tags/benchwrap.verdict: the run claims \"pass\", and its output was withheld"));
    assert_string_equal(findings("t:benchwrap.profile=public t:benchwrap.unverifiable=x t:benchwrap.verdict=fail", stdout_withheld), "");
}

static void references_of_a_site(void **state)
{
    static const struct {
        const char *entry, *why;
    } rows[] = {
        {"\"metric\": \"a\", \"verdict\": \"pass\", \"value\": 5, \"low\": 5, \"high\": 5", NULL},
        {"\"metric\": \"a\", \"verdict\": \"pass\", \"value\": 5, \"low\": 5.5", "the value does not lie there"},
        {"\"metric\": \"a\", \"verdict\": \"pass\", \"value\": 5, \"high\": 4.5", "the value does not lie there"},
        {"\"metric\": \"a\", \"verdict\": \"pass\", \"value\": 6", "the value is another than the run's"},
        {"\"metric\": \"b\", \"verdict\": \"pass\", \"value\": 5", "the run has no such metric"},
        {"\"metric\": \"a@x\", \"verdict\": \"pass\", \"value\": 5", "the run has no such metric"},
        {"\"metric\": \"a@0\", \"verdict\": \"pass\", \"value\": 5", NULL},
        {"\"metric\": \"a\", \"verdict\": \"below\", \"value\": 5, \"low\": 5.5", NULL},
        {"\"metric\": \"a\", \"verdict\": \"below\", \"value\": 5, \"low\": 5", "the value does not lie there"},
        {"\"metric\": \"a\", \"verdict\": \"above\", \"value\": 5, \"high\": 4.5", NULL},
        {"\"metric\": \"a\", \"verdict\": \"above\", \"value\": 5, \"high\": 5", "the value does not lie there"},
        {"\"metric\": \"b\", \"verdict\": \"no reference\"", NULL},
        {"\"metric\": \"a\", \"verdict\": \"pass\", \"value\": 5, \"fails\": true", "it passes and fails"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char record[300], expected[300] = "";
        snprintf(record, sizeof record, "{\"references\": [{%s}]}", rows[i].entry);
        if (rows[i].why)
            snprintf(expected, sizeof expected, "record run/artifacts/benchwrap.json: reference of %.*s: %s", (int)strcspn(rows[i].entry + 11, "\""),
                     rows[i].entry + 11, rows[i].why);
        assert_string_equal(findings("m:a=5", record), expected);
    }
    static const char judged[] = "{\"references\": [{\"metric\": \"a\", \"verdict\": \"pass\", \"value\": 5}]}",
                      none[] = "{\"references\": [{\"metric\": \"a\", \"verdict\": \"no reference\"}]}";
    assert_string_equal(findings("m:a=5 t:benchwrap.verdict=pass", judged),
                        "unverifiable run/tags/benchwrap.verdict: it passes by references of its site alone, which are not here");
    assert_string_equal(findings("m:a=5 t:benchwrap.verdict=pass", none),
                        "verdict run/tags/benchwrap.verdict: the run claims \"pass\", and neither rules nor references have judged it");
    assert_string_equal(findings("m:a=5 t:benchwrap.verdict=pass", "{}"), "");
    struct run_check with_rules = {.rules_text = STR("name: x")};
    assert_string_equal(checked_findings(check_claims, &with_rules, "m:a=5 t:benchwrap.verdict=pass", none), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(metrics_by_the_word_of_a_program), cmocka_unit_test(output_that_is_withheld),
                                       cmocka_unit_test(references_of_a_site)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
