/* mlflow.c: calls of the tracking server: experiments, runs, histories. */
#include "base/array.h"
#include "base/json.h"
#include "mlflow/mlflow_call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- experiments ---- */

/* Finds an experiment by its name; *ret_id is in the arena. MLFLOW_ABSENT: there is none. A reply
 * without an id is MLFLOW_LATER with err. */
static enum mlflow_answer experiment_get(struct mlflow *m, const char *name, struct arena *a, const char **ret_id, bool *ret_deleted,
                                         struct err *err)
{
    struct buf path CLEANUP_BUF;
    struct json *j;
    buf_init(&path, 8192);
    buf_puts(&path, "experiments/get-by-name?experiment_name=");
    http_escape(&path, str_of(name), false);
    enum mlflow_answer answer = mlflow_api(m, path.p, NULL, false, &j, err);
    if (answer != MLFLOW_FINE)
        return answer;
    const char *id = json_string(json_pointer(j, "/experiment/experiment_id"), "");
    *ret_deleted = strcmp(json_string(json_pointer(j, "/experiment/lifecycle_stage"), ""), "deleted") == 0;
    *ret_id = arena_dup(a, id, strlen(id));
    json_free(j);
    if (*ret_id && **ret_id)
        return MLFLOW_FINE;
    err_set(err, ERR_REMOTE, "server %s: experiments/get-by-name: the reply names no experiment", m->uri);
    return MLFLOW_LATER; /* the reply is not about the request */
}

enum mlflow_answer mlflow_experiment_find(struct mlflow *m, const char *name, struct arena *a, const char **ret_id, struct err *err)
{
    bool deleted;
    return experiment_get(m, name, a, ret_id, &deleted, err);
}

static enum mlflow_answer one_text(struct mlflow *m, const char *path, const char *key, const char *value, bool once, struct json **ret,
                                   struct err *err)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, 64 << 10);
    struct json_out j = json_begin(&body, JSON_TIGHT, '{');
    json_text(&j, key, value);
    json_close(&j, '}');
    return mlflow_api(m, path, &body, once, ret, err);
}

enum mlflow_answer mlflow_experiment(struct mlflow *m, const char *name, struct arena *a, const char **ret_id, struct err *err)
{
    for (int i = 0; i < 3; i++) { /* another client may make it between two calls: then it is found in the next round */
        bool deleted = false;
        enum mlflow_answer answer = experiment_get(m, name, a, ret_id, &deleted, err);
        if (answer == MLFLOW_FINE && deleted)
            answer = one_text(m, "experiments/restore", "experiment_id", *ret_id, false, NULL, err);
        if (answer != MLFLOW_ABSENT)
            return answer;
        answer = one_text(m, "experiments/create", "name", name, false, NULL, err); /* a second attempt reports that it exists */
        if (answer != MLFLOW_FINE && answer != MLFLOW_EXISTS)
            return answer;
    }
    err_set(err, ERR_REMOTE, "server %s: the experiment \"%.60s\" was made and is not found", m->uri, name);
    return MLFLOW_LATER;
}

/* ---- runs ---- */

static const char *mlflow_dup_text(const struct json *j, const char *key, struct arena *a)
{
    const char *text = json_string(json_get(j, key), "");
    return arena_dup(a, text, strlen(text));
}

/* Returns a time, which comes as a number, from some proxies and old servers as a text; 0:
 * neither. */
static int64_t time_in(const struct json *j, const char *key)
{
    const struct json *v = json_get(j, key);
    int64_t n = json_integer(v, 0);
    if (json_is_string(v))
        str_int(str_of(json_string(v, "")), &n);
    return n;
}

static void run_take(const struct json *run, struct arena *a, struct mlflow_run *ret)
{
    const struct json *info = json_get(run, "info");
    *ret = (struct mlflow_run){.id = mlflow_dup_text(info, "run_id", a),
                               .experiment = mlflow_dup_text(info, "experiment_id", a),
                               .name = mlflow_dup_text(info, "run_name", a),
                               .status = mlflow_dup_text(info, "status", a),
                               .artifact_uri = mlflow_dup_text(info, "artifact_uri", a),
                               .user = mlflow_dup_text(info, "user_id", a),
                               .lifecycle = mlflow_dup_text(info, "lifecycle_stage", a),
                               .start_ms = time_in(info, "start_time"),
                               .end_ms = time_in(info, "end_time"),
                               .data = json_get(run, "data")};
}

const char *mlflow_tag_of(const struct json *data, const char *key)
{
    for (const struct json *t = json_first(json_get(data, "tags")); t; t = json_next(t))
        if (strcmp(json_string(json_get(t, "key"), ""), key) == 0)
            return json_string(json_get(t, "value"), "");
    return NULL;
}

enum mlflow_answer mlflow_experiment_made(struct mlflow *m, const char *id, int64_t *ret_ms, struct err *err)
{
    struct buf url CLEANUP_BUF;
    struct json *j;
    buf_init(&url, 16 << 10);
    buf_printf(&url, "%s/api/2.0/mlflow/experiments/get?experiment_id=", m->uri);
    http_escape(&url, str_of(id), false);
    struct mlflow_call call = {.what = "experiments/get",
                               .request = {.method = "GET", .url = url.p, .parting = true, .reply_max = 1 << 20}};
    *ret_ms = 0;
    enum mlflow_answer answer = mlflow_do(m, &call, &j, err);
    if (answer == MLFLOW_FINE) {
        *ret_ms = time_in(json_get(j, "experiment"), "creation_time");
        json_free(j);
    }
    return answer;
}

/* Fills *ret from a reply that has a run; the run keeps the reply, which is freed where it has
 * none: MLFLOW_LATER with err. */
static enum mlflow_answer run_reply(const struct mlflow *m, const char *what, struct json *j, struct arena *a, struct mlflow_run *ret,
                                    struct err *err)
{
    run_take(json_get(j, "run"), a, ret);
    ret->reply = j;
    if (ret->id && ret->id[0] && !a->failed)
        return MLFLOW_FINE;
    json_free(j);
    ret->reply = NULL;
    if (a->failed)
        err_memory(err, "a run");
    else
        err_set(err, ERR_REMOTE, "server %s: %s: the reply has no run", m->uri, what);
    return MLFLOW_LATER;
}

enum mlflow_answer mlflow_run_create(struct mlflow *m, const char *experiment, const char *name, const char *user, int64_t start_ms,
                                     const struct mlflow_tag *tags, size_t n, struct arena *a, struct mlflow_run *ret, struct err *err)
{
    struct buf body CLEANUP_BUF = {0};
    struct json *j;
    if (m->store)
        return store_run_create(m->store, experiment, name, user, start_ms, tags, n, a, ret, err);
    buf_init(&body, 4 << 20);
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    json_str(&out, "experiment_id", str_of(experiment));
    json_int(&out, "start_time", start_ms);
    json_str(&out, "run_name", str_of(name));
    json_str(&out, "user_id", str_of(user));
    json_open(&out, "tags", '[');
    for (size_t i = 0; i < n; i++)
        mlflow_put_pair(&out, str_of(tags[i].key), tags[i].value);
    json_close(&out, ']');
    json_close(&out, '}');
    enum mlflow_answer answer = mlflow_api(m, "runs/create", &body, true, &j, err);
    return answer == MLFLOW_FINE ? run_reply(m, "runs/create", j, a, ret, err) : answer;
}

enum mlflow_answer mlflow_run_get(struct mlflow *m, const char *id, struct arena *a, struct mlflow_run *ret, struct err *err)
{
    struct buf path CLEANUP_BUF;
    struct json *j;
    buf_init(&path, 4096);
    buf_puts(&path, "runs/get?run_id=");
    http_escape(&path, str_of(id), false);
    enum mlflow_answer answer = mlflow_api(m, path.p, NULL, false, &j, err);
    return answer == MLFLOW_FINE ? run_reply(m, "runs/get", j, a, ret, err) : answer;
}

enum mlflow_answer mlflow_model_get(struct mlflow *m, const char *id, struct arena *a, struct mlflow_run *ret, struct err *err)
{
    struct buf path CLEANUP_BUF;
    struct json *j;
    buf_init(&path, 4096);
    buf_puts(&path, "logged-models/");
    http_escape(&path, str_of(id), false);
    enum mlflow_answer answer = mlflow_api(m, path.p, NULL, false, &j, err);
    if (answer != MLFLOW_FINE)
        return answer;
    const struct json *info = json_pointer(j, "/model/info");
    *ret = (struct mlflow_run){
        .id = mlflow_dup_text(info, "model_id", a), .artifact_uri = mlflow_dup_text(info, "artifact_uri", a), .reply = j, .is_model = true};
    if (ret->id && ret->id[0] && ret->artifact_uri)
        return MLFLOW_FINE;
    json_free(j);
    if (a->failed)
        err_memory(err, "a model");
    else
        err_set(err, ERR_REMOTE, "server %s: logged-models: the reply has no model", m->uri);
    return MLFLOW_LATER;
}

enum mlflow_answer mlflow_run_has_traces(struct mlflow *m, const struct mlflow_run *run, bool *ret, struct err *err)
{
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    char filter[120];
    struct json *j;
    buf_init(&url, 8192);
    buf_init(&body, 8192);
    buf_printf(&url, "%s/api/3.0/mlflow/traces/search", m->uri);
    snprintf(filter, sizeof filter, "attribute.run_id = '%.64s'", run->id);
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    json_open(&out, "locations", '[');
    json_open(&out, NULL, '{');
    json_text(&out, "type", "MLFLOW_EXPERIMENT");
    json_open(&out, "mlflow_experiment", '{');
    json_text(&out, "experiment_id", run->experiment);
    json_close(&out, '}');
    json_close(&out, '}');
    json_close(&out, ']');
    json_text(&out, "filter", filter);
    json_uint(&out, "max_results", 1);
    json_close(&out, '}');
    struct mlflow_call call = {
        .what = "traces/search",
        .request = {.method = "POST", .url = url.p, .type = "application/json", .body = buf_text(&body), .reply_max = 16 << 20}};
    *ret = false;
    enum mlflow_answer answer = mlflow_do(m, &call, &j, err);
    if (answer == MLFLOW_FINE) {
        *ret = json_count(json_get(j, "traces")) > 0;
        json_free(j);
    }
    return answer;
}

enum mlflow_answer mlflow_run_update(struct mlflow *m, const char *id, const char *status, int64_t end_ms, const char *name,
                                     struct err *err)
{
    struct buf body CLEANUP_BUF = {0};
    if (m->store && status && !name)
        return store_run_update(m->store, id, status, end_ms, err);
    buf_init(&body, 64 << 10);
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    json_text(&out, "run_id", id);
    if (status)
        json_text(&out, "status", status);
    if (end_ms)
        json_int(&out, "end_time", end_ms);
    if (name)
        json_text(&out, "run_name", name);
    json_close(&out, '}');
    return mlflow_api(m, "runs/update", &body, false, NULL, err);
}

enum mlflow_answer mlflow_run_delete(struct mlflow *m, const char *id, struct err *err)
{
    return one_text(m, "runs/delete", "run_id", id, false, NULL, err);
}

enum mlflow_answer mlflow_run_restore(struct mlflow *m, const char *id, struct err *err)
{
    return one_text(m, "runs/restore", "run_id", id, false, NULL, err);
}

enum mlflow_answer mlflow_tag_delete(struct mlflow *m, const char *run, const char *key, struct err *err)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, 64 << 10);
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    json_text(&out, "run_id", run);
    json_text(&out, "key", key);
    json_close(&out, '}');
    enum mlflow_answer answer = mlflow_api(m, "runs/delete-tag", &body, false, NULL, err);
    return answer == MLFLOW_ABSENT ? MLFLOW_FINE : answer; /* its absence was the purpose */
}

/* Replaces *token by the token of the next page. Returns false where this was the last. A server
 * that repeats its token would never end. */
static bool next_page(struct buf *token, const struct json *j)
{
    const char *next = json_string(json_get(j, "next_page_token"), "");
    if (!next[0] || str_is(buf_text(token), next))
        return false;
    buf_clear(token);
    buf_puts(token, next);
    return !token->failed;
}

enum mlflow_answer mlflow_run_search_pages(struct mlflow *m, const char *experiment, const char *filter, bool all, unsigned page,
                                           int (*each)(void *context, const struct mlflow_run *run), void *context, struct err *err)
{
    struct buf token CLEANUP_BUF;
    buf_init(&token, 64 << 10);
    buf_puts(&token, "");
    for (bool more = true, stop = false; more && !stop;) {
        struct buf body CLEANUP_BUF;
        struct json *j;
        struct arena a;
        buf_init(&body, 256 << 10);
        struct json_out out = json_begin(&body, JSON_TIGHT, '{');
        json_texts(&out, "experiment_ids", &experiment, 1);
        json_text(&out, "filter", filter);
        json_text(&out, "run_view_type", all ? "ALL" : "ACTIVE_ONLY");
        json_uint(&out, "max_results", page);
        if (token.n)
            json_text(&out, "page_token", token.p);
        json_close(&out, '}');
        enum mlflow_answer answer = mlflow_api(m, "runs/search", &body, false, &j, err);
        if (answer != MLFLOW_FINE)
            return answer;
        arena_init(&a, 0);
        for (const struct json *r = json_first(json_get(j, "runs")); r && !stop; r = json_next(r)) {
            struct mlflow_run run;
            run_take(r, &a, &run);
            stop = each(context, &run) != 0;
        }
        more = next_page(&token, j);
        arena_deinit(&a);
        json_free(j);
    }
    return MLFLOW_FINE;
}

double mlflow_number(const struct json *v)
{
    double d = NAN;
    if (json_is_string(v))
        str_double(str_of(json_string(v, "")), &d);
    else
        d = json_number(v, NAN);
    return d;
}

int64_t mlflow_integer(const struct json *v)
{
    int64_t n = json_integer(v, 0);
    if (json_is_string(v))
        str_int(str_of(json_string(v, "")), &n);
    return n;
}

int mlflow_samples_add(void *samples, double value, int64_t time_ms, int64_t step)
{
    struct mlflow_samples *s = samples;
    if (!ARRAY_FITS(s->at, s->room, s->count + 1))
        return s->failed = true;
    s->at[s->count++] = (struct tree_sample){time_ms, step, value};
    return 0;
}

enum mlflow_answer mlflow_history(struct mlflow *m, const char *run, const char *key,
                                  int (*each)(void *context, double value, int64_t time_ms, int64_t step), void *context, struct err *err)
{
    struct buf token CLEANUP_BUF;
    buf_init(&token, 64 << 10);
    buf_puts(&token, "");
    for (bool more = true, stop = false; more && !stop;) {
        struct buf path CLEANUP_BUF;
        struct json *j;
        buf_init(&path, 64 << 10);
        buf_puts(&path, "metrics/get-history?run_id=");
        http_escape(&path, str_of(run), false);
        buf_puts(&path, "&metric_key=");
        http_escape(&path, str_of(key), false);
        buf_puts(&path, "&max_results=25000&page_token=");
        http_escape(&path, buf_text(&token), false);
        if (!token.n) /* an empty one is a wrong one */
            path.p[path.n -= strlen("&page_token=")] = 0;
        enum mlflow_answer answer = mlflow_api(m, path.p, NULL, false, &j, err);
        if (answer != MLFLOW_FINE)
            return answer;
        for (const struct json *s = json_first(json_get(j, "metrics")); s && !stop; s = json_next(s))
            stop = each(context, mlflow_number(json_get(s, "value")), time_in(s, "timestamp"), time_in(s, "step")) != 0;
        more = next_page(&token, j);
        json_free(j);
    }
    return MLFLOW_FINE;
}
