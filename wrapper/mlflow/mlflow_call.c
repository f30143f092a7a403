/* mlflow_call.c: one call of the tracking server: its attempts, and what an answer means. */
#include "base/clock.h"
#include "base/json.h"
#include "mlflow/mlflow_call.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { REPLY_MAX = 64 << 20, VALUES_MAX = 2000000, BODY_MAX = 900 << 10 };

int mlflow_open(struct mlflow **ret, const struct mlflow_config *c, struct err *err)
{
    struct mlflow *m = calloc(1, sizeof *m);
    if (!m || !(m->uri = strdup(c->uri))) {
        free(m);
        return err_memory(err, "an MLflow client");
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
    m->body_max = BODY_MAX;
    m->replied = c->replied;
    m->context = c->context;
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

void mlflow_use_store(struct mlflow *m, struct mlflow_store *store)
{
    m->store = store;
}

enum mlflow_answer mlflow_settle(struct mlflow *m, struct err *err)
{
    return m->store ? store_commit(m->store, true, err) : MLFLOW_FINE;
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

/* Returns the title of a web page, which states what happened ("413 Request Entity Too Large"), or
 * which page it is ("Log in"). */
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
        buf_puts(to, "; check that this is the address of an MLflow server");
}

/* Appends the server's own words, harmless for a terminal: its message, or the text of a page. */
static void server_words(const struct http_reply *r, const struct json *j, struct buf *to)
{
    const char *message = json_string(json_get(j, "message"), NULL);
    if (message)
        buf_plain(to, str_of(message), 300);
    else if (strstr(r->type, "html") && str_find(buf_text(&r->body), STR("<")) >= 0) /* some servers send a plain sentence with this type */
        page_words(r, to);
    else
        buf_plain(to, str_trim(buf_text(&r->body)), 200);
}

/* Sets err to the reply with status 401 or 403 and a hint to its cause. Returns MLFLOW_DENIED. */
static enum mlflow_answer call_denied(const struct mlflow *m, const struct http_reply *r, const char *words, const char *what,
                                      struct err *err)
{
    const char *hint =
        m->has_credentials
            ? "the credentials (MLFLOW_TRACKING_USERNAME and _PASSWORD, MLFLOW_TRACKING_TOKEN, ~/.mlflow/credentials) are not accepted"
            : "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN";
    if (r->status == 403)
        hint = strstr(words, "Host") ? "the server must be started with --allowed-hosts that lists this name with its port"
                                     : "these credentials may not do that";
    err_set(err, ERR_REMOTE, "server %s: %s: %d%s%s; %s", m->uri, what, r->status, words[0] ? " " : "", words, hint);
    return MLFLOW_DENIED;
}

static bool is_temporary(int status, const char *code)
{
    if (status == 500) /* a page of the framework, or a store that was busy; but no error that the server would report again */
        return strcmp(code, "INVALID_STATE") != 0 && strcmp(code, "FEATURE_DISABLED") != 0;
    return status == 408 || status == 425 || status == 429 || status == 502 || status == 503 || status == 504;
}

/* Returns what a reply with an error status means, and sets err to status, code and the server's
 * words. MLFLOW_LATER: another attempt may succeed. */
static enum mlflow_answer call_answer_of(const struct mlflow *m, const struct http_reply *r, const struct json *j,
                                         const struct mlflow_call *call, struct err *err)
{
    const char *what = call->what;
    const char *code = json_string(json_get(j, "error_code"), "");
    struct buf words CLEANUP_BUF;
    buf_init(&words, 4000);
    buf_puts(&words, "");
    server_words(r, j, &words);
    if (call->request.foreign && (r->status == 401 || r->status == 403)) {
        err_set(err, ERR_REMOTE, "server %s: %s: %d %s; the address that the server returned is refused there (it may have expired)",
                m->uri, what, r->status, words.p ? words.p : "");
        return MLFLOW_LATER;
    }
    if (r->status == 401 || r->status == 403)
        return call_denied(m, r, words.p ? words.p : "", what, err);
    err_set(err, ERR_REMOTE, "server %s: %s: %d %s%s%s%s", m->uri, what, r->status, code, code[0] ? ": " : "", words.p ? words.p : "",
            r->status == 413   ? "; a proxy before the server accepts no body of this size: raise its limit (nginx: client_max_body_size)"
            : r->status == 407 ? "; the proxy requires credentials: http://USER:PASSWORD@HOST:PORT in https_proxy or http_proxy"
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

static double call_random_fraction(void)
{
    uint32_t u = 0;
    if (getrandom(&u, sizeof u, GRND_NONBLOCK) != sizeof u)
        u = (uint32_t)clock_mono_ns();
    return u / 4294967296.0;
}

/* Waits s seconds. Returns false where the process was requested to end. */
static bool call_wait_s(const struct mlflow *m, double s)
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

/* Outcome of one attempt, and whether another may be made. */
struct call_outcome {
    enum mlflow_answer answer;
    double after_s; /* the server requests so much time; -1: it does not */
    bool undone; /* certainly nothing was done */
    bool hopeless; /* the answer is "later", but not in the next minutes */
};

/* Returns the outcome of an attempt that got no reply, and completes err. */
static struct call_outcome call_without_reply(enum http_trouble trouble, struct err *err)
{
    struct call_outcome o = {.answer = MLFLOW_LATER, .after_s = -1, .undone = trouble == HTTP_UNSENT};
    err_wrap(err, "server");
    if (trouble == HTTP_CANCELLED)
        o.answer = MLFLOW_CANCELLED;
    if (trouble ==
        HTTP_HOPELESS) { /* on this side (a file that cannot be read or written), or theirs: then it is no word about what was sent */
        o.answer = err && err->kind == ERR_SYSTEM ? MLFLOW_REFUSED : MLFLOW_LATER;
        o.hopeless = true;
    }
    if (trouble == HTTP_UNTRUSTED) {
        size_t n = strlen(err->text);
        snprintf(err->text + n, sizeof err->text - n,
                 "; MLFLOW_TRACKING_SERVER_CERT_PATH names the trusted certificates, MLFLOW_TRACKING_CLIENT_CERT_PATH the client's own");
        o.answer = MLFLOW_DENIED;
    }
    return o;
}

/* Returns whether a reply may have more than VALUES_MAX values. A value of two bytes needs eighty
 * in memory: a reply of nothing but such would need gigabytes. Pages full of runs have some hundred
 * thousand. */
static bool has_too_many(struct str text)
{
    size_t values = 0;
    if (text.n <= VALUES_MAX)
        return false;
    for (size_t i = 0; i < text.n; i++)
        values += text.p[i] == ',' || text.p[i] == '[' || text.p[i] == '{';
    return values > VALUES_MAX;
}

/* Makes one attempt. The caller frees *ret_json, which is set where the answer is MLFLOW_FINE. A
 * reply that is no JSON object where one is needed counts as MLFLOW_LATER. */
static struct call_outcome call_attempt(struct mlflow *m, const struct mlflow_call *call, struct json **ret_json, struct err *err)
{
    struct http_reply r;
    struct json *j = NULL;
    m->requests++;
    m->status = 0;
    if (http_do(m->http, &call->request, &r, err)) {
        http_reply_deinit(&r);
        return call_without_reply(r.trouble, err);
    }
    if (m->replied)
        m->replied(m->context);
    struct call_outcome o = {.answer = MLFLOW_FINE, .after_s = r.retry_after_s, .undone = r.status == 429};
    bool good = r.status >= 200 && r.status < 300, page = strstr(r.type, "html");
    bool wants = ret_json && good && !(call->no_content && r.status == 204);
    m->status = r.status;
    if (call->etag)
        memcpy(call->etag, r.etag, sizeof r.etag);
    bool bloated = has_too_many(buf_text(&r.body));
    if (r.body.n && (wants || !good) && (bloated || json_parse(&j, buf_text(&r.body), NULL, err)))
        j = NULL;
    if (!good)
        o.answer = call_answer_of(m, &r, j, call, err);
    else if (wants && !json_is_object(j)) { /* a proxy's page, or a reply that was cut */
        struct buf words CLEANUP_BUF;
        buf_init(&words, 4000);
        if (page)
            page_words(&r, &words);
        err_set(err, ERR_REMOTE, "server %s: %s: %s", m->uri, call->what,
                words.n   ? words.p
                : bloated ? "the reply has millions of values"
                          : "the reply is not JSON");
        o.answer = MLFLOW_LATER;
        o.hopeless = page || bloated;
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
    struct err why = {0};
    if (ret_json)
        *ret_json = NULL;
    if (m->store && store_commit(m->store, false, &why) !=
                        MLFLOW_FINE) { /* the server reads only what is committed, and writes when no other process does */
        if (err)
            *err = why;
        return MLFLOW_REFUSED;
    }
    for (int i = 0;; i++) {
        struct call_outcome o = call_attempt(m, call, ret_json, err);
        if (o.answer != MLFLOW_LATER || o.hopeless || call->request.parting || i >= m->retries || (call->once && !o.undone))
            return o.answer;
        double wait = m->backoff_s * ldexp(1, i < 10 ? i : 10) / 2 + m->jitter_s * call_random_fraction();
        if (m->heed_retry_after && o.after_s >= 0)
            wait = o.after_s < 3600 ? o.after_s : 3600;
        if (m->patience_s > 0 && (double)(clock_mono_ns() - begin) / 1e9 + wait > m->patience_s)
            return o.answer;
        if (!call_wait_s(m, wait))
            return MLFLOW_CANCELLED;
    }
}

enum mlflow_answer mlflow_api(struct mlflow *m, const char *path, struct buf *body, bool once, struct json **ret, struct err *err)
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
    call.no_content = !ret;
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
    return call_attempt(m, &call, NULL, err).answer;
}

void mlflow_put_pair(struct json_out *list, struct str key, struct str value)
{
    json_open(list, NULL, '{');
    json_str(list, "key", key);
    json_str(list, "value", value);
    json_close(list, '}');
}
