/* mlflow_call.c: the client against a server that misbehaves in every way we know: what it answers, how often it tries, how long, and in which words. */
/* quick: no, because each fault of a server takes its time */
#include "mlflow_world.h"

#include "base/clock.h"

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
    {"1- 404", FIND, MLFLOW_REFUSED, 1, 1, "404 Not Found|check that this is the address"},
    {"1- 404-json", FIND, MLFLOW_ABSENT, 1, 1, "RESOURCE_DOES_NOT_EXIST"},
    {"1- 405", FIND, MLFLOW_REFUSED, 1, 1, "405|check that this is the address"},
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
    {"1- 429-date-skewed 1", FIND, MLFLOW_LATER, 3, 3.5, "429"}, /* by their clock, which is a year ahead */
    {"1 retry-503 1", FIND, MLFLOW_FINE, 2, 2.5, ""},
    {"1- 429 -5", FIND, MLFLOW_LATER, 3, 1, "429 REQUEST_LIMIT_EXCEEDED"},
    {"1- 429-date -100", FIND, MLFLOW_LATER, 3, 1, "429"},
    /* something else comes */
    {"1- html", FIND, MLFLOW_LATER, 1, 1, "web page (\"Log in to continue\"); check that this is the address"},
    {"1- empty", FIND, MLFLOW_LATER, 3, 1, "not JSON"},
    {"1- 204", FIND, MLFLOW_LATER, 3, 1, "not JSON"},
    {"1 204", BATCH, MLFLOW_FINE, 1, 1, ""},
    {"1- array", FIND, MLFLOW_LATER, 3, 1, "not JSON"},
    {"1- cut-json", FIND, MLFLOW_LATER, 3, 1, "not JSON"},
    {"1- cut-body", FIND, MLFLOW_LATER, 3, 1, ""},
    {"1- bad-chunk", FIND, MLFLOW_LATER, 3, 1, ""},
    {"1- two-lengths", FIND, MLFLOW_LATER, 0, 1, ""}, /* newer libcurl refuses it, and it is asked again */
    {"1- two-types", FIND, MLFLOW_ABSENT, 1, 1, ""},
    {"1- type text/html", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- type", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- gzip", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- chunked", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- 102", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- pause 300", FIND, MLFLOW_FINE, 1, 1, ""},
    {"1- bomb 80", FIND, MLFLOW_LATER, 1, 20, "longer than 67108864 bytes"},
    {"1- headers", FIND, MLFLOW_LATER, 0, 20, "head"},
    {"1- trailers", FIND, MLFLOW_LATER, 0, 20, "head"},
    {"1- values 2100000", FIND, MLFLOW_LATER, 1, 20, "the reply has millions of values"},
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
    assert_int_equal(mlflow_run_search_pages(m, w->experiment, "", true, 1000, count_made, &n, &err), MLFLOW_FINE);
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
    if (answer != r->answer || (r->requests && mlflow_requests(m) != r->requests))
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
    struct world *w = world_of(state);
    struct err err;
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
    struct world *w = world_of(state);
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
    struct world *w = world_of(state);
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
    struct world *w = world_of(state);
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

static void redirected(void **state)
{
    struct world *w = world_of(state);
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
    struct world *w = world_of(state);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault),       cmocka_unit_test(nobody_listens), cmocka_unit_test(patience_ends),
        cmocka_unit_test(cancelled_at_once), cmocka_unit_test(redirected),     cmocka_unit_test(idle_connections),
    };
    return RUN_IN_WORLD(tests);
}
