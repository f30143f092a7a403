/* explain.c (test): causes that other runs show, that they exclude, that nothing decides; noise; runs that cannot be explained. */
#include "history/explain.h"
#include "made_runs.h"

#include <math.h>

/* `count` runs from number `first` on, with a kernel setting, a governor and a level; others: what other programs used. */
static void make_group(const struct place *p, int first, int count, const char *thp, const char *governor, double level, double others)
{
    for (int i = first; i < first + count; i++) {
        char params[300], metrics[300];
        snprintf(params, sizeof params, "\"kernel.thp\": {\"value\": \"%s\"}, \"cpu.governor\": {\"value\": \"%s\"}, \"kernel.boot_id\": {\"value\": \"%d\"}", thp, governor, i);
        snprintf(metrics, sizeof metrics, "%s, \"noise.other_processors\": {\"value\": %g, \"samples\": 1}", rate_of(level * noise_at(i)), others * noise_at(i));
        make_run(p, (struct made_run){i, .params = params, .metrics = metrics});
    }
}

struct explained {
    struct made_tree tree;
    struct explanation is;
};

/* Explains the difference of `count` runs from number a_first on and as many from b_first on. Returns what explain_runs does. */
static int explain_groups(const struct place *p, int a_first, int b_first, int count, struct explained *ret)
{
    made_tree_open(&ret->tree, p);
    struct arena *a = &ret->tree.arena;
    struct explain_request asked = {.min_effect = 0.02, .arena = a, .n = {(size_t)count, (size_t)count}};
    for (int s = 0; s < EXPLAIN_SIDES; s++) {
        asked.ids[s] = arena_get(a, (size_t)count * sizeof *asked.ids[s]);
        for (int i = 0; i < count; i++)
            memcpy(asked.ids[s][i], made_id((s ? b_first : a_first) + i), 33);
    }
    return explain_runs(&asked, &ret->tree.runs, &ret->is, &ret->tree.err);
}

/* No cause explains the difference of these five runs each, or they do not differ. */
static void expect_no_cause(const struct place *p, int a_first, int b_first, bool differs)
{
    struct explained e;
    assert_int_equal(explain_groups(p, a_first, b_first, 5, &e), 0);
    assert_true(e.is.certain && e.is.metric.differs == differs);
    assert_int_equal(e.is.cause_count, 0);
    made_tree_close(&e.tree);
}

static void expect_cause(const struct explanation *e, size_t i, const char *name, enum cause_state state)
{
    if (i >= e->cause_count || strcmp(e->causes[i].name, name) != 0 || e->causes[i].state != state)
        fail_msg("%zu of %zu: %s, %s", i, e->cause_count, i < e->cause_count ? e->causes[i].name : "none",
                 i < e->cause_count ? cause_state_name(e->causes[i].state) : "");
}

static void decided_by_others(void **state)
{
    const struct place *p = *state;
    struct explained e;
    make_group(p, 0, 5, "never", "performance", 1000, 0);
    make_group(p, 10, 5, "always", "powersave", 800, 0); /* two facts differ */
    make_group(p, 20, 6, "always", "performance", 800, 0); /* others: the setting has the effect */
    make_group(p, 30, 6, "never", "performance", 1000, 0);
    make_group(p, 40, 6, "never", "powersave", 1000, 0); /* and the governor has none */
    if (explain_groups(p, 0, 10, 5, &e) < 0)
        fail_msg("%s", e.tree.err.text);
    assert_string_equal(e.is.metric.key->name, "rate");
    assert_true(e.is.certain && e.is.metric.differs && fabs(e.is.metric.change.ratio - 0.8) < 0.02);
    assert_int_equal(e.is.named, 1);
    expect_cause(&e.is, 0, "kernel setting kernel.thp", CAUSE_SHOWN);
    expect_cause(&e.is, 1, "processor frequency", CAUSE_EXCLUDED);
    assert_int_equal(e.is.causes[0].others[0], 6);
    assert_int_equal(e.is.causes[0].others[1], 6);
    assert_true(fabs(e.is.causes[0].effect.ratio - 0.8) < 0.02);
    made_tree_close(&e.tree);
}

static void undecided(void **state)
{
    const struct place *p = *state;
    struct explained e;
    make_group(p, 0, 5, "never", "performance", 1000, 0);
    make_group(p, 10, 5, "always", "powersave", 800, 0);
    assert_int_equal(explain_groups(p, 0, 10, 5, &e), 0);
    expect_cause(&e.is, 0, "processor frequency", CAUSE_POSSIBLE); /* by the ranks of causes.def; an id is no cause */
    expect_cause(&e.is, 1, "kernel setting kernel.thp", CAUSE_POSSIBLE);
    assert_int_equal(e.is.cause_count, 2);
    made_tree_close(&e.tree);
}

/* Three of the five runs of a side share a value: it is what the side usually has. Two are too few. */
static void values_of_most_runs(void **state)
{
    const struct place *p = *state;
    struct explained e;
    make_group(p, 0, 5, "never", "performance", 1000, 0);
    make_group(p, 10, 3, "always", "performance", 800, 0);
    make_group(p, 13, 2, "madvise", "performance", 800, 0);
    make_group(p, 20, 2, "always", "performance", 800, 0);
    make_group(p, 22, 2, "madvise", "performance", 800, 0);
    make_group(p, 24, 1, "inherit", "performance", 800, 0);
    assert_int_equal(explain_groups(p, 0, 10, 5, &e), 0);
    expect_cause(&e.is, 0, "kernel setting kernel.thp", CAUSE_POSSIBLE);
    made_tree_close(&e.tree);
    expect_no_cause(p, 0, 20, true);
}

static void noise_and_nothing(void **state)
{
    const struct place *p = *state;
    struct explained e;
    make_group(p, 0, 5, "never", "performance", 1000, 0.1);
    make_group(p, 10, 5, "never", "performance", 700, 0.9); /* a neighbour */
    make_group(p, 20, 5, "never", "performance", 700, 0.1); /* nothing that is recorded */
    make_group(p, 30, 5, "never", "performance", 1000, 0.9); /* more noise, and no slower */
    make_group(p, 40, 5, "always", "performance", 1000, 0.1); /* a difference without an effect */
    assert_int_equal(explain_groups(p, 0, 10, 5, &e), 0);
    assert_int_equal(e.is.cause_count, 1);
    assert_string_equal(e.is.causes[0].name, "noise of other programs");
    assert_true(e.is.causes[0].is_condition && e.is.causes[0].median[0] < 0.2 && e.is.causes[0].median[1] > 0.8);
    made_tree_close(&e.tree);
    expect_no_cause(p, 0, 20, true);
    expect_no_cause(p, 30, 20, true); /* less noise slows nothing down */
    expect_no_cause(p, 0, 40, false);
    assert_int_equal(explain_groups(p, 0, 77, 1, &e), -1);
    assert_non_null(strstr(e.tree.err.text, "cannot be explained"));
    made_tree_close(&e.tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(decided_by_others, place_begin, place_end),
        cmocka_unit_test_setup_teardown(undecided, place_begin, place_end),
        cmocka_unit_test_setup_teardown(values_of_most_runs, place_begin, place_end),
        cmocka_unit_test_setup_teardown(noise_and_nothing, place_begin, place_end),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
