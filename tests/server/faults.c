/* faults.c: replies that are late, wrong, cut, too long, or none at all, written raw to the connection. */
#include "server/faults.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/* Replies of a status: what the server itself, or a proxy before it, says. */
struct preset {
    const char *kind;
    int status;
    const char *type, *header, *body;
};

#define PAGE(title) "<html>\r\n<head><title>" title "</title></head>\r\n<body>\r\n<center><h1>" title "</h1></center>\r\n</body>\r\n</html>\r\n"
static const struct preset presets[] = {
    {"401", 401, "text/plain", "WWW-Authenticate: Basic realm=\"mlflow\"\r\n",
     "You are not authenticated. Please see https://www.mlflow.org/docs/latest/auth/index.html#authenticating-to-mlflow on how to authenticate."},
    {"403-host", 403, "text/plain", "", "Invalid Host header - possible DNS rebinding attack detected"},
    {"403", 403, "text/plain", "", "Permission denied"},
    {"404", 404, "text/html", "", PAGE("404 Not Found")},
    {"404-json", 404, "application/json", "", "{\"error_code\":\"RESOURCE_DOES_NOT_EXIST\",\"message\":\"No such thing\"}"},
    {"405", 405, "text/html", "", PAGE("405 Not Allowed")},
    {"408", 408, "text/html", "", PAGE("408 Request Time-out")},
    {"409", 409, "application/json", "", "{\"error_code\":\"RESOURCE_CONFLICT\",\"message\":\"changed by somebody else\"}"},
    {"413", 413, "text/html", "", PAGE("413 Request Entity Too Large")},
    {"500-json", 500, "application/json", "", "{\"error_code\":\"INTERNAL_ERROR\",\"message\":\"(sqlite3.OperationalError) database is locked\"}"},
    {"500-state", 500, "application/json", "", "{\"error_code\":\"INVALID_STATE\",\"message\":\"this will not change\"}"},
    {"500-html", 500, "text/html", "", PAGE("500 Internal Server Error")},
    {"501", 501, "application/json", "", "{\"error_code\":\"NOT_IMPLEMENTED\",\"message\":\"Multipart upload is not supported for the current artifact repository\"}"},
    {"502", 502, "text/html", "", PAGE("502 Bad Gateway")},
    {"503", 503, "text/html", "", PAGE("503 Service Temporarily Unavailable")},
    {"504", 504, "text/html", "", PAGE("504 Gateway Time-out")},
    {"html", 200, "text/html", "", "<!doctype html><html><head><title>Log in to continue</title></head><body>\033[31m</body></html>"},
    {"empty", 200, "application/json", "", ""},
    {"array", 200, "application/json", "", "[1, 2]"},
    {"204", 204, "text/plain", "", ""},
    {"escape", 400, "application/json", "", "{\"error_code\":\"BAD_REQUEST\",\"message\":\"\\u001b[2J\\u0007 looks\\nlike this\"}"},
    {"two-lengths", 200, "application/json", "Content-Length: 7\r\n", "{}"},
    {"two-types", 404, "application/json", "Content-Type: text/html\r\nRetry-After: 1\r\nRetry-After: 2\r\n",
     "{\"error_code\":\"RESOURCE_DOES_NOT_EXIST\",\"message\":\"no such thing\"}"},
};

static bool gone(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, ms) > 0;
}

static bool put(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n > 0) {
        ssize_t done = send(fd, p, n, MSG_NOSIGNAL);
        if (done <= 0) {
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            if (poll(&wait, 1, 60000) <= 0 || (wait.revents & (POLLERR | POLLHUP)))
                return false;
            continue;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static void put_all(int fd, struct buf *b)
{
    put(fd, b->p, b->n);
    buf_deinit(b);
}

static void head(struct buf *b, int status, const char *type, const char *more)
{
    buf_init(b, 1 << 30);
    buf_printf(b, "HTTP/1.1 %d Whatever\r\nConnection: close\r\nContent-Type: %s\r\n%s", status, type, more);
}

/* An answer with a length of its own choice. */
static void say(int fd, int status, const char *type, const char *more, struct str body, size_t length)
{
    struct buf b;
    head(&b, status, type, more);
    buf_printf(&b, "Content-Length: %zu\r\n\r\n", length);
    buf_str(&b, body);
    put_all(fd, &b);
}

static void say_retry(int fd, const char *kind, const char *argument)
{
    static const char slower[] = "{\"error_code\":\"REQUEST_LIMIT_EXCEEDED\",\"message\":\"slower, please\"}";
    char header[200], date[2][60];
    time_t now = time(NULL) + (strstr(kind, "skewed") ? 30000000 : 0);
    for (int i = 0; i < 2; i++) {
        time_t then = now + (i ? atol(argument) : 0);
        struct tm tm;
        gmtime_r(&then, &tm);
        strftime(date[i], sizeof date[i], "%a, %d %b %Y %H:%M:%S GMT", &tm);
    }
    snprintf(header, sizeof header, "Date: %s\r\nRetry-After: %s\r\n", date[0], strstr(kind, "date") ? date[1] : argument);
    say(fd, kind[0] == '4' ? 429 : 503, "application/json", header, str_of(slower), strlen(slower));
}

static void say_redirect(int fd, const char *argument, const char *uri)
{
    struct str rest = str_of(argument), status = str_word(&rest), base = str_word(&rest);
    struct buf header;
    uint64_t code = 307;
    str_uint(status, &code);
    buf_init(&header, 64 << 10);
    buf_printf(&header, "Location: " STR_FMT "%s\r\n", STR_ARG(base), uri);
    say(fd, (int)code, "text/html", header.p, STR(""), 0);
    buf_deinit(&header);
}

static void say_endless(int fd)
{
    struct buf b;
    char spaces[64 << 10];
    memset(spaces, ' ', sizeof spaces);
    head(&b, 200, "application/json", "\r\n{");
    put_all(fd, &b);
    for (int i = 0; i < 8192 && put(fd, spaces, sizeof spaces); i++) /* half a GiB at most */
        ;
}

/* Header lines without an end; behind the body: trailers. */
static void say_headers(int fd, bool behind)
{
    struct buf b, lines;
    head(&b, 200, "application/json", behind ? "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" : "");
    put_all(fd, &b);
    buf_init(&lines, 64 << 10);
    for (int i = 0; i < 1000; i++)
        buf_puts(&lines, "X-And: so on, and so on, and so on\r\n");
    for (int i = 0; i < 8192 && put(fd, lines.p, lines.n); i++) /* a quarter of a GiB at most */
        ;
    buf_deinit(&lines);
}

/* Small values, so many. */
static void say_values(int fd, long number)
{
    struct buf b;
    buf_init(&b, 1 << 30);
    buf_puts(&b, "{\"experiment\":[");
    for (long i = 0; i < number; i++)
        buf_puts(&b, "0,");
    buf_puts(&b, "0]}");
    say(fd, 200, "application/json", "", buf_text(&b), b.n);
    buf_deinit(&b);
}

/* The answer packed; bomb: that many MiB of blanks behind it. */
static void say_packed(int fd, struct str body, long bomb)
{
    z_stream z = {0};
    struct buf b, packed;
    static const char spaces[1 << 20];
    unsigned char out[64 << 10];
    buf_init(&packed, 1 << 30);
    deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
    for (long i = 0; i <= bomb; i++) {
        z.next_in = (unsigned char *)(i ? spaces : body.p);
        z.avail_in = (unsigned)(i ? sizeof spaces : body.n);
        do {
            z.next_out = out;
            z.avail_out = sizeof out;
            deflate(&z, i == bomb ? Z_FINISH : Z_NO_FLUSH);
            buf_add(&packed, out, sizeof out - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
    head(&b, 200, "application/json", "Content-Encoding: gzip\r\n");
    buf_printf(&b, "Content-Length: %zu\r\n\r\n", packed.n);
    buf_str(&b, buf_text(&packed));
    put_all(fd, &b);
    buf_deinit(&packed);
}

static void say_slowly(int fd, struct str body)
{
    struct buf b;
    head(&b, 200, "application/json", "");
    buf_printf(&b, "Content-Length: %zu\r\n\r\n", body.n);
    buf_str(&b, body);
    for (size_t i = 0; i < b.n && put(fd, b.p + i, 1) && !gone(fd, 1000); i++)
        ;
    buf_deinit(&b);
}

static void reset(int fd)
{
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    if (connect(fd, &nowhere, sizeof nowhere)) /* sends RST at once */
        perror("fault-server: reset");
}

bool fault_needs_answer(const char *kind)
{
    static const char *const kinds[] = {"slow", "cut-json", "cut-body", "gzip", "type", "pause", "chunked", "half-head", "102"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

/* Damaged forms of the true answer. */
static bool damaged(int fd, const char *kind, const char *argument, const struct answer *a)
{
    struct str body = buf_text(&a->body);
    struct buf b;
    if (strcmp(kind, "slow") == 0)
        say_slowly(fd, body);
    else if (strcmp(kind, "cut-json") == 0)
        say(fd, a->status, a->type, "", str_sub(body, 0, body.n / 2), body.n / 2);
    else if (strcmp(kind, "cut-body") == 0)
        say(fd, a->status, a->type, "", str_sub(body, 0, body.n / 2), body.n);
    else if (strcmp(kind, "gzip") == 0)
        say_packed(fd, body, 0);
    else if (strcmp(kind, "type") == 0)
        say(fd, a->status, argument, "", body, body.n);
    else if (strcmp(kind, "pause") == 0) {
        if (!gone(fd, (int)atol(argument)))
            say(fd, a->status, a->type, "", body, body.n);
    } else if (strcmp(kind, "102") == 0) {
        put(fd, "HTTP/1.1 102 Processing\r\n\r\n", 27);
        say(fd, a->status, a->type, "", body, body.n);
    } else if (strcmp(kind, "chunked") == 0) {
        head(&b, a->status, a->type, "Transfer-Encoding: chunked\r\n\r\n");
        buf_printf(&b, "%zx;x=y\r\n" STR_FMT "\r\n0\r\nTrailer: here\r\n\r\n", body.n, STR_ARG(body));
        put_all(fd, &b);
    } else if (strcmp(kind, "half-head") == 0)
        put(fd, "HTTP/1.1 200 OK\r\nContent-Ty", 27);
    else
        return false;
    return true;
}

void fault_do(int fd, const char *kind, const char *argument, const char *uri, const struct answer *a)
{
    long number = argument[0] ? atol(argument) : 3600;
    if (damaged(fd, kind, argument, a))
        return;
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(kind, presets[i].kind) == 0) {
            say(fd, presets[i].status, presets[i].type, presets[i].header, str_of(presets[i].body), strlen(presets[i].body));
            return;
        }
    if (strcmp(kind, "reset") == 0)
        reset(fd);
    else if (strcmp(kind, "close") == 0)
        shutdown(fd, SHUT_RDWR);
    else if (strcmp(kind, "hang") == 0)
        gone(fd, (int)number * 1000);
    else if (strcmp(kind, "die") == 0)
        _exit(9);
    else if (strncmp(kind, "429", 3) == 0 || strncmp(kind, "retry", 5) == 0)
        say_retry(fd, kind, argument);
    else if (strcmp(kind, "redirect") == 0)
        say_redirect(fd, argument, uri);
    else if (strcmp(kind, "huge") == 0)
        say_endless(fd);
    else if (strcmp(kind, "headers") == 0 || strcmp(kind, "trailers") == 0)
        say_headers(fd, kind[0] == 't');
    else if (strcmp(kind, "values") == 0)
        say_values(fd, number);
    else if (strcmp(kind, "bomb") == 0)
        say_packed(fd, STR("{"), number);
    else if (strcmp(kind, "bad-chunk") == 0)
        put(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 60);
    else if (strcmp(kind, "garbage") == 0)
        put(fd, "SSH-2.0-OpenSSH_9.2p1\r\n\0\377\376", 26);
    else
        say(fd, 599, "text/plain", "", STR("fault-server: no such fault"), 27);
}
