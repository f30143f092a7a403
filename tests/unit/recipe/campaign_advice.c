/* campaign_advice: the knee of an axis, a range that is too short, a first run that differs. */
#include "recipe/campaign_advice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct advice_case {
    struct series_notes notes;
    char *text;
    size_t size;
};

static void add_run(struct series_notes *n, size_t point, size_t repetition, double value)
{
    struct series_repetition *run = ARENA_NEW(&n->arena, struct series_repetition);
    struct series_run_value *v = ARENA_NEW(&n->arena, struct series_run_value);
    *v = (struct series_run_value){.key = "rate", .of = "", .unit = "op_per_s", .direction = DIR_HIGHER, .value = value, .headline = true};
    *run = (struct series_repetition){.order = n->count + 1,
                                      .point = point,
                                      .repetition = repetition,
                                      .status = "FINISHED",
                                      .verdict = "",
                                      .reason = "",
                                      .noisy = "",
                                      .values = v};
    series_add_run(n, run);
}

/* A value that runs of the point have besides the rate, in `of` the statistic that it is. */
static void add_value(struct series_notes *n, size_t point, const char *key, double value)
{
    for (struct series_repetition *r = n->first; r; r = r->next)
        if (r->point == point) {
            struct series_run_value *v = ARENA_NEW(&n->arena, struct series_run_value);
            *v = (struct series_run_value){.key = key, .of = "mean", .unit = "", .value = value, .next = r->values};
            r->values = v;
        }
}

static void begin_case(struct advice_case *c, const char *axis)
{
    struct err err = {0};
    *c = (struct advice_case){.notes = {.end = ""}};
    arena_init(&c->notes.arena, 0);
    assert_int_equal(sweep_add(&c->notes.sweep, axis, &c->notes.arena, &err), 0);
    assert_int_equal(sweep_add(&c->notes.sweep, "kind=a,b", &c->notes.arena, &err), 0);
    c->notes.keys = sweep_keys(&c->notes.sweep, &c->notes.arena);
}

static void expect_advice(struct advice_case *c, const char *expected)
{
    FILE *out = open_memstream(&c->text, &c->size);
    assert_true(campaign_advice_print(&c->notes, series_figures(&c->notes), out));
    fclose(out);
    assert_string_equal(c->text, expected);
    free(c->text);
    arena_deinit(&c->notes.arena);
}

static void test_knee(void **state)
{
    static const double of_a[] = {10, 20, 40, 43, 42}, of_b[] = {10, 20, 40, 80, 160};
    struct advice_case c;
    (void)state;
    begin_case(&c, "n=1,2,16,8,4"); /* points are compared by their values, not by their order */
    static const size_t order[] = {0, 1, 4, 3, 2};
    for (size_t i = 0; i < 5; i++) {
        add_run(&c.notes, 2 * i, 1, of_a[order[i]]);
        add_run(&c.notes, 2 * i + 1, 1, of_b[order[i]]);
    }
    expect_advice(&c, "\nn kind=a: from 4 on rate grows by less than 10 % for each doubling, from 40 at 4 to 42 at 16\n"
                      "n kind=b: rate still grows at the greatest value, from 80 at 8 to 160 at 16; measure greater values\n");
}

static void test_first_run(void **state)
{
    struct advice_case c;
    (void)state;
    begin_case(&c, "n=x,y"); /* no numbers: no knee */
    for (size_t point = 0; point < 4; point++)
        for (size_t k = 1; k <= 5; k++)
            add_run(&c.notes, point, k, point == 2 && k == 1 ? 60 : 100 + (double)k);
    expect_advice(&c, "\nn=y kind=a: the first run has rate 60, the others 102 to 105; set warmup_runs: 1\n");
}

static void test_limit(void **state)
{
    static const struct {
        double cache, busy; /* of the best point; < 0: not known */
        const char *expected;
    } rows[] = {{0.97, 98, "\nn=y kind=a, the best point: 97 % of the server's KV cache is in use: its memory limits it: add memory, or send shorter requests\n"},
                {0.3, 98, "\nn=y kind=a, the best point: 98 % of the time the GPUs are busy: they limit; use more of them, or a smaller model\n"},
                {-1, 12, "\nn=y kind=a, the best point: 12 % of the time the GPUs are busy: they wait; more load, larger batches or a faster client may use them\n"},
                {0.3, 80, ""},
                {-1, -1, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct advice_case c;
        begin_case(&c, "n=x,y");
        for (size_t point = 0; point < 4; point++) {
            add_run(&c.notes, point, 1, point == 2 ? 50 : 10);
            if (rows[i].cache >= 0)
                add_value(&c.notes, point, "server.kv_cache_usage", point == 2 ? rows[i].cache : 0.95);
            if (rows[i].busy >= 0)
                add_value(&c.notes, point, ADVICE_GPU_BUSY, point == 2 ? rows[i].busy : 30);
        }
        expect_advice(&c, rows[i].expected);
    }
}

static void test_silence(void **state)
{
    struct advice_case c;
    (void)state;
    begin_case(&c, "n=1,2"); /* two values have no knee, four runs no outlier, and a retracted run none of both */
    for (size_t point = 0; point < 4; point++)
        for (size_t k = 1; k <= 4; k++)
            add_run(&c.notes, point, k, k == 1 ? 1 : 100);
    c.notes.last->status = SERIES_RETRACTED;
    expect_advice(&c, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_knee), cmocka_unit_test(test_first_run), cmocka_unit_test(test_limit), cmocka_unit_test(test_silence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
