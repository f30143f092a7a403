/* explain.c (test): causes that other runs show, that they exclude, that nothing decides; noise; runs that cannot be explained. */
#include "history/explain.h"
#include "made_runs.h"

#include <math.h>

static double noise_at(int i)
{
    return 1 + 0.01 * ((i * 7919 % 13) - 6) / 6.0;
}

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

static int explain_groups(const struct place *p, int a_first, int b_first, int count, struct runs *runs, struct arena *a, struct explanation *ret, struct err *err)
{
    struct explain_request asked = {.min_effect = 0.02, .arena = a, .n = {(size_t)count, (size_t)count}};
    arena_init(a, 0);
    open_made(p, runs, a);
    for (int s = 0; s < EXPLAIN_SIDES; s++) {
        asked.ids[s] = arena_get(a, (size_t)count * sizeof *asked.ids[s]);
        for (int i = 0; i < count; i++)
            memcpy(asked.ids[s][i], made_id((s ? b_first : a_first) + i), 33);
    }
    return explain_runs(&asked, runs, ret, err);
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
    struct arena a;
    struct runs runs;
    struct explanation e;
    struct err err = {0};
    make_group(p, 0, 5, "never", "performance", 1000, 0);
    make_group(p, 10, 5, "always", "powersave", 800, 0); /* two facts differ */
    make_group(p, 20, 6, "always", "performance", 800, 0); /* others: the setting has the effect */
    make_group(p, 30, 6, "never", "performance", 1000, 0);
    make_group(p, 40, 6, "never", "powersave", 1000, 0); /* and the governor has none */
    if (explain_groups(p, 0, 10, 5, &runs, &a, &e, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(e.metric.key->name, "rate");
    assert_true(e.certain && e.metric.differs && fabs(e.metric.change.ratio - 0.8) < 0.02);
    assert_int_equal(e.named, 1);
    expect_cause(&e, 0, "kernel setting kernel.thp", CAUSE_SHOWN);
    expect_cause(&e, 1, "processor frequency", CAUSE_EXCLUDED);
    assert_int_equal(e.causes[0].others[0], 6);
    assert_int_equal(e.causes[0].others[1], 6);
    assert_true(fabs(e.causes[0].effect.ratio - 0.8) < 0.02);
    runs_close(&runs);
    arena_deinit(&a);
}

static void undecided(void **state)
{
    const struct place *p = *state;
    struct arena a;
    struct runs runs;
    struct explanation e;
    struct err err = {0};
    make_group(p, 0, 5, "never", "performance", 1000, 0);
    make_group(p, 10, 5, "always", "powersave", 800, 0);
    assert_int_equal(explain_groups(p, 0, 10, 5, &runs, &a, &e, &err), 0);
    expect_cause(&e, 0, "processor frequency", CAUSE_POSSIBLE); /* by the ranks of causes.def; an id is no cause */
    expect_cause(&e, 1, "kernel setting kernel.thp", CAUSE_POSSIBLE);
    assert_int_equal(e.cause_count, 2);
    runs_close(&runs);
    arena_deinit(&a);
}

static void noise_and_nothing(void **state)
{
    const struct place *p = *state;
    struct arena a;
    struct runs runs;
    struct explanation e;
    struct err err = {0};
    make_group(p, 0, 5, "never", "performance", 1000, 0.1);
    make_group(p, 10, 5, "never", "performance", 700, 0.9); /* a neighbour */
    make_group(p, 20, 5, "never", "performance", 700, 0.1); /* nothing that is recorded */
    make_group(p, 30, 5, "never", "performance", 1000, 0.9); /* more noise, and no slower */
    make_group(p, 40, 5, "always", "performance", 1000, 0.1); /* a difference without an effect */
    assert_int_equal(explain_groups(p, 0, 10, 5, &runs, &a, &e, &err), 0);
    assert_int_equal(e.cause_count, 1);
    assert_string_equal(e.causes[0].name, "noise of other programs");
    assert_true(e.causes[0].is_condition && e.causes[0].median[0] < 0.2 && e.causes[0].median[1] > 0.8);
    runs_close(&runs);
    arena_deinit(&a);
    assert_int_equal(explain_groups(p, 0, 20, 5, &runs, &a, &e, &err), 0);
    assert_true(e.metric.differs);
    assert_int_equal(e.cause_count, 0);
    runs_close(&runs);
    arena_deinit(&a);
    assert_int_equal(explain_groups(p, 30, 20, 5, &runs, &a, &e, &err), 0);
    assert_true(e.metric.differs);
    assert_int_equal(e.cause_count, 0); /* less noise slows nothing down */
    runs_close(&runs);
    arena_deinit(&a);
    assert_int_equal(explain_groups(p, 0, 40, 5, &runs, &a, &e, &err), 0);
    assert_true(e.certain && !e.metric.differs);
    assert_int_equal(e.cause_count, 0);
    runs_close(&runs);
    arena_deinit(&a);
    assert_int_equal(explain_groups(p, 0, 77, 1, &runs, &a, &e, &err), -1);
    assert_non_null(strstr(err.text, "cannot be explained"));
    runs_close(&runs);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(decided_by_others, place_begin, place_end),
        cmocka_unit_test_setup_teardown(undecided, place_begin, place_end),
        cmocka_unit_test_setup_teardown(noise_and_nothing, place_begin, place_end),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
