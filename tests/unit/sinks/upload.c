/* upload.c: which of a server's runs is ours. */
#include "../fault_server.h"

#include "base/json.h"
#include "sinks/upload.h"

#define OURS "0123456789abcdef0123456789abcdef"

/* A server, or a cache before it, that overlooks the filter of a search: other people's runs are not taken, and not deleted as doubles of ours. */
static void filters_overlooked(void **state)
{
    static const char *const arguments[] = {"--unfiltered", NULL};
    struct fault_server server;
    struct err err;
    (void)state;
    if (!fault_server_start(&server, arguments))
        skip();
    struct mlflow_config config = {.uri = server.uri, .http = {.total_s = 60, .cancel_fd = -1}, .retries = 2, .backoff_s = 0.02};
    struct mlflow_tag theirs_too = {"benchwrap.run_id", STR("00000000000000000000000000000000")};
    struct mlflow_run theirs[2];
    struct mlflow *m;
    struct arena a;
    const char *experiment;
    arena_init(&a, 0);
    assert_int_equal(mlflow_open(&m, &config, &err), 0);
    assert_int_equal(mlflow_experiment(m, "e", &a, &experiment, &err), MLFLOW_FINE);
    for (size_t i = 0; i < 2; i++) /* nobody's of this program, and one of somebody else's */
        assert_int_equal(mlflow_run_create(m, experiment, "theirs", "u", 10, &theirs_too, i, &a, &theirs[i], &err), MLFLOW_FINE);
    for (int careful = 0; careful < 2; careful++) {
        struct upload_config of = {.server = m, .careful = careful};
        struct upload_run run = {.id = OURS, .experiment = "e", .name = "ours", .user = "u", .start_ms = 1000};
        struct upload_place place;
        struct upload *u;
        assert_int_equal(upload_new(&u, &of, &err), 0);
        assert_int_equal(upload_open(u, &run, &place, &err), MLFLOW_FINE);
        assert_int_equal(place.fresh, careful == 0); /* made, and found again */
        assert_string_equal(place.run.name, "ours");
        upload_close(&place);
        upload_free(u);
    }
    for (size_t i = 0; i < 2; i++) {
        struct mlflow_run back;
        assert_int_equal(mlflow_run_get(m, theirs[i].id, &a, &back, &err), MLFLOW_FINE);
        assert_string_equal(back.lifecycle, "active");
        json_free(back.reply);
        json_free(theirs[i].reply);
    }
    mlflow_close(m);
    arena_deinit(&a);
    fault_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(filters_overlooked)};
    if (!http_library()) {
        printf("1..0 # SKIP libcurl is not installed\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
