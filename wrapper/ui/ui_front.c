/* ui_front.c: see ui_front.h. */
#include "ui/ui_front.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINKS_MAX = 256, BLOCK = 64 << 10, HEAD_WAIT_MS = 10000 };

/* ---- the secret ---- */

static bool is_secret(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-", s.p[i]))
            return false;
    return s.n >= UI_SECRET_MIN && s.n <= UI_SECRET_MAX;
}

int ui_front_secret(const char *path, char ret[UI_SECRET_MAX + 1], struct err *err)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 4096);
    if (!path)
        return secret_generate(ret, err);
    if (secret_read(path, true, 1024, &text, err))
        return err_wrap(err, "--secret-file");
    struct str secret = str_trim(buf_text(&text));
    if (!is_secret(secret))
        return err_set(err, ERR_INPUT, "--secret-file: expected %d to %d letters, digits or ._~- in %.300s", UI_SECRET_MIN, UI_SECRET_MAX,
                       path);
    memcpy(ret, secret.p, secret.n);
    ret[secret.n] = 0;
    explicit_bzero(text.p, text.n);
    return 0;
}

static void put_base64(struct buf *to, struct str s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < s.n; i += 3) {
        unsigned v = (unsigned)(unsigned char)s.p[i] << 16;
        v |= i + 1 < s.n ? (unsigned)(unsigned char)s.p[i + 1] << 8 : 0;
        v |= i + 2 < s.n ? (unsigned)(unsigned char)s.p[i + 2] : 0;
        buf_putc(to, digits[v >> 18 & 63]);
        buf_putc(to, digits[v >> 12 & 63]);
        buf_putc(to, i + 1 < s.n ? digits[v >> 6 & 63] : '=');
        buf_putc(to, i + 2 < s.n ? digits[v & 63] : '=');
    }
}

static struct str header_of(struct str head, const char *name)
{
    size_t n = strlen(name);
    for (struct str rest = head; rest.p;) {
        struct str line = str_cut(&rest, '\n');
        if (line.n > n && line.p[n] == ':' && strncasecmp(line.p, name, n) == 0)
            return str_trim(str_sub(line, n + 1, line.n));
    }
    return (struct str){NULL, 0};
}

/* Returns what the head of a request (up to its empty line) deserves: refused without the secret,
 * else passed on, or entered by /?enter. */
static enum ui_front_answer ui_front_judge(struct str head, const char *secret)
{
    CLEANUP_BUF struct buf pair, basic, bearer;
    struct str given = header_of(head, "Authorization");
    buf_init(&pair, 1024);
    buf_init(&basic, 2048);
    buf_init(&bearer, 1024);
    buf_printf(&pair, UI_FRONT_USER ":%s", secret);
    buf_puts(&basic, "Basic ");
    put_base64(&basic, buf_text(&pair));
    buf_printf(&bearer, "Bearer %s", secret);
    if (!given.p || pair.failed || basic.failed || bearer.failed)
        return UI_FRONT_REFUSE;
    bool is_basic = secret_equal(given, buf_text(&basic)), is_bearer = secret_equal(given, buf_text(&bearer));
    if (!is_basic && !is_bearer)
        return UI_FRONT_REFUSE;
    return str_starts(head, "GET /?enter ") ? UI_FRONT_ENTER : UI_FRONT_PASS;
}

/* ---- connections ---- */

struct flow {
    char *bytes;
    size_t at, n;
    bool ended, closed; /* no more comes; that was passed on */
};
struct door_link {
    int client, server; /* server -1: the head is not there yet */
    int64_t since_ns;
    struct flow in, out;
};
struct door {
    int listener, hold, folder;
    const char *name, *secret;
    struct door_link links[LINKS_MAX];
    size_t count;
};

static void link_close(struct door *d, size_t i)
{
    struct door_link *l = &d->links[i];
    fs_close(&l->client);
    fs_close(&l->server);
    free(l->in.bytes);
    free(l->out.bytes);
    *l = d->links[--d->count];
}

/* Accepts a connection. Where all LINKS_MAX places are in use, the oldest connection that has not
 * shown the secret is closed for it, else the new one. */
static void link_accept(struct door *d)
{
    /* cppcheck-suppress nullPointer */ /* the address is optional */
    int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    size_t oldest = LINKS_MAX;
    for (size_t i = 0; d->count == LINKS_MAX && i < d->count; i++)
        if (d->links[i].server < 0 && (oldest == LINKS_MAX || d->links[i].since_ns < d->links[oldest].since_ns))
            oldest = i;
    if (oldest < LINKS_MAX)
        link_close(d, oldest);
    if (d->count == LINKS_MAX) {
        close(fd);
        return;
    }
    struct door_link *l = &d->links[d->count];
    *l = (struct door_link){.client = fd, .server = -1, .since_ns = clock_mono_ns()};
    l->in.bytes = malloc(BLOCK);
    l->out.bytes = malloc(BLOCK);
    d->count++;
    if (!l->in.bytes || !l->out.bytes)
        link_close(d, d->count - 1);
}

static int server_connect(const struct door *d)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", d->name);
    if (fd >= 0 && (fchdir(d->folder) || connect(fd, (const struct sockaddr *)&to, sizeof to)))
        fs_close(&fd);
    return fd;
}

/* Sends a short reply of benchwrap. Returns false, so that the caller closes. Little enough to fit
 * the socket's buffer. */
static bool link_reply(const struct door_link *l, const char *status, const char *header, struct str value)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_printf(&b,
               "HTTP/1.1 %s\r\n%s" STR_FMT
               "\r\nContent-Length: 0\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
               status, header, STR_ARG(value));
    if (!b.failed && send(l->client, b.p, b.n, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        shutdown(l->client, SHUT_WR);
    return false;
}

/* Reads the head of a connection's first request. Passes the connection on to the server where the
 * secret is right, and answers it otherwise. False: the connection ends. */
static bool link_enter(const struct door *d, struct door_link *l)
{
    ssize_t n = recv(l->client, l->in.bytes + l->in.n, BLOCK - l->in.n, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    l->in.n += (size_t)n;
    const char *end = memmem(l->in.bytes, l->in.n, "\r\n\r\n", 4);
    if (!end)
        return l->in.n < BLOCK;
    struct str head = {l->in.bytes, (size_t)(end - l->in.bytes)}, host = header_of(head, "Host");
    switch (ui_front_judge(head, d->secret)) {
    case UI_FRONT_REFUSE: return link_reply(l, "401 Unauthorized", "WWW-Authenticate: Basic realm=", STR("\"benchwrap ui\""));
    case UI_FRONT_ENTER: return host.n && host.n < 300 && link_reply(l, "303 See Other", "Location: http://", host) && false;
    case UI_FRONT_PASS: break;
    }
    l->server = server_connect(d);
    return l->server >= 0 || link_reply(l, "502 Bad Gateway", "Retry-After: ", STR("1"));
}

/* Moves what is available from one socket to the other without waiting; at the end of the input it
 * closes the output. False: the connection is broken. */
static bool flow_move(struct flow *f, int from, int to)
{
    if (f->at == f->n && !f->ended) {
        ssize_t n = recv(from, f->bytes, BLOCK, MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        f->at = 0;
        f->n = n > 0 ? (size_t)n : 0;
        f->ended = n == 0;
    }
    if (f->at < f->n) {
        ssize_t n = send(to, f->bytes + f->at, f->n - f->at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        f->at += n > 0 ? (size_t)n : 0;
    }
    if (f->ended && f->at == f->n && !f->closed) {
        shutdown(to, SHUT_WR);
        f->closed = true;
    }
    return true;
}

static bool link_turn(const struct door *d, struct door_link *l, int64_t now_ns)
{
    if (l->server < 0)
        return link_enter(d, l) && (l->server >= 0 || now_ns - l->since_ns < HEAD_WAIT_MS * INT64_C(1000000));
    return flow_move(&l->in, l->client, l->server) && flow_move(&l->out, l->server, l->client) && !(l->in.closed && l->out.closed) &&
           !l->out.closed;
}

static short flow_events(const struct flow *from_here, const struct flow *to_here)
{
    bool reads = from_here->at == from_here->n && !from_here->ended, writes = to_here->at < to_here->n;
    return (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
}

/* Serves the connections of the page's address until d->hold is closed; never returns. */
_Noreturn static void door_serve(struct door *d)
{
    static struct pollfd p[2 + 2 * LINKS_MAX];
    for (;;) {
        p[0] = (struct pollfd){.fd = d->hold, .events = POLLIN};
        p[1] = (struct pollfd){.fd = d->listener, .events = POLLIN};
        for (size_t i = 0; i < d->count; i++) {
            const struct door_link *l = &d->links[i];
            bool open = l->server >= 0;
            short client = open ? flow_events(&l->in, &l->out) : POLLIN, server = open ? flow_events(&l->out, &l->in) : 0;
            p[2 + 2 * i] = (struct pollfd){.fd = client ? l->client : -1, .events = client};
            p[3 + 2 * i] = (struct pollfd){.fd = server ? l->server : -1, .events = server};
        }
        size_t count = d->count;
        if (poll(p, 2 + 2 * count, 1000) < 0 && errno != EINTR)
            _exit(1);
        if (p[0].revents)
            _exit(0);
        int64_t now = clock_mono_ns();
        for (size_t i = count; i-- > 0;) /* from the end: closing moves the last one here, which had its turn */
            if ((p[2 + 2 * i].revents || p[3 + 2 * i].revents || d->links[i].server < 0) && !link_turn(d, &d->links[i], now))
                link_close(d, i);
        if (p[1].revents)
            link_accept(d);
    }
}

/* ---- start and end ---- */

/* Listens at the first address of the host that works. Returns the descriptor, which does not block
 * and which the caller closes, or -1 with err. */
static int door_listen(const char *host, int port, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
    char service[16];
    int on = 1, fd = -1;
    snprintf(service, sizeof service, "%d", port);
    int rc = getaddrinfo(host, service, &hints, &list);
    if (rc)
        return err_set(err, ERR_INPUT, "--host: %.100s: %s", host, gai_strerror(rc));
    for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0)
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (fd >= 0 && (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, SOMAXCONN)))
            fs_close(&fd);
    }
    int why = errno;
    freeaddrinfo(list);
    errno = why;
    return fd >= 0 ? fd : err_sys(err, "cannot listen at %.100s port %d", host, port);
}

int ui_front_start(struct ui_front *ret, const char *host, int port, int folder, const char *name, const char *secret, struct err *err)
{
    static struct door door; /* a copy of the child's own */
    int ends[2];
    *ret = (struct ui_front){.hold = -1};
    CLEANUP_FD int listener = door_listen(host, port, err);
    if (listener < 0)
        return -1;
    if (pipe2(ends, O_CLOEXEC))
        return err_sys(err, "cannot make a pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        setsid(); /* Ctrl-C is not for this process */
        secret_guard_process();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        door = (struct door){.listener = listener, .hold = ends[0], .folder = folder, .name = name, .secret = secret};
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; null >= 0 && fd < 3; fd++)
            dup2(null, fd);
        door_serve(&door);
    }
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return err_sys(err, "cannot start a process");
    }
    *ret = (struct ui_front){.pid = pid, .hold = ends[1]};
    return 0;
}

void ui_front_stop(struct ui_front *f)
{
    fs_close(&f->hold);
    while (f->pid > 0 && waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    f->pid = 0;
}
