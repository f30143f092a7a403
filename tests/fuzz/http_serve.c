/* http_serve.c: any bytes, in pieces of any size, as a request to the server of --serve: each gets one well-formed answer or none. */
#include "base/http_serve.h"

#include "base/clock.h"
#include "base/fs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fuzz_answer(void *context, const struct http_question *q, const char **ret_type, struct buf *body)
{
    (void)context;
    (void)ret_type;
    if (!str_is(q->method, "GET") && !str_is(q->method, "HEAD"))
        abort();
    if (!q->path.n || q->path.p[0] != '/' || memchr(q->path.p, '?', q->path.n) || memchr(q->path.p, '\n', q->path.n) || !q->accept.p)
        abort();
    if (str_is(q->path, "/metrics"))
        buf_puts(body, "x 1\n");
    return body->n ? 200 : 404;
}

/* A status that the server has, the length of the body, and nothing behind it. */
static void check_answer(struct str answer)
{
    static const char *const lines[] = {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 400 Bad Request\r\n", "HTTP/1.1 404 Not Found\r\n",
                                        "HTTP/1.1 405 Method Not Allowed\r\n"};
    bool known = false;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        known |= str_starts(answer, lines[i]);
    ptrdiff_t end = str_find(answer, STR("\r\n\r\n")), length = str_find(answer, STR("\r\nContent-Length: "));
    if (!known || end < 0 || length < 0 || length > end)
        abort();
    struct str digits = str_sub(answer, (size_t)length + 18, answer.n), body = str_sub(answer, (size_t)end + 4, answer.n);
    uint64_t n;
    if (!str_uint(str_cut(&digits, '\r'), &n) || (body.n && body.n != n))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { STEP_NS = 1000, LAST_STEPS = 3, ANSWER_MAX = 4096 };
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t n = sizeof at;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CLEANUP_FD int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char answer[ANSWER_MAX];
    if (bind(listener, (struct sockaddr *)&at, sizeof at.sun_family) || listen(listener, 1) || getsockname(listener, (struct sockaddr *)&at, &n) ||
        connect(client, (struct sockaddr *)&at, n))
        abort();
    struct http_server *s = http_serve_new(listener, fuzz_answer, NULL);
    size_t piece = size ? 1 + data[0] * size / 255 : 1;
    if (!s || http_serve_wait(s, -1, clock_mono_ns() + STEP_NS))
        abort();
    for (size_t i = 1; i < size; i += piece) {
        if (send(client, data + i, size - i < piece ? size - i : piece, MSG_NOSIGNAL) < 0)
            break; /* it had enough */
        if (http_serve_wait(s, -1, clock_mono_ns() + STEP_NS))
            abort();
    }
    shutdown(client, SHUT_WR);
    for (int i = 0; i < LAST_STEPS; i++)
        http_serve_wait(s, -1, clock_mono_ns() + STEP_NS);
    ssize_t got = recv(client, answer, sizeof answer, MSG_DONTWAIT);
    if (got > 0)
        check_answer((struct str){answer, (size_t)got});
    http_serve_free(s);
    return 0;
}
