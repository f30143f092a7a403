/* run_facts.c (test): what is read of a run's record, of a run without one, of copies, and of repetitions. */
#include "history/run_facts.h"
#include "made_runs.h"

#include <math.h>

static void read_made(const struct place *p, struct made_tree *ret_tree, struct run_facts *ret)
{
    static const struct runs_filter everything;
    struct arena *a = &ret_tree->arena;
    struct err *err = &ret_tree->err;
    made_tree_open(ret_tree, p);
    if (runs_load(&ret_tree->runs, &everything, a, err) < 0 || run_facts_read(&ret_tree->runs, true, a, ret, err) < 0)
        fail_msg("%s", err->text);
}

static const struct facts_run *run_of(const struct run_facts *f, int number)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->runs[i].run->id, made_id(number)) == 0)
            return &f->runs[i];
    fail_msg("no run %d", number);
    return NULL;
}

static uint32_t key_of(const struct run_facts *f, enum fact_kind kind, const char *name)
{
    for (uint32_t i = 0; i < f->key_count; i++)
        if (f->keys[i].kind == kind && strcmp(f->keys[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

static void records(void **state)
{
    const struct place *p = *state;
    struct made_tree t;
    struct run_facts f;
    make_run(p, (struct made_run){1, .params = "\"kernel.thp\": {\"value\": \"never\"}", .metrics = rate_of(5)});
    make_run(p, (struct made_run){2, .params = "\"kernel.thp\": {\"value\": \"always\"}", .metrics = "\"rate\": {\"value\": \"NaN\", \"samples\": 1}"});
    make_run(p, (struct made_run){3, .argument = "b", .params = "\"kernel.thp\": {\"value\": \"never\"}", .metrics = rate_of(7)});
    read_made(p, &t, &f);
    uint32_t rate = key_of(&f, FACT_METRIC, "rate"), thp = key_of(&f, FACT_PARAM, "kernel.thp"), argv = key_of(&f, FACT_PARAM, FACT_COMMAND);
    assert_true(rate != UINT32_MAX && thp != UINT32_MAX && argv != UINT32_MAX);
    const struct facts_run *one = run_of(&f, 1), *two = run_of(&f, 2), *three = run_of(&f, 3);
    assert_true(run_facts_number(one, rate) == 5 && run_facts_number(three, rate) == 7);
    assert_true(isnan(run_facts_number(two, rate))); /* missing, not zero */
    assert_int_equal(one->metrics[0].way, DIR_HIGHER);
    assert_true(run_facts_value(one, thp) == run_facts_value(three, thp) && run_facts_value(one, thp) != run_facts_value(two, thp));
    assert_true(run_facts_value(one, argv) != run_facts_value(three, argv));
    assert_true(one->inputs == two->inputs && one->inputs != three->inputs); /* a kernel setting is no input */
    made_tree_close(&t);
}

/* Another program's run has files alone; so has one whose record is damaged. */
static void without_record(void **state)
{
    const struct place *p = *state;
    char path[200];
    struct made_tree t;
    struct run_facts f;
    make_run(p, (struct made_run){1, .metrics = rate_of(5)});
    snprintf(path, sizeof path, "%s/mlruns/7/%s/artifacts/benchwrap.json", p->path, made_id(1));
    write_made(path, "{\"format\": 1, \"metrics\": {\"rate\": {\"value\": 9");
    snprintf(path, sizeof path, "%s/mlruns/7/%s/metrics", p->path, made_id(1));
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/mlruns/7/%s/metrics/rate", p->path, made_id(1));
    write_made(path, "1767225600000 6 0\n");
    read_made(p, &t, &f);
    assert_true(run_facts_number(run_of(&f, 1), key_of(&f, FACT_METRIC, "rate")) == 6);
    made_tree_close(&t);
}

static void copies_and_repetitions(void **state)
{
    const struct place *p = *state;
    char tag[200];
    struct made_tree t;
    struct run_facts f;
    const struct made_run one = {1, .params = "\"os.name\": {\"value\": \"Debian\"}", .metrics = rate_of(5)};
    make_run(p, one);
    make_run_as(p, &one, made_id(9));
    make_run_as(p, &(struct made_run){1, .params = one.params, .metrics = rate_of(4)}, made_id(8)); /* at the same time: no copy */
    snprintf(tag, sizeof tag, "\"mlflow.parentRunId\": {\"value\": \"%s\"}, \"benchwrap.repetition\": {\"value\": \"1\"}", made_id(1));
    make_run(p, (struct made_run){2, .metrics = rate_of(6), .tags = tag});
    make_run(p, (struct made_run){3, .metrics = rate_of(5), .tags = "\"benchwrap.warmup\": {\"value\": \"yes\"}"});
    read_made(p, &t, &f);
    const struct facts_run *parent = run_of(&f, 1), *copy = run_of(&f, 9), *repetition = run_of(&f, 2), *warmup = run_of(&f, 3);
    uint32_t os = key_of(&f, FACT_PARAM, "os.name");
    assert_true(parent->content == copy->content && parent->content != warmup->content && parent->content != repetition->content);
    assert_true(run_of(&f, 8)->content != parent->content);
    assert_true(repetition->in_parent && repetition->is_repetition && !parent->in_parent && !copy->in_parent);
    assert_true(run_facts_value(repetition, os) != 0 && run_facts_value(repetition, os) == run_facts_value(parent, os)); /* inherited */
    assert_true(warmup->is_warmup && !parent->is_warmup && run_facts_value(warmup, os) == 0);
    made_tree_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records, place_begin, place_end),
        cmocka_unit_test_setup_teardown(without_record, place_begin, place_end),
        cmocka_unit_test_setup_teardown(copies_and_repetitions, place_begin, place_end),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
