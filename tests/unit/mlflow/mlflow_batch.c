/* mlflow_batch.c: facts within the limits of the server, and of a proxy that takes less. */
#include "mlflow_world.h"

static int count_samples(void *context, double value, int64_t time_ms, int64_t step)
{
    *(double *)context += value + (double)(time_ms - step);
    return 0;
}

/* A proxy takes less than a batch: it is sent in halves, and the later ones are smaller from the start. */
static void batches_in_halves(void **state)
{
    struct world *w = world_of(state);
    struct mlflow_config c = w->config;
    struct mlflow_run run, back;
    struct err err;
    struct mlflow_batch b;
    const char *id;
    char key[20];
    double sum = 0;
    c.uri = w->other.uri;
    struct mlflow *m = client_of(&c);
    assert_int_equal(mlflow_experiment(m, "halves", &w->arena, &id, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_create(m, id, "n", "u", 1, NULL, 0, &w->arena, &run, &err), MLFLOW_FINE);
    batch_begin(&b, m, run.id);
    for (int i = 0; i < 2100; i++) {
        batch_metric(&b, STR("series"), i, i, i);
        snprintf(key, sizeof key, "key%d", i);
        if (i < 150)
            batch_param(&b, str_of(key), str_of(key));
        if (i < 130)
            batch_tag(&b, str_of(key), str_of(key));
    }
    assert_int_equal(batch_send(&b), MLFLOW_FINE);
    batch_end(&b);
    unsigned before = mlflow_requests(m);
    batch_begin(&b, m, run.id);
    for (int i = 0; i < 30; i++)
        batch_metric(&b, STR("small"), 1, 1, i);
    assert_int_equal(batch_send(&b), MLFLOW_FINE);
    assert_true(mlflow_requests(m) - before <= 3);
    assert_int_equal(mlflow_history(m, run.id, "series", count_samples, &sum, &err), MLFLOW_FINE);
    assert_true(sum == 2099 * 2100 / 2);
    assert_int_equal(mlflow_run_get(m, run.id, &w->arena, &back, &err), MLFLOW_FINE);
    assert_int_equal(json_count(json_get(back.data, "params")), 150);
    assert_int_equal(json_count(json_get(back.data, "tags")), 131);
    json_free(back.reply);
    /* one fact that is too long alone */
    char *huge = calloc(1, 6001);
    memset(huge, 'x', 5000);
    batch_param(&b, STR("huge"), str_of(huge));
    assert_int_equal(batch_send(&b), MLFLOW_REFUSED);
    assert_non_null(strstr(b.err.text, "client_max_body_size"));
    free(huge);
    batch_end(&b);
    json_free(run.reply);
    mlflow_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches_in_halves)};
    return RUN_IN_WORLD(tests);
}
