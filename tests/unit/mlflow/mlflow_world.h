/* mlflow_world.h: what the tests of the MLflow client share: servers that misbehave when told so, and a run on one of them. */
#ifndef UNIT_MLFLOW_WORLD_H
#define UNIT_MLFLOW_WORLD_H
#include "../fault_server.h"

#include "base/json.h"
#include "mlflow/mlflow.h"

#include <sys/mman.h>

struct world {
    struct fault_server server, other; /* the other closes idle connections after a second and takes no body of more than 3,000 bytes */
    struct mlflow_config config;
    struct arena arena;
    struct mlflow_run run;
    const char *experiment;
    bool there;
};

static struct world world;

static inline struct mlflow *client_of(const struct mlflow_config *config)
{
    struct mlflow *m;
    struct err err;
    if (mlflow_open(&m, config, &err))
        fail_msg("%s", err.text);
    return m;
}

static inline int begin(void **state)
{
    struct world *w = &world;
    const char *other[] = {"--idle", "1", "--body-max", "3000", NULL};
    *state = w;
    arena_init(&w->arena, 0);
    w->there = fault_server_start(&w->server, NULL) && fault_server_start(&w->other, other);
    if (!w->there)
        return 0;
    w->config = (struct mlflow_config){.uri = w->server.uri,
                                       .http = {.user = "alice", .password = "hunter2", .total_s = 30, .stall_s = 5, .connect_s = 20, .cancel_fd = -1},
                                       .retries = 2,
                                       .backoff_s = 0.02,
                                       .heed_retry_after = true};
    struct mlflow *m = client_of(&w->config);
    struct err err;
    assert_int_equal(mlflow_experiment(m, "e", &w->arena, &w->experiment, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_create(m, w->experiment, "r", "u", 1000, NULL, 0, &w->arena, &w->run, &err), MLFLOW_FINE);
    mlflow_close(m);
    return 0;
}

static inline int end(void **state)
{
    struct world *w = *state;
    if (w->there) {
        fault_server_stop(&w->server);
        fault_server_stop(&w->other);
        json_free(w->run.reply);
    }
    arena_deinit(&w->arena);
    return 0;
}

/* Skips the test where there are no servers. */
static inline struct world *world_of(void **state)
{
    struct world *w = *state;
    if (!w->there)
        skip();
    return w;
}

static inline int file_with(const char *text, size_t n)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    return fd;
}

static inline enum mlflow_answer get_file(struct mlflow *m, const struct world *w, const char *path, const char *text, size_t n, struct err *err)
{
    int fd = memfd_create("got", MFD_CLOEXEC);
    char *got = calloc(1, n + 2);
    enum mlflow_answer answer = mlflow_artifact_get(m, &w->run, path, fd, err);
    if (answer == MLFLOW_FINE) {
        assert_int_equal(pread(fd, got, n + 1, 0), n);
        assert_memory_equal(got, text, n);
    }
    close(fd);
    free(got);
    return answer;
}

#define RUN_IN_WORLD(tests) (http_library() ? cmocka_run_group_tests(tests, begin, end) : (printf("1..0 # SKIP libcurl is not installed\n"), 0))
#endif
