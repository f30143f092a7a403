/* Energy for each result: integration with edges, gaps, windows, devices that are counted, shared and several nodes; cost. */
#include "run/energy_results.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct record r;

static const char id[] = "00000000000000000000000000000001";

/* A run of 100 s that ended at 1100 s, with a rate of 50 tokens per second and 2 MB/s in three repetitions. */
static int setup(void **state)
{
    (void)state;
    record_init(&r, id, 999900);
    r.end_ms = 1100000;
    record_metric(&r, "run.wall_s", 100, "s", DIR_LOWER, 0, 1);
    record_metric(&r, "out.speed_token_per_s", 50, "token_per_s", DIR_HIGHER, 0, 1);
    record_metric(&r, "out.speed_token_per_s.max", 50, "token_per_s", DIR_HIGHER, 0, 1);
    record_metric(&r, "write.bw_MB_per_s", 1, "MB_per_s", DIR_HIGHER, 0, 1);
    record_metric(&r, "write.bw_MB_per_s.n", 3, "", DIR_NONE, 0, 1);
    record_metric(&r, "write.bw_MB_per_s.max", 4, "MB_per_s", DIR_HIGHER, 0, 1);
    record_metric(&r, "write.bw_MB_per_s.mean", 2, "MB_per_s", DIR_HIGHER, 0, 1);
    record_metric(&r, "offered_op_per_s", 7, "op_per_s", DIR_NONE, 0, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    record_deinit(&r);
    return 0;
}

static void sample(const char *key, double from_s, double to_s, double step_s, double W)
{
    for (double t = from_s; t <= to_s; t += step_s)
        record_metric(&r, key, W, NULL, DIR_NONE, 0, (int64_t)(t * 1e3));
}

static double value(const char *key)
{
    return record_number(&r, key, NAN);
}

static const char *reason(void)
{
    for (const struct fact *f = r.first; f; f = f->next)
        if (f->kind == FACT_MISSING && strcmp(f->key.p, "energy.valid") == 0)
            return f->text.p;
    return "";
}

#define SAME(a, b) assert_true(fabs((a) - (double)(b)) <= 1e-9 * fabs((double)(b)))

static void test_nothing(void **state)
{
    (void)state;
    size_t n = r.count;
    energy_results_make(&r);
    energy_results_price(&r);
    assert_int_equal(r.count, n);
}

static void test_whole_run(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 200);
    sample("system/gpu_1_power_usage_watts", 1001, 1099, 1, 100);
    energy_results_make(&r);
    assert_string_equal(reason(), "");
    SAME(value("energy.used_J"), 30000);
    SAME(value("energy.mean_W"), 300);
    SAME(value("energy.window_s"), 100);
    SAME(value("out.speed.energy_J_per_token"), 6);
    SAME(value("write.bw.energy_J_per_gigabyte"), 300 / 0.002);
    assert_true(isnan(value("offered.energy_J_per_op")));
    assert_string_equal(record_text(&r, FACT_TAG, "energy.window").p, "run");
    assert_string_equal(record_text(&r, FACT_TAG, "energy.parts").p, "gpu_0 gpu_1");
}

/* The window lies between samples: 10 W per second of slope. */
static void test_measured_window(void **state)
{
    (void)state;
    for (int t = 1000; t <= 1100; t++)
        record_metric(&r, "system/gpu_0_power_usage_watts", 10.0 * (t - 1000), NULL, DIR_NONE, 0, t * 1000);
    record_metric(&r, "measured.from_s", 1020.5, "s", DIR_NONE, 0, 1);
    record_metric(&r, "measured.to_s", 1030.25, "s", DIR_NONE, 0, 1);
    energy_results_make(&r);
    assert_string_equal(record_text(&r, FACT_TAG, "energy.window").p, "measured");
    SAME(value("energy.window_s"), 9.75);
    SAME(value("energy.used_J"), (205 + 302.5) / 2 * 9.75);
}

/* Counters give the mean since the sample before. */
static void test_means(void **state)
{
    (void)state;
    for (int t = 1000; t <= 1100; t++)
        record_metric(&r, "system/power_node_watts", 10.0 * (t - 1000), NULL, DIR_NONE, 0, t * 1000);
    record_metric(&r, "measured.from_s", 1020.5, "s", DIR_NONE, 0, 1);
    record_metric(&r, "measured.to_s", 1023.25, "s", DIR_NONE, 0, 1);
    energy_results_make(&r);
    SAME(value("energy.used_J"), 105 + 220 + 230 + 60);
}

static void test_gaps(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1050, 1, 200);
    sample("system/gpu_0_power_usage_watts", 1056, 1099, 1, 200);
    energy_results_make(&r);
    assert_true(isnan(value("energy.valid")));
    assert_string_equal(reason(), "the power of gpu_0 was not sampled for 6.0 s");
}

static void test_late_begin(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1009, 1099, 1, 200);
    energy_results_make(&r);
    assert_string_equal(reason(), "the power of gpu_0 was not sampled for 9.0 s");
}

static void test_early_end(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1090, 1, 200);
    energy_results_make(&r);
    assert_string_equal(reason(), "the power of gpu_0 was not sampled for 10.0 s");
}

/* A gap outside the window does no harm. */
static void test_gap_elsewhere(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1010, 1, 50);
    sample("system/gpu_0_power_usage_watts", 1020, 1099, 1, 200);
    record_metric(&r, "measured.from_s", 1040, "s", DIR_NONE, 0, 1);
    record_metric(&r, "measured.to_s", 1080, "s", DIR_NONE, 0, 1);
    energy_results_make(&r);
    assert_string_equal(reason(), "");
    SAME(value("energy.used_J"), 8000);
}

static void test_few_samples(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1002, 1, 200);
    energy_results_make(&r);
    assert_string_equal(reason(), "the power of gpu_0 was sampled 2 times; 3 are needed");
}

static void test_window_elsewhere(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 200);
    record_metric(&r, "measured.from_s", 10, "s", DIR_NONE, 0, 1);
    record_metric(&r, "measured.to_s", 20, "s", DIR_NONE, 0, 1);
    energy_results_make(&r);
    assert_string_equal(reason(), "the window that the program reports is not within the run");
}

/* The meter of the node has all else; a platform has packages and memory. */
static void test_parts(void **state)
{
    (void)state;
    sample("system/power_package0_watts", 1001, 1099, 1, 50);
    sample("system/power_core0_watts", 1001, 1099, 1, 40);
    sample("system/power_dram0_watts", 1001, 1099, 1, 5);
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 100);
    energy_results_make(&r);
    SAME(value("energy.mean_W"), 155);
    assert_string_equal(record_text(&r, FACT_TAG, "energy.parts").p, "package0 dram0 gpu_0");
    sample("system/power_psys0_watts", 1001, 1099, 1, 70);
    energy_results_make(&r);
    SAME(value("energy.mean_W"), 170);
    sample("system/power_node_watts", 1001, 1099, 1, 400);
    energy_results_make(&r);
    SAME(value("energy.mean_W"), 400);
    assert_string_equal(record_text(&r, FACT_TAG, "energy.parts").p, "node");
}

/* A job with a part of the node: only its own GPUs count. */
static void test_shared(void **state)
{
    (void)state;
    record_param(&r, "job.scheduler", STR("slurm"));
    record_param(&r, "cpu.threads", STR("64"));
    record_param(&r, "cpu.allowed_threads", STR("16"));
    sample("system/power_package0_watts", 1001, 1099, 1, 50);
    sample("system/power_node_watts", 1001, 1099, 1, 500);
    energy_results_make(&r);
    assert_string_equal(reason(), "the job has a part of the node, whose energy other jobs use too");
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 100);
    energy_results_make(&r);
    SAME(value("energy.mean_W"), 100);
    assert_string_equal(record_text(&r, FACT_TAG, "energy.parts").p, "gpu_0");
}

static void test_several_nodes(void **state)
{
    (void)state;
    record_param(&r, "job.nodes", STR("4"));
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 100);
    energy_results_make(&r);
    assert_string_equal(reason(), "the results are of several nodes, and power was measured on this one");
}

static void test_price(void **state)
{
    (void)state;
    record_param(&r, "job.nodes", STR("4"));
    record_tag(&r, "cost.node_hour", STR("1.80 EUR"));
    energy_results_price(&r);
    SAME(value("cost.run"), 1.80 * 4 * 100 / 3600);
    SAME(value("out.speed.cost_per_million_tokens"), 1.80 * 4 / 3600 / 50 * 1e6);
    SAME(value("write.bw.cost_per_terabyte"), 1.80 * 4 / 3600 / 2e6 * 1e12);
    struct err err = {0};
    static const char *const bad[] = {"", "x", "-1", "nan", "1.80EUR", "inf EUR"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(energy_results_check_price(bad[i], &err), -1);
    assert_int_equal(energy_results_check_price("0.5", &err), 0);
    assert_int_equal(energy_results_check_price(NULL, &err), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_nothing),     CASE(test_whole_run),   CASE(test_measured_window), CASE(test_means), CASE(test_gaps),  CASE(test_late_begin), CASE(test_early_end),
        CASE(test_gap_elsewhere), CASE(test_few_samples), CASE(test_window_elsewhere), CASE(test_parts), CASE(test_shared),     CASE(test_several_nodes),
        CASE(test_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
