/* history.c (test): which runs have a history, its groups, gaps, the gate, and what else changed at a run. */
#include "history/history.h"
#include "made_runs.h"

#include <math.h>
#include <time.h>

struct read_history {
    struct made_tree tree;
    struct history is;
};

static void read_history(const struct place *p, struct read_history *ret)
{
    made_tree_open(&ret->tree, p);
    struct history_request asked = {.min_effect = 0.02, .arena = &ret->tree.arena};
    if (history_read(&asked, &ret->tree.runs, &ret->is, &ret->tree.err) < 0)
        fail_msg("%s", ret->tree.err.text);
}

static void close_history(struct read_history *h)
{
    history_close(&h->is);
    made_tree_close(&h->tree);
}

static const struct history_metric_series *rate_series(const struct history_group *g)
{
    for (size_t i = 0; i < g->metric_count; i++)
        if (strcmp(g->metrics[i].key->name, "rate") == 0)
            return &g->metrics[i];
    return NULL;
}

/* 30 runs and a change at the 20th; a failed run, a copy, a warm-up, one in the future, one without the metric, and others with another argument. */
static void selection(void **state)
{
    const struct place *p = *state;
    struct read_history h;
    for (int i = 0; i < 30; i++) {
        struct made_run run = {i, .params = i < 20 ? "\"kernel.thp\": {\"value\": \"never\"}" : "\"kernel.thp\": {\"value\": \"always\"}",
                               .metrics = i == 8 ? NULL : rate_of(1000 * noise_at(i) * (i < 20 ? 1 : 0.9))};
        run.status = i == 4 ? "FAILED" : NULL;
        run.tags = i == 6 ? "\"benchwrap.warmup\": {\"value\": \"yes\"}" : NULL;
        make_run(p, run);
        make_param(p, i, "kernel.thp", i < 20 ? "never" : "always");
        if (i == 10)
            make_run_as(p, &run, made_id(500));
    }
    for (int i = 40; i < 43; i++)
        make_run(p, (struct made_run){i, .argument = "b", .metrics = rate_of(5)});
    make_run(p, (struct made_run){(int)((time(NULL) - made_start_ms(0) / 1000) / 60) + 100, .metrics = rate_of(1)});
    read_history(p, &h);
    assert_int_equal(h.is.failed, 1);
    assert_int_equal(h.is.copies, 1);
    assert_int_equal(h.is.ahead, 1);
    assert_int_equal(h.is.damaged, 0);
    assert_int_equal(h.is.group_count, 2);
    assert_int_equal(h.is.groups[0].member_count, 28);
    assert_int_equal(h.is.groups[1].member_count, 3);
    const struct history_metric_series *rate = rate_series(&h.is.groups[0]);
    assert_non_null(rate);
    assert_int_equal(rate->n, 27); /* the one without a value is a gap, no zero */
    assert_int_equal(rate->points.count, 1);
    assert_string_equal(rate->changes[0].run->id, made_id(20));
    assert_string_equal(rate->changes[0].before->id, made_id(19));
    assert_int_equal(rate->changes[0].verdict, LEVEL_REGRESSION);
    assert_int_equal(rate->changes[0].changed_count, 1);
    assert_string_equal(rate->changes[0].changed[0].key, "kernel.thp");
    assert_true(history_has_regression(&h.is, 10) && !history_has_regression(&h.is, 9));
    close_history(&h);
}

static void nothing(void **state)
{
    const struct place *p = *state;
    struct read_history h;
    make_run(p, (struct made_run){1, .status = "FAILED", .metrics = rate_of(1)});
    read_history(p, &h);
    assert_int_equal(h.is.group_count, 0);
    assert_false(history_has_regression(&h.is, 20));
    close_history(&h);
}

/* A fact on which the three runs of a side do not agree is none; an unknown fact of a machine is one of its own. Lines of an artifact count if all runs have it. */
static void changed_facts(void **state)
{
    const struct place *p = *state;
    struct made_tree t;
    struct tree_run *list[6];
    struct cause_change *changed;
    size_t count;
    static const struct runs_filter everything;
    for (int i = 0; i < 6; i++) {
        char value[20];
        static const char *const keys[] = {"cpu.governor", "memory.thp_defrag", "os.name", "job.id", "lsf.queue_rank"};
        make_run(p, (struct made_run){i});
        for (int k = 0; k < 5; k++) {
            /* changes; changes but for one run; stays; has its own value in each run; changes, and is no cause */
            snprintf(value, sizeof value, "v%d", k % 4 == 0 ? i / 3 : k == 1 ? i / 3 + (i == 1) : k == 2 ? 0 : i);
            make_param(p, i, keys[k], value);
        }
        char path[200], text[100];
        snprintf(path, sizeof path, "%s/mlruns/7/%s/artifacts/libraries.txt", p->path, made_id(i));
        snprintf(text, sizeof text, "libc.so.6 /lib/libc.so.6 a\nlibm.so.6 /lib/libm.so.6 %s\n", i < 3 ? "old" : "new");
        write_made(path, text);
        snprintf(path, sizeof path, "%s/mlruns/7/%s/artifacts/environment.txt", p->path, made_id(i));
        snprintf(text, sizeof text, "OMP_NUM_THREADS=%d\n", 1 + i / 3);
        if (i != 4)
            write_made(path, text);
    }
    made_tree_open(&t, p);
    assert_int_equal(runs_load(&t.runs, &everything, &t.arena, &t.err), 0);
    assert_int_equal(t.runs.count, 6);
    for (size_t i = 0; i < 6; i++)
        list[i] = t.runs.all[5 - i];
    const struct tree_run *const *before = (const struct tree_run *const *)list;
    assert_int_equal(cause_changes(&t.runs, before, 3, before + 3, 3, &t.arena, &changed, &count, &t.err), 0);
    assert_int_equal(count, 2);
    assert_string_equal(changed[0].key, "library.libm.so.6");
    assert_string_equal(changed[0].before, "old");
    assert_string_equal(changed[0].after, "new");
    assert_string_equal(changed[1].key, "cpu.governor");
    assert_string_equal(changed[1].before, "v0");
    assert_string_equal(changed[1].after, "v1");
    assert_string_equal(changed[1].is.name, "processor frequency");
    made_tree_close(&t);
}

static void classes(void **state)
{
    (void)state;
    static const struct {
        enum fact_kind kind;
        const char *key, *source, *name;
        int rank;
        bool own;
    } rows[] = {{FACT_PARAM, "threads", "option", "parameter", 9, true},       {FACT_PARAM, "queue", "option", "parameter", 9, true}, {FACT_PARAM, "library.libm.so.6", NULL, "libraries", 9, false},
                {FACT_PARAM, "environment.SLURM_JOB_ID", NULL, "environment", 0, true}, {FACT_PARAM, "cpu.frequency_limit_Hz", "probe:cpu", "processor frequency", 8, false},
                {FACT_PARAM, "cpu.bound_threads", "probe:cpu", "binding", 8, false}, {FACT_PARAM, "kernel.thp", "probe:kernel", "kernel setting", 6, true},
                {FACT_PARAM, "fs.options", "probe:fs", "file system", 8, false},     {FACT_PARAM, "topology.depth", "probe:topology", "machine", 3, true},     {FACT_TAG, "mlflow.runName", NULL, "record", 0, true},
                {FACT_TAG, "anything", NULL, "tag", 0, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cause_class is = cause_class_of(rows[i].kind, rows[i].key, rows[i].source);
        if (strcmp(is.name, rows[i].name) != 0 || is.rank != rows[i].rank || is.own != rows[i].own)
            fail_msg("%s: %s %d %d", rows[i].key, is.name, is.rank, is.own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(selection, place_begin, place_end),
        cmocka_unit_test_setup_teardown(nothing, place_begin, place_end),
        cmocka_unit_test_setup_teardown(changed_facts, place_begin, place_end),
        cmocka_unit_test(classes),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
