/* Energy for each result: integration with edges, gaps, windows, devices that are counted, shared and several nodes; cost. */
#include "run/energy_results.h"

#include "base/fs.h"
#include "collector/nodes.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    energy_results_make(&r, -1, false);
    energy_results_price(&r);
    assert_int_equal(r.count, n);
}

static void test_whole_run(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 200);
    sample("system/gpu_1_power_usage_watts", 1001, 1099, 1, 100);
    energy_results_make(&r, -1, false);
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
    energy_results_make(&r, -1, false);
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
    energy_results_make(&r, -1, false);
    SAME(value("energy.used_J"), 105 + 220 + 230 + 60);
}

static void test_gaps(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1050, 1, 200);
    sample("system/gpu_0_power_usage_watts", 1056, 1099, 1, 200);
    energy_results_make(&r, -1, false);
    assert_true(isnan(value("energy.valid")));
    assert_string_equal(reason(), "the power of gpu_0 was not sampled for 6.0 s");
}

static void test_late_begin(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1009, 1099, 1, 200);
    energy_results_make(&r, -1, false);
    assert_string_equal(reason(), "the power of gpu_0 was not sampled for 9.0 s");
}

static void test_early_end(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1090, 1, 200);
    energy_results_make(&r, -1, false);
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
    energy_results_make(&r, -1, false);
    assert_string_equal(reason(), "");
    SAME(value("energy.used_J"), 8000);
}

static void test_few_samples(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1002, 1, 200);
    energy_results_make(&r, -1, false);
    assert_string_equal(reason(), "the power of gpu_0 was sampled 2 times; 3 are needed");
}

static void test_window_elsewhere(void **state)
{
    (void)state;
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 200);
    record_metric(&r, "measured.from_s", 10, "s", DIR_NONE, 0, 1);
    record_metric(&r, "measured.to_s", 20, "s", DIR_NONE, 0, 1);
    energy_results_make(&r, -1, false);
    assert_string_equal(reason(), "the measured window (measured.from_s to measured.to_s) is not within the run");
}

/* The meter of the node has all else; a platform has packages and memory. */
static void test_parts(void **state)
{
    (void)state;
    sample("system/power_package0_watts", 1001, 1099, 1, 50);
    sample("system/power_core0_watts", 1001, 1099, 1, 40);
    sample("system/power_dram0_watts", 1001, 1099, 1, 5);
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 100);
    energy_results_make(&r, -1, false);
    SAME(value("energy.mean_W"), 155);
    assert_string_equal(record_text(&r, FACT_TAG, "energy.parts").p, "package0 dram0 gpu_0");
    sample("system/power_psys0_watts", 1001, 1099, 1, 70);
    energy_results_make(&r, -1, false);
    SAME(value("energy.mean_W"), 170);
    sample("system/power_node_watts", 1001, 1099, 1, 400);
    energy_results_make(&r, -1, false);
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
    energy_results_make(&r, -1, false);
    assert_string_equal(reason(), "the job has a part of the node, whose energy other jobs use too");
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 100);
    energy_results_make(&r, -1, false);
    SAME(value("energy.mean_W"), 100);
    assert_string_equal(record_text(&r, FACT_TAG, "energy.parts").p, "gpu_0");
}

static void test_several_nodes(void **state)
{
    (void)state;
    char folder[] = "/tmp/benchwrap-energy.XXXXXX";
    assert_non_null(mkdtemp(folder));
    int dir = open(folder, O_RDONLY | O_DIRECTORY);
    record_param(&r, "job.nodes", STR("4"));
    energy_results_make(&r, dir, false);
    assert_string_equal(reason(), "");
    sample("system/gpu_0_power_usage_watts", 1001, 1099, 1, 100);
    energy_results_make(&r, dir, false);
    assert_string_equal(reason(), "the results are of several nodes, and power was measured on this one");
    close(dir);
    rmdir(folder);
}

/* ---- what collectors of other nodes reported ---- */

struct reported {
    const char *name, *device, *threads, *allowed;
    double W;
    int64_t from_s, to_s, offset_ms, error_ms; /* error_ms -1: no line says how its clock is */
};
#define PACKAGE "system/power_package0_watts"
static const struct reported good = {"n2", PACKAGE, "64", "64", 30, 1000, 1100, 0, 3};

static void put_line(struct buf *to, const char *node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void put_line(struct buf *to, const char *node, const char *fmt, ...)
{
    char array[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(array, sizeof array, fmt, ap);
    va_end(ap);
    assert_true(node_line(to, node, str_of(array)));
}

static void put_report(struct buf *to, const struct reported *n)
{
    put_line(to, n->name, "[\"h\",%lld]", (long long)n->from_s * 1000);
    put_line(to, n->name, "[\"p\",\"cpu.threads\",\"%s\"]", n->threads);
    put_line(to, n->name, "[\"p\",\"cpu.allowed_threads\",\"%s\"]", n->allowed);
    if (n->error_ms >= 0)
        put_line(to, n->name, "[\"o\",%lld,%lld]", (long long)n->offset_ms, (long long)n->error_ms);
    put_line(to, n->name, "[\"k\",0,\"%s\"]", n->device);
    for (int64_t t = n->from_s; t <= n->to_s; t++)
        put_line(to, n->name, "[\"s\",%lld,0,%.1f]", (long long)t * 1000 + (long long)n->offset_ms, n->W);
    put_line(to, n->name, "[\"e\"]");
}

/* The run of several nodes: this one with 20 W, and the others by their lines. first: the line of the recorder; more: nodes and lines at the end. */
static void make_nodes(const char *first, const struct reported *list, size_t n, const char *const *more)
{
    char folder[] = "/tmp/benchwrap-energy.XXXXXX";
    struct buf text CLEANUP_BUF;
    struct err err = {0};
    buf_init(&text, 1 << 22);
    assert_non_null(mkdtemp(folder));
    int dir = open(folder, O_RDONLY | O_DIRECTORY);
    put_line(&text, "-", "%s", first);
    for (size_t i = 0; i < n; i++)
        put_report(&text, &list[i]);
    for (; more && *more; more += 2)
        put_line(&text, more[0], "%s", more[1]);
    assert_int_equal(fs_write(dir, NODES_LINES, buf_text(&text), 0600, false, &err), 0);
    energy_results_make(&r, dir, false);
    unlinkat(dir, NODES_LINES, 0);
    close(dir);
    rmdir(folder);
}

static void begin_nodes(const char *count)
{
    r.source = "probe:energy";
    record_param(&r, "step.nodes", str_of(count));
    record_param(&r, "job.scheduler", STR("slurm"));
    record_param(&r, "cpu.threads", STR("64"));
    record_param(&r, "cpu.allowed_threads", STR("64"));
    sample(PACKAGE, 1000, 1100, 1, 20);
}

static void test_nodes_sum(void **state)
{
    (void)state;
    const struct reported others[] = {good, {"n3", PACKAGE, "64", "64", 50, 1000, 1100, 7200000, 3}}; /* a clock two hours ahead */
    begin_nodes("3");
    make_nodes("[\"w\",2,\"ranks\",\"n1\"]", others, 2, NULL);
    assert_string_equal(reason(), "");
    SAME(value("energy.mean_W"), 100);
    SAME(value("energy.used_J"), 10000);
    SAME(value("out.speed.energy_J_per_token"), 2);
    assert_string_equal(record_text(&r, FACT_TAG, "energy.parts").p, "3 nodes: package0");
}

/* One node that is not complete makes the energy missing, and the reason names it. */
static void test_nodes_refused(void **state)
{
    (void)state;
    static const struct {
        struct reported other;
        const char *count, *why;
    } cases[] = {
        {{"n2", PACKAGE, "64", "64", 30, 1000, 1050, 0, 3}, "2", "the power of package0 of node n2 was not sampled for 50.0 s"},
        {{"n2", "system/cpu_utilization_percentage", "64", "64", 30, 1000, 1100, 0, 3}, "2", "node n2 has reported no power"},
        {{"n2", "system/power_node_watts", "64", "64", 30, 1000, 1100, 0, 3}, "2", "node n1 measures package0, and node n2 node"},
        {{"n2", PACKAGE, "64", "1", 30, 1000, 1100, 0, 3}, "2", "the job has a part of node n2, whose energy other jobs use too"},
        {{"n2", PACKAGE, "64", "64", 30, 1000, 1100, 0, -1}, "2", "the clock of node n2 is not known"},
        {{"n2", PACKAGE, "64", "64", 30, 1000, 1100, 0, 1001}, "2", "the clock of node n2 is known to 1001 ms only; the window has 100.0 s"},
        {{"n2", PACKAGE, "64", "64", 30, 1000, 1100, 0, 3}, "4", "4 nodes ran the program, and 2 have reported their power"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        teardown(NULL);
        setup(NULL);
        begin_nodes(cases[i].count);
        make_nodes("[\"w\",1,\"ranks\",\"n1\"]", &cases[i].other, 1, NULL);
        assert_string_equal(reason(), cases[i].why);
        assert_true(isnan(value("energy.valid")));
    }
}

/* A launcher need not use all nodes of the job: those that it did not use are not counted, and it must be known which. */
static void test_nodes_of_launcher(void **state)
{
    (void)state;
    const struct reported others[] = {good, {"n3", PACKAGE, "64", "64", 1000, 1000, 1100, 0, 3}};
    begin_nodes("2");
    make_nodes("[\"w\",2,\"step\",\"n1\",\"launcher\"]", others, 2, NULL);
    assert_string_equal(reason(), "it is not known whether the program ran on node n1, whose power was measured");
    teardown(NULL);
    setup(NULL);
    begin_nodes("2");
    make_nodes("[\"w\",2,\"step\",\"n1\",\"launcher\"]", others, 2, (const char *const[]){"-", "[\"u\",1,2]", "n2", "[\"u\",1]", "n3", "[\"u\",0]", NULL});
    assert_string_equal(reason(), "");
    SAME(value("energy.mean_W"), 50);
}

/* Nodes whose job has all processors are whole, however few a collector may use. */
static void test_nodes_whole(void **state)
{
    (void)state;
    struct reported other = good;
    other.allowed = "1";
    begin_nodes("2");
    record_param(&r, "job.cpus_per_node", STR("64"));
    make_nodes("[\"w\",1,\"ranks\",\"n1\"]", &other, 1, NULL);
    assert_string_equal(reason(), "");
    SAME(value("energy.mean_W"), 50);
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
        CASE(test_nodes_sum),   CASE(test_nodes_refused), CASE(test_nodes_of_launcher), CASE(test_nodes_whole),
        CASE(test_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
