/* bounds.c: values that the recorded hardware cannot reach, at both sides of each bound. */
#include "checked_run.h"

static const char *findings(const char *facts, const char *record)
{
    return checked_findings(check_bounds, &(struct run_check){0}, facts, record);
}

static void processor_time(void **state)
{
    (void)state;
    assert_string_equal(findings("p:cpu.threads=2 m:run.wall_s=10 m:run.user_s=20 m:run.system_s=2", "{}"), "");
    assert_string_equal(findings("p:cpu.threads=2 m:run.wall_s=10 m:run.user_s=20 m:run.system_s=2.5", "{}"),
                        "bound-odd run/metrics/run.user_s: 22.5 s of processor time in 10 s; the node's 2 threads (param cpu.threads) can use at most 20 s");
    assert_string_equal(findings("p:cpu.threads=1 m:run.wall_s=10 m:run.user_s=20 m:run.system_s=2.5", "{}"),
                        "bound run/metrics/run.user_s: 22.5 s of processor time in 10 s; the node's 1 thread (param cpu.threads) can use at most 10 s");
    assert_true(strncmp(findings("p:cpu.threads=1 m:run.wall_s=10 m:run.user_s=20 m:run.system_s=2", "{}"), "bound-odd", 9) == 0);
    assert_string_equal(findings("m:run.wall_s=10 m:run.user_s=2000 m:run.system_s=2", "{}"), ""); /* the threads are not known */
    assert_string_equal(findings("p:cpu.threads=0 m:run.wall_s=10 m:run.user_s=2000 m:run.system_s=2", "{}"), "");
    assert_string_equal(findings("p:cpu.threads=2 m:run.wall_s=10 m:run.user_s=2000", "{}"), "");
}

static void memory(void **state)
{
    (void)state;
    assert_string_equal(findings("p:memory.total_GiB=1 m:run.max_rss_MiB=1075", "{}"), "");
    assert_string_equal(findings("p:memory.total_GiB=1 m:run.max_rss_MiB=1076", "{}"),
                        "bound run/metrics/run.max_rss_MiB: 1076 MiB of memory in use; the node has 1024 (param memory.total_GiB)");
    assert_string_equal(findings("m:run.max_rss_MiB=1e9", "{}"), "");
}

static void rates_of_a_benchmark(void **state)
{
    static const char unit[] = "{\"metrics\": {\"copy.bw_x\": {\"unit\": \"GB_per_s\"}}}",
                      mega[] = "{\"metrics\": {\"copy.bw_x\": {\"unit\": \"MB_per_s\"}}}";
    static const char source[] = "3 accesses of 64 B a cycle at 6.5 GHz for each core";
    char expected[400];
    (void)state;
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2500", unit), "");
    snprintf(expected, sizeof expected, "bound run/metrics/copy.bw_x: 2501 GB_per_s; this hardware cannot pass 2500 (%s; cores: 2, nodes: 1)", source);
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2501", unit), expected);
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2500000", mega), "");
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2501000", mega), expected);
    assert_string_equal(findings("t:benchmark=other p:cpu.cores=2 m:copy.bw_x=2501", unit), "");
    assert_string_equal(findings("t:benchmark=stream m:copy.bw_x=1e9", unit), ""); /* the cores are not known */
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 p:gpu.count=1 m:copy.bw_x=14500", unit), "");
    assert_non_null(strstr(findings("t:benchmark=stream p:cpu.cores=2 p:gpu.count=1 m:copy.bw_x=14501", unit), "cannot pass 14500 ("));
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 p:step.nodes=3 p:job.nodes=9 m:copy.bw_x=7500", unit), "");
    assert_non_null(strstr(findings("t:benchmark=stream p:cpu.cores=2 p:step.nodes=3 p:job.nodes=9 m:copy.bw_x=7501", unit), "cannot pass 7500 ("));
    assert_non_null(strstr(findings("t:benchmark=stream p:cpu.cores=2 p:job.nodes=2 m:copy.bw_x=5001", unit), "cores: 2, nodes: 2)"));
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2501", "{\"metrics\": {\"copy.bw_x\": {\"unit\": \"unknown\"}}}"), "");
    assert_string_equal(findings("t:benchmark=hpl p:cpu.cores=1 m:a.rate_x=416", "{\"metrics\": {\"a.rate_x\": {\"unit\": \"GFLOP_per_s\"}}}"), "");
    assert_non_null(strstr(findings("t:benchmark=hpl p:cpu.cores=1 m:a.rate_x=417", "{\"metrics\": {\"a.rate_x\": {\"unit\": \"GFLOP_per_s\"}}}"),
                           "417 GFLOP_per_s; this hardware cannot pass 416 ("));
}

static void rates_below_zero(void **state)
{
    (void)state;
    assert_string_equal(findings("m:a=-1", "{\"metrics\": {\"a\": {\"unit\": \"MB_per_s\"}}}"), "bound run/metrics/a: a rate below zero");
    assert_string_equal(findings("m:a=-1", "{\"metrics\": {\"a\": {\"unit\": \"GTEPS\"}}}"), "bound run/metrics/a: a rate below zero");
    assert_string_equal(findings("m:a=0", "{\"metrics\": {\"a\": {\"unit\": \"MB_per_s\"}}}"), "");
    assert_string_equal(findings("m:a=-1", "{\"metrics\": {\"a\": {\"unit\": \"s\"}}}"), "");
    assert_string_equal(findings("m:a=-1", "{\"metrics\": {\"a\": {\"unit\": \"_per_s\"}}}"), "");
    assert_string_equal(findings("m:b=-1", "{\"metrics\": {\"a\": {\"unit\": \"MB_per_s\"}}}"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(processor_time), cmocka_unit_test(memory), cmocka_unit_test(rates_of_a_benchmark),
                                       cmocka_unit_test(rates_below_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
