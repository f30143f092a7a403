/* mlflow_artifacts.c: files on their way to a server: in parts, elsewhere, given up, changed under our hands. */
#include "mlflow_world.h"

#include "base/clock.h"

/* A process that writes to fd once the server's log has `text` so often. */
static pid_t write_when_logged(const struct fault_server *s, const char *text, int count, int fd)
{
    struct fault_server own = *s;
    struct http_config config = {.cancel_fd = -1};
    struct timespec nap = {.tv_nsec = 20000000};
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    assert_int_equal(http_new(&own.control, &config, NULL), 0);
    for (int seen = 0; seen < count; nanosleep(&nap, NULL)) {
        struct buf log CLEANUP_BUF;
        fault_log(&own, &log);
        seen = 0;
        for (const char *at = log.p; (at = strstr(at, text)); at++)
            seen++;
    }
    _exit(write(fd, "x", 1) == 1 ? 0 : 1);
}

/* The process is asked to end while a part is on its way: what the storage has is given up, which does not take long. */
static void given_up_parts(void **state)
{
    struct world *w = world_of(state);
    struct mlflow_config c = w->config;
    static char text[2500];
    static const char *const scripts[] = {"/storage/ 2- hang 60\n", "/storage/ 2- hang 60\nmpu/abort 1- hang 60\n"};
    c.multipart_bytes = 1000;
    c.part_bytes = 400;
    c.http.total_s = 60;
    for (size_t i = 0; i < 2; i++) {
        struct buf log CLEANUP_BUF;
        struct err err;
        int pipes[2], fd = file_with(text, sizeof text);
        assert_int_equal(pipe(pipes), 0);
        c.http.cancel_fd = pipes[0];
        struct mlflow *m = client_of(&c);
        fault_script(&w->server, scripts[i]);
        pid_t later = write_when_logged(&w->server, "/storage/u", 2, pipes[1]);
        int64_t t = clock_mono_ns();
        assert_int_equal(mlflow_artifact_put(m, &w->run, "deep/parts.bin", fd, sizeof text, &err), MLFLOW_CANCELLED);
        assert_true(clock_mono_ns() - t < 40000000000);
        waitpid(later, NULL, 0);
        mlflow_close(m);
        close(fd);
        close(pipes[0]);
        close(pipes[1]);
        fault_log(&w->server, &log);
        assert_non_null(strstr(log.p, "mpu/abort"));
        fault_script(&w->server, "");
    }
}

static void files_in_parts(void **state)
{
    struct world *w = world_of(state);
    struct mlflow_config c = w->config;
    struct err err;
    char text[2500];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 23);
    c.multipart_bytes = 1000;
    c.part_bytes = 400;
    int fd = file_with(text, sizeof text);
    struct mlflow *m = client_of(&c);
    static const struct {
        const char *script;
        enum mlflow_answer answer;
        const char *logged, *not_logged;
    } cases[] = {
        {"", MLFLOW_FINE, "PUT /storage/u1/7?signature=secret fine auth=- workspace=-", "mpu/abort"},
        {"mpu/create 1 503\n/storage/ 3 reset\nmpu/complete 1 502\n", MLFLOW_FINE, "mpu/complete", "mpu/abort"},
        {"mpu/create 1- 501\n", MLFLOW_FINE, "PUT /api/2.0/mlflow-artifacts/artifacts/", "storage"},
        {"mpu/create 1- 404\n", MLFLOW_FINE, "PUT /api/2.0/mlflow-artifacts/artifacts/", "storage"},
        {"mpu/create 1- 401\n", MLFLOW_DENIED, "mpu/create", "storage"},
        {"/storage/ 4- 503\n", MLFLOW_LATER, "mpu/abort", "mpu/complete"},
        {"/storage/ 4- 403\n", MLFLOW_LATER, "mpu/abort", "mpu/complete"},
        {"/storage/ 4- reset\n", MLFLOW_LATER, "mpu/abort", "mpu/complete"},
        {"mpu/complete 1- 500-html\n", MLFLOW_LATER, "mpu/abort", "mlflow-artifacts/artifacts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf log CLEANUP_BUF;
        char path[40];
        snprintf(path, sizeof path, "deep/er/parts%zu.bin", i);
        fault_script(&w->server, cases[i].script);
        enum mlflow_answer answer = mlflow_artifact_put(m, &w->run, path, fd, sizeof text, &err);
        fault_log(&w->server, &log);
        if (answer != cases[i].answer || !strstr(log.p, cases[i].logged) || strstr(log.p, cases[i].not_logged))
            fail_msg("case %zu: answer %d: %s\n%s", i, answer, err.text, log.p);
        if (answer != MLFLOW_FINE && (strstr(err.text, "secret") || !strstr(err.text, "server")))
            fail_msg("case %zu: %s", i, err.text);
        fault_script(&w->server, "");
        if (answer == MLFLOW_FINE)
            assert_int_equal(get_file(m, w, path, text, sizeof text, &err), MLFLOW_FINE);
    }
    /* a small file goes the usual way */
    struct buf log CLEANUP_BUF;
    assert_int_equal(mlflow_artifact_put(m, &w->run, "small", fd, 999, &err), MLFLOW_FINE);
    fault_log(&w->server, &log);
    assert_null(strstr(log.p, "storage"));
    close(fd);
    mlflow_close(m);
}

/* Where artifacts lie is the choice of whoever made the experiment: another host gets no credentials. */
static void artifacts_elsewhere(void **state)
{
    struct world *w = world_of(state);
    struct mlflow_run run = w->run;
    struct err err;
    struct buf log CLEANUP_BUF;
    char uri[200];
    int fd = file_with("x", 1);
    struct mlflow *m = client_of(&w->config);
    snprintf(uri, sizeof uri, "http://localhost:%u/api/2.0/mlflow-artifacts/artifacts/9/evil", w->other.port);
    run.artifact_uri = uri;
    fault_script(&w->other, "");
    assert_int_equal(mlflow_artifact_put(m, &run, "f", fd, 1, &err), MLFLOW_FINE);
    fault_log(&w->other, &log);
    assert_non_null(strstr(log.p, "PUT /api/2.0/mlflow-artifacts/artifacts/9/evil/f fine auth=- workspace=- type=application/octet-stream expect=-"));
    close(fd);
    mlflow_close(m);
}

/* A file that is shorter than it was said to be is not sent as something else; the connection serves the next. */
static void shorter_files(void **state)
{
    struct world *w = world_of(state);
    static const size_t sizes[] = {10, 64 << 10, (64 << 10) + 1, 300000};
    struct mlflow *m = client_of(&w->config);
    char *text = calloc(1, 300000);
    memset(text, 'y', 300000);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct err err;
        char path[40];
        int fd = file_with(text, sizes[i]), less = file_with(text, sizes[i] - 1);
        snprintf(path, sizeof path, "shorter%zu", i);
        assert_int_equal(mlflow_artifact_put(m, &w->run, path, less, sizes[i], &err), MLFLOW_REFUSED);
        assert_non_null(strstr(err.text, "has become shorter"));
        assert_int_equal(get_file(m, w, path, text, 0, &err), MLFLOW_ABSENT);
        assert_int_equal(mlflow_artifact_put(m, &w->run, path, fd, sizes[i], &err), MLFLOW_FINE);
        assert_int_equal(get_file(m, w, path, text, sizes[i], &err), MLFLOW_FINE);
        close(fd);
        close(less);
    }
    free(text);
    mlflow_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_in_parts),
        cmocka_unit_test(artifacts_elsewhere),
        cmocka_unit_test(given_up_parts),
        cmocka_unit_test(shorter_files),
    };
    return RUN_IN_WORLD(tests);
}
