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
    bool heed_retry_after, has_credentials;
    uint64_t multipart_bytes, part_bytes;
    size_t body_max; /* of a log-batch: less than the usual once a proxy has refused one */
    int status;
    unsigned requests;
};

enum { REPLY_MAX = 64 << 20, PAGE = 1000, BATCH_BYTES = 900 << 10 };

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
    m->has_credentials = c->http.user || c->http.bearer;
    m->multipart_bytes = c->multipart_bytes;
    m->part_bytes = c->part_bytes;
    m->body_max = BATCH_BYTES;
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

int mlflow_status(const struct mlflow *m)
{
    return m->status;
}

uint64_t mlflow_part_bytes(const struct mlflow *m, uint64_t size)
{
    return m->multipart_bytes && size >= m->multipart_bytes ? m->part_bytes : 0;
}

/* ---- what an answer means ---- */

/* A web page says in its title what happened ("413 Request Entity Too Large"), or which page it is ("Log in"). */
static struct str title_of(struct str page)
{
    ptrdiff_t from = str_find(page, STR("<title>")), to;
    if (from < 0)
        return STR("");
    page = str_sub(page, (size_t)from + 7, page.n);
    to = str_find(page, STR("</title>"));
    return str_trim(to < 0 ? STR("") : str_sub(page, 0, (size_t)to));
}

static void page_words(const struct http_reply *r, struct buf *to)
{
    struct str title = title_of(buf_text(&r->body));
    buf_puts(to, "the reply is a web page");
    if (title.n) {
        buf_puts(to, " (\"");
        buf_plain(to, title, 80);
        buf_puts(to, "\")");
    }
    if (r->status < 400 || r->status == 404 || r->status == 405)
        buf_puts(to, ": is this the address of an MLflow server?");
}

/* The server's own words, harmless for a terminal: its message, or the text of a page. */
static void server_words(const struct http_reply *r, const struct json *j, struct buf *to)
{
    const char *message = json_string(json_get(j, "message"), NULL);
    if (message)
        buf_plain(to, str_of(message), 300);
    else if (strstr(r->type, "html"))
        page_words(r, to);
    else
        buf_plain(to, str_trim(buf_text(&r->body)), 200);
}

static enum mlflow_answer denied(const struct mlflow *m, const struct http_reply *r, const char *words, const char *what, struct err *err)
{
    const char *hint = m->has_credentials ? "the credentials (MLFLOW_TRACKING_USERNAME and _PASSWORD, MLFLOW_TRACKING_TOKEN, ~/.mlflow/credentials) are not accepted"
                                          : "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN";
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

static enum mlflow_answer answer_of(const struct mlflow *m, const struct http_reply *r, const struct json *j, const struct mlflow_call *call, struct err *err)
{
    const char *what = call->what;
    const char *code = json_string(json_get(j, "error_code"), "");
    struct buf words CLEANUP_BUF;
    buf_init(&words, 4000);
    buf_puts(&words, "");
    server_words(r, j, &words);
    if (call->request.foreign && (r->status == 401 || r->status == 403)) {
        err_set(err, ERR_REMOTE, "server %s: %s: %d %s; the address that the server gave is refused there (it may have expired)", m->uri, what, r->status,
                words.p ? words.p : "");
        return MLFLOW_LATER;
    }
    if (r->status == 401 || r->status == 403)
        return denied(m, r, words.p ? words.p : "", what, err);
    err_set(err, ERR_REMOTE, "server %s: %s: %d %s%s%s%s", m->uri, what, r->status, code, code[0] ? ": " : "", words.p ? words.p : "",
            r->status == 413   ? "; a proxy before the server takes no body of this size: raise its limit (nginx: client_max_body_size)"
            : r->status == 407 ? "; the proxy wants credentials: http://USER:PASSWORD@HOST:PORT in https_proxy or http_proxy"
                               : "");
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

/* What became of one attempt, and whether another may be made. */
struct outcome {
    enum mlflow_answer answer;
    double after_s; /* the server asks for so much time; -1: it does not */
    bool undone;    /* certainly nothing was done */
    bool hopeless;  /* the answer is "later", but not in the next minutes */
};

static struct outcome no_reply(enum http_trouble trouble, struct err *err)
{
    struct outcome o = {.answer = MLFLOW_LATER, .after_s = -1, .undone = trouble == HTTP_UNSENT};
    err_wrap(err, "server");
    if (trouble == HTTP_CANCELLED)
        o.answer = MLFLOW_CANCELLED;
    if (trouble == HTTP_HOPELESS) { /* on our side (a file that cannot be read or written), or theirs: then it is no word about what was sent */
        o.answer = err && err->kind == ERR_SYSTEM ? MLFLOW_REFUSED : MLFLOW_LATER;
        o.hopeless = true;
    }
    if (trouble == HTTP_UNTRUSTED) {
        size_t n = strlen(err->text);
        snprintf(err->text + n, sizeof err->text - n, "; MLFLOW_TRACKING_SERVER_CERT_PATH names the certificates to be trusted, MLFLOW_TRACKING_CLIENT_CERT_PATH ours");
        o.answer = MLFLOW_DENIED;
    }
    return o;
}

static struct outcome attempt(struct mlflow *m, const struct mlflow_call *call, struct json **ret_json, struct err *err)
{
    struct http_reply r;
    struct json *j = NULL;
    m->requests++;
    m->status = 0;
    if (http_do(m->http, &call->request, &r, err)) {
        http_reply_deinit(&r);
        return no_reply(r.trouble, err);
    }
    struct outcome o = {.answer = MLFLOW_FINE, .after_s = r.retry_after_s, .undone = r.status == 429};
    bool good = r.status >= 200 && r.status < 300, wants = ret_json && good, page = strstr(r.type, "html");
    m->status = r.status;
    if (call->etag)
        memcpy(call->etag, r.etag, sizeof r.etag);
    if (r.body.n && (wants || !good) && json_parse(&j, buf_text(&r.body), NULL, err))
        j = NULL;
    if (!good)
        o.answer = answer_of(m, &r, j, call, err);
    else if (wants && !json_is_object(j)) { /* a proxy's page, or a reply that was cut */
        struct buf words CLEANUP_BUF;
        buf_init(&words, 4000);
        if (page)
            page_words(&r, &words);
        err_set(err, ERR_REMOTE, "server %s: %s: %s", m->uri, call->what, words.n ? words.p : "the reply is not JSON");
        o.answer = MLFLOW_LATER;
        o.hopeless = page;
    }
    if (call->request.foreign && o.answer == MLFLOW_LATER && (r.status == 401 || r.status == 403))
        o.hopeless = true;
    if (o.answer == MLFLOW_FINE && ret_json) {
        *ret_json = j;
        j = NULL;
    }
    json_free(j);
    http_reply_deinit(&r);
    return o;
}

enum mlflow_answer mlflow_do(struct mlflow *m, const struct mlflow_call *call, struct json **ret_json, struct err *err)
{
    int64_t begin = clock_mono_ns();
    if (ret_json)
        *ret_json = NULL;
    for (int i = 0;; i++) {
        struct outcome o = attempt(m, call, ret_json, err);
        if (o.answer != MLFLOW_LATER || o.hopeless || i >= m->retries || (call->once && !o.undone))
            return o.answer;
        double wait = m->backoff_s * ldexp(1, i < 10 ? i : 10) / 2 + m->jitter_s * fraction();
        if (m->heed_retry_after && o.after_s >= 0)
            wait = o.after_s < 3600 ? o.after_s : 3600;
        if (m->patience_s > 0 && (double)(clock_mono_ns() - begin) / 1e9 + wait > m->patience_s)
            return o.answer;
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
    snprintf(url, sizeof url, "%s/health", m->uri);
    struct mlflow_call call = {.what = "health", .request = {.method = "GET", .url = url, .reply_max = 1 << 20}};
    return attempt(m, &call, NULL, err).answer;
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
    return MLFLOW_LATER; /* no word about what was asked */
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
    return MLFLOW_LATER;
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

enum { METRICS_MAX = 1000, PAIRS_MAX = 100, ALL_MAX = 1000, PARAM_MAX = 6000, TAG_MAX = 8000 };

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

/* The n-th to the m-th of items that stand with commas between them. */
static void put_items(struct buf *to, const struct buf *items, const uint32_t *at, size_t count, size_t from, size_t until)
{
    from = from < count ? from : count;
    until = until < count ? until : count;
    if (from < until) /* each but the first begins with its comma */
        buf_str(to, str_sub(buf_text(items), at[from] + (from > 0), (until < count ? at[until] : items->n) - at[from] - (from > 0)));
}

/* Of all that is gathered (metrics, then params, then tags) these. Too large for a proxy: in halves, and smaller from then on. */
static enum mlflow_answer send_part(struct mlflow_batch *b, size_t from, size_t until)
{
    struct buf body CLEANUP_BUF;
    size_t params = b->n_metrics, tags = params + b->n_params;
    buf_init(&body, 16 << 20);
    buf_puts(&body, "{\"run_id\":");
    buf_json(&body, str_of(b->run));
    buf_puts(&body, ",\"metrics\":[");
    put_items(&body, &b->metrics, b->metric_at, b->n_metrics, from, until);
    buf_puts(&body, "],\"params\":[");
    put_items(&body, &b->params, b->param_at, b->n_params, from > params ? from - params : 0, until > params ? until - params : 0);
    buf_puts(&body, "],\"tags\":[");
    put_items(&body, &b->tags, b->tag_at, b->n_tags, from > tags ? from - tags : 0, until > tags ? until - tags : 0);
    buf_puts(&body, "]}");
    enum mlflow_answer answer = api(b->m, "runs/log-batch", &body, false, NULL, &b->err);
    if (answer != MLFLOW_REFUSED || b->m->status != 413 || until - from < 2)
        return answer;
    if (body.n / 2 < b->m->body_max)
        b->m->body_max = body.n / 2;
    size_t middle = from + (until - from) / 2;
    answer = send_part(b, from, middle);
    return answer == MLFLOW_FINE ? send_part(b, middle, until) : answer;
}

enum mlflow_answer batch_send(struct mlflow_batch *b)
{
    size_t n = b->n_metrics + b->n_params + b->n_tags;
    if (b->answer != MLFLOW_FINE || n == 0)
        return b->answer;
    if (b->metrics.failed || b->params.failed || b->tags.failed) {
        err_set(&b->err, ERR_SYSTEM, "server: runs/log-batch: no memory");
        return b->answer = MLFLOW_REFUSED;
    }
    b->answer = send_part(b, 0, n);
    buf_clear(&b->metrics);
    buf_clear(&b->params);
    buf_clear(&b->tags);
    b->n_metrics = b->n_params = b->n_tags = 0;
    return b->answer;
}

static void make_room(struct mlflow_batch *b, size_t n, size_t max, size_t bytes)
{
    if (n >= max || b->n_metrics + b->n_params + b->n_tags >= ALL_MAX || b->metrics.n + b->params.n + b->tags.n + bytes > b->m->body_max)
        batch_send(b);
}

void batch_metric(struct mlflow_batch *b, struct str key, double value, int64_t time_ms, int64_t step)
{
    make_room(b, b->n_metrics, METRICS_MAX, key.n + 100);
    b->metric_at[b->n_metrics] = (uint32_t)b->metrics.n;
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
    b->param_at[b->n_params] = (uint32_t)b->params.n;
    put_pair(&b->params, b->n_params++, key, value);
}

void batch_tag(struct mlflow_batch *b, struct str key, struct str value)
{
    value = cut_to(b, value, TAG_MAX);
    make_room(b, b->n_tags, PAIRS_MAX, key.n + value.n + 100);
    b->tag_at[b->n_tags] = (uint32_t)b->tags.n;
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
