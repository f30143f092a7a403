/* mlflow.c: the calls for experiments, runs and histories, by what the server has of them afterwards. */
#include "mlflow_world.h"

#include <math.h>

/* The value of a tag; NULL: the run has none. */
static const char *tag_of(const struct mlflow_run *run, const char *key)
{
    for (const struct json *t = json_first(json_get(run->data, "tags")); t; t = json_next(t))
        if (strcmp(json_string(json_get(t, "key"), ""), key) == 0)
            return json_string(json_get(t, "value"), "");
    return NULL;
}

static void a_run_from_creation_to_deletion(void **state)
{
    struct world *w = world_of(state);
    struct mlflow *m = client_of(&w->config);
    struct mlflow_tag tags[] = {{"one", STR("1 \"x\"")}, {"two", STR("2")}};
    struct mlflow_run made, got;
    struct err err;
    assert_int_equal(mlflow_run_create(m, w->experiment, "name", "alice", 17, tags, 2, &w->arena, &made, &err), MLFLOW_FINE);
    assert_true(made.start_ms == 17 && made.end_ms == 0);
    assert_string_equal(made.experiment, w->experiment);
    assert_string_equal(made.name, "name");
    assert_string_equal(made.user, "alice");
    assert_string_equal(made.status, "RUNNING");
    assert_string_equal(made.lifecycle, "active");
    assert_string_equal(tag_of(&made, "one"), "1 \"x\"");
    assert_int_equal(mlflow_tag_delete(m, made.id, "one", &err), MLFLOW_FINE);
    assert_int_equal(mlflow_tag_delete(m, made.id, "one", &err), MLFLOW_FINE); /* there is none any more */
    assert_int_equal(mlflow_run_update(m, made.id, "FINISHED", 99, NULL, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_get(m, made.id, &w->arena, &got, &err), MLFLOW_FINE);
    assert_string_equal(got.id, made.id);
    assert_string_equal(got.status, "FINISHED");
    assert_string_equal(got.name, "name");
    assert_true(got.start_ms == 17 && got.end_ms == 99);
    assert_null(tag_of(&got, "one"));
    assert_string_equal(tag_of(&got, "two"), "2");
    json_free(got.reply);
    assert_int_equal(mlflow_run_update(m, made.id, NULL, 0, "other", &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_delete(m, made.id, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_get(m, made.id, &w->arena, &got, &err), MLFLOW_FINE);
    assert_string_equal(got.lifecycle, "deleted");
    assert_string_equal(got.name, "other");
    assert_string_equal(got.status, "FINISHED");
    assert_int_equal(got.end_ms, 99);
    json_free(got.reply);
    assert_int_equal(mlflow_run_restore(m, made.id, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_get(m, made.id, &w->arena, &got, &err), MLFLOW_FINE);
    assert_string_equal(got.lifecycle, "active");
    json_free(got.reply);
    assert_int_equal(mlflow_run_get(m, "0123456789abcdef0123456789abcdef", &w->arena, &got, &err), MLFLOW_ABSENT);
    json_free(made.reply);
    mlflow_close(m);
}

static void experiments_are_made_once(void **state)
{
    struct world *w = world_of(state);
    struct mlflow *m = client_of(&w->config);
    const char *first, *second;
    int64_t made_ms = 0;
    struct err err;
    assert_int_equal(mlflow_experiment_find(m, "of its own & more", &w->arena, &first, &err), MLFLOW_ABSENT);
    assert_int_equal(mlflow_experiment(m, "of its own & more", &w->arena, &first, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_experiment(m, "of its own & more", &w->arena, &second, &err), MLFLOW_FINE);
    assert_string_equal(first, second);
    assert_int_equal(mlflow_experiment_find(m, "of its own & more", &w->arena, &second, &err), MLFLOW_FINE);
    assert_string_equal(first, second);
    assert_int_equal(mlflow_experiment_made(m, first, &made_ms, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_experiment_made(m, "987654321", &made_ms, &err), MLFLOW_ABSENT);
    assert_int_equal(made_ms, 0);
    mlflow_close(m);
}

struct runs_seen {
    size_t n, most;
    char names[200];
};

static int see_run(void *context, const struct mlflow_run *run)
{
    struct runs_seen *s = context;
    snprintf(s->names + strlen(s->names), sizeof s->names - strlen(s->names), "%s ", run->name);
    return ++s->n == s->most;
}

static void all_pages_of_a_search_are_read(void **state)
{
    struct world *w = world_of(state);
    struct mlflow *m = client_of(&w->config);
    const char *experiment, *names[] = {"a", "b", "c", "d", "e"};
    struct err err;
    assert_int_equal(mlflow_experiment(m, "pages", &w->arena, &experiment, &err), MLFLOW_FINE);
    for (size_t i = 0; i < 5; i++) {
        struct mlflow_run run;
        struct mlflow_tag tag = {"kind", i % 2 ? STR("odd") : STR("even")};
        assert_int_equal(mlflow_run_create(m, experiment, names[i], "u", 100 + (int64_t)i, &tag, 1, &w->arena, &run, &err), MLFLOW_FINE);
        if (i == 4)
            assert_int_equal(mlflow_run_delete(m, run.id, &err), MLFLOW_FINE);
        json_free(run.reply);
    }
    struct runs_seen active = {.most = 99}, all = active, odd = active, two = {.most = 2};
    assert_int_equal(mlflow_run_search_pages(m, experiment, "", false, 2, see_run, &active, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_search_pages(m, experiment, "", true, 2, see_run, &all, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_search_pages(m, experiment, "tags.kind = 'odd'", false, 2, see_run, &odd, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_search_pages(m, experiment, "", false, 2, see_run, &two, &err), MLFLOW_FINE);
    assert_int_equal(active.n, 4);
    assert_null(strchr(active.names, 'e'));
    assert_int_equal(all.n, 5);
    assert_int_equal(odd.n, 2);
    assert_true(strchr(odd.names, 'b') && strchr(odd.names, 'd'));
    assert_int_equal(two.n, 2);
    mlflow_close(m);
}

static void a_history_has_every_sample(void **state)
{
    struct world *w = world_of(state);
    struct mlflow *m = client_of(&w->config);
    struct mlflow_samples samples = {0};
    struct mlflow_batch b;
    struct err err;
    batch_begin(&b, m, w->run.id);
    for (int i = 0; i < 70; i++)
        batch_metric(&b, STR("a b"), i == 3 ? NAN : i == 4 ? INFINITY : i / 2.0, 1000 + i, 3 * i);
    assert_int_equal(batch_send(&b), MLFLOW_FINE);
    batch_end(&b);
    assert_int_equal(mlflow_history(m, w->run.id, "a b", mlflow_samples_add, &samples, &err), MLFLOW_FINE);
    assert_int_equal(samples.count, 70);
    for (size_t i = 0; i < 70; i++) {
        assert_true(samples.at[i].time_ms == 1000 + (int64_t)i && samples.at[i].step == 3 * (int64_t)i);
        assert_true(i == 3 ? isnan(samples.at[i].value) : i == 4 ? isinf(samples.at[i].value) : samples.at[i].value == (double)i / 2);
    }
    free(samples.at);
    mlflow_close(m);
}

static void numbers_come_as_numbers_or_texts(void **state)
{
    struct json *j = NULL;
    (void)state;
    assert_int_equal(json_parse(&j, STR("[12, \"12\", \"NaN\", \"Infinity\", \"x\", 2.5]"), NULL, NULL), 0);
    assert_true(mlflow_number(json_at(j, 0)) == 12 && mlflow_number(json_at(j, 1)) == 12 && mlflow_number(json_at(j, 5)) == 2.5);
    assert_true(isnan(mlflow_number(json_at(j, 2))) && isinf(mlflow_number(json_at(j, 3))) && isnan(mlflow_number(json_at(j, 4))));
    assert_true(mlflow_integer(json_at(j, 0)) == 12 && mlflow_integer(json_at(j, 1)) == 12 && mlflow_integer(json_at(j, 4)) == 0);
    json_free(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_from_creation_to_deletion), cmocka_unit_test(experiments_are_made_once),
                                       cmocka_unit_test(all_pages_of_a_search_are_read), cmocka_unit_test(a_history_has_every_sample),
                                       cmocka_unit_test(numbers_come_as_numbers_or_texts)};
    return RUN_IN_WORLD(tests);
}
