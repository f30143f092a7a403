/* raw.c: HTTP/1.1 over TCP and Unix sockets: connect, send, read with the kernel's receive
 * stamps. */
#include "benchmarks/native/llmload/worker.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 256 << 10, READS_AT_ONCE = 32 };

/* Sets the options of a new socket, and binds it to the next --source address. A failure is stored
 * in w->failure, and the connection continues. */
static void set_socket_options(struct worker *w, int fd, int family)
{
    int on = 1, stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    if (family == AF_UNIX)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (w->run->kernel_stamps)
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps);
    if (w->run->source_count) {
        const struct sockaddr_storage *from = &w->run->sources[w->next_source++ % w->run->source_count];
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        if (bind(fd, (const struct sockaddr *)(const void *)from,
                 from->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6)) < 0 &&
            !w->failure.kind)
            err_sys(&w->failure, "binding a connection to its --source address");
    }
}

static void connection_lost(struct worker *w, struct conn *c, const char *what, int code);

/* Begins a connection to the address whose turn it is. */
static void open_connection(struct worker *w, struct conn *c)
{
    const struct endpoint *e = &w->run->endpoints[c->endpoint];
    int family = e->address[c->address].family;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    c->reused = false;
    c->received = 0;
    c->state = CONN_CONNECTING;
    c->connect_ns = clock_mono_ns(); /* each address has --connect-timeout of its own */
    http1_reset(&c->http);
    buf_clear(&c->rest);
    c->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        conn_finish(w, c, ENDING_INTERNAL,
                    errno == EMFILE ? "too many open files for so many streams at once (ulimit -n, or --concurrency)" : strerror(errno),
                    false);
        return;
    }
    set_socket_options(w, c->fd, family);
    if ((connect(c->fd, &e->address[c->address].u.any, e->address[c->address].length) < 0 && errno != EINPROGRESS) ||
        epoll_ctl(w->epoll, EPOLL_CTL_ADD, c->fd, &event) < 0) {
        connection_lost(w, c, "connect", errno);
        return;
    }
    conn_arm(w, c);
}

bool raw_next_address(struct worker *w, struct conn *c)
{
    unsigned addresses = w->run->endpoints[c->endpoint].addresses;
    if (c->tried + 1U >= addresses)
        return false;
    conn_close(w, c);
    c->tried++;
    c->address = (uint8_t)((c->address + 1U) % addresses);
    open_connection(w, c);
    return true;
}

/* The connection is of no use any more: another address, a new connection for a request that met a
 * dead one, or the end. */
static void connection_lost(struct worker *w, struct conn *c, const char *what, int code)
{
    char text[200];
    bool begun = http1_begun(&c->http);
    if (c->state == CONN_CONNECTING && code != EADDRNOTAVAIL && raw_next_address(w, c))
        return;
    if (c->state != CONN_CONNECTING && c->reused && !begun && !c->f.r.reconnects) {
        conn_close(w, c);
        c->f.r.reconnects = 1;
        open_connection(w, c);
        return;
    }
    snprintf(text, sizeof text, "%s: %s%s", what,
             code    ? strerror(code)
             : begun ? "the connection was closed in the middle of the reply"
                     : "closed without a reply",
             code == EADDRNOTAVAIL ? " (out of local ports: widen net.ipv4.ip_local_port_range, or use several --source addresses)" : "");
    conn_finish(w, c, c->state == CONN_CONNECTING ? (code == ETIMEDOUT ? ENDING_CONNECT_TIMEOUT : ENDING_REFUSED) : ENDING_CLOSED, text,
                false);
}

/* Sends what is left of the request, as far as the socket accepts it. Begins to receive once all is
 * sent, or where sending fails. */
static void send_rest(struct worker *w, struct conn *c)
{
    while (c->rest.n) {
        ssize_t n = send(c->fd, c->rest.p, c->rest.n, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            buf_clear(&c->rest); /* a reply may be there all the same (413 …): the reader finds it */
            return;
        }
        memmove(c->rest.p, c->rest.p + n, c->rest.n - (size_t)n);
        c->rest.n -= (size_t)n;
        c->f.last_byte_ns = w->now_ns;
    }
    c->state = CONN_RECEIVING;
}

/* Segments of the replies before this one. */
static int64_t segments_before(const struct worker *w, const struct conn *c)
{
    bool is_unread = false;
    if (!w->run->kernel_stamps || !w->run->load->stream || w->run->endpoints[c->endpoint].socket)
        return -1;
    int64_t segments = c->reused ? lateness_segments(c->fd, c->received, &is_unread) : 0;
    return is_unread ? -1 : segments;
}

/* Renders the request and sends its beginning. Ends the request where it cannot be rendered. */
static void send_request(struct worker *w, struct conn *c)
{
    if (!request_render(w, c)) {
        conn_finish(w, c, ENDING_INTERNAL, w->failure.text, c->fd >= 0);
        return;
    }
    const struct buf *wire = w->fixed.n ? &w->fixed : &w->wire;
    c->f.segments = segments_before(w, c);
    if (!c->f.r.reconnects) /* one request, however often it is sent */
        atomic_fetch_add_explicit(&w->live.sent, 1, memory_order_relaxed);
    /* No system call between the stamp and the send: a thread that loses its processor there adds that time to the server's. */
    c->f.r.sent_ns = c->f.last_byte_ns = clock_mono_ns();
    ssize_t n = send(c->fd, wire->p, wire->n, MSG_NOSIGNAL);
    c->state = CONN_RECEIVING;
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        connection_lost(w, c, "send", errno);
        return;
    }
    if (n < 0)
        n = 0;
    if ((size_t)n < wire->n) {
        buf_add(&c->rest, wire->p + n, wire->n - (size_t)n);
        c->state = CONN_SENDING;
    }
    conn_arm(w, c);
}

void raw_begin(struct worker *w, struct conn *c)
{
    if (c->fd >= 0)
        send_request(w, c);
    else
        open_connection(w, c);
}

/* So many bytes in one read may have filled the socket's buffer: the kernel counts a small segment
 * with several times its bytes. */
static uint32_t bytes_that_fill(int fd)
{
    enum { PART = 8 };
    int size = 0;
    socklen_t length = sizeof size;
    return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0 && size > 0 ? (uint32_t)size / PART : UINT32_MAX;
}

/* Sends the request after the connection is made, or handles its failure. */
static void connection_made(struct worker *w, struct conn *c)
{
    int code = 0;
    socklen_t n = sizeof code;
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &code, &n);
    if (code) {
        connection_lost(w, c, "connect", code);
        return;
    }
    if (getpeername(c->fd, (struct sockaddr *)&peer, &length) < 0)
        return; /* the event was meant for the socket before */
    w->m.connections++;
    c->full_bytes = bytes_that_fill(c->fd);
    w->address[c->endpoint] = c->address;
    if (!c->f.r.reconnects) {
        int64_t now = clock_mono_ns();
        c->f.r.connected_ns = now;
        c->f.r.connect_early_ns = now - lateness_after(&w->late, c->f.r.begin_ns, now);
    }
    send_request(w, c);
}

/* May the server's TCP have waited for an acknowledgement? It sends 10 segments without one at
 * first, and that of a client that reads nothing can need 40 ms. Of the reads before, 88 bytes (the smallest
 * segment that TCP acknowledges at once) may be without one. */
static bool may_await_acknowledgement(struct worker *w, struct flight *f, size_t n, int64_t at_ns)
{
    enum { SEGMENTS = 8, BYTES_BEFORE = 88 };
    if (!w->stamped || w->read_ns - at_ns <= LATENESS_NEAR_NS)
        return false;
    int64_t segments = flight_read_segments(w, f);
    return segments > 1 && segments * (int64_t)(n + BYTES_BEFORE) >= SEGMENTS * (int64_t)n;
}

/* So many bytes waited for so long that the socket's buffer may have been full: the server could
 * not send any more until this read. A small buffer is full at once, and TCP then waits for timers
 * of its own. */
static void note_overflow(struct worker *w, struct conn *c, size_t n, int64_t at_ns)
{
    enum { SMALL = 16384 }; /* of 128 KiB, which Linux begins with */
    struct flight *f = &c->f;
    if (f->held_ns)
        return;
    if (may_await_acknowledgement(w, f, n, at_ns)) {
        f->held_ns = lateness_after(&w->late, f->r.sent_ns, at_ns + LATENESS_NEAR_NS);
        return;
    }
    if (n < c->full_bytes)
        return;
    int64_t since = w->stamped ? at_ns : lateness_after(&w->late, f->r.sent_ns, lateness_last_data(c->fd, at_ns));
    if (c->full_bytes >= SMALL && clock_mono_ns() - since <= LATENESS_NEAR_NS)
        return;
    c->full_bytes = bytes_that_fill(c->fd); /* the kernel may have made it larger */
    if (n >= c->full_bytes)
        f->held_ns = since;
}

/* Bytes of the read behind the last event, of which `rest` are behind the piece of the body: they
 * may have come later than it. The end of the chunk that the event is in belongs to it where the
 * server writes both at once: a read had no more segments than chunks, and none began with such an
 * end. What is left of a compressed piece is not known. */
static size_t bytes_behind(struct worker *w, struct conn *c, size_t rest)
{
    enum { CHUNK_END = 2 };
    bool is_end = rest > 0 && rest <= CHUNK_END && !w->ends_apart;
    if (is_end && !w->ends_within) {
        int64_t segments = flight_read_segments(w, &c->f);
        w->ends_within = segments > 0 && segments <= c->f.read_pieces;
    }
    return c->f.stream.behind + (is_end && w->ends_within ? 0 : rest) + c->http.gzip;
}

/* Handles the bytes of one read. hangup: the server has closed its side, which epoll reports only
 * once. Returns false where the request is over: c may carry another one already. */
static bool take_received(struct worker *w, struct conn *c, const char *p, size_t n, int64_t at_ns, bool hangup)
{
    struct flight *f = &c->f;
    struct str bytes;
    const char *why;
    uint32_t chunks;
    bool is_first = !f->r.first_byte_ns;
    if (is_first)
        f->r.first_byte_ns = at_ns;
    f->last_byte_ns = at_ns;
    flight_read_begin(f);
    f->read_byte = is_first;
    c->received += n;
    w->ends_apart |= http1_before_chunk_end(&c->http);
    f->is_stamped = w->stamped;
    note_overflow(w, c, n, at_ns);
    for (;;) {
        switch (http1_next(&c->http, &p, &n, &bytes)) {
        case HTTP1_MORE: flight_read_end(w, f); return true;
        case HTTP1_HEAD:
            if ((why = conn_head(w, c))) {
                conn_finish(w, c, ENDING_ENCODING, why, false);
                return false;
            }
            break;
        case HTTP1_BODY:
            chunks = f->read_chunks;
            f->read_pieces++;
            if (conn_body(w, c, bytes, at_ns)) {
                if (f->read_chunks != chunks)
                    f->read_tail = bytes_behind(w, c, n);
                break;
            }
            flight_read_end(w, f);
            conn_trouble(w, c);
            return false;
        case HTTP1_END:
            flight_read_end(w, f);
            conn_finish(w, c, ENDING_OK, NULL, c->http.keep_alive && !n && !c->rest.n && !hangup);
            return false;
        case HTTP1_TOO_LONG:
            conn_finish(w, c, ENDING_TOO_LONG, "the reply's head is longer than 64 KiB (or out of memory)", false);
            return false;
        default: conn_finish(w, c, ENDING_MALFORMED, "the reply is not HTTP", false); return false;
        }
    }
}

/* The stamp, where it can be true: not after the read, and not before the socket was known to be
 * empty, unless the kernel's own age of the data shows it. Else (the clock was set) 0. */
static int64_t plausible_stamp(struct worker *w, const struct conn *c, int64_t at, int64_t now)
{
    enum { SLACK_NS = 1000000 };
    bool is_after = at >= w->late.from.at_ns - SLACK_NS || (at > c->f.r.sent_ns && at <= lateness_last_data(c->fd, now));
    if (!w->clock_was_set && at <= now + SLACK_NS && is_after)
        return at < now ? at : now;
    w->m.stamps_refused++;
    return 0;
}

/* Returns the read's stamp; 0: it has none that can be true. */
static int64_t stamp_of(struct worker *w, const struct conn *c, struct msghdr *m, int64_t now)
{
    for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
        struct timespec t;
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_TIMESTAMPING)
            continue;
        memcpy(&t, CMSG_DATA(h), sizeof t);
        int64_t at = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
        if (!at)
            break;
        return plausible_stamp(w, c, at + w->real_to_mono_ns, now);
    }
    return 0;
}

/* Counts a read of the measurement, and whether it was late: by its stamp, or, without one, by when
 * the thread was woken. */
static void note_read(struct worker *w, const struct conn *c, int64_t stamp_ns, int64_t now)
{
    if (c->f.r.phase != PHASE_MEASURE || c->state == CONN_IDLE)
        return;
    int64_t sent = c->f.r.sent_ns, low = w->late.from.at_ns > sent ? w->late.from.at_ns : sent;
    w->m.reads++;
    if (stamp_ns)
        hdr_add(&w->m.h[METRIC_READ_DELAY], now - stamp_ns);
    else if (now - low > LATENESS_LATE_NS) /* else no question to the kernel is needed */
        low = lateness_after(&w->late, sent, lateness_last_data(c->fd, now));
    low = stamp_ns > sent ? stamp_ns : stamp_ns ? sent : low;
    w->m.reads_late += now - low > LATENESS_LATE_NS;
}

/* Reads from the socket as recv does, into w->bytes. *ret_at_ns: when the bytes came. */
static ssize_t receive_stamped(struct worker *w, struct conn *c, int64_t *ret_at_ns)
{
    union {
        char bytes[CMSG_SPACE(3 * sizeof(struct timespec)) + 64];
        struct cmsghdr align;
    } control;
    w->stamped = false;
    w->read_ns = 0;
    if (!w->run->kernel_stamps || w->run->endpoints[c->endpoint].socket) {
        ssize_t n = recv(c->fd, w->bytes, READ_SIZE, 0);
        *ret_at_ns = clock_mono_ns();
        if (n > 0)
            note_read(w, c, 0, *ret_at_ns);
        return n;
    }
    struct iovec v = {w->bytes, READ_SIZE};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(c->fd, &m, 0);
    if (n > 0) {
        int64_t now = clock_mono_ns();
        int64_t stamp = stamp_of(w, c, &m, now);
        w->stamped = stamp > 0;
        w->read_ns = now;
        *ret_at_ns = stamp ? stamp : now;
        note_read(w, c, stamp, now);
    }
    return n;
}

static void connection_ended(struct worker *w, struct conn *c)
{
    if (http1_eof_is_end(&c->http))
        conn_finish(w, c, ENDING_OK, NULL, false);
    else
        connection_lost(w, c, "read", 0);
}

/* Reads what has come, READS_AT_ONCE times at most. After a hangup it reads to the end. */
static void connection_readable(struct worker *w, struct conn *c, bool hangup)
{
    for (int i = 0; hangup || i < READS_AT_ONCE; i++) {
        int64_t at_ns = 0;
        ssize_t n = receive_stamped(w, c, &at_ns);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            connection_lost(w, c, "read", errno);
            return;
        }
        if (n == 0) {
            connection_ended(w, c);
            return;
        }
        if (!take_received(w, c, w->bytes, (size_t)n, at_ns, hangup))
            return;
        if (n < READ_SIZE && !hangup)
            return;
    }
    lateness_left(&w->late);
    struct epoll_event again = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    epoll_ctl(w->epoll, EPOLL_CTL_MOD, c->fd, &again); /* others first; reports again what is left */
}

void raw_event(struct worker *w, struct conn *c, uint32_t events)
{
    if (c->fd < 0)
        return;
    if (c->state == CONN_IDLE) { /* nothing may come now: it was closed, or is not to be trusted */
        if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            conn_drop(w, c);
        return;
    }
    if (c->state == CONN_CONNECTING) {
        if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
            connection_made(w, c);
        return;
    }
    if (c->state == CONN_SENDING && (events & EPOLLOUT))
        send_rest(w, c);
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        connection_readable(w, c, events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
}
