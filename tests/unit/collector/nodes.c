/* What nodes tell: lines survive the way, and what stands in them becomes figures, differences and reasons. */
#include "base/fs.h"
#include "base/json.h"
#include "launch/rank.h"
#include "collector/collector.h"
#include "collector/node_name.h"
#include "collector/nodes.h"
#include "probes/slurm_acct.h"
#include "run/collectors.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

static void add(struct buf *to, const char *node, const char *array)
{
    assert_true(node_line(to, node, str_of(array)));
}

static void lines_are_whole_or_none(void **state)
{
    (void)state;
    struct buf text CLEANUP_BUF, big CLEANUP_BUF;
    struct str node, array;
    char name[NODE_NAME_MAX + 1];
    buf_init(&text, 1 << 16);
    buf_init(&big, 1 << 20);
    add(&text, "n1", "[\"h\",5]");
    struct str line = {text.p, text.n - 1};
    assert_true(node_line_read(line, &node, &array));
    assert_true(str_is(node, "n1") && str_is(array, "[\"h\",5]"));
    for (size_t i = 0; i < line.n; i++) { /* any byte changed, any end missing */
        text.p[i] ^= 1;
        assert_false(node_line_read(line, &node, &array));
        text.p[i] ^= 1;
        assert_false(node_line_read(str_sub(line, 0, i), &node, &array));
    }
    for (int i = 0; i < 5000; i++)
        buf_puts(&big, "\xc3\xa4\x1b");
    buf_clear(&text);
    node_line_text(&text, "n1", "p", STR("key"), buf_text(&big)); /* cut, but a line */
    assert_true(text.n > 300 && text.n <= NODE_LINE_MAX && text.p[text.n - 1] == '\n');
    assert_true(node_line_read((struct str){text.p, text.n - 1}, &node, &array));
    struct json *j = NULL;
    assert_int_equal(json_parse(&j, array, NULL, NULL), 0);
    assert_true(str_ends(str_of(json_string(json_at(j, 2), "")), "..."));
    json_free(j);
    node_name_make(name, STR("../../etc/x y"));
    assert_string_equal(name, "_._.._etc_x_y");
    node_name_make(name, STR("-"));
    assert_string_equal(name, "node");
    node_name_make(name, STR(""));
    assert_string_equal(name, "node");
}

/* Whose variables are they? What Open MPI 4.1 and MPICH 4.0 under Slurm 22.05 leave in the environment of a rank on n2. */
static void nodes_have_their_own_name(void **state)
{
    (void)state;
    static const struct {
        const char *env[8], *host, *name;
        bool by_slurm;
    } cases[] = {
        {{"SLURM_JOB_ID=1", "SLURM_PROCID=3", "SLURMD_NODENAME=n2"}, "n2.site.example", "n2", true},
        {{"SLURM_JOB_ID=1", "SLURM_PROCID=3", "PMI_RANK=3", "SLURMD_NODENAME=n2"}, "n2", "n2", true},
        {{"SLURM_JOB_ID=1", "SLURM_PROCID=0", "PMIX_RANK=1", "OMPI_COMM_WORLD_RANK=1", "SLURMD_NODENAME=n2"}, "host", "n2", false},
        {{"SLURM_JOB_ID=1", "SLURM_PROCID=0", "PMI_RANK=2", "MPI_LOCALRANKID=0", "SLURMD_NODENAME=n1"}, "n2.site.example", "n2", false},
        {{"SLURM_JOB_ID=1", "PMI_RANK=2", "SLURMD_NODENAME=n1"}, "n2", "n2", false},
        {{"PALS_RANKID=2", "PALS_LOCAL_RANKID=0"}, "x1000c0s0b0n0", "x1000c0s0b0n0", false},
        {{"SLURM_JOB_ID=1", "SLURM_PROCID=0", "SLURM_STEP_ID=1", "PMIX_RANK=0", "PMI_RANK=3", "PMI_SIZE=4", "SLURMD_NODENAME=n1"}, "n2", "n2", false},
        {{"PMI_RANK=0"}, "n2.site.example", "n2.site.example", false},
        {{NULL}, "n2.site.example", "n2.site.example", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[NODE_NAME_MAX + 1];
        node_own_name((char *const *)cases[i].env, cases[i].host, name);
        assert_string_equal(name, cases[i].name);
        assert_int_equal(rank_is_slurms((char *const *)cases[i].env), cases[i].by_slurm);
    }
}

static const char *folder(char *path)
{
    snprintf(path, 64, "/tmp/benchwrap-unit.XXXXXX");
    return mkdtemp(path);
}

static void told(const char *lines, struct record *r, bool public_profile, struct buf *json)
{
    char path[64];
    assert_non_null(folder(path));
    int dir = open(path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(fs_create(dir, NODES_LINES, str_of(lines), 0600, NULL), 0);
    nodes_finish(dir, r, public_profile);
    buf_init(json, 1 << 22);
    fs_read(dir, "nodes.json", 1 << 21, 0, json, NULL);
    close(dir);
    fs_remove_tree(AT_FDCWD, path, NULL);
}

static void node(struct buf *to, const char *name, const char *type, const char *model, double memory)
{
    char text[200];
    add(to, name, "[\"h\",1000]");
    snprintf(text, sizeof text, "[\"p\",\"node.type\",\"%s\"]", type);
    add(to, name, text);
    snprintf(text, sizeof text, "[\"p\",\"cpu.model\",\"%s\"]", model);
    add(to, name, text);
    add(to, name, "[\"k\",0,\"system/system_memory_usage_megabytes\"]");
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "[\"s\",%d,0,%g]", 1000 + 1000 * i, memory + i);
        add(to, name, text);
    }
}

/* Reports of so many nodes are stored; a number of nodes or a sum over them would be wrong where
 * there are more. */
static void more_nodes_than_are_stored(void **state)
{
    (void)state;
    for (int others = NODES_MAX - 1; others <= NODES_MAX; others++) {
        struct record r;
        struct buf lines CLEANUP_BUF, json CLEANUP_BUF;
        char id[33], text[64];
        buf_init(&lines, 8 << 20);
        record_new_id(id);
        record_init(&r, id, 1000);
        snprintf(text, sizeof text, "[\"w\",%d,\"ranks\",\"n0\"]", others);
        add(&lines, "-", text);
        for (int i = 0; i < others && i < NODES_MAX - 1; i++) {
            snprintf(text, sizeof text, "n%d", i + 1);
            add(&lines, text, "[\"h\",1000]");
        }
        told(lines.p, &r, false, &json);
        assert_true(str_is(record_text(&r, FACT_PARAM, "nodes.count"), others < NODES_MAX ? "4096" : ""));
        bool missing = record_find(&r, FACT_MISSING, "nodes.count");
        assert_int_equal(missing, others == NODES_MAX);
        record_deinit(&r);
    }
}

/* A fact is common where each node's first value of the key is the same. */
static void common_facts_are_those_of_all(void **state)
{
    (void)state;
    struct record r;
    struct buf lines CLEANUP_BUF, json CLEANUP_BUF;
    struct json *j = NULL;
    char id[33];
    buf_init(&lines, 1 << 20);
    record_new_id(id);
    record_init(&r, id, 1000);
    add(&lines, "-", "[\"w\",3,\"ranks\",\"\"]");
    for (int i = 1; i <= 3; i++) {
        char name[8], text[100];
        snprintf(name, sizeof name, "n%d", i);
        add(&lines, name, "[\"p\",\"z.same\",\"1\"]");
        add(&lines, name, "[\"p\",\"a.same\",\"1\"]");
        snprintf(text, sizeof text, "[\"p\",\"b.other\",\"%d\"]", i / 3);
        add(&lines, name, text);
        if (i < 3)
            add(&lines, name, "[\"p\",\"c.of_two\",\"1\"]");
        if (i == 2)
            add(&lines, name, "[\"p\",\"z.same\",\"2\"]"); /* a later value */
        add(&lines, name, "[\"x\",\"d.missing\",\"none\"]");
    }
    told(lines.p, &r, false, &json);
    assert_int_equal(json_parse(&j, buf_text(&json), NULL, NULL), 0);
    const struct json *common = json_get(j, "common");
    assert_int_equal(json_count(common), 2);
    assert_string_equal(json_string(json_get(common, "z.same"), ""), "1");
    assert_string_equal(json_string(json_get(common, "a.same"), ""), "1");
    json_free(j);
    record_deinit(&r);
}

static void nodes_are_compared_and_merged(void **state)
{
    (void)state;
    struct record r;
    struct buf lines CLEANUP_BUF, json CLEANUP_BUF;
    char id[33];
    buf_init(&lines, 1 << 20);
    record_new_id(id);
    record_init(&r, id, 1000);
    r.source = "probe:cpu";
    record_param(&r, "node.type", STR("t1"));
    record_param(&r, "cpu.model", STR("Old"));
    record_metric(&r, "system/system_memory_usage_megabytes", 100, NULL, DIR_NONE, 0, 1000);
    add(&lines, "-", "[\"w\",4,\"ranks\",\"n1\"]");
    node(&lines, "n2", "t1", "Old", 199);
    node(&lines, "n3", "t1", "Old", 299);
    node(&lines, "n4", "t2", "New\\u001b", 599);
    add(&lines, "n4", "[\"o\",-40,3]");
    add(&lines, "n4", "[\"x\",\"gpu.model\",\"no driver\"]");
    add(&lines, "n4", "[\"e\"]");
    buf_puts(&lines, "deadbeef n9 [\"h\",1]\nrubbish\n"); /* no node of that name */
    add(&lines, "n2", "[\"s\",1,9,5,0,\"x\",-1,7,0]");
    told(lines.p, &r, false, &json);
    assert_true(str_is(record_text(&r, FACT_PARAM, "nodes.count"), "4"));
    assert_true(str_is(record_text(&r, FACT_PARAM, "nodes.types"), "2"));
    assert_true(record_number(&r, "nodes.system_memory_usage_MB.min", -1) == 100);
    assert_true(record_number(&r, "nodes.system_memory_usage_MB.max", -1) == 600);
    assert_true(record_number(&r, "nodes.system_memory_usage_MB.mean", -1) == 300);
    assert_true(record_number(&r, "nodes.system_memory_usage.sum_MB", -1) == 1200);
    assert_true(fabs(record_number(&r, "nodes.system_memory_usage.imbalance_percent", -1) - 100) < 1e-9);
    assert_true(record_number(&r, "system/n4/system_memory_usage_megabytes", -1) == 601);
    size_t warned = 0, missing = 0;
    for (const struct fact *f = r.first; f; f = f->next) {
        warned += f->kind == FACT_WARNING && str_has(f->text, "node n4 differs from n1 in node.type: cpu.model is New\\x1b, not Old");
        missing += f->kind == FACT_MISSING && str_is(f->key, "nodes") && str_has(f->text, "no report from 1 of 4 other nodes");
    }
    assert_int_equal(warned, 1);
    assert_int_equal(missing, 1);
    struct json *j = NULL;
    assert_int_equal(json_parse(&j, buf_text(&json), NULL, NULL), 0);
    assert_int_equal(json_count(json_get(j, "nodes")), 4);
    assert_string_equal(json_string(json_pointer(j, "/nodes/0/name"), ""), "n1");
    assert_int_equal(json_integer(json_pointer(j, "/nodes/3/clock_offset_ms"), 0), -40);
    assert_string_equal(json_string(json_pointer(j, "/nodes/3/facts/node.type"), ""), "t2");
    assert_string_equal(json_string(json_pointer(j, "/nodes/3/missing/gpu.model"), ""), "no driver");
    assert_null(json_pointer(j, "/common/cpu.model"));
    json_free(j);
    record_deinit(&r);
}

static void long_runs_stay_small(void **state)
{
    (void)state;
    struct record r;
    struct buf lines CLEANUP_BUF, json CLEANUP_BUF;
    char id[33], text[64];
    size_t points = 0;
    buf_init(&lines, 16 << 20);
    record_new_id(id);
    record_init(&r, id, 1000);
    add(&lines, "-", "[\"w\",1,\"step\",\"\"]");
    add(&lines, "n2", "[\"k\",0,\"system/x\"]");
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "[\"s\",%d,0,%d]", i, i % 2 ? 10 : 20);
        add(&lines, "n2", text);
    }
    told(lines.p, &r, false, &json);
    for (const struct fact *f = r.first; f; f = f->next)
        if (f->kind == FACT_METRIC && str_is(f->key, "system/n2/x")) {
            points++;
            assert_true(f->value >= 10 && f->value <= 20);
        }
    assert_true(points > NODES_POINTS_MAX / 4 && points <= NODES_POINTS_MAX);
    struct json *j = NULL;
    assert_int_equal(json_parse(&j, buf_text(&json), NULL, NULL), 0);
    assert_int_equal(json_integer(json_pointer(j, "/nodes/0/series/system~1x/count"), 0), 20000);
    assert_true(json_number(json_pointer(j, "/nodes/0/series/system~1x/mean"), 0) == 15);
    json_free(j);
    record_deinit(&r);
    int64_t s = INT64_C(1000000000), samples = 0;
    for (int64_t t = 0; t < 7 * 86400 * s; t += node_period(s, t))
        samples++;
    assert_true(samples > 2000 && samples < 10000); /* of a week */
    assert_int_equal(node_period(20 * s, 700 * s), 20 * s);
}

/* What is published is fetched by everybody. */
static void published_nodes_are_small(void **state)
{
    (void)state;
    static const int counts[] = {16, 300};
    for (size_t c = 0; c < 2; c++) {
        struct record r;
        struct buf lines CLEANUP_BUF, json CLEANUP_BUF;
        char id[33], text[300], name[16];
        size_t points = 0;
        buf_init(&lines, 64 << 20);
        record_new_id(id);
        record_init(&r, id, 1000);
        snprintf(text, sizeof text, "[\"w\",%d,\"step\",\"\"]", counts[c]);
        add(&lines, "-", text);
        for (int k = 0; k < counts[c]; k++) {
            snprintf(name, sizeof name, "node%03d", k);
            for (int i = 0; i < 8; i++) {
                snprintf(text, sizeof text, "[\"k\",%d,\"system/series_%d_megabytes\"]", i, i);
                add(&lines, name, text);
            }
            for (int i = 0; i < 300; i++) {
                snprintf(text, sizeof text, "[\"s\",%lld,0,1.5,1,2.5,2,3.5,3,4.5,4,5.5,5,6.5,6,7.5,7,%d.5]", 1795326486000LL + i * 1000, i);
                add(&lines, name, text);
            }
        }
        told(lines.p, &r, true, &json);
        for (const struct fact *f = r.first; f; f = f->next)
            points += f->kind == FACT_METRIC && str_starts(f->key, "system/");
        assert_true(json.n > 1000 && json.n + points * 30 < 600 << 10);
        assert_true(record_number(&r, "nodes.series_7_MB.max", -1) > 100);
        record_deinit(&r);
    }
}

static void launches_have_one_name_on_every_node(void **state)
{
    (void)state;
    char a[33], b[33];
    char *step[] = {(char *)"SLURM_JOB_ID=7", (char *)"SLURM_STEP_ID=3", (char *)"SLURM_NODEID=0", NULL};
    char *same[] = {(char *)"SLURM_NODEID=5", (char *)"SLURM_STEP_ID=3", (char *)"SLURM_JOB_ID=7", NULL};
    char *other[] = {(char *)"SLURM_JOB_ID=7", (char *)"SLURM_STEP_ID=4", NULL};
    char *again[] = {(char *)"SLURM_JOB_ID=7", (char *)"SLURM_STEP_ID=3", (char *)"SLURM_RESTART_COUNT=1", NULL};
    char *batch[] = {(char *)"SLURM_JOB_ID=7", (char *)"SLURM_STEP_ID=4294967291", NULL};
    char *signed_batch[] = {(char *)"SLURM_JOB_ID=7", (char *)"SLURM_STEP_ID=-5", NULL}; /* since Slurm 26.05 */
    char *mpirun[] = {(char *)"SLURM_JOB_ID=7", (char *)"PMIX_NAMESPACE=131072", NULL};
    char *orted[] = {(char *)"SLURM_JOB_ID=7", (char *)"PMIX_NAMESPACE=131072", (char *)"SLURM_STEP_ID=0", NULL};
    char *nothing[] = {NULL};
    assert_true(node_launch(step, a) && node_launch(same, b));
    assert_string_equal(a, b);
    assert_true(node_launch(other, b));
    assert_string_not_equal(a, b);
    assert_true(node_launch(again, b));
    assert_string_not_equal(a, b);
    assert_true(node_launch(mpirun, a) && node_launch(orted, b));
    assert_string_equal(a, b);
    assert_false(node_launch(signed_batch, b));
    assert_false(node_launch(batch, a));
    assert_false(node_launch(nothing, a));
}

static void accounting_is_read(void **state)
{
    (void)state;
    struct slurm_acct a;
    static const char text[] = "12\x1f" "100\x1fUnknown\x1fRUNNING\x1f\x1f" "00:00:01\x1f\x1f\x1f\x1f\x1f\x1fjob|a\x1f" "b\n"
                               "12.batch\x1f" "100\x1fUnknown\x1fRUNNING\x1f\x1f\x1f\x1f\x1f\x1f\x1f\x1f" "batch\n"
                               "12.0\x1f" "100\x1f" "150\x1f" "COMPLETED\x1f" "4\x1f" "00:09.000\x1f" "9M\x1f\x1f\x1f\x1f" "0\x1f" "before\n"
                               "12.1\x1f" "150\x1f" "150\x1f" "COMPLETED\x1f" "4\x1f" "00:09.000\x1f" "9M\x1f\x1f\x1f\x1f" "0\x1f" "same second\n"
                               "12.2\x1f" "150\x1f" "160\x1f" "COMPLETED\x1f" "4\x1f" "1-00:00:01.500\x1f" "2048K\x1f" "1M\x1f" "0\x1f" "7.5M\x1f" "12\x1f" "a|b\nwith lines\n"
                               "12.3\x1f" "151\x1f" "161\x1f" "CANCELLED by 1001\x1f" "2\x1f" "00:01\x1f" "4M\x1f\x1f\x1f\x1f" "30\x1f" "x\n"
                               "12.4\x1f" "151\x1f" "161\x1f" "COMPLETED\x1f" "9\x1f" "09:00\x1f" "9G\x1f\x1f\x1f\x1f" "0\x1f" SLURM_ACCT_OWN "\n"
                               "12.5\x1f" "155\x1fUnknown\x1fRUNNING\x1f" "9\x1f" "09:00\x1f\x1f\x1f\x1f\x1f\x1f" "y\n"
                               "12.6\x1f" "155\x1f" "160\x1f" "COMPLETED\x1f" "9\x1f" "09:0";
    assert_true(slurm_acct_parse(&a, str_of(text), "12", 150, 200));
    assert_int_equal(a.steps, 2);
    assert_int_equal(a.running, 1);
    assert_int_equal(a.unclear, 1);
    assert_int_equal(a.tasks, 6);
    assert_true(a.cpu_s == 86401.5 + 1 && a.max_rss_B == 4 << 20 && a.ave_rss_B == 1 << 20 && a.disk_write_B == 7.5 * (1 << 20) && a.energy_J == 42);
    assert_string_equal(a.state, "CANCELLED");
    assert_false(slurm_acct_parse(&a, STR("sacct: error: no\n"), "12", 0, 9));
    assert_true(slurm_acct_parse(&a, STR(""), "12", 0, 9));
    assert_int_equal(a.steps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_whole_or_none),
        cmocka_unit_test(nodes_have_their_own_name), cmocka_unit_test(more_nodes_than_are_stored), cmocka_unit_test(common_facts_are_those_of_all), cmocka_unit_test(nodes_are_compared_and_merged),      cmocka_unit_test(long_runs_stay_small),
        cmocka_unit_test(accounting_is_read), cmocka_unit_test(published_nodes_are_small),      cmocka_unit_test(launches_have_one_name_on_every_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
