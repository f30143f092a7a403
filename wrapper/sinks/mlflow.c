/* mlflow.c: calls of the tracking server: retries, what an answer means, experiments, runs. */
#include "sinks/mlflow.h"

#include "base/clock.h"
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

struct mlflow {
    struct http *http;
    char *uri;
    int retries, cancel_fd;
    double backoff_s, jitter_s, patience_s;
    bool heed_retry_after;
    unsigned requests;
};

enum { REPLY_MAX = 64 << 20, PAGE = 1000 };

int mlflow_open(struct mlflow **ret, const struct mlflow_config *c, struct err *err)
{
    struct mlflow *m = calloc(1, sizeof *m);
    if (!m || !(m->uri = strdup(c->uri))) {
        free(m);
        return err_set(err, ERR_SYSTEM, "no memory for a client");
    }
    m->retries = c->retries;
    m->backoff_s = c->backoff_s;
    m->jitter_s = c->jitter_s;
    m->patience_s = c->patience_s;
    m->heed_retry_after = c->heed_retry_after;
    m->cancel_fd = c->http.cancel_fd;
    if (http_new(&m->http, &c->http, err)) {
        mlflow_close(m);
        return -1;
    }
    *ret = m;
    return 0;
}

void mlflow_close(struct mlflow *m)
{
    if (!m)
        return;
    http_free(m->http);
    free(m->uri);
    free(m);
}

const char *mlflow_uri(const struct mlflow *m)
{
    return m->uri;
}

unsigned mlflow_requests(const struct mlflow *m)
{
    return m->requests;
}

/* ---- what an answer means ---- */

/* The server's own words, harmless for a terminal: its message, or the text of a page. */
static void server_words(const struct http_reply *r, const struct json *j, struct buf *to)
{
    const char *message = json_string(json_get(j, "message"), NULL);
    if (message)
        buf_plain(to, str_of(message), 300);
    else if (strstr(r->type, "html"))
        buf_puts(to, "the reply is a web page: is this the address of an MLflow server?");
    else
        buf_plain(to, str_trim(buf_text(&r->body)), 200);
}

static enum mlflow_answer denied(const struct mlflow *m, const struct http_reply *r, const char *words, const char *what, struct err *err)
{
    const char *hint = "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN";
    if (r->status == 403)
        hint = strstr(words, "Host") ? "the server must be started with --allowed-hosts that lists this name with its port"
                                     : "these credentials may not do that";
    err_set(err, ERR_REMOTE, "server %s: %s: %d %s; %s", m->uri, what, r->status, words, hint);
    return MLFLOW_DENIED;
}

static bool is_temporary(int status, const char *code)
{
    if (status == 500) /* a page of the framework, or a store that was busy; but not what the server will say again */
        return strcmp(code, "INVALID_STATE") != 0 && strcmp(code, "FEATURE_DISABLED") != 0;
    return status == 408 || status == 425 || status == 429 || status == 502 || status == 503 || status == 504;
}

static enum mlflow_answer answer_of(const struct mlflow *m, const struct http_reply *r, const struct json *j, const char *what, struct err *err)
{
    const char *code = json_string(json_get(j, "error_code"), "");
    struct buf words CLEANUP_BUF;
    buf_init(&words, 4000);
    buf_puts(&words, "");
    server_words(r, j, &words);
    if (r->status == 401 || r->status == 403)
        return denied(m, r, words.p ? words.p : "", what, err);
    err_set(err, ERR_REMOTE, "server %s: %s: %d %s%s%s", m->uri, what, r->status, code, code[0] ? ": " : "", words.p ? words.p : "");
    if (strcmp(code, "RESOURCE_ALREADY_EXISTS") == 0)
        return MLFLOW_EXISTS;
    if (strcmp(code, "RESOURCE_DOES_NOT_EXIST") == 0)
        return MLFLOW_ABSENT;
    if (r->status == 409 || is_temporary(r->status, code))
        return MLFLOW_LATER;
    return MLFLOW_REFUSED;
}

/* ---- attempts ---- */

static double fraction(void)
{
    uint32_t u = 0;
    if (getrandom(&u, sizeof u, GRND_NONBLOCK) != sizeof u)
        u = (uint32_t)clock_mono_ns();
    return u / 4294967296.0;
}

/* False: the process is asked to end. */
static bool wait_s(const struct mlflow *m, double s)
{
    struct pollfd cancel = {.fd = m->cancel_fd, .events = POLLIN};
    int64_t until = clock_mono_ns() + (int64_t)(s * 1e9);
    for (int64_t left; (left = until - clock_mono_ns()) > 0;) {
        int rc = poll(&cancel, 1, left > 60000000000 ? 60000 : (int)(left / 1000000) + 1);
        if (rc > 0)
            return false;
        if (rc < 0 && errno != EINTR)
            break;
    }
    return true;
}

static enum mlflow_answer attempt(struct mlflow *m, const struct mlflow_call *call, struct json **ret_json, double *ret_after, struct err *err)
{
    struct http_reply r;
    struct json *j = NULL;
    enum mlflow_answer answer = MLFLOW_FINE;
    m->requests++;
    *ret_after = -1;
    if (http_do(m->http, &call->request, &r, err)) {
        answer = r.trouble == HTTP_CANCELLED ? MLFLOW_CANCELLED : r.trouble == HTTP_HOPELESS ? MLFLOW_REFUSED : MLFLOW_LATER;
        err_wrap(err, "server");
        http_reply_deinit(&r);
        return answer;
    }
    *ret_after = r.retry_after_s;
    bool wants = ret_json && r.status >= 200 && r.status < 300;
    if (r.body.n && !call->request.to_fd && (wants || r.status >= 300) && json_parse(&j, buf_text(&r.body), NULL, err))
        j = NULL;
    if (r.status < 200 || r.status >= 300)
        answer = answer_of(m, &r, j, call->what, err);
    else if (wants && !json_is_object(j)) { /* a proxy's page, or a reply that was cut */
        err_set(err, ERR_REMOTE, "server %s: %s: the reply is not JSON%s", m->uri, call->what,
                strstr(r.type, "html") ? " but a web page: is this the address of an MLflow server?" : "");
        answer = MLFLOW_LATER;
    }
    if (answer == MLFLOW_FINE && ret_json) {
        *ret_json = j;
        j = NULL;
    }
    json_free(j);
    http_reply_deinit(&r);
    return answer;
}

enum mlflow_answer mlflow_do(struct mlflow *m, const struct mlflow_call *call, struct json **ret_json, struct err *err)
{
    int64_t begin = clock_mono_ns();
    if (ret_json)
        *ret_json = NULL;
    for (int i = 0;; i++) {
        double after;
        enum mlflow_answer answer = attempt(m, call, ret_json, &after, err);
        if (answer != MLFLOW_LATER || i >= m->retries || call->once)
            return answer;
        double wait = m->backoff_s * ldexp(1, i < 10 ? i : 10) / 2 + m->jitter_s * fraction();
        if (m->heed_retry_after && after >= 0)
            wait = after < 3600 ? after : 3600;
        if (m->patience_s > 0 && (double)(clock_mono_ns() - begin) / 1e9 + wait > m->patience_s)
            return answer;
        if (!wait_s(m, wait))
            return MLFLOW_CANCELLED;
    }
}

/* A call below /api/2.0/mlflow/ with a JSON body (NULL: GET). path may have a query. */
static enum mlflow_answer api(struct mlflow *m, const char *path, struct buf *body, bool once, struct json **ret, struct err *err)
{
    struct buf url CLEANUP_BUF;
    char what[80];
    buf_init(&url, 64 << 10);
    buf_printf(&url, "%s/api/2.0/mlflow/%s", m->uri, path);
    snprintf(what, sizeof what, "%.*s", (int)strcspn(path, "?"), path);
    if (url.failed || (body && body->failed)) {
        err_set(err, ERR_SYSTEM, "server: %s: the request is too large", what);
        return MLFLOW_REFUSED;
    }
    struct mlflow_call call = {.what = what,
                               .once = once,
                               .request = {.method = body ? "POST" : "GET",
                                           .url = url.p,
                                           .type = "application/json",
                                           .body = body ? buf_text(body) : (struct str){0},
                                           .fresh = once,
                                           .reply_max = REPLY_MAX}};
    struct json *unread = NULL; /* a web page with status 200 is no success: some proxy answered */
    enum mlflow_answer answer = mlflow_do(m, &call, ret ? ret : &unread, err);
    json_free(unread);
    return answer;
}

enum mlflow_answer mlflow_health(struct mlflow *m, struct err *err)
{
    char url[4200];
    double after;
    snprintf(url, sizeof url, "%s/health", m->uri);
    struct mlflow_call call = {.what = "health", .request = {.method = "GET", .url = url, .reply_max = 1 << 20}};
    return attempt(m, &call, NULL, &after, err);
}

/* ---- experiments ---- */

static enum mlflow_answer experiment_get(struct mlflow *m, const char *name, struct arena *a, const char **ret_id, bool *ret_deleted, struct err *err)
{
    struct buf path CLEANUP_BUF;
    struct json *j;
    buf_init(&path, 8192);
    buf_puts(&path, "experiments/get-by-name?experiment_name=");
    http_escape(&path, str_of(name), false);
    enum mlflow_answer answer = api(m, path.p, NULL, false, &j, err);
    if (answer != MLFLOW_FINE)
        return answer;
    const char *id = json_string(json_pointer(j, "/experiment/experiment_id"), "");
    *ret_deleted = strcmp(json_string(json_pointer(j, "/experiment/lifecycle_stage"), ""), "deleted") == 0;
    *ret_id = arena_dup(a, id, strlen(id));
    json_free(j);
    if (*ret_id && **ret_id)
        return MLFLOW_FINE;
    err_set(err, ERR_REMOTE, "server %s: experiments/get-by-name: the reply names no experiment", m->uri);
    return MLFLOW_REFUSED;
}

enum mlflow_answer mlflow_experiment_find(struct mlflow *m, const char *name, struct arena *a, const char **ret_id, struct err *err)
{
    bool deleted;
    return experiment_get(m, name, a, ret_id, &deleted, err);
}

static enum mlflow_answer one_text(struct mlflow *m, const char *path, const char *key, const char *value, bool once, struct json **ret, struct err *err)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, 64 << 10);
    buf_printf(&body, "{\"%s\":", key);
    buf_json(&body, str_of(value));
    buf_putc(&body, '}');
    return api(m, path, &body, once, ret, err);
}

enum mlflow_answer mlflow_experiment(struct mlflow *m, const char *name, struct arena *a, const char **ret_id, struct err *err)
{
    for (int i = 0; i < 3; i++) { /* somebody else may make it between two of our calls: then it is found in the next round */
        bool deleted = false;
        enum mlflow_answer answer = experiment_get(m, name, a, ret_id, &deleted, err);
        if (answer == MLFLOW_FINE && deleted)
            answer = one_text(m, "experiments/restore", "experiment_id", *ret_id, false, NULL, err);
        if (answer != MLFLOW_ABSENT)
            return answer;
        answer = one_text(m, "experiments/create", "name", name, false, NULL, err); /* a second attempt says that it exists */
        if (answer != MLFLOW_FINE && answer != MLFLOW_EXISTS)
            return answer;
    }
    err_set(err, ERR_REMOTE, "server %s: the experiment \"%.60s\" was made and is not found", m->uri, name);
    return MLFLOW_LATER;
}

/* ---- runs ---- */

static const char *text_in(const struct json *j, const char *key, struct arena *a)
{
    const char *text = json_string(json_get(j, key), "");
    return arena_dup(a, text, strlen(text));
}

/* Times come as numbers, from some proxies and old servers as texts. */
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
    *ret = (struct mlflow_run){.id = text_in(info, "run_id", a),
                               .experiment = text_in(info, "experiment_id", a),
                               .name = text_in(info, "run_name", a),
                               .status = text_in(info, "status", a),
                               .artifact_uri = text_in(info, "artifact_uri", a),
                               .user = text_in(info, "user_id", a),
                               .lifecycle = text_in(info, "lifecycle_stage", a),
                               .start_ms = time_in(info, "start_time"),
                               .end_ms = time_in(info, "end_time"),
                               .data = json_get(run, "data")};
}

/* A reply that has a run; the run keeps the reply. */
static enum mlflow_answer run_reply(const struct mlflow *m, const char *what, struct json *j, struct arena *a, struct mlflow_run *ret, struct err *err)
{
    run_take(json_get(j, "run"), a, ret);
    ret->reply = j;
    if (ret->id && ret->id[0] && !a->failed)
        return MLFLOW_FINE;
    json_free(j);
    ret->reply = NULL;
    err_set(err, ERR_REMOTE, "server %s: %s: the reply holds no run", m->uri, what);
    return MLFLOW_REFUSED;
}

static void put_pair(struct buf *to, size_t nth, struct str key, struct str value)
{
    buf_puts(to, nth ? ",{\"key\":" : "{\"key\":");
    buf_json(to, key);
    buf_puts(to, ",\"value\":");
    buf_json(to, value);
    buf_putc(to, '}');
}

enum mlflow_answer mlflow_run_create(struct mlflow *m, const char *experiment, const char *name, const char *user, int64_t start_ms,
                                     const struct mlflow_tag *tags, size_t n, struct arena *a, struct mlflow_run *ret, struct err *err)
{
    struct buf body CLEANUP_BUF;
    struct json *j;
    buf_init(&body, 4 << 20);
    buf_puts(&body, "{\"experiment_id\":");
    buf_json(&body, str_of(experiment));
    buf_printf(&body, ",\"start_time\":%lld,\"run_name\":", (long long)start_ms);
    buf_json(&body, str_of(name));
    buf_puts(&body, ",\"user_id\":");
    buf_json(&body, str_of(user));
    buf_puts(&body, ",\"tags\":[");
    for (size_t i = 0; i < n; i++)
        put_pair(&body, i, str_of(tags[i].key), tags[i].value);
    buf_puts(&body, "]}");
    enum mlflow_answer answer = api(m, "runs/create", &body, true, &j, err);
    return answer == MLFLOW_FINE ? run_reply(m, "runs/create", j, a, ret, err) : answer;
}

enum mlflow_answer mlflow_run_get(struct mlflow *m, const char *id, struct arena *a, struct mlflow_run *ret, struct err *err)
{
    struct buf path CLEANUP_BUF;
    struct json *j;
    buf_init(&path, 4096);
    buf_puts(&path, "runs/get?run_id=");
    http_escape(&path, str_of(id), false);
    enum mlflow_answer answer = api(m, path.p, NULL, false, &j, err);
    return answer == MLFLOW_FINE ? run_reply(m, "runs/get", j, a, ret, err) : answer;
}

enum mlflow_answer mlflow_run_update(struct mlflow *m, const char *id, const char *status, int64_t end_ms, const char *name, struct err *err)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, 64 << 10);
    buf_puts(&body, "{\"run_id\":");
    buf_json(&body, str_of(id));
    if (status) {
        buf_puts(&body, ",\"status\":");
        buf_json(&body, str_of(status));
    }
    if (end_ms)
        buf_printf(&body, ",\"end_time\":%lld", (long long)end_ms);
    if (name) {
        buf_puts(&body, ",\"run_name\":");
        buf_json(&body, str_of(name));
    }
    buf_putc(&body, '}');
    return api(m, "runs/update", &body, false, NULL, err);
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
    buf_puts(&body, "{\"run_id\":");
    buf_json(&body, str_of(run));
    buf_puts(&body, ",\"key\":");
    buf_json(&body, str_of(key));
    buf_putc(&body, '}');
    enum mlflow_answer answer = api(m, "runs/delete-tag", &body, false, NULL, err);
    return answer == MLFLOW_ABSENT ? MLFLOW_FINE : answer; /* gone is what was wanted */
}

static void put_page(struct buf *body, const char *token, unsigned page)
{
    buf_printf(body, ",\"max_results\":%u", page);
    if (token[0]) {
        buf_puts(body, ",\"page_token\":");
        buf_json(body, str_of(token));
    }
    buf_putc(body, '}');
}

/* The token of the next page replaces *token; false: this was the last. A server that repeats its token would never end. */
static bool next_page(struct buf *token, const struct json *j)
{
    const char *next = json_string(json_get(j, "next_page_token"), "");
    if (!next[0] || str_is(buf_text(token), next))
        return false;
    buf_clear(token);
    buf_puts(token, next);
    return !token->failed;
}

enum mlflow_answer mlflow_run_search(struct mlflow *m, const char *experiment, const char *filter, bool all,
                                     int (*each)(void *context, const struct mlflow_run *run), void *context, struct err *err)
{
    return mlflow_run_search_pages(m, experiment, filter, all, PAGE, each, context, err);
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
        buf_puts(&body, "{\"experiment_ids\":[");
        buf_json(&body, str_of(experiment));
        buf_puts(&body, "],\"filter\":");
        buf_json(&body, str_of(filter));
        buf_printf(&body, ",\"run_view_type\":\"%s\"", all ? "ALL" : "ACTIVE_ONLY");
        put_page(&body, token.p, page);
        enum mlflow_answer answer = api(m, "runs/search", &body, false, &j, err);
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

/* "NaN" and "Infinity" come as texts. */
static double value_in(const struct json *v)
{
    double d = NAN;
    if (json_is_string(v))
        str_double(str_of(json_string(v, "")), &d);
    else
        d = json_number(v, NAN);
    return d;
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
        enum mlflow_answer answer = api(m, path.p, NULL, false, &j, err);
        if (answer != MLFLOW_FINE)
            return answer;
        for (const struct json *s = json_first(json_get(j, "metrics")); s && !stop; s = json_next(s))
            stop = each(context, value_in(json_get(s, "value")), time_in(s, "timestamp"), time_in(s, "step")) != 0;
        more = next_page(&token, j);
        json_free(j);
    }
    return MLFLOW_FINE;
}

/* ---- log-batch ---- */

enum { METRICS_MAX = 1000, PAIRS_MAX = 100, ALL_MAX = 1000, BATCH_BYTES = 900 << 10, PARAM_MAX = 6000, TAG_MAX = 8000 };

void batch_begin(struct mlflow_batch *b, struct mlflow *m, const char *run)
{
    *b = (struct mlflow_batch){.m = m, .run = run};
    buf_init(&b->metrics, 4 << 20);
    buf_init(&b->params, 4 << 20);
    buf_init(&b->tags, 4 << 20);
}

void batch_end(struct mlflow_batch *b)
{
    buf_deinit(&b->metrics);
    buf_deinit(&b->params);
    buf_deinit(&b->tags);
}

enum mlflow_answer batch_send(struct mlflow_batch *b)
{
    struct buf body CLEANUP_BUF;
    if (b->answer != MLFLOW_FINE || b->n_metrics + b->n_params + b->n_tags == 0)
        return b->answer;
    buf_init(&body, 16 << 20);
    buf_puts(&body, "{\"run_id\":");
    buf_json(&body, str_of(b->run));
    buf_printf(&body, ",\"metrics\":[" STR_FMT "],\"params\":[" STR_FMT "],\"tags\":[" STR_FMT "]}", STR_ARG(buf_text(&b->metrics)),
               STR_ARG(buf_text(&b->params)), STR_ARG(buf_text(&b->tags)));
    b->answer = api(b->m, "runs/log-batch", &body, false, NULL, &b->err);
    buf_clear(&b->metrics);
    buf_clear(&b->params);
    buf_clear(&b->tags);
    b->n_metrics = b->n_params = b->n_tags = 0;
    return b->answer;
}

static void make_room(struct mlflow_batch *b, size_t n, size_t max, size_t bytes)
{
    if (n >= max || b->n_metrics + b->n_params + b->n_tags >= ALL_MAX || b->metrics.n + b->params.n + b->tags.n + bytes > BATCH_BYTES)
        batch_send(b);
}

void batch_metric(struct mlflow_batch *b, struct str key, double value, int64_t time_ms, int64_t step)
{
    make_room(b, b->n_metrics, METRICS_MAX, key.n + 100);
    buf_puts(&b->metrics, b->n_metrics++ ? ",{\"key\":" : "{\"key\":");
    buf_json(&b->metrics, key);
    buf_puts(&b->metrics, isfinite(value) ? ",\"value\":" : ",\"value\":\"");
    buf_double(&b->metrics, value);
    buf_printf(&b->metrics, "%s,\"timestamp\":%lld,\"step\":%lld}", isfinite(value) ? "" : "\"", (long long)time_ms, (long long)step);
}

/* The server counts characters, and cuts without a word; here it is counted, and a cut value is shorter than any that the server cut. */
static struct str cut_to(struct mlflow_batch *b, struct str value, size_t max)
{
    size_t characters = 0, i = 0;
    if (value.n <= max)
        return value;
    size_t shorter = 0;
    for (; i < value.n && characters < max; characters++) {
        size_t n = str_utf8(value.p + i, value.n - i);
        shorter = i;
        i += n ? n : 1;
    }
    if (i == value.n)
        return value;
    b->cut++;
    return str_sub(value, 0, shorter);
}

void batch_param(struct mlflow_batch *b, struct str key, struct str value)
{
    value = cut_to(b, value, PARAM_MAX);
    make_room(b, b->n_params, PAIRS_MAX, key.n + value.n + 100);
    put_pair(&b->params, b->n_params++, key, value);
}

void batch_tag(struct mlflow_batch *b, struct str key, struct str value)
{
    value = cut_to(b, value, TAG_MAX);
    make_room(b, b->n_tags, PAIRS_MAX, key.n + value.n + 100);
    put_pair(&b->tags, b->n_tags++, key, value);
}

static void put_text(struct buf *to, const char *key, const char *value)
{
    buf_printf(to, ",\"%s\":", key);
    buf_json(to, str_of(value));
}

enum mlflow_answer mlflow_log_input(struct mlflow *m, const char *run, const struct mlflow_dataset *d, struct err *err)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, 4 << 20);
    buf_puts(&body, "{\"run_id\":");
    buf_json(&body, str_of(run));
    buf_puts(&body, ",\"datasets\":[{\"tags\":[");
    if (d->context)
        put_pair(&body, 0, STR("mlflow.data.context"), str_of(d->context));
    buf_puts(&body, "],\"dataset\":{\"name\":");
    buf_json(&body, str_of(d->name));
    put_text(&body, "digest", d->digest);
    put_text(&body, "source_type", d->source_type);
    put_text(&body, "source", d->source);
    buf_puts(&body, "}}]}");
    return api(m, "runs/log-inputs", &body, false, NULL, err);
}
