/* api.c: the requests of a logging client, done in memory; see api.h. */
#include "server/api_parts.h"

#include "base/fs.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct api {
    struct store store;
    pthread_mutex_t lock;
    int journal;
};

/* ---- which is which ---- */

struct row {
    const char *method, *path;
    void (*does)(struct call *c);
    bool changes;
};

static const struct row rows[] = {
    {"POST", "experiments/create", experiment_create, true},
    {"GET", "experiments/get-by-name", experiment_get, false},
    {"GET", "experiments/get", experiment_get, false},
    {"POST", "experiments/search", experiment_search, false},
    {"GET", "experiments/search", experiment_search, false},
    {"POST", "experiments/restore", experiment_change, true},
    {"POST", "experiments/delete", experiment_change, true},
    {"POST", "experiments/set-experiment-tag", experiment_change, true},
    {"POST", "runs/create", run_create, true},
    {"GET", "runs/get", run_get, false},
    {"POST", "runs/update", run_update, true},
    {"POST", "runs/delete", run_life, true},
    {"POST", "runs/restore", run_life, true},
    {"POST", "runs/search", run_search, false},
    {"POST", "runs/set-tag", run_tag, true},
    {"POST", "runs/delete-tag", run_tag, true},
    {"POST", "runs/log-batch", log_batch, true},
    {"POST", "runs/log-inputs", log_inputs, true},
    {"GET", "metrics/get-history", history, false},
    {"GET", "artifacts/list", artifacts_list, false},
};

static bool api_call(struct call *c, struct str rest)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!str_is(rest, rows[i].path) || strcmp(c->method, rows[i].method) != 0)
            continue;
        if (strcmp(c->method, "POST") == 0 && json_parse(&c->j, c->body, NULL, NULL))
            return reply_invalid(c, "the body is not JSON"), false;
        rows[i].does(c);
        json_free(c->j);
        return rows[i].changes;
    }
    reply_say(c, 404, "ENDPOINT_NOT_FOUND", "no such endpoint");
    return false;
}

/* True: it may have changed something. */
static bool dispatch(struct call *c)
{
    static const char base[] = "/api/2.0/mlflow/", files[] = "/api/2.0/mlflow-artifacts/artifacts/",
                      mpu[] = "/api/2.0/mlflow-artifacts/mpu/";
    if (str_starts(c->path, base))
        return api_call(c, str_sub(c->path, strlen(base), c->path.n));
    if (str_starts(c->path, files)) {
        artifact(c, str_sub(c->path, strlen(files), c->path.n));
        return strcmp(c->method, "PUT") == 0;
    }
    if (str_starts(c->path, mpu) && json_parse(&c->j, c->body, NULL, NULL) == 0) {
        multipart(c, str_sub(c->path, strlen(mpu), c->path.n));
        json_free(c->j);
        return true;
    }
    if (str_starts(c->path, "/storage/")) {
        storage_part(c);
        return true;
    }
    c->a->type = "text/plain";
    if (str_is(c->path, "/health") || str_is(c->path, "/version")) {
        buf_puts(&c->a->body, str_is(c->path, "/health") ? "OK" : "3.17.2");
        return false;
    }
    c->a->status = 404;
    c->a->type = "text/html";
    buf_puts(&c->a->body, "<!doctype html>\n<title>404 Not Found</title>\n");
    return false;
}

static void one_request(struct api *api, const char *method, const char *uri, const char *host, struct str body, struct answer *a,
                        bool *changed)
{
    struct str rest = str_of(uri), path = str_cut(&rest, '?');
    struct call c = {.s = &api->store, .path = path, .query = rest, .body = body, .method = method, .host = host, .a = a};
    *a = (struct answer){.status = 200, .type = "application/json"};
    buf_init(&a->body, 1 << 30);
    buf_puts(&a->body, "");
    *changed = dispatch(&c) && a->status == 200;
}

void api_do(struct api *api, const char *method, const char *uri, const char *host, struct str body, struct answer *ret)
{
    bool changed;
    pthread_mutex_lock(&api->lock);
    one_request(api, method, uri, host, body, ret, &changed);
    if (changed && api->journal >= 0) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 1 << 30);
        buf_printf(&b, "%s %s %zu\n", method, uri, body.n);
        buf_str(&b, body);
        buf_putc(&b, '\n');
        if (b.failed || fs_write_all(api->journal, b.p, b.n))
            abort();
    }
    pthread_mutex_unlock(&api->lock);
}

/* What a killed server had done is done again; a torn end is cut, its request was never answered. */
static void replay(struct api *api)
{
    struct buf b;
    char proc[40];
    buf_init(&b, 1 << 30);
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", api->journal);
    if (fs_read(AT_FDCWD, proc, 1 << 30, 0, &b, NULL))
        abort();
    struct str all = buf_text(&b), rest = all;
    for (;;) {
        struct str line = str_cut(&rest, '\n'), method = str_word(&line), uri = str_word(&line), size = str_word(&line);
        uint64_t n;
        struct answer a;
        bool changed;
        if (!rest.p || !str_uint(size, &n) || rest.n < n + 1)
            break;
        one_request(api, strndup(method.p, method.n), strndup(uri.p, uri.n), "none", str_sub(rest, 0, n), &a, &changed);
        buf_deinit(&a.body);
        rest = str_sub(rest, n + 1, rest.n);
        all = rest;
    }
    if (b.n && ftruncate(api->journal, all.p ? all.p - b.p : 0))
        abort();
}

struct api *api_new(const char *journal, bool unfiltered)
{
    struct api *api = calloc(1, sizeof *api);
    api->store.unfiltered = unfiltered;
    pthread_mutex_init(&api->lock, NULL);
    api->journal = journal ? open(journal, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (journal && api->journal < 0)
        return NULL;
    store_experiment_add(&api->store, "Default");
    if (journal)
        replay(api);
    return api;
}
