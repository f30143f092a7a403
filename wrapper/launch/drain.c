/* drain.c: carries the streams that background processes still hold after the program's end. */
#include "launch/drain.h"

#include "base/clock.h"
#include "launch/fd.h"
#include "launch/spawn.h"

#include <poll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 2, PAUSE_MS = 10 };

/* Closes every descriptor but those of the streams that are not finished. */
static void close_others(const struct pump_stream *streams)
{
    int kept[2 * STREAMS], n = 0, low = 0;
    for (int i = 0; i < STREAMS; i++)
        if (!pump_finished(&streams[i])) {
            kept[n++] = streams[i].source;
            kept[n++] = streams[i].out->fd;
        }
    for (;;) { /* the ranges between the kept descriptors, in order */
        int next = -1;
        for (int i = 0; i < n; i++)
            if (kept[i] >= low && (next < 0 || kept[i] < next))
                next = kept[i];
        if (next < 0)
            break;
        fd_close_range(low, next - 1);
        low = next + 1;
    }
    fd_close_from(low);
}

/* Moves what is possible without waiting and without a recorder. True if bytes moved. A stream that
 * fails is closed by pump_step, with ->failure set. */
static bool move_bytes(struct pump_stream *streams)
{
    bool moved = false, wake = false;
    for (int i = 0; i < STREAMS; i++) /* a step of each: a stream without end must not hold up the other */
        if (!pump_finished(&streams[i]) && pump_step(&streams[i], false, clock_mono_ns(), &wake))
            moved = true;
    return moved;
}

/* Waits until a stream can move bytes; where poll fails, PAUSE_MS milliseconds. */
static void wait_bytes(const struct pump_stream *streams)
{
    struct pollfd p[2 * STREAMS];
    int ms = -1;
    for (int i = 0; i < STREAMS; i++) {
        const struct pump_stream *s = &streams[i];
        int own = pump_timeout(s, clock_mono_ns());
        p[i] = (struct pollfd){.fd = pump_wants_input(s) ? s->source : -1, .events = POLLIN};
        p[STREAMS + i] = (struct pollfd){.fd = s->left && !s->retry_ns ? s->out->fd : -1, .events = POLLOUT};
        ms = own >= 0 && (ms < 0 || own < ms) ? own : ms;
    }
    if (poll(p, 2 * STREAMS, ms) < 0) {
        struct timespec nap = {.tv_nsec = PAUSE_MS * 1000000};
        nanosleep(&nap, NULL);
    }
}

/* Runs in the child: moves the streams' bytes until both are finished, then ends. */
_Noreturn static void drain_main(struct pump_stream *streams)
{
    prctl(PR_SET_NAME, "benchwrap-drain");
    close_others(streams);
    if (chdir("/") < 0) { /* then the folder stays in use, as it does for the processes that are drained */
    }
    for (int i = 0; i < STREAMS; i++) {
        streams[i].ring = NULL;
        streams[i].pty.real = streams[i].pty.keys = -1; /* the terminal is the shell's again */
    }
    for (;;) {
        bool moved = move_bytes(streams);
        if (pump_finished(&streams[0]) && pump_finished(&streams[1]))
            _exit(0);
        if (!moved)
            wait_bytes(streams);
    }
}

pid_t drain_start(struct pump_stream *streams)
{
    pid_t pid = spawn_fork();
    if (pid == 0)
        drain_main(streams);
    for (int i = 0; pid > 0 && i < STREAMS; i++) {
        streams[i].left = 0;
        pump_close(&streams[i]);
    }
    return pid;
}
