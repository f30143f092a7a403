/* pump.c: passes one stream of the program to the caller's destination, with a copy for the
 * recorder. */
#include "launch/pump.h"

#include "launch/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PIPE_SIZE = 1 << 20, RING_LOW = 64 << 10 /* free bytes to continue after a loss: lose few large pieces */ };

int pump_open(struct pump_stream *s, int number, struct out *out, enum capture capture)
{
    *s = (struct pump_stream){
        .number = number, .source = -1, .for_child = -1, .out = out, .pty = {.master = -1, .slave = -1, .real = -1, .keys = -1}};
    if (capture == CAPTURE_NONE || out->way == OUT_CLOSED || out->is_message_socket)
        return 0;
    s->is_pty = capture == CAPTURE_PTY || (capture == CAPTURE_AUTO && out->is_tty);
    s->spare = malloc(PUMP_PIECE);
    if (!s->spare)
        return -1;
    if (s->is_pty) {
        if (pty_open(&s->pty, out->is_tty ? number : -1) < 0)
            return -1;
        s->source = s->pty.master;
        s->for_child = s->pty.slave;
    } else {
        int ends[2];
        if (fd_pipe(ends) < 0)
            return -1;
        s->source = ends[0];
        s->for_child = ends[1];
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* refused above the user's share: then it is smaller */
        if (!fd_nonblock(ends[0]))
            return -1;
    }
    s->captured = true;
    return 0;
}

void pump_merge(struct pump_stream *streams)
{
    struct pump_stream *err = &streams[1];
    *err = (struct pump_stream){.number = 2,
                                .source = -1,
                                .for_child = streams[0].for_child,
                                .out = streams[0].out,
                                .pty = {.master = -1, .slave = -1, .real = -1, .keys = -1}};
}

void pump_record(struct pump_stream *s, struct wire *wire, int ring)
{
    if (!s->captured)
        return;
    s->ring = &wire->ring[ring];
    s->data = (char *)wire + WIRE_DATA + (size_t)ring * WIRE_RING;
    s->ring->is_tty = s->is_pty && s->out->is_tty;
    s->ring->used = 1;
}

void pump_close(struct pump_stream *s)
{
    if (s->is_pty)
        pty_close(&s->pty);
    else
        fd_close(&s->source);
    s->source = -1;
    s->owed = 0;
}

void pump_program_ended(struct pump_stream *s)
{
    int there = 0;
    if (s->is_pty && s->source >= 0) {
        pty_follow(&s->pty); /* modes that its last action restored */
        pty_close_slave(&s->pty);
    }
    if (s->source >= 0 && ioctl(s->source, FIONREAD, &there) == 0 && there > 0)
        s->owed = (uint64_t)there;
}

bool pump_finished(const struct pump_stream *s)
{
    return s->source < 0 && !s->left;
}

bool pump_wants_input(const struct pump_stream *s)
{
    return s->source >= 0 && !s->left && !s->stalled_ns;
}

int pump_timeout(const struct pump_stream *s, int64_t now_ns)
{
    if (s->left && s->retry_ns)
        return s->retry_ns <= now_ns ? 0 : (int)((s->retry_ns - now_ns) / 1000000 + 1);
    if (s->source >= 0 && s->stalled_ns)
        return now_ns - s->stalled_ns < 20000000 ? 1 : 5; /* the recorder sends no message when it has read bytes */
    return -1;
}

static void end_stall(struct pump_stream *s, int64_t now_ns)
{
    if (s->stalled_ns)
        s->waited_ns += now_ns - s->stalled_ns;
    s->stalled_ns = 0;
}

/* Returns how many bytes may be read, and in *ret where to: the ring or the spare buffer. 0: wait
 * for the recorder. */
static size_t pump_buffer_for(struct pump_stream *s, bool recorder, int64_t now_ns, char **ret)
{
    *ret = s->spare;
    if (!s->ring || !recorder) {
        s->stalled_ns = 0;
        return PUMP_PIECE;
    }
    uint64_t head = atomic_load_explicit(&s->ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&s->ring->tail, memory_order_acquire);
    uint64_t used = head - tail;
    if (used > WIRE_RING) /* a recorder gone mad: nothing of it may reach the program */
        return PUMP_PIECE;
    size_t room = WIRE_RING - (size_t)used, at = (size_t)(head % WIRE_RING);
    if (s->gave_up && (tail == s->tail_then || room < RING_LOW))
        return PUMP_PIECE;
    if (room < PIPE_BUF) { /* single bytes would cost the program more than a short wait */
        if (!s->stalled_ns)
            s->stalled_ns = now_ns;
        if (s->waited_ns + now_ns - s->stalled_ns < (int64_t)PUMP_STALL_MS * 1000000)
            return 0;
        s->gave_up = true;
        s->tail_then = tail;
        end_stall(s, now_ns);
        return PUMP_PIECE;
    }
    s->gave_up = false;
    end_stall(s, now_ns);
    if (room > PUMP_PIECE)
        room = PUMP_PIECE;
    if (room > WIRE_RING - at)
        room = WIRE_RING - at;
    *ret = s->data + at;
    return room;
}

/* Reports n bytes at `at` to the recorder: in the ring by its head, in the spare buffer as dropped.
 * Sets *wake where the recorder waits for as many. */
static void pump_publish(struct pump_stream *s, const char *at, size_t n, bool *wake)
{
    if (!s->ring)
        return;
    uint64_t head = atomic_load_explicit(&s->ring->head, memory_order_relaxed);
    if (at == s->spare) {
        atomic_store_explicit(&s->ring->gap_at, head, memory_order_relaxed);
        atomic_fetch_add_explicit(&s->ring->dropped, n, memory_order_release);
        return;
    }
    atomic_store(&s->ring->head, head + n);
    uint64_t wake_at = atomic_load(&s->ring->wake_at); /* both sequentially consistent: the recorder stores wake_at, then reads head */
    if (head + n >= wake_at && atomic_compare_exchange_strong(&s->ring->wake_at, &wake_at, UINT64_MAX))
        *wake = true;
}

/* Reads one piece into the ring or the spare buffer, and publishes it. Returns whether bytes were
 * read. Closes the source at its end, and after repeated errors with s->failure set. */
static bool pump_read(struct pump_stream *s, bool recorder, int64_t now_ns, bool *wake)
{
    char *to;
    size_t room = pump_buffer_for(s, recorder, now_ns, &to);
    if (!room)
        return false;
    ssize_t n = read(s->source, to, room);
    if (n > 0) {
        s->at = to;
        s->left = (size_t)n;
        s->tries = 0;
        s->owed -= s->owed < (uint64_t)n ? s->owed : (uint64_t)n;
        pump_publish(s, to, (size_t)n, wake);
        if (s->is_pty)
            pty_follow(&s->pty);
        return true;
    }
    if (n < 0 && errno == EAGAIN)
        s->owed = 0;
    else if (n == 0 || (s->is_pty && errno == EIO && s->pty.slave < 0))
        pump_close(s);
    else if (++s->tries > PUMP_TRIES * 5) {
        s->failure = errno;
        s->is_unread = true;
        pump_close(s);
    }
    return false;
}

static void pump_fail(struct pump_stream *s, int error)
{
    s->failure = error;
    s->lost += s->left;
    s->left = 0;
    pump_close(s);
}

/* Writes what was read to the real stream. Returns whether bytes moved. After a lasting error the
 * stream is closed, with s->failure set. */
static bool pump_write(struct pump_stream *s, int64_t now_ns)
{
    ssize_t n = out_write(s->out, s->at, s->left);
    s->retry_ns = 0;
    if (n > 0) {
        s->at += n;
        s->left -= (size_t)n;
        s->passed += (uint64_t)n;
        s->tries = 0;
        return true;
    }
    int error = n < 0 ? errno : EIO;
    if (error == EAGAIN)
        return false; /* the caller polls */
    if (error == EPIPE || error == ECONNRESET)
        pump_fail(s, EPIPE);
    else if (error == EFBIG || error == EBADF || ++s->tries > PUMP_TRIES)
        pump_fail(s, error);
    else /* a full or flaky file system may recover */
        s->retry_ns = error == EINTR ? now_ns : now_ns + 10000000;
    return false;
}

bool pump_step(struct pump_stream *s, bool recorder, int64_t now_ns, bool *wake)
{
    bool moved = false;
    if (!s->left && s->source >= 0)
        moved = pump_read(s, recorder, now_ns, wake);
    if (s->left && now_ns >= s->retry_ns)
        moved |= pump_write(s, now_ns);
    return moved;
}
