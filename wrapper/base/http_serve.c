/* http_serve.c: a small HTTP server; see http_serve.h. */
#include "base/http_serve.h"

#include "base/clock.h"
#include "base/fs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { VISITORS_MAX = 16, HEAD_BYTES = 8192, ANSWER_BYTES = 64 << 20, VISIT_MS = 5000 };

/* ---- addresses ---- */

bool http_serve_place(const char *text, struct http_place *ret)
{
    const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    struct str host = {text, colon ? (size_t)(colon - text) : 0};
    struct sockaddr_in *four = (struct sockaddr_in *)&ret->address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&ret->address;
    char name[64];
    uint64_t port;
    *ret = (struct http_place){.size = sizeof *four};
    if (!str_uint(str_of(digits), &port) || port > 65535 || (colon && !host.n))
        return false;
    bool brackets = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
    if (host.n - 2 * brackets >= sizeof name)
        return false;
    snprintf(name, sizeof name, STR_FMT, STR_ARG(str_sub(host, brackets, host.n - 2 * brackets)));
    if (!brackets) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        return inet_pton(AF_INET, host.n ? name : "127.0.0.1", &four->sin_addr) == 1;
    }
    ret->size = sizeof *six;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons((uint16_t)port);
    return inet_pton(AF_INET6, name, &six->sin6_addr) == 1;
}

/* Appends address and port, as they are written in a URL. */
static void put_place(const struct sockaddr_storage *address, struct buf *to)
{
    char name[INET6_ADDRSTRLEN] = "";
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    if (address->ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &six->sin6_addr, name, sizeof name);
        buf_printf(to, "[%s]:%u", name, ntohs(six->sin6_port));
    } else {
        inet_ntop(AF_INET, &four->sin_addr, name, sizeof name);
        buf_printf(to, "%s:%u", name, ntohs(four->sin_port));
    }
}

void http_serve_url(int fd, struct buf *to)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t n = sizeof address;
    buf_puts(to, "http://");
    if (getsockname(fd, (struct sockaddr *)&address, &n) == 0)
        put_place(&address, to);
}

int http_serve_listen(const struct http_place *place, struct err *err)
{
    const int on = 1;
    int fd = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&place->address, place->size) == 0 && listen(fd, VISITORS_MAX) == 0)
        return fd;
    struct buf name CLEANUP_BUF;
    int why = errno;
    buf_init(&name, 200);
    put_place(&place->address, &name);
    fs_close(&fd);
    errno = why;
    return err_sys(err, "cannot listen on %s", name.p ? name.p : "");
}

/* ---- requests ---- */

/* Reads a request's head, the bytes before the empty line. False: it is no request. */
static bool serve_parse(struct str head, struct http_question *ret)
{
    struct str rest = head, line = str_trim(str_cut(&rest, '\n')), words = line;
    *ret = (struct http_question){.accept = STR("")};
    ret->method = str_word(&words);
    struct str target = str_word(&words), version = str_word(&words);
    ret->path = str_cut(&target, '?');
    if (!ret->method.n || !ret->path.n || ret->path.p[0] != '/' || !str_starts(version, "HTTP/1."))
        return false;
    while (rest.p) {
        line = str_cut(&rest, '\n');
        if (line.n > 7 && strncasecmp(line.p, "Accept:", 7) == 0)
            ret->accept = str_trim(str_sub(line, 7, line.n));
    }
    return true;
}

struct visitor {
    int fd; /* -1: a free place */
    int64_t until_ns;
    struct buf in, out;
    size_t sent;
};
struct http_server {
    int listener;
    http_serve_answer *answer;
    void *context;
    struct visitor visitors[VISITORS_MAX];
};

struct http_server *http_serve_new(int listener, http_serve_answer *answer, void *context)
{
    struct http_server *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct http_server){.listener = listener, .answer = answer, .context = context};
    for (size_t i = 0; i < VISITORS_MAX; i++) {
        s->visitors[i].fd = -1;
        buf_init(&s->visitors[i].in, HEAD_BYTES + 1);
        buf_init(&s->visitors[i].out, ANSWER_BYTES + 1024);
    }
    return s;
}

/* Closes the visitor's connection and empties its buffers: the place is free again. */
static void visitor_leave(struct visitor *v)
{
    fs_close(&v->fd);
    buf_deinit(&v->in);
    buf_deinit(&v->out);
    buf_init(&v->in, HEAD_BYTES + 1);
    buf_init(&v->out, ANSWER_BYTES + 1024);
    v->sent = 0;
}

void http_serve_free(struct http_server *s)
{
    for (size_t i = 0; s && i < VISITORS_MAX; i++)
        visitor_leave(&s->visitors[i]);
    if (s)
        fs_close(&s->listener);
    free(s);
}

/* Appends the complete answer to v->out: 400 for what is no request, 405 for methods other than GET
 * and HEAD, 500 for an answer that is longer than ANSWER_BYTES or has no memory, else the status
 * from s->answer. */
static void serve_answer(const struct http_server *s, struct visitor *v, struct str head)
{
    struct http_question q;
    struct buf body CLEANUP_BUF;
    const char *type = "text/plain; charset=utf-8", *words = "OK";
    int status = 400;
    buf_init(&body, ANSWER_BYTES);
    bool good = serve_parse(head, &q), silent = good && str_is(q.method, "HEAD");
    if (good)
        status = silent || str_is(q.method, "GET") ? s->answer(s->context, &q, &type, &body) : 405;
    if (body.failed) {
        buf_clear(&body);
        status = 500;
    }
    if (status != 200)
        words = status == 400   ? "Bad Request"
                : status == 405 ? "Method Not Allowed"
                : status == 404 ? "Not Found"
                                : "Internal Server Error";
    if (status != 200 && !body.n)
        buf_printf(&body, "%d %s\n", status, words);
    buf_printf(&v->out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n", status, words, type,
               body.n, status == 405 ? "Allow: GET, HEAD\r\n" : "");
    if (!silent)
        buf_str(&v->out, buf_text(&body));
}

/* Returns the length of the head with its empty line; 0: it is not complete. */
static size_t serve_head_length(struct str in)
{
    ptrdiff_t long_end = str_find(in, STR("\r\n\r\n")), end = str_find(in, STR("\n\n"));
    if (long_end >= 0 && (end < 0 || long_end < end))
        return (size_t)long_end + 4;
    return end >= 0 ? (size_t)end + 2 : 0;
}

/* Reads what the visitor has sent, and prepares the answer once the head is complete. Disconnects
 * at the end of input, on failure, and after more than HEAD_BYTES. */
static void serve_read(const struct http_server *s, struct visitor *v)
{
    char bytes[2048];
    ssize_t n = read(v->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_add(&v->in, bytes, (size_t)n);
    size_t head = n > 0 && !v->in.failed ? serve_head_length(buf_text(&v->in)) : 0;
    if (n <= 0 || v->in.failed || v->in.n > HEAD_BYTES)
        visitor_leave(v);
    else if (head)
        serve_answer(s, v, str_sub(buf_text(&v->in), 0, head));
}

static void serve_write(struct visitor *v)
{
    ssize_t n = send(v->fd, v->out.p + v->sent, v->out.n - v->sent, MSG_NOSIGNAL);
    if (n > 0)
        v->sent += (size_t)n;
    if ((n < 0 && errno != EAGAIN && errno != EINTR) || v->sent == v->out.n)
        visitor_leave(v);
}

/* Accepts waiting connections while there is a free place; each may stay VISIT_MS milliseconds. */
static void serve_accept(struct http_server *s)
{
    for (size_t i = 0; i < VISITORS_MAX; i++)
        if (s->visitors[i].fd < 0) {
            /* cppcheck-suppress nullPointer ; whose address it is does not matter */
            int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            s->visitors[i].fd = fd;
            s->visitors[i].until_ns = clock_mono_ns() + VISIT_MS * INT64_C(1000000);
            if (s->visitors[i].fd < 0)
                return;
        }
}

/* Fills p with what is waited for, stop_fd first, and returns when the first visitor's time is over. */
static int64_t serve_list(const struct http_server *s, int stop_fd, struct pollfd *p, int64_t until_ns)
{
    bool full = true;
    p[0] = (struct pollfd){.fd = stop_fd, .events = POLLIN};
    for (size_t i = 0; i < VISITORS_MAX; i++) {
        const struct visitor *v = &s->visitors[i];
        full &= v->fd >= 0;
        p[2 + i] = (struct pollfd){.fd = v->fd, .events = v->out.n ? POLLOUT : POLLIN};
        if (v->fd >= 0 && v->until_ns < until_ns)
            until_ns = v->until_ns;
    }
    p[1] = (struct pollfd){.fd = full ? -1 : s->listener, .events = POLLIN};
    return until_ns;
}

int http_serve_wait(struct http_server *s, int stop_fd, int64_t until_ns)
{
    struct pollfd p[2 + VISITORS_MAX];
    for (int64_t now = clock_mono_ns(); now < until_ns; now = clock_mono_ns()) {
        int64_t ms = (serve_list(s, stop_fd, p, until_ns) - now) / 1000000 + 1;
        if (poll(p, 2 + VISITORS_MAX, ms < 1 ? 1 : ms > 60000 ? 60000 : (int)ms) < 0 && errno != EINTR)
            return 1;
        if (p[0].revents)
            return 1;
        for (size_t i = 0; i < VISITORS_MAX; i++) {
            struct visitor *v = &s->visitors[i];
            if (v->fd >= 0 && p[2 + i].revents && v->out.n)
                serve_write(v);
            else if (v->fd >= 0 && p[2 + i].revents)
                serve_read(s, v);
            if (v->fd >= 0 && clock_mono_ns() >= v->until_ns)
                visitor_leave(v);
        }
        if (p[1].revents)
            serve_accept(s);
    }
    return 0;
}
