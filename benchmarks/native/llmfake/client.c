/* client.c: a client's socket: requests in, bytes out, and the log of when. */
#include "benchmarks/native/llmfake/serve.h"

#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static atomic_uint_fast64_t posts; /* of all threads, so far */

enum { READ_SIZE = 256 << 10, REQUEST_MAX = 64 << 20, HEAD_MAX = 64 << 10 };

void log_flush(struct thread *t)
{
    if (t->log && t->logged && fs_write_all(t->log_fd, t->log, t->logged * sizeof *t->log) < 0 && !t->log_trouble)
        t->log_trouble = errno; /* O_APPEND: complete records of each thread */
    t->logged = 0;
}

void log_event(struct thread *t, const struct fake_client *c, uint32_t event, int64_t at_ns, int64_t cost_ns)
{
    if (!t->log)
        return;
    if (t->logged == LOG_RECORDS)
        log_flush(t);
    t->log[t->logged++] = (struct sendlog_record){c->request, at_ns, event, (uint32_t)(cost_ns < UINT32_MAX ? cost_ns : UINT32_MAX)};
}

void client_close(struct thread *t, struct fake_client *c)
{
    if (c->broken)
        return;
    c->broken = true;
    timers_clear(&t->timers, &c->timer);
    close(c->fd);
    c->fd = -1;
    c->next_dead = t->dead;
    t->dead = c;
}

/* Sends what the socket accepts now and returns its length; -1: it is broken. */
static ssize_t client_send_some(struct thread *t, struct fake_client *c, const char *p, size_t n)
{
    size_t done = 0;
    while (done < n) {
        size_t piece = t->fake->split && t->fake->split < n - done ? t->fake->split : n - done;
        ssize_t k = send(c->fd, p + done, piece, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && errno != EAGAIN) {
            client_close(t, c);
            return -1;
        }
        if (k < 0)
            break;
        done += (size_t)k;
    }
    return (ssize_t)done;
}

void client_send(struct thread *t, struct fake_client *c, const char *p, size_t n)
{
    if (c->broken || !n)
        return;
    ssize_t done = c->out.n || c->burst_left ? 0 : client_send_some(t, c, p, n);
    if (done >= 0 && (size_t)done < n)
        buf_add(&c->out, p + done, n - (size_t)done);
    if (c->out.failed)
        client_close(t, c);
}

void client_flush(struct thread *t, struct fake_client *c)
{
    if (c->broken)
        return;
    while (c->out.n) {
        ssize_t k = client_send_some(t, c, c->out.p, c->out.n);
        if (k <= 0)
            return;
        memmove(c->out.p, c->out.p + k, c->out.n - (size_t)k);
        c->out.n -= (size_t)k;
    }
    if (c->burst_left) {
        ssize_t k = client_send_some(t, c, c->burst, c->burst_left);
        if (k < 0)
            return;
        c->burst += k, c->burst_left -= (size_t)k;
        if (c->burst_left)
            return;
    }
    if (c->close_when_sent)
        client_close(t, c);
    else
        answer_resume(t, c);
}

struct client_head {
    char method[8], path[256];
    uint64_t length, request;
    bool has_request, close;
    size_t bytes;
};

static void client_copy_text(char *to, size_t size, struct str s)
{
    size_t n = s.n < size - 1 ? s.n : size - 1;
    memcpy(to, s.p, n);
    to[n] = '\0';
}

/* Reads the head of a request. Returns 1; 0: it is incomplete; -1: this is no request, or it is too
 * long. */
static int client_read_head(struct str in, struct client_head *h)
{
    const char *end = memmem(in.p, in.n, "\r\n\r\n", 4);
    if (!end)
        return in.n > HEAD_MAX ? -1 : 0;
    *h = (struct client_head){.bytes = (size_t)(end + 4 - in.p)};
    struct str rest = {in.p, (size_t)(end - in.p)}, line = str_trim(str_cut(&rest, '\n'));
    client_copy_text(h->method, sizeof h->method, str_word(&line));
    struct str target = str_word(&line);
    client_copy_text(h->path, sizeof h->path, str_cut(&target, '?'));
    while (rest.p && rest.n) {
        struct str value = str_cut(&rest, '\n'), name = str_cut(&value, ':');
        value = value.p ? str_trim(value) : (struct str){"", 0};
        if (str_is_anycase(name, "content-length") && !str_uint(value, &h->length))
            return -1;
        if (str_is_anycase(name, "x-request-id"))
            h->has_request = str_uint(value, &h->request);
        if (str_is_anycase(name, "connection"))
            h->close = str_is_anycase(value, "close");
    }
    return h->length > REQUEST_MAX ? -1 : 1;
}

/* Handles the complete requests of `in`; returns the bytes used. */
static size_t take_requests(struct thread *t, struct fake_client *c, struct str in)
{
    size_t used = 0;
    struct client_head h;
    while (!c->broken && c->stage == STAGE_IDLE && used < in.n) {
        struct str rest = str_sub(in, used, in.n);
        int got = client_read_head(rest, &h);
        if (got < 0)
            client_close(t, c);
        if (got <= 0 || rest.n - h.bytes < h.length)
            break;
        c->request = h.has_request ? h.request : strcmp(h.method, "POST") == 0 ? atomic_fetch_add(&posts, 1) : 0;
        c->close_after = h.close;
        used += h.bytes + (size_t)h.length;
        answer_begin(t, c, h.method, h.path, str_sub(rest, h.bytes, (size_t)h.length));
    }
    return used;
}

/* Returns when the bytes of this read came, by the kernel's stamp, else now_ns: a client waits from
 * then on, also while this thread handles others. */
static int64_t arrival_of(struct msghdr *m, int64_t now_ns)
{
    struct timespec at, real;
    clock_gettime(CLOCK_REALTIME, &real);
    for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_TIMESTAMPING)
            continue;
        memcpy(&at, CMSG_DATA(h), sizeof at);
        int64_t age_ns = (int64_t)(real.tv_sec - at.tv_sec) * 1000000000 + real.tv_nsec - at.tv_nsec;
        return at.tv_sec && age_ns > 0 ? now_ns - age_ns : now_ns;
    }
    return now_ns;
}

/* Reads from the socket as recv does; with a log, c->arrived_ns is when the bytes came. */
static ssize_t receive_request(struct thread *t, struct fake_client *c)
{
    union {
        char bytes[CMSG_SPACE(3 * sizeof(struct timespec)) + 64];
        struct cmsghdr align;
    } control;
    struct iovec v = {t->bytes, READ_SIZE};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t n = t->log ? recvmsg(c->fd, &m, 0) : recv(c->fd, t->bytes, READ_SIZE, 0);
    if (n <= 0)
        return n;
    t->now_ns = clock_mono_ns();
    c->arrived_ns = t->log ? arrival_of(&m, t->now_ns) : t->now_ns;
    return n;
}

void client_input(struct thread *t, struct fake_client *c)
{
    for (;;) {
        ssize_t n = receive_request(t, c);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            client_close(t, c);
            return;
        }
        if (c->in.n) {
            buf_add(&c->in, t->bytes, (size_t)n);
            size_t used = take_requests(t, c, buf_text(&c->in));
            if (c->broken)
                return;
            memmove(c->in.p, c->in.p + used, c->in.n - used);
            c->in.n -= used;
        } else {
            size_t used = take_requests(t, c, (struct str){t->bytes, (size_t)n});
            if (c->broken)
                return;
            buf_add(&c->in, t->bytes + used, (size_t)n - used);
        }
        if (c->in.failed) {
            client_close(t, c);
            return;
        }
        if (n < READ_SIZE)
            return;
    }
}
