/* history_compare.c (test): words by direction, number and effect; what closes a gate; which params make runs comparable. */
#include "history/history_compare.h"
#include "runs/inputs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { EARLIER = 6 };
static double steady[] = {100, 101, 99, 100.5, 99.5, 100}, none[] = {0, 0, 0, 0, 0, 0}, equal[] = {100, 100, 100, 100, 100, 100};

struct made {
    struct compared_metric m;
    struct compared_side sides[2];
    double now;
};

static void make(struct made *x, const char *key, const char *direction, double *before, size_t n, double median, double now)
{
    *x = (struct made){.now = now};
    x->sides[0] = (struct compared_side){.values = before, .n = n, .median = median};
    x->sides[1] = (struct compared_side){.values = &x->now, .n = isnan(now) ? 0 : 1, .median = now};
    x->m = (struct compared_metric){.key = key, .step = -1, .unit = "", .direction = direction, .sides = x->sides};
}

static double expected_high(const char *unit, double *before, double median, double now)
{
    struct arena a;
    struct made x;
    struct history_metric *h;
    size_t n;
    arena_init(&a, 0);
    make(&x, "m", "higher", before, EARLIER, median, now);
    x.m.unit = unit;
    assert_int_equal(history_judge(&x.m, EARLIER, 0.02, &a, &h, &n, NULL), 0);
    double high = h->expected.high;
    arena_deinit(&a);
    return high;
}

static void a_share_ends_at_100_percent(void **state)
{
    static double shares[] = {99.9, 99.5, 20, 97, 100, 98}, loads[] = {99.9, 99.5, 20, 97, 100.5, 98};
    (void)state;
    assert_float_equal(expected_high("percent", shares, 98.75, 99), 100, 0);
    assert_true(expected_high("percent", shares, 98.75, 101) > 200);
    assert_true(expected_high("percent", loads, 98.75, 99) > 200);
    assert_true(expected_high("MB_per_s", shares, 98.75, 99) > 200);
}

static void words(void **state)
{
    static const struct {
        const char *direction;
        double *before; size_t n; double median, now, effect;
        enum history_change changed;
    } rows[] = {
        {"higher", steady, 6, 100, 90, 0.02, CHANGED_REGRESSION},  {"higher", steady, 6, 100, 110, 0.02, CHANGED_IMPROVEMENT},
        {"lower", steady, 6, 100, 90, 0.02, CHANGED_IMPROVEMENT},  {"lower", steady, 6, 100, 110, 0.02, CHANGED_REGRESSION},
        {"", steady, 6, 100, 90, 0.02, CHANGED_DIFFERENT},         {"higher", steady, 6, 100, 99.2, 0.02, CHANGED_NO},
        {"higher", steady, 6, 100, 90, 0.2, CHANGED_NO},           {"higher", steady, 4, 100, 50, 0.02, CHANGED_TOO_FEW},
        {"higher", equal, 6, 100, 99, 0.02, CHANGED_NO},           {"higher", equal, 6, 100, 97, 0.02, CHANGED_REGRESSION},
        {"higher", steady, 6, 100, NAN, 0.02, CHANGED_NONE},       {"higher", steady, 0, 0, 90, 0.02, CHANGED_NONE},
        {"lower", none, 6, 0, 5, 0.02, CHANGED_REGRESSION}, /* of nothing any change is large */
        {"lower", none, 6, 0, 0, 0.02, CHANGED_NO},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a;
        struct made x;
        struct history_metric *h;
        size_t n;
        arena_init(&a, 0);
        make(&x, "m", rows[i].direction, rows[i].before, rows[i].n, rows[i].median, rows[i].now);
        assert_int_equal(history_judge(&x.m, EARLIER, rows[i].effect, &a, &h, &n, NULL), 0);
        assert_int_equal(n, 1);
        if (h->changed != rows[i].changed)
            fail_msg("row %zu: %s", i, history_change_name(h->changed));
        arena_deinit(&a);
    }
}

static void one_earlier_run_is_no_history_whatever_its_repetitions(void **state)
{
    struct arena a;
    struct made x;
    struct history_metric *h;
    size_t n;
    (void)state;
    arena_init(&a, 0);
    make(&x, "m", "higher", steady, 6, 100, 50);
    assert_int_equal(history_judge(&x.m, 1, 0.02, &a, &h, &n, NULL), 0);
    assert_int_equal(h->changed, CHANGED_TOO_FEW);
    arena_deinit(&a);
}

static void wall_time_counts_where_nothing_else_does(void **state)
{
    struct arena a;
    struct made wall, own;
    struct history_metric *h;
    size_t n;
    (void)state;
    arena_init(&a, 0);
    make(&wall, "run.wall_s", "lower", steady, 6, 100, 200);
    assert_int_equal(history_judge(&wall.m, EARLIER, 0.02, &a, &h, &n, NULL), 0);
    assert_true(h->changed == CHANGED_REGRESSION && h->counts);
    make(&own, "m", "higher", steady, 6, 100, 100);
    wall.m.next = &own.m;
    assert_int_equal(history_judge(&wall.m, EARLIER, 0.02, &a, &h, &n, NULL), 0);
    assert_true(h[0].changed == CHANGED_REGRESSION && !h[0].counts);
    assert_true(h[1].changed == CHANGED_NO && h[1].counts);
    arena_deinit(&a);
}

static void many_metrics_raise_the_bar(void **state)
{
    struct arena a;
    struct made x[40];
    struct history_metric *h;
    size_t n;
    (void)state;
    arena_init(&a, 0);
    for (int i = 0; i < 40; i++) {
        make(&x[i], "m", "higher", steady, 6, 100, i ? 100 : 97.2);
        x[i].m.next = i < 39 ? &x[i + 1].m : NULL;
    }
    assert_int_equal(history_judge(&x[0].m, EARLIER, 0.02, &a, &h, &n, NULL), 0);
    assert_int_equal(h[0].changed, CHANGED_NO);
    x[0].m.headline = true; /* one headline metric among them is a family of its own */
    assert_int_equal(history_judge(&x[0].m, EARLIER, 0.02, &a, &h, &n, NULL), 0);
    assert_int_equal(h[0].changed, CHANGED_REGRESSION);
    for (int i = 1; i < 40; i++)
        x[i].m.headline = true;
    assert_int_equal(history_judge(&x[0].m, EARLIER, 0.02, &a, &h, &n, NULL), 0);
    assert_int_equal(h[0].changed, CHANGED_NO);
    x[0].m.next = NULL;
    assert_int_equal(history_judge(&x[0].m, EARLIER, 0.02, &a, &h, &n, NULL), 0);
    assert_int_equal(h[0].changed, CHANGED_REGRESSION);
    arena_deinit(&a);
}

static void inputs_are_what_the_program_was_given(void **state)
{
    struct opt_value pattern = {.text = "file*"};
    static const struct { const char *key, *source; bool matters; } rows[] = {
        {"api", "rule:ior:options", true},   {"size", "option", true},         {"cpu.model", "probe:cpu", false},  {"node.type", "probe:topology", true},
        {"job.nodes", "probe:scheduler", true}, {"job.qos", "probe:scheduler", false}, {"run.program", "tree", false}, {"file_name", "option", false},
        {"job.time_limit_s", "scontrol", false}, {"nodes.count", "nodes", false}, {"step.nodes", "scontrol", true}, {"step.tasks", "launcher", true},
        {"api", NULL, true},                 {"cpu.model", NULL, false},       {"node.type", NULL, true},          {"cpus", NULL, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (inputs_matter(rows[i].key, rows[i].source, &pattern) != rows[i].matters)
            fail_msg("%s of %s", rows[i].key, rows[i].source ? rows[i].source : "nobody");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_ends_at_100_percent), cmocka_unit_test(words),
        cmocka_unit_test(one_earlier_run_is_no_history_whatever_its_repetitions),
        cmocka_unit_test(wall_time_counts_where_nothing_else_does),
        cmocka_unit_test(many_metrics_raise_the_bar),
        cmocka_unit_test(inputs_are_what_the_program_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
