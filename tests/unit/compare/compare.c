/* compare.c (test): which values are compared, verdicts by direction, tables step by step, params that differ. */
#include "compare/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

/* A run with the metric "m" (steps from `step`, stride as given) and a param. */
static struct compare_member run_of(struct arena *a, const double *values, size_t n, int64_t step, int64_t stride, const char *param, const char *direction)
{
    struct tree_run *run = ARENA_NEW(a, struct tree_run);
    struct tree_entry *metric = ARENA_NEW(a, struct tree_entry), *p = ARENA_NEW(a, struct tree_entry);
    struct tree_sample *samples = arena_get(a, n * sizeof *samples);
    struct json *detail = NULL;
    char text[128];
    for (size_t i = 0; i < n; i++)
        samples[i] = (struct tree_sample){.time_ms = 1000 + (int64_t)i, .step = step + (int64_t)i * stride, .value = values[i]};
    *metric = (struct tree_entry){.key = "m", .samples = samples, .count = n};
    *p = (struct tree_entry){.key = "p", .value = str_of(param)};
    run->metrics = metric;
    run->params = param ? p : NULL;
    snprintf(text, sizeof text, "{\"metrics\":{\"m\":{\"unit\":\"s\",\"direction\":\"%s\"}}}", direction);
    assert_int_equal(json_parse(&detail, str_of(text), NULL, NULL), 0);
    return (struct compare_member){run, detail};
}

static void free_group(struct compare_group *g)
{
    for (size_t i = 0; i < g->count; i++)
        json_free(g->members[i].detail);
}

static const double low[] = {10, 10.1, 10.2, 9.9, 10}, high[] = {20, 20.1, 20.2, 19.9, 20}, two[] = {20, 21}, with_nan[] = {NAN, 10, 10, INFINITY, 10},
                    zeros[] = {0, 0, 0, 0, 0};

static void verdicts_follow_direction_and_number(void **state)
{
    static const struct {
        const double *a; size_t na;
        const double *b; size_t nb;
        const char *direction;
        enum compare_outcome outcome;
        bool ratio;
    } rows[] = {
        {low, 5, high, 5, "higher", OUTCOME_BETTER, true},  {low, 5, high, 5, "lower", OUTCOME_WORSE, true},
        {high, 5, low, 5, "higher", OUTCOME_WORSE, true},   {high, 5, low, 5, "lower", OUTCOME_BETTER, true},
        {low, 5, high, 5, "", OUTCOME_DIFFERENT, true},     {low, 5, low, 5, "lower", OUTCOME_SAME, true},
        {low, 5, two, 2, "lower", OUTCOME_TOO_FEW, false},  {two, 2, low, 5, "lower", OUTCOME_TOO_FEW, false},
        {low, 5, with_nan, 5, "lower", OUTCOME_SAME, true}, {zeros, 5, low, 5, "lower", OUTCOME_NONE, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a;
        struct compared_metric *m;
        arena_init(&a, 0);
        struct compare_member x = run_of(&a, rows[i].a, rows[i].na, 0, 1, "1", rows[i].direction), y = run_of(&a, rows[i].b, rows[i].nb, 0, 1, "1", rows[i].direction);
        struct compare_group groups[] = {{"A", &x, 1}, {"B", &y, 1}};
        struct tree_entry series = {.key = "benchwrap.series", .value = STR("repeat")};
        struct tree_run repeated = *y.run;
        repeated.tags = &series;
        if (i % 2) /* only a series has repetitions */
            y.run = &repeated;
        assert_int_equal(compare_metrics(groups, 2, false, &a, &m, NULL), 0);
        assert_non_null(m);
        assert_int_equal(m->sides[1].outcome, rows[i].outcome);
        assert_int_equal(m->sides[1].change.known, rows[i].ratio);
        assert_int_equal(m->sides[1].repetitions, i % 2);
        if (rows[i].ratio)
            assert_true(m->sides[1].change.low <= m->sides[1].change.ratio && m->sides[1].change.ratio <= m->sides[1].change.high);
        free_group(&groups[0]);
        free_group(&groups[1]);
        arena_deinit(&a);
    }
}

static void a_run_counts_once_among_several(void **state)
{
    struct arena a;
    struct compared_metric *m;
    (void)state;
    arena_init(&a, 0);
    struct compare_member x[] = {run_of(&a, low, 5, 0, 1, "1", "lower"), run_of(&a, high, 5, 0, 1, "1", "lower")}, y = run_of(&a, low, 5, 1, 1, "2", "lower");
    struct compare_group groups[] = {{"A", x, 2}, {"B", &y, 1}};
    assert_int_equal(compare_metrics(groups, 2, false, &a, &m, NULL), 0);
    assert_int_equal(m->sides[0].n, 2);
    assert_true(m->sides[0].median == 15);
    assert_int_equal(m->sides[1].n, 1);
    assert_false(m->sides[1].repetitions);
    assert_int_equal(m->sides[1].outcome, OUTCOME_TOO_FEW);
    const char **keys = compare_params(groups, 2, &a);
    assert_string_equal(keys[0], "p");
    assert_null(keys[1]);
    assert_string_equal(compare_param(&groups[0], "p", &a), "1");
    assert_string_equal(compare_param(&groups[0], "q", &a), "-");
    struct tree_entry tag = {.key = "p", .value = STR("t")};
    struct tree_run tagged = *y.run;
    tagged.tags = &tag;
    y.run = &tagged;
    assert_string_equal(compare_param(&groups[1], "p", &a), "2");
    assert_string_equal(compare_tag(&groups[1], "p", &a), "t");
    free_group(&groups[0]);
    free_group(&groups[1]);
    arena_deinit(&a);
}

static void tables_are_compared_step_by_step(void **state)
{
    struct arena a;
    struct compared_metric *m;
    (void)state;
    arena_init(&a, 0);
    struct compare_member x = run_of(&a, low, 3, 8, 8, "1", "lower"), y = run_of(&a, high, 2, 8, 8, "1", "lower");
    struct compare_group groups[] = {{"A", &x, 1}, {"B", &y, 1}};
    assert_int_equal(compare_metrics(groups, 2, false, &a, &m, NULL), 0);
    assert_int_equal(m->step, 8);
    assert_int_equal(m->sides[0].n, 1);
    assert_true(m->sides[0].median == 10 && m->sides[1].median == 20);
    assert_int_equal(m->next->step, 16);
    assert_int_equal(m->next->next->step, 24);
    assert_int_equal(m->next->next->sides[1].n, 0);
    assert_int_equal(m->next->next->sides[1].outcome, OUTCOME_NONE);
    assert_null(m->next->next->next);
    assert_null(compare_params(groups, 2, &a)[0]);
    free_group(&groups[0]);
    free_group(&groups[1]);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_direction_and_number),
        cmocka_unit_test(a_run_counts_once_among_several),
        cmocka_unit_test(tables_are_compared_step_by_step),
    };
    return cmocka_run_group_tests_name("cmd/compare", tests, NULL, NULL);
}
