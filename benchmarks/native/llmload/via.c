/* via.c: TLS, HTTP/2 and proxies, through libcurl's multi interface within the worker's epoll
 * loop. */
#include "base/clock.h"
#include "base/curl.h"
#include "benchmarks/native/llmload/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

struct via {
    struct curl curl;
    CURLM *multi;
    struct curl_slist *headers; /* of every request */
    struct transfer *spare;
    int64_t deadline_ns; /* of libcurl's timer; INT64_MAX: none */
};

/* What libcurl needs for one request. */
struct transfer {
    CURL *easy;
    struct conn *conn;
    struct worker *worker;
    struct transfer *next;
    struct curl_slist id; /* X-Request-Id, before the headers of every request */
    char id_text[48], why[CURL_ERROR_SIZE];
    const char *encoding; /* what is wrong with the body's; NULL: nothing */
};

/* libcurl calls it when it waits for other events of a socket: epoll then waits for the same.
 * Returns 0. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *worker, void *known)
{
    struct worker *w = worker;
    struct epoll_event e = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U),
                            .data.u64 = (uint64_t)fd << 1 | 1};
    (void)easy, (void)known;
    if (what == CURL_POLL_REMOVE)
        epoll_ctl(w->epoll, EPOLL_CTL_DEL, fd, NULL);
    else if (epoll_ctl(w->epoll, EPOLL_CTL_MOD, fd, &e) < 0)
        epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e);
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *worker)
{
    struct worker *w = worker;
    (void)multi;
    w->via->deadline_ns = ms < 0 ? INT64_MAX : clock_mono_ns() + (int64_t)ms * 1000000;
    return 0;
}

static bool via_add_header(struct via *v, const char *line)
{
    struct curl_slist *more = v->curl.curl_slist_append(v->headers, line);
    if (more)
        v->headers = more;
    return more != NULL;
}

/* Makes the headers of every request. Returns false when out of memory; via_deinit frees them. */
static bool make_headers(struct via *v, const struct load *l)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 17);
    bool good = via_add_header(v, "Content-Type: application/json") && via_add_header(v, "Expect:") &&
                via_add_header(v, "Accept: text/event-stream, application/x-ndjson, application/json");
    if (good && l->key) {
        buf_printf(&text, "Authorization: Bearer %s", l->key);
        good = !text.failed && via_add_header(v, text.p);
    }
    for (size_t i = 0; good && i < l->header_count; i++)
        good = via_add_header(v, l->headers[i]);
    return good;
}

static struct curl shared;
static struct err shared_err;
static int shared_status;

static void load_once(void)
{
    shared_status = curl_load(&shared, &shared_err);
    if (shared_status == 0 && shared.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        shared_status = err_set(&shared_err, ERR_SYSTEM, "libcurl cannot be initialised");
}

int via_init(struct worker *w, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct via *v = calloc(1, sizeof *v);
    pthread_once(&once, load_once);
    if (shared_status < 0) {
        free(v);
        if (err)
            *err = shared_err;
        return err_wrap(err, "https, HTTP/2 and proxies go through libcurl");
    }
    if (!v)
        return err_sys(err, "setting up libcurl");
    w->via = v;
    v->curl = shared;
    v->deadline_ns = INT64_MAX;
    v->multi = v->curl.curl_multi_init();
    if (!v->multi || !make_headers(v, w->run->load))
        return err_memory(err, "libcurl");
    __typeof__(v->curl.curl_multi_setopt) set = v->curl.curl_multi_setopt;
    set(v->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    set(v->multi, CURLMOPT_SOCKETDATA, w);
    set(v->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    set(v->multi, CURLMOPT_TIMERDATA, w);
    return 0;
}

void via_deinit(struct worker *w)
{
    struct via *v = w->via;
    while (v->spare) {
        struct transfer *t = v->spare;
        v->spare = t->next;
        v->curl.curl_easy_cleanup(t->easy);
        free(t);
    }
    if (v->multi)
        v->curl.curl_multi_cleanup(v->multi);
    v->curl.curl_slist_free_all(v->headers);
    free(v);
    w->via = NULL;
}

static int64_t since_begin(const struct transfer *t, CURLINFO what)
{
    curl_off_t us = 0;
    t->worker->via->curl.curl_easy_getinfo(t->easy, what, &us);
    return us > 0 ? t->conn->f.r.begin_ns + us * 1000 : 0;
}

/* Stores when the request was connected and sent, as libcurl measured it. */
static void learn_times(struct transfer *t)
{
    struct request_result *r = &t->conn->f.r;
    long made = 0;
    t->worker->via->curl.curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &made);
    int64_t sent = since_begin(t, CURLINFO_PRETRANSFER_TIME_T), tls = since_begin(t, CURLINFO_APPCONNECT_TIME_T);
    if (made > 0) {
        r->connected_ns = tls ? tls : since_begin(t, CURLINFO_CONNECT_TIME_T);
        t->worker->m.connections += (uint64_t)made;
    }
    if (sent)
        r->sent_ns = sent;
}

/* Called by libcurl for each line of a reply's head. Returns size * n; 0 ends the transfer: the
 * line is not HTTP, or the body's encoding is not supported. */
static size_t on_header(char *p, size_t size, size_t n, void *transfer)
{
    struct transfer *t = transfer;
    struct conn *c = t->conn;
    struct str line = str_trim((struct str){p, size * n});
    if (!c->f.r.first_byte_ns) {
        c->f.r.first_byte_ns = c->f.last_byte_ns = clock_mono_ns();
        learn_times(t);
    }
    if (line.n)
        return http1_line(&c->http, line) ? size * n : 0;
    if (c->http.status >= 200)
        t->encoding = conn_head(t->worker, c);
    return t->encoding ? 0 : size * n;
}

/* libcurl calls it for bytes of a reply's body. Returns size * n; 0 ends the transfer after
 * trouble. */
static size_t on_body(char *p, size_t size, size_t n, void *transfer)
{
    struct transfer *t = transfer;
    struct conn *c = t->conn;
    flight_read_begin(&c->f);
    bool good = conn_body(t->worker, c, (struct str){p, size * n}, clock_mono_ns());
    flight_read_end(t->worker, &c->f);
    return good ? size * n : 0;
}

/* Returns a transfer with a libcurl handle, a spare one where there is one. NULL: out of memory. */
static struct transfer *transfer_new(struct worker *w)
{
    struct via *v = w->via;
    struct transfer *t = v->spare;
    if (t) {
        v->spare = t->next;
        v->curl.curl_easy_reset(t->easy);
        t->encoding = NULL;
        return t;
    }
    t = calloc(1, sizeof *t);
    if (t && !(t->easy = v->curl.curl_easy_init())) {
        free(t);
        return NULL;
    }
    return t;
}

static void set_tls(struct via *v, struct transfer *t, const struct load *l)
{
    __typeof__(v->curl.curl_easy_setopt) set = v->curl.curl_easy_setopt;
    struct stat st;
    if (l->ca_file)
        set(t->easy, stat(l->ca_file, &st) == 0 && S_ISDIR(st.st_mode) ? CURLOPT_CAPATH : CURLOPT_CAINFO, l->ca_file);
    if (l->insecure) {
        set(t->easy, CURLOPT_SSL_VERIFYPEER, 0L);
        set(t->easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

/* Sets the options of a transfer for its request: address, headers, body and callbacks. libcurl
 * copies the body. */
static void set_request(struct worker *w, struct transfer *t, const struct endpoint *e)
{
    struct via *v = w->via;
    const struct load *l = w->run->load;
    __typeof__(v->curl.curl_easy_setopt) set = v->curl.curl_easy_setopt;
    char url[4096];
    snprintf(url, sizeof url, "%s%s%s", e->socket ? "http://localhost" : e->base, e->path, e->query);
    snprintf(t->id_text, sizeof t->id_text, "X-Request-Id: %012llu", (unsigned long long)t->conn->f.r.index);
    t->id = (struct curl_slist){t->id_text, v->headers};
    t->why[0] = '\0';
    set(t->easy, CURLOPT_URL, url);
    if (e->socket)
        set(t->easy, CURLOPT_UNIX_SOCKET_PATH, e->socket);
    set(t->easy, CURLOPT_PRIVATE, t);
    set(t->easy, CURLOPT_NOSIGNAL, 1L);
    set(t->easy, CURLOPT_ERRORBUFFER, t->why);
    set(t->easy, CURLOPT_USERAGENT, "llmload/" BW_VERSION);
    set(t->easy, CURLOPT_HTTPHEADER, &t->id);
    set(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)w->body.n);
    set(t->easy, CURLOPT_COPYPOSTFIELDS, w->body.p);
    set(t->easy, CURLOPT_HEADERFUNCTION, on_header);
    set(t->easy, CURLOPT_HEADERDATA, t);
    set(t->easy, CURLOPT_WRITEFUNCTION, on_body);
    set(t->easy, CURLOPT_WRITEDATA, t);
    set(t->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(t->easy, CURLOPT_TCP_NODELAY, 1L);
    set(t->easy, CURLOPT_CONNECTTIMEOUT_MS, l->connect_s > 0 ? (long)(l->connect_s * 1000) : 86400000L);
    set(t->easy, CURLOPT_HTTP_VERSION,
        l->http2 ? (e->tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) : CURL_HTTP_VERSION_1_1);
    if (l->http2)
        set(t->easy, CURLOPT_PIPEWAIT, 1L);
    if (l->proxy)
        set(t->easy, CURLOPT_PROXY, l->proxy);
    set_tls(v, t, l);
}

void via_begin(struct worker *w, struct conn *c)
{
    struct via *v = w->via;
    struct transfer *t;
    http1_reset(&c->http);
    c->state = CONN_RECEIVING;
    if (!request_render(w, c)) {
        conn_finish(w, c, ENDING_INTERNAL, w->failure.text, false);
        return;
    }
    if (!(t = transfer_new(w))) {
        conn_finish(w, c, ENDING_INTERNAL, "out of memory for libcurl", false);
        return;
    }
    t->conn = c;
    t->worker = w;
    c->easy = t;
    set_request(w, t, &w->run->endpoints[c->endpoint]);
    c->f.r.begin_ns = c->f.r.sent_ns = c->f.last_byte_ns = clock_mono_ns();
    atomic_fetch_add_explicit(&w->live.sent, 1, memory_order_relaxed);
    conn_arm(w, c);
    if (v->curl.curl_multi_add_handle(v->multi, t->easy) != CURLM_OK)
        conn_finish(w, c, ENDING_INTERNAL, "libcurl rejects the request", false);
}

void via_cancel(struct worker *w, struct conn *c)
{
    struct via *v = w->via;
    struct transfer *t = c->easy;
    c->easy = NULL;
    v->curl.curl_multi_remove_handle(v->multi, t->easy);
    t->next = v->spare;
    v->spare = t;
}

static enum request_ending by_code(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return ENDING_DNS;
    case CURLE_COULDNT_CONNECT: return ENDING_REFUSED;
    case CURLE_OPERATION_TIMEDOUT: return ENDING_CONNECT_TIMEOUT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return ENDING_TLS;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY: return ENDING_MALFORMED;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT: return ENDING_INTERNAL;
    default: return ENDING_CLOSED;
    }
}

/* Ends the request of a transfer that libcurl has completed, with or without an error. */
static void via_complete(struct worker *w, struct transfer *t, CURLcode code)
{
    struct conn *c = t->conn;
    char why[CURL_ERROR_SIZE];
    snprintf(why, sizeof why, "%s", t->why[0] ? t->why : w->via->curl.curl_easy_strerror(code));
    if (t->encoding)
        conn_finish(w, c, ENDING_ENCODING, t->encoding, false);
    else if (c->f.stream.trouble)
        conn_trouble(w, c);
    else if (code == CURLE_OK)
        conn_finish(w, c, ENDING_OK, NULL, false);
    else
        conn_finish(w, c, by_code(code), why, false);
}

/* Ends the requests of all transfers that libcurl has completed. */
static void via_drain(struct worker *w)
{
    struct via *v = w->via;
    int left;
    for (CURLMsg *m; (m = v->curl.curl_multi_info_read(v->multi, &left));) {
        struct transfer *t = NULL;
        CURLcode code = m->data.result;
        if (m->msg != CURLMSG_DONE)
            continue;
        v->curl.curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        if (t && t->conn && t->conn->easy == t)
            via_complete(w, t, code);
    }
}

void via_socket(struct worker *w, int fd, uint32_t events)
{
    int running, what = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                        (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    w->via->curl.curl_multi_socket_action(w->via->multi, fd, what, &running);
    via_drain(w);
}

int64_t via_next(const struct worker *w)
{
    return w->via->deadline_ns;
}

void via_due(struct worker *w)
{
    int running;
    if (w->via->deadline_ns > clock_mono_ns())
        return;
    w->via->deadline_ns = INT64_MAX;
    w->via->curl.curl_multi_socket_action(w->via->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    via_drain(w);
}
