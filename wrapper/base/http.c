/* http.c: requests through libcurl's multi interface, loaded at run time; see http.h. */
#include "base/http.h"

#include "base/clock.h"
#include "base/curl.h"
#include "base/fs.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SOCKETS_MAX = 8,
    SMALL_BODY = 64 << 10, /* of a file: sent with the head in one piece */
    HEAD_MAX = 256 << 10, /* of a reply with those of its redirects, interim replies and trailers, which libcurl keeps without a bound */
    PARTING_MS = 5000,
    HOT_NS = 1000000000, /* a connection used so lately is not one that the server has closed for being idle */
    FLOW_S = 15, /* a reply that has begun must bring so many bytes in so many seconds, else it is stopped */
    FLOW_BYTES = 15 << 10
};

struct http {
    int64_t last_ns; /* when the last reply came; 0: none */
    struct curl curl;
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers; /* of every request */
    char *agent, *ca_file, *client_cert, *user, *password, *bearer, *proxy, *sigv4, *unix_socket;
    bool insecure, no_redirects, ca_folder;
    double connect_s, total_s, stall_s;
    int cancel_fd;
    int sockets[SOCKETS_MAX]; /* open ones, -1: none; two while IPv6 and IPv4 are tried side by side */
    /* of the request under way */
    const struct http_request *q;
    struct http_reply *reply;
    uint64_t sent;
    struct buf small; /* the body, where it is a small file's */
    int64_t age_s; /* of the reply, where a cache answered */
    char date[40], again[40]; /* of the reply: when it was made, and when to come again; "": none */
    size_t head_bytes;
    uint64_t got_bytes; /* of the reply, head and body */
    uint64_t flow_bytes; /* what of them had come at flow_ns */
    int64_t flow_ns; /* since when they are counted; 0: the reply has not begun */
    bool dripped, too_long, unreadable, remains;
    int write_errno; /* why the reply cannot be written to q->reply_fd; 0: it can */
    char text[CURL_ERROR_SIZE];
};

const char *http_library(void)
{
    static struct curl l;
    struct err err = {0};
    return l.handle || curl_load(&l, &err) == 0 ? l.curl_version() : NULL;
}

/* Returns a copy, which the caller frees, or NULL for NULL. Out of memory: NULL, and *failed is
 * true. */
static char *http_copy_text(const char *text, bool *failed)
{
    char *p = text ? strdup(text) : NULL;
    *failed |= text && !p;
    return p;
}

static bool http_append_header(struct http *h, struct curl_slist **list, const char *line)
{
    struct curl_slist *more = h->curl.curl_slist_append(*list, line);
    if (more)
        *list = more;
    return more != NULL;
}

int http_new(struct http **ret, const struct http_config *c, struct err *err)
{
    struct http *h = calloc(1, sizeof *h);
    struct stat st;
    bool failed = false;
    if (!h)
        return err_memory(err, "an HTTP client");
    for (int i = 0; i < SOCKETS_MAX; i++)
        h->sockets[i] = -1;
    buf_init(&h->small, SMALL_BODY + 64);
    if (curl_load(&h->curl, err)) {
        free(h);
        return -1;
    }
    h->agent = http_copy_text(c->agent, &failed);
    h->ca_file = http_copy_text(c->ca_file, &failed);
    h->client_cert = http_copy_text(c->client_cert, &failed);
    h->user = http_copy_text(c->user, &failed);
    h->password = http_copy_text(c->password, &failed);
    h->bearer = http_copy_text(c->bearer, &failed);
    h->proxy = http_copy_text(c->proxy, &failed);
    h->sigv4 = http_copy_text(c->sigv4, &failed);
    h->unix_socket = http_copy_text(c->unix_socket, &failed);
    h->ca_folder = c->ca_file && stat(c->ca_file, &st) == 0 && S_ISDIR(st.st_mode);
    h->insecure = c->insecure;
    h->no_redirects = c->no_redirects;
    h->connect_s = c->connect_s > 0 ? c->connect_s : 10;
    h->total_s = c->total_s > 0 ? c->total_s : 120;
    h->stall_s = c->stall_s > 0 ? c->stall_s : 30;
    h->cancel_fd = c->cancel_fd;
    failed |= h->curl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK;
    if (!failed) {
        h->easy = h->curl.curl_easy_init();
        h->multi = h->curl.curl_multi_init();
    }
    for (size_t i = 0; !failed && c->headers && c->headers[i]; i++)
        failed |= !http_append_header(h, &h->headers, c->headers[i]);
    if (failed || !h->easy || !h->multi) {
        http_free(h);
        return err_memory(err, "an HTTP client");
    }
    *ret = h;
    return 0;
}

/* Frees a secret, erased first: what is given back to the allocator may be written to a core
 * file. */
static void http_erase_secret(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

void http_free(struct http *h)
{
    if (!h)
        return;
    if (h->easy)
        h->curl.curl_easy_cleanup(h->easy);
    if (h->multi)
        h->curl.curl_multi_cleanup(h->multi);
    if (h->headers)
        h->curl.curl_slist_free_all(h->headers);
    buf_deinit(&h->small);
    free(h->agent);
    free(h->ca_file);
    free(h->client_cert);
    free(h->user);
    http_erase_secret(h->proxy); /* it holds the credentials */
    free(h->sigv4);
    free(h->unix_socket);
    http_erase_secret(h->password);
    http_erase_secret(h->bearer);
    free(h); /* the library stays loaded: it keeps state of its own */
}

/* ---- what libcurl calls ---- */

/* Called by libcurl for each socket: opens it close-on-exec, and notes it in h->sockets. */
static curl_socket_t http_on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct http *h = context;
    int fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    (void)purpose;
    for (int i = 0; fd >= 0 && i < SOCKETS_MAX; i++)
        if (h->sockets[i] < 0) {
            h->sockets[i] = fd;
            break;
        }
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static int on_close(void *context, curl_socket_t fd)
{
    struct http *h = context;
    for (int i = 0; i < SOCKETS_MAX; i++)
        if (h->sockets[i] == fd)
            h->sockets[i] = -1;
    return close(fd);
}

/* Called by libcurl with bytes of the reply: writes those of a success to q->reply_fd where
 * q->to_fd is set, all others to the reply's body. Returning 0 ends the transfer; h->write_errno
 * or h->too_long then states why. */
static size_t on_write(char *p, size_t size, size_t n, void *context)
{
    struct http *h = context;
    size_t bytes = size * n;
    long status = 0;
    h->got_bytes += bytes;
    h->curl.curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
    if (h->q->to_fd && status < 300) {
        h->write_errno = fs_write_all(h->q->reply_fd, p, bytes) < 0 ? errno : 0;
        return h->write_errno ? 0 : bytes;
    }
    buf_add(&h->reply->body, p, bytes);
    h->too_long = h->reply->body.failed;
    return h->too_long ? 0 : bytes;
}

/* Called by libcurl for the next bytes of the request's body, from q->body_fd. Aborts with
 * h->unreadable where the file cannot be read or has become shorter. */
static size_t on_read(char *p, size_t size, size_t n, void *context)
{
    struct http *h = context;
    uint64_t left = h->q->body_bytes - h->sent, room = (uint64_t)size * n;
    ssize_t got;
    while ((got = pread(h->q->body_fd, p, (size_t)(left < room ? left : room), (off_t)(h->q->body_at + h->sent))) < 0 && errno == EINTR)
        ;
    h->unreadable = got < 0 || (got == 0 && left > 0); /* a file that became shorter: what was promised cannot be sent */
    if (h->unreadable)
        return CURL_READFUNC_ABORT;
    h->sent += (uint64_t)got;
    return (size_t)got;
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
    struct http *h = context;
    if (origin != SEEK_SET || offset < 0)
        return CURL_SEEKFUNC_FAIL;
    h->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* Copies a date; one that does not fit is none. */
static void keep_date(char to[40], struct str text)
{
    snprintf(to, 40, STR_FMT, STR_ARG(text.n < 40 ? text : STR("")));
}

/* Called by libcurl for each line of a head: keeps what the last reply states, since heads of
 * redirects come before. Returning 0 ends the transfer: the heads are too long. */
static size_t http_on_header(char *p, size_t size, size_t n, void *context)
{
    struct http *h = context;
    struct str line = {p, size * n}, key = str_cut(&line, ':');
    h->head_bytes += size * n;
    h->got_bytes += size * n;
    if (h->head_bytes > HEAD_MAX)
        return 0;
    if (str_starts(key, "HTTP/"))
        h->reply->etag[0] = h->date[0] = h->again[0] = 0, h->reply->limit_reset_s = h->age_s = 0, h->remains = true;
    line = str_trim(line.p ? line : STR(""));
    if (str_is_anycase(key, "etag") && line.n < sizeof h->reply->etag)
        snprintf(h->reply->etag, sizeof h->reply->etag, STR_FMT, STR_ARG(line));
    if (str_is_anycase(key, "date"))
        keep_date(h->date, line);
    if (str_is_anycase(key, "age"))
        str_int(line, &h->age_s);
    if (str_is_anycase(key, "retry-after") && line.n && (line.p[0] < '0' || line.p[0] > '9'))
        keep_date(h->again, line);
    if (str_is_anycase(key, "x-ratelimit-remaining") || str_is_anycase(key, "ratelimit-remaining"))
        h->remains = !str_is(line, "0");
    if (str_is_anycase(key, "x-ratelimit-reset") || str_is_anycase(key, "ratelimit-reset"))
        str_int(line, &h->reply->limit_reset_s);
    return size * n;
}

/* ---- one request ---- */

/* Sets time limits and protocols. The transfer of a file has no time limit while bytes move. */
static void http_set_limits(struct http *h, const struct http_request *q)
{
    bool file = q->to_fd || (!q->body.p && q->body_bytes > 0);
    __typeof__(h->curl.curl_easy_setopt) set = h->curl.curl_easy_setopt;
    set(h->easy, CURLOPT_NOSIGNAL, 1L);
    set(h->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(h->connect_s * 1e3));
    set(h->easy, CURLOPT_TIMEOUT_MS, q->parting ? PARTING_MS : file ? 0L : (long)((q->total_s > 0 ? q->total_s : h->total_s) * 1e3));
    set(h->easy, CURLOPT_LOW_SPEED_LIMIT, 10L);
    set(h->easy, CURLOPT_LOW_SPEED_TIME, (long)(h->stall_s + 0.999));
    set(h->easy, CURLOPT_MAXAGE_CONN, 4L); /* MLflow's server closes idle connections after 5 s */
    set(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    set(h->easy, CURLOPT_REDIR_PROTOCOLS_STR,
        strncasecmp(q->url, "https:", 6) == 0 ? "https" : "http,https"); /* never back into the open */
    set(h->easy, CURLOPT_FOLLOWLOCATION, h->no_redirects ? 0L : 1L);
    set(h->easy, CURLOPT_MAXREDIRS, 5L);
    set(h->easy, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
    set(h->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    set(h->easy, CURLOPT_ACCEPT_ENCODING, "");
    if (h->unix_socket)
        set(h->easy, CURLOPT_UNIX_SOCKET_PATH, h->unix_socket);
    if (h->proxy)
        set(h->easy, CURLOPT_PROXY, h->proxy);
    if (h->agent)
        set(h->easy, CURLOPT_USERAGENT, h->agent);
}

/* Sets the certificates to be trusted and the caller's credentials; a foreign address (q->foreign)
 * gets no credentials. */
static void set_trust(struct http *h, const struct http_request *q)
{
    __typeof__(h->curl.curl_easy_setopt) set = h->curl.curl_easy_setopt;
    if (h->ca_file)
        set(h->easy, h->ca_folder ? CURLOPT_CAPATH : CURLOPT_CAINFO, h->ca_file);
    if (h->ca_folder)
        set(h->easy, CURLOPT_CAINFO, (char *)NULL); /* instead of the system's, not in addition */
    if (h->insecure) {
        set(h->easy, CURLOPT_SSL_VERIFYPEER, 0L);
        set(h->easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (q->foreign)
        return;
    if (h->client_cert)
        set(h->easy, CURLOPT_SSLCERT, h->client_cert);
    if (h->user) {
        if (h->sigv4)
            set(h->easy, CURLOPT_AWS_SIGV4, h->sigv4);
        else
            set(h->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        set(h->easy, CURLOPT_USERNAME, h->user);
        set(h->easy, CURLOPT_PASSWORD, h->password ? h->password : "");
    } else if (h->bearer) { /* as an option, not as a header: libcurl does not send it to another host after a redirect */
        set(h->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        set(h->easy, CURLOPT_XOAUTH2_BEARER, h->bearer);
    }
}

/* Reads the request's body of that many bytes into h->small. False: the file is shorter, or cannot
 * be read. */
static bool http_read_small(struct http *h, size_t bytes)
{
    buf_clear(&h->small);
    char *to = buf_room(&h->small, bytes);
    while (to && h->sent < bytes && on_read(to + h->sent, 1, bytes - h->sent, h) != CURL_READFUNC_ABORT)
        ;
    return to && h->sent == bytes;
}

/* Sets the request's body, from memory or q->body_fd, and appends its headers to *headers. False:
 * out of memory, or a small body cannot be read. */
static bool set_body(struct http *h, const struct http_request *q, struct curl_slist **headers)
{
    __typeof__(h->curl.curl_easy_setopt) set = h->curl.curl_easy_setopt;
    char type[200];
    bool from_fd = !q->body.p && q->body_bytes > 0, small = from_fd && q->body_bytes <= SMALL_BODY,
         good = h->sigv4 || http_append_header(h, headers, "Expect:"); /* libcurl signs it, and does not send it */
    if (small && !http_read_small(h, (size_t)q->body_bytes))
        return false;
    if (small) {
        set(h->easy, CURLOPT_POSTFIELDS, h->small.p);
        set(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_bytes);
    } else if (from_fd) {
        set(h->easy, CURLOPT_UPLOAD, 1L);
        set(h->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->body_bytes);
        set(h->easy, CURLOPT_READFUNCTION, on_read);
        set(h->easy, CURLOPT_READDATA, h);
        set(h->easy, CURLOPT_SEEKFUNCTION, on_seek);
        set(h->easy, CURLOPT_SEEKDATA, h);
    } else if (q->body.p || strcmp(q->method, "GET") != 0) {
        set(h->easy, CURLOPT_POSTFIELDS, q->body.p ? q->body.p : "");
        set(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
    } else
        return good;
    for (size_t i = 0; q->headers && q->headers[i]; i++)
        if (strncasecmp(q->headers[i], "Content-Type:", 13) == 0)
            return good; /* of a presigned address: it is signed too */
    snprintf(type, sizeof type, "Content-Type: %s", q->type ? q->type : "application/octet-stream");
    return http_append_header(h, headers, type) && good;
}

/* Appends the client's headers, unless the request is foreign, then those of the request. False:
 * out of memory. */
static bool set_headers(struct http *h, const struct http_request *q, struct curl_slist **headers)
{
    bool good = true;
    for (const struct curl_slist *l = q->foreign ? NULL : h->headers; l && good; l = l->next)
        good = http_append_header(h, headers, l->data);
    for (size_t i = 0; good && q->headers && q->headers[i]; i++)
        good = http_append_header(h, headers, q->headers[i]);
    return good;
}

static void quick_ack(const struct http *h)
{
    int one = 1;
    for (int i = 0; i < SOCKETS_MAX; i++)
        if (h->sockets[i] >= 0)
            setsockopt(h->sockets[i], IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
}

/* Returns whether a reply that has begun arrives at less than a minimum rate. The limits above
 * bound only the time before a reply: one byte a second would block the caller without limit. */
static bool is_dripping(struct http *h)
{
    int64_t now = clock_mono_ns();
    if (h->got_bytes == 0)
        return false;
    if (h->flow_ns == 0 || h->got_bytes - h->flow_bytes >= FLOW_BYTES) {
        h->flow_ns = now;
        h->flow_bytes = h->got_bytes;
    }
    return now - h->flow_ns > FLOW_S * INT64_C(1000000000);
}

/* Runs the transfer that was added; true if it came to an end of its own, false if it was cancelled. */
static bool http_perform(struct http *h, const struct http_request *q, CURLcode *ret)
{
    struct curl_waitfd cancel = {.fd = h->cancel_fd, .events = CURL_WAIT_POLLIN};
    bool heeds = h->cancel_fd >= 0 && !q->parting;
    for (;;) {
        int running = 0, left;
        CURLMcode rc = h->curl.curl_multi_perform(h->multi, &running);
        for (CURLMsg *m; (m = h->curl.curl_multi_info_read(h->multi, &left));)
            if (m->msg == CURLMSG_DONE) {
                *ret = m->data.result;
                return true;
            }
        if (rc != CURLM_OK || !running) {
            *ret = CURLE_FAILED_INIT;
            return true;
        }
        if ((h->dripped = is_dripping(h))) {
            *ret = CURLE_OPERATION_TIMEDOUT;
            return true;
        }
        quick_ack(h);
        cancel.revents = 0;
        h->curl.curl_multi_poll(h->multi, &cancel, heeds, 1000, NULL);
        if (cancel.revents)
            return false;
    }
}

/* Returns what a failed request leaves open: HTTP_UNKNOWN where a part of it had been sent, so that
 * the server may have executed it. */
static enum http_trouble trouble_of(CURLcode code, bool connected)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR: return HTTP_UNSENT;
    case CURLE_OPERATION_TIMEDOUT: return connected ? HTTP_UNKNOWN : HTTP_UNSENT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_BAD_FUNCTION_ARGUMENT: /* of a client certificate without its key, in newer libcurl (8.23) */
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CACERT_BADFILE: return HTTP_UNTRUSTED;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_READ_ERROR:
    case CURLE_ABORTED_BY_CALLBACK:
    case CURLE_WRITE_ERROR: return HTTP_HOPELESS;
    default: return HTTP_UNKNOWN;
    }
}

/* Appends why the transfer failed. libcurl's text for a refused connection repeats host and port,
 * so the system's word is the reason. */
static void put_reason(struct http *h, CURLcode code, struct buf *to)
{
    long error = 0;
    if (code == CURLE_COULDNT_CONNECT)
        h->curl.curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &error);
    if (error == ECONNREFUSED)
        buf_puts(to, "connection refused");
    else if (code == CURLE_GOT_NOTHING)
        buf_puts(to, HTTP_NO_ANSWER);
    else if (error > 0)
        buf_puts(to, strerror((int)error));
    else
        buf_plain(to, str_of(h->text[0] ? h->text : h->curl.curl_easy_strerror(code)), 300);
}

/* Sets the error of a request that failed. Credentials in the address are left out. Returns -1. */
static int http_failed(struct http *h, const struct http_request *q, CURLcode code, struct err *err)
{
    struct buf url CLEANUP_BUF, why CLEANUP_BUF;
    buf_init(&url, 2000);
    buf_init(&why, 2000);
    http_print_url(&url, q->url);
    put_reason(h, code, &why);
    if (h->dripped) {
        err_set(err, ERR_REMOTE, "%s %s: the reply came slower than 1 KiB/s for %d s", q->method, url.p, FLOW_S);
        return err_hint(err, "check the server or the proxy before it, then repeat the command");
    }
    if (h->too_long)
        return err_set(err, ERR_REMOTE, "%s %s: the reply is longer than %zu bytes", q->method, url.p, h->reply->body.max);
    if (h->head_bytes > HEAD_MAX)
        return err_set(err, ERR_REMOTE, "%s %s: the reply's head is longer than %d bytes", q->method, url.p, HEAD_MAX);
    if (h->unreadable)
        return err_set(err, ERR_SYSTEM, "%s %s: the file to be sent cannot be read, or has become shorter", q->method, url.p);
    if (h->write_errno)
        return err_set(err, ERR_SYSTEM, "%s %s: the reply cannot be written: %s", q->method, url.p, strerror(h->write_errno));
    return err_set(err, ERR_REMOTE, "%s %s: %s", q->method, url.p, why.p ? why.p : "");
}

/* Copies status, type, peer and times of the finished transfer into *r. retry_after_s is -1, and
 * date_s 0, where the server named none. */
static void http_read_reply(struct http *h, struct http_reply *r)
{
    long status = 0;
    char *type = NULL;
    curl_off_t after = 0;
    h->curl.curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
    h->curl.curl_easy_getinfo(h->easy, CURLINFO_CONTENT_TYPE, &type);
    h->curl.curl_easy_getinfo(h->easy, CURLINFO_RETRY_AFTER, &after);
    r->status = (int)status;
    char *address = NULL;
    long port = 0;
    h->curl.curl_easy_getinfo(h->easy, CURLINFO_PRIMARY_IP, &address);
    h->curl.curl_easy_getinfo(h->easy, CURLINFO_PRIMARY_PORT, &port);
    snprintf(r->peer, sizeof r->peer, "%.60s %ld", address ? address : "", port);
    snprintf(r->type, sizeof r->type, "%s", type ? type : "");
    int64_t now = h->date[0] ? h->curl.curl_getdate(h->date, NULL) : 0;
    int64_t again = now > 0 && h->again[0] ? h->curl.curl_getdate(h->again, NULL) : 0;
    if (again > 0) /* by one clock: libcurl counts from the caller's */
        after = again - now;
    r->retry_after_s = after > 0 ? (double)after : -1;
    r->date_s = now > 0 && h->age_s >= 0 && h->age_s < INT32_MAX ? now + h->age_s : 0;
    if (h->remains)
        r->limit_reset_s = 0;
}

/* Sets everything that libcurl is to know of a request. False: out of memory, or a body that cannot
 * be read. *ret_headers is the caller's to free, in any case. */
static bool http_set_request(struct http *h, const struct http_request *q, struct curl_slist **ret_headers)
{
    __typeof__(h->curl.curl_easy_setopt) set = h->curl.curl_easy_setopt;
    h->curl.curl_easy_reset(h->easy);
    http_set_limits(h, q);
    set_trust(h, q);
    set(h->easy, CURLOPT_ERRORBUFFER, h->text);
    set(h->easy, CURLOPT_URL, q->url);
    set(h->easy, CURLOPT_OPENSOCKETFUNCTION, http_on_socket);
    set(h->easy, CURLOPT_OPENSOCKETDATA, h);
    set(h->easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    set(h->easy, CURLOPT_CLOSESOCKETDATA, h);
    set(h->easy, CURLOPT_WRITEFUNCTION, on_write);
    set(h->easy, CURLOPT_WRITEDATA, h);
    set(h->easy, CURLOPT_HEADERFUNCTION, http_on_header);
    set(h->easy, CURLOPT_HEADERDATA, h);
    set(h->easy, CURLOPT_FRESH_CONNECT, q->fresh && clock_mono_ns() - h->last_ns > HOT_NS ? 1L : 0L);
    if (!set_body(h, q, ret_headers) || !set_headers(h, q, ret_headers))
        return false;
    set(h->easy, CURLOPT_CUSTOMREQUEST, q->method);
    set(h->easy, CURLOPT_HTTPHEADER, *ret_headers);
    return true;
}

int http_do(struct http *h, const struct http_request *q, struct http_reply *ret, struct err *err)
{
    struct curl_slist *headers = NULL;
    *ret = (struct http_reply){.retry_after_s = -1};
    buf_init(&ret->body, q->reply_max ? q->reply_max : 16 << 20);
    h->q = q;
    h->reply = ret;
    h->sent = 0;
    h->head_bytes = 0;
    h->got_bytes = h->flow_bytes = 0;
    h->flow_ns = 0;
    h->dripped = h->too_long = h->unreadable = false;
    h->write_errno = 0;
    h->text[0] = 0;
    if (!http_set_request(h, q, &headers)) {
        h->curl.curl_slist_free_all(headers);
        ret->trouble = HTTP_HOPELESS;
        return h->unreadable ? http_failed(h, q, CURLE_READ_ERROR, err) : err_memory(err, "a request");
    }
    CURLcode code = CURLE_FAILED_INIT;
    bool done = h->curl.curl_multi_add_handle(h->multi, h->easy) == CURLM_OK && http_perform(h, q, &code);
    long sent = 0; /* bytes of the request */
    h->curl.curl_easy_getinfo(h->easy, CURLINFO_REQUEST_SIZE, &sent);
    if (done && code == CURLE_OK)
        http_read_reply(h, ret);
    h->curl.curl_multi_remove_handle(h->multi, h->easy);
    h->curl.curl_slist_free_all(headers);
    if (!done) {
        ret->trouble = HTTP_CANCELLED;
        return err_set(err, ERR_REMOTE, "%s: stopped, since the process must end", q->method);
    }
    h->last_ns = code == CURLE_OK ? clock_mono_ns() : 0;
    if (code == CURLE_OK)
        return 0;
    ret->trouble = trouble_of(code, sent > 0);
    return http_failed(h, q, code, err);
}

void http_reply_deinit(struct http_reply *r)
{
    buf_deinit(&r->body);
}
