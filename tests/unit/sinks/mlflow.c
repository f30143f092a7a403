/* mlflow.c: the client against a server that misbehaves in every way we know: what it answers, how often it tries, how long, and in which words. */
#include "../fault_server.h"

#include "base/clock.h"
#include "base/json.h"
#include "sinks/mlflow.h"

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

static struct mlflow *client_of(const struct mlflow_config *config)
{
    struct mlflow *m;
    struct err err;
    if (mlflow_open(&m, config, &err))
        fail_msg("%s", err.text);
    return m;
}

static int begin(void **state)
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

static int end(void **state)
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

/* ---- the table ---- */

enum call { FIND, CREATE, BATCH, PUT, GET_FILE, HEALTH };

struct row {
    const char *script; /* PATTERN is put before it */
    enum call call;
    enum mlflow_answer answer;
    unsigned requests;
    double most_s;
    const char *words; /* all of them, '|' between, are in the message */
};

static const struct row rows[] = {
    /* nothing comes */
    {"1- hang 60", FIND, MLFLOW_LATER, 3, 2.4, "GET|timed out"},
    {"1- slow", FIND, MLFLOW_LATER, 3, 2.4, "timed out"},
    {"1- close", FIND, MLFLOW_LATER, 3, 1, "GET"},
    {"1- reset", FIND, MLFLOW_LATER, 3, 1, "GET"},
    {"1-2 reset", FIND, MLFLOW_FINE, 3, 1, ""},
    {"1- half-head", FIND, MLFLOW_LATER, 3, 1, ""},
    {"1- garbage", FIND, MLFLOW_LATER, 1, 1, "HTTP/0.9"},
    /* refused */
    {"1- 401", FIND, MLFLOW_DENIED, 1, 1, "401|You are not authenticated|are not accepted|MLFLOW_TRACKING_USERNAME"},
    {"1- 403", FIND, MLFLOW_DENIED, 1, 1, "403 Permission denied|may not"},
    {"1- 403-host", FIND, MLFLOW_DENIED, 1, 1, "Invalid Host header|--allowed-hosts"},
    {"1- 404", FIND, MLFLOW_REFUSED, 1, 1, "404 Not Found|is this the address"},
    {"1- 404-json", FIND, MLFLOW_ABSENT, 1, 1, "RESOURCE_DOES_NOT_EXIST"},
    {"1- 405", FIND, MLFLOW_REFUSED, 1, 1, "405|is this the address"},
    {"1- 413", BATCH, MLFLOW_REFUSED, 1, 1, "413|client_max_body_size"},
    {"1- escape", FIND, MLFLOW_REFUSED, 1, 1, "\\x1b[2J\\x07 looks"},
    {"1- 500-state", FIND, MLFLOW_REFUSED, 1, 1, "INVALID_STATE"},
    {"1- 501", FIND, MLFLOW_REFUSED, 1, 1, "NOT_IMPLEMENTED"},
    /* not now */
    {"1- 408", FIND, MLFLOW_LATER, 3, 1, "408"},
    {"1- 409", FIND, MLFLOW_LATER, 3, 1, "RESOURCE_CONFLICT"},
    {"1- 500-json", FIND, MLFLOW_LATER, 3, 1, "500 INTERNAL_ERROR: (sqlite3.OperationalError) database is locked"},
    {"1- 500-html", FIND, MLFLOW_LATER, 3, 1, "500 Internal Server Error"},
    {"1- 502", FIND, MLFLOW_LATER, 3, 1, "502 Bad Gateway"},
    {"1- 503", FIND, MLFLOW_LATER, 3, 1, "503 Service Temporarily"},
    {"1- 504", FIND, MLFLOW_LATER, 3, 1, "504 Gateway Time-out"},
    {"1-2 503", FIND, MLFLOW_FINE, 3, 1, ""},
    {"1 429 1", FIND, MLFLOW_FINE, 2, 2.5, ""},
    {"1 429-date 2", FIND, MLFLOW_FINE, 2, 3.5, ""},
    {"1 retry-503 1", FIND, MLFLOW_FINE, 2, 2.5, ""},
    {"1- 429 -5", FIND, MLFLOW_LATER, 3, 1, "429 REQUEST_LIMIT_EXCEEDED"},
    {"1- 429-date -100", FIND, MLFLOW_LATER, 3, 1, "429"},
    /* something else comes */
    {"1- html", FIND, MLFLOW_LATER, 1, 1, "web page (\"Log in to continue\"): is this the address"},
    {"1- empty", FIND, MLFLOW_LATER, 3, 1, "not JSON"},
    {"1- array", FIND, MLFLOW_LATER, 3, 1, "not JSON"},
    {"1- cut-json", FIND, MLFLOW_LATER, 3, 1, "not JSON"},
    {"1- cut-body", FIND, MLFLOW_LATER, 3, 1, ""},
    {"1- bad-chunk", FIND, MLFLOW_LATER, 3, 1, ""},
    {"1- two-lengths", FIND, MLFLOW_LATER, 1, 1, "names no experiment"},
    {"1- two-types", FIND, MLFLOW_ABSENT, 1, 1, ""},
    {"1- type text/html", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- type", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- gzip", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- chunked", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- 102", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- pause 300", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- bomb 80", FIND, MLFLOW_LATER, 1, 20, "longer than 67108864 bytes"},
    {"1- redirect 307", FIND, MLFLOW_LATER, 1, 1, "redirect"},
    {"1- redirect 302 ftp://127.0.0.1", FIND, MLFLOW_LATER, 1, 1, ""},
    /* made once, never twice */
    {"1- close", CREATE, MLFLOW_LATER, 1, 1, "runs/create"},
    {"1- after-reset", CREATE, MLFLOW_LATER, 1, 1, "runs/create"},
    {"1- after-close", CREATE, MLFLOW_LATER, 1, 1, "runs/create"},
    {"1- after-hang 60", CREATE, MLFLOW_LATER, 1, 1.5, "timed out"},
    {"1- after-500-html", CREATE, MLFLOW_LATER, 1, 1, "500"},
    {"1- after-empty", CREATE, MLFLOW_LATER, 1, 1, "not JSON"},
    {"1- cut-body", CREATE, MLFLOW_LATER, 1, 1, ""},
    {"1 429 1", CREATE, MLFLOW_FINE, 2, 2.5, ""},
    /* repeated without harm */
    {"1 after-reset", BATCH, MLFLOW_FINE, 2, 1, ""},
    {"1 after-502", BATCH, MLFLOW_FINE, 2, 1, ""},
    {"1- empty", BATCH, MLFLOW_LATER, 3, 1, "not JSON"},
    {"1 reset", PUT, MLFLOW_FINE, 2, 1, ""},
    {"1 after-close", PUT, MLFLOW_FINE, 2, 1, ""},
    {"1- early 413", PUT, MLFLOW_REFUSED, 1, 1, "413 Request Entity Too Large|client_max_body_size"},
    {"1- 503", PUT, MLFLOW_LATER, 3, 1, "artifact: 503"},
    {"1- 401", PUT, MLFLOW_DENIED, 1, 1, "401"},
    {"1 cut-body", GET_FILE, MLFLOW_FINE, 2, 1, ""},
    {"1 reset", GET_FILE, MLFLOW_FINE, 2, 1, ""},
    {"1- 404-json", GET_FILE, MLFLOW_ABSENT, 1, 1, ""},
    {"1- 503", HEALTH, MLFLOW_LATER, 1, 1, "health: 503"},
};

static const char file_text[] = "the bytes of a file, which come back the same";

static int file_with(const char *text, size_t n)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    return fd;
}

static enum mlflow_answer get_file(struct mlflow *m, const struct world *w, const char *path, const char *text, size_t n, struct err *err)
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

static enum mlflow_answer batch(struct mlflow *m, const struct world *w, struct err *err)
{
    struct mlflow_batch b;
    batch_begin(&b, m, w->run.id);
    batch_metric(&b, STR("m"), 1.5, 1000, 0);
    enum mlflow_answer answer = batch_send(&b);
    *err = b.err;
    batch_end(&b);
    return answer;
}

static enum mlflow_answer do_call(struct mlflow *m, const struct row *r, struct world *w, struct err *err)
{
    const char *id;
    struct mlflow_run run;
    enum mlflow_answer answer = MLFLOW_FINE;
    int fd;
    switch (r->call) {
    case FIND: return mlflow_experiment_find(m, "e", &w->arena, &id, err);
    case CREATE:
        answer = mlflow_run_create(m, w->experiment, "made", "u", 1000, NULL, 0, &w->arena, &run, err);
        if (answer == MLFLOW_FINE)
            json_free(run.reply);
        return answer;
    case BATCH: return batch(m, w, err);
    case PUT:
        fd = file_with(file_text, strlen(file_text));
        answer = mlflow_artifact_put(m, &w->run, "folder/a b.log", fd, strlen(file_text), err);
        close(fd);
        return answer;
    case GET_FILE: return get_file(m, w, "kept.log", file_text, strlen(file_text), err);
    case HEALTH: return mlflow_health(m, err);
    }
    return answer;
}

static int count_made(void *context, const struct mlflow_run *run)
{
    *(int *)context += strcmp(run->name, "made") == 0;
    return 0;
}

static int made(struct world *w)
{
    struct mlflow *m = client_of(&w->config);
    struct err err;
    int n = 0;
    assert_int_equal(mlflow_run_search(m, w->experiment, "", true, count_made, &n, &err), MLFLOW_FINE);
    mlflow_close(m);
    return n;
}

static void check_words(const struct row *r, const struct err *err)
{
    struct str rest = str_of(r->words);
    if (r->answer == MLFLOW_FINE)
        return;
    while (rest.p) {
        struct str word = str_cut(&rest, '|');
        if (word.n && str_find(str_of(err->text), word) < 0)
            fail_msg("%s: \"%s\" lacks \"" STR_FMT "\"", r->script, err->text, STR_ARG(word));
    }
    if (!strstr(err->text, "server") || !strstr(err->text, "127.0.0.1"))
        fail_msg("%s: \"%s\" names no server", r->script, err->text);
    if (strstr(err->text, "hunter2") || strstr(err->text, "alice") || strpbrk(err->text, "\033\n\r"))
        fail_msg("%s: \"%s\" says too much", r->script, err->text);
}

static void run_row(struct world *w, const struct row *r)
{
    static const char *const patterns[] = {"get-by-name", "runs/create", "log-batch", "mlflow-artifacts", "mlflow-artifacts", "health"};
    struct mlflow_config c = w->config;
    if (strstr(r->script, "hang") || strstr(r->script, "slow")) /* only these wait for it: a machine with other work is not taken for a fault */
        c.http.total_s = 0.6;
    struct mlflow *m = client_of(&c);
    struct err err = {0};
    char script[200];
    int before = made(w);
    snprintf(script, sizeof script, "%s %s\n", patterns[r->call], r->script);
    if (strstr(r->script, "redirect 307"))
        snprintf(script, sizeof script, "%s 1- redirect 307 %s", patterns[r->call], w->server.uri);
    fault_script(&w->server, script);
    int64_t t = clock_mono_ns();
    enum mlflow_answer answer = do_call(m, r, w, &err);
    double s = (double)(clock_mono_ns() - t) / 1e9;
    if (answer != r->answer || mlflow_requests(m) != r->requests)
        fail_msg("%s: answer %d in %u requests, not %d in %u: %s", r->script, answer, mlflow_requests(m), r->answer, r->requests, err.text);
    if (s > r->most_s + 15) /* machines are busy; what would wait for good is found all the same */
        fail_msg("%s: took %.1f s", r->script, s);
    check_words(r, &err);
    mlflow_close(m);
    fault_script(&w->server, "");
    if (r->call == CREATE)
        assert_int_equal(made(w) - before, answer == MLFLOW_FINE || strstr(r->script, "after-") || strstr(r->script, "cut-"));
}

static void every_fault(void **state)
{
    struct world *w = *state;
    struct err err;
    if (!w->there)
        skip();
    struct mlflow *m = client_of(&w->config);
    int fd = file_with(file_text, strlen(file_text));
    assert_int_equal(mlflow_artifact_put(m, &w->run, "kept.log", fd, strlen(file_text), &err), MLFLOW_FINE);
    close(fd);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(w, &rows[i]);
    assert_int_equal(get_file(m, w, "folder/a b.log", file_text, strlen(file_text), &err), MLFLOW_FINE);
    mlflow_close(m);
}

/* ---- what is not in the table ---- */

static void nobody_listens(void **state)
{
    struct world *w = *state;
    if (!w->there)
        skip();
    struct mlflow_config c = w->config;
    struct err err;
    const char *id;
    c.uri = "http://127.0.0.1:1";
    struct mlflow *m = client_of(&c);
    assert_int_equal(mlflow_experiment_find(m, "e", &w->arena, &id, &err), MLFLOW_LATER);
    assert_int_equal(mlflow_requests(m), 3);
    assert_non_null(strstr(err.text, "http://127.0.0.1:1/"));
    /* nothing can have been done: what must not be done twice is tried again too */
    struct mlflow_run run;
    assert_int_equal(mlflow_run_create(m, "1", "n", "u", 1, NULL, 0, &w->arena, &run, &err), MLFLOW_LATER);
    assert_int_equal(mlflow_requests(m), 6);
    mlflow_close(m);
    c.uri = "http://no-such-host.invalid:5000";
    m = client_of(&c);
    assert_int_equal(mlflow_experiment_find(m, "e", &w->arena, &id, &err), MLFLOW_LATER);
    assert_non_null(strstr(err.text, "no-such-host.invalid"));
    assert_non_null(strcasestr(err.text, "resolve"));
    mlflow_close(m);
}

static void patience_ends(void **state)
{
    struct world *w = *state;
    if (!w->there)
        skip();
    struct mlflow_config c = w->config;
    struct err err;
    const char *id;
    c.retries = 100;
    c.patience_s = 1;
    struct mlflow *m = client_of(&c);
    fault_script(&w->server, "* 1- 429 3600\n");
    int64_t t = clock_mono_ns();
    assert_int_equal(mlflow_experiment_find(m, "e", &w->arena, &id, &err), MLFLOW_LATER);
    assert_true(clock_mono_ns() - t < 10000000000);
    assert_int_equal(mlflow_requests(m), 1);
    fault_script(&w->server, "* 1- 503\n");
    assert_int_equal(mlflow_experiment_find(m, "e", &w->arena, &id, &err), MLFLOW_LATER);
    assert_true(clock_mono_ns() - t < 20000000000);
    mlflow_close(m);
    fault_script(&w->server, "");
}

static void cancelled_at_once(void **state)
{
    struct world *w = *state;
    if (!w->there)
        skip();
    struct mlflow_config c = w->config;
    struct err err;
    const char *id;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "x", 1), 1);
    c.http.cancel_fd = pipes[0];
    c.http.total_s = 60;
    struct mlflow *m = client_of(&c);
    fault_script(&w->server, "* 1- hang 60\n");
    int64_t t = clock_mono_ns();
    assert_int_equal(mlflow_experiment_find(m, "e", &w->arena, &id, &err), MLFLOW_CANCELLED);
    assert_true(clock_mono_ns() - t < 20000000000);
    mlflow_close(m);
    close(pipes[0]);
    close(pipes[1]);
    fault_script(&w->server, "");
}

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
    struct world *w = *state;
    if (!w->there)
        skip();
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

static void redirected(void **state)
{
    struct world *w = *state;
    if (!w->there)
        skip();
    static const char *const tokens[] = {NULL, "sesame"};
    for (int i = 0; i < 2; i++) {
        struct mlflow_config c = w->config;
        struct err err;
        struct buf log CLEANUP_BUF, here CLEANUP_BUF;
        const char *id;
        char script[200];
        c.http.bearer = tokens[i];
        c.http.user = tokens[i] ? NULL : c.http.user;
        struct mlflow *m = client_of(&c);
        snprintf(script, sizeof script, "get-by-name 1 redirect 308 %s\n", w->server.uri);
        fault_script(&w->server, script);
        assert_int_equal(mlflow_experiment_find(m, "e", &w->arena, &id, &err), MLFLOW_FINE);
        fault_log(&w->server, &here);
        assert_null(strstr(here.p, "auth=-"));
        snprintf(script, sizeof script, "experiments 1- redirect 307 %s\n", w->other.uri);
        fault_script(&w->server, script);
        fault_script(&w->other, "");
        assert_int_equal(mlflow_experiment(m, "over there", &w->arena, &id, &err), MLFLOW_FINE); /* POST stays POST, with its body */
        fault_log(&w->other, &log);
        assert_non_null(strstr(log.p, "get-by-name"));
        assert_non_null(strstr(log.p, "auth=-"));
        assert_null(strstr(log.p, "Basic"));
        assert_null(strstr(log.p, "Bearer"));
        mlflow_close(m);
        c.http.no_redirects = true;
        m = client_of(&c);
        assert_int_equal(mlflow_experiment_find(m, "e", &w->arena, &id, &err), MLFLOW_REFUSED);
        assert_non_null(strstr(err.text, "307"));
        mlflow_close(m);
        fault_script(&w->server, "");
    }
}

static void idle_connections(void **state)
{
    struct world *w = *state;
    if (!w->there)
        skip();
    struct mlflow_config c = w->config;
    struct err err;
    const char *id;
    c.uri = w->other.uri;
    c.retries = 0;
    struct mlflow *m = client_of(&c);
    assert_int_equal(mlflow_experiment(m, "idle", &w->arena, &id, &err), MLFLOW_FINE);
    usleep(2500000);
    struct mlflow_run run;
    assert_int_equal(mlflow_run_create(m, id, "n", "u", 1, NULL, 0, &w->arena, &run, &err), MLFLOW_FINE);
    json_free(run.reply);
    mlflow_close(m);
}

static int count_samples(void *context, double value, int64_t time_ms, int64_t step)
{
    *(double *)context += value + (double)(time_ms - step);
    return 0;
}

/* A proxy takes less than a batch: it is sent in halves, and the later ones are smaller from the start. */
static void batches_in_halves(void **state)
{
    struct world *w = *state;
    if (!w->there)
        skip();
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

static void files_in_parts(void **state)
{
    struct world *w = *state;
    if (!w->there)
        skip();
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
    struct world *w = *state;
    if (!w->there)
        skip();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault),        cmocka_unit_test(nobody_listens), cmocka_unit_test(patience_ends),
        cmocka_unit_test(cancelled_at_once),  cmocka_unit_test(redirected),     cmocka_unit_test(idle_connections),
        cmocka_unit_test(batches_in_halves),  cmocka_unit_test(files_in_parts), cmocka_unit_test(artifacts_elsewhere),
        cmocka_unit_test(given_up_parts),
    };
    if (!http_library()) {
        printf("1..0 # SKIP libcurl is not installed\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, begin, end);
}
