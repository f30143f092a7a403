/* ending.c: the end of a run: waits for the record, prints the summary, and ends the launcher as
 * the program ended. */
#include "launch/ending.h"

#include "base/clock.h"
#include "launch/launcher.h"
#include "launch/proc.h"
#include "launch/say.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint32_t ending_left(const struct launch *l)
{
    struct proc_id *list = NULL;
    const pid_t helpers[] = {l->recorder.pid, l->signals.observer.page ? l->signals.observer.pid : 0, launcher_sender(l), l->drainer};
    pid_t except[5] = {0};
    for (size_t i = 0, n = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (helpers[i] > 0)
            except[n++] = helpers[i];
    ptrdiff_t n = proc_descendants(except, &list);
    uint32_t left = n < 0 ? WIRE_LEFT_UNKNOWN : 0;
    for (ptrdiff_t i = 0; i < n; i++) /* of a run inside, its recorder and helpers continue for a moment */
        left += list[i].state != 'Z' && strncmp(list[i].comm, "benchwrap-", 10) != 0;
    free(list);
    return left;
}

static int64_t own_cpu_us(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) < 0)
        return 0;
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000LL + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* Fills the message about the program's end with status, usage, times, counters and bytes of the
 * streams. */
static void describe_end(struct launch *l, struct wire_msg *msg)
{
    *msg = (struct wire_msg){.kind = WIRE_ENDED, .status = l->status, .pid = l->pid, .wall_ms = l->ended_wall_ms, .mono_ns = l->ended_ns};
    msg->usage = l->usage;
    counters_read(&l->counters, msg->counters);
    msg->orphans = l->orphans;
    msg->left = l->left;
    msg->open_streams = l->open_streams;
    msg->timed_out = l->limit.reached;
    msg->finish_signal = (uint32_t)l->signals.finish_signal;
    msg->overhead_us = own_cpu_us();
    for (int i = 0; i < WIRE_STREAMS; i++) {
        msg->passed[i] = l->stream[i].passed;
        msg->lost[i] = l->stream[i].lost;
    }
}

enum waited { WAITED_DONE /* the recorder is done or gone */, WAITED_LATE, WAITED_SIGNAL /* a signal requested the end */ };

/* Sends the program's end to the recorder and waits for its report, at most --finish-wait; prints
 * its notes. Returns WAITED_DONE also where the recorder has died, WAITED_SIGNAL: a signal
 * requested the end. */
static enum waited wait_recorder(struct launch *l)
{
    struct wire_msg end, msg;
    bool sent = l->exit_status != 0; /* WIRE_NOEXEC was sent already */
    int64_t until = clock_mono_ns() + (int64_t)(l->options.finish_wait * 1e9);
    describe_end(l, &end);
    for (int64_t now = clock_mono_ns(); l->recorder.alive && !l->recorder.done; now = clock_mono_ns()) {
        if (!sent)
            sent = recorder_send(&l->recorder, &end);
        struct pollfd p[2] = {{.fd = l->recorder.socket, .events = POLLIN}, {.fd = l->signals.fd, .events = POLLIN}};
        if (now >= until)
            return WAITED_LATE;
        int ms = sent ? (int)((until - now + 999999) / 1000000) : 5;
        if (poll(p, 2, ms) < 0) { /* out of memory for a moment: both may be ready, and nothing below waits */
            struct timespec nap = {.tv_nsec = 1000000};
            nanosleep(&nap, NULL);
            p[0].revents = p[1].revents = POLLIN;
        }
        if (p[1].revents && l->signals.fd >= 0 && signals_handle(&l->signals, now) & SIGNALS_END)
            return WAITED_SIGNAL;
        while (p[0].revents && recorder_receive(&l->recorder, &msg) > 0)
            if (msg.kind == WIRE_NOTE || msg.kind == WIRE_REFUSE)
                say_line(&l->out[1], "%s", msg.text);
    }
    return WAITED_DONE;
}

void ending_die_of(int number)
{
    struct rlimit none = {0, 0};
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigset_t one;
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    sigaction(number, &normal, NULL);
    sigemptyset(&one);
    sigaddset(&one, number);
    kill(getpid(), number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* Returns the exit status for the caller: 124 at the time limit, the program's own, and with --gate
 * 3 where the verdict is not pass or not known. Where a signal ended the program, this process ends
 * by it too. */
static int exit_status(struct launch *l)
{
    if (l->limit.reached)
        return 124;
    if (WIFSIGNALED(l->status)) {
        ending_die_of(WTERMSIG(l->status));
        return 128 + WTERMSIG(l->status);
    }
    int status = WEXITSTATUS(l->status);
    if (status || !l->options.gate)
        return status;
    if (!l->recorder.done) /* a gate that opens when nothing was measured is none */
        say_line(&l->out[1], "without a record there is no verdict, so the gate stays closed: exit status 3");
    else if (l->recorder.verdict)
        say_line(&l->out[1], "--gate: %s: exit status 3", l->recorder.gate);
    return l->recorder.done && !l->recorder.verdict ? 0 : 3;
}

int ending_finish(struct launch *l)
{
    pid_t except[4] = {l->recorder.pid > 0 ? l->recorder.pid : -1,
                       l->signals.observer.page && l->signals.observer.pid > 0 ? l->signals.observer.pid : -1, launcher_sender(l), 0};
    if (l->limit.reached && l->left)
        limit_kill_rest(except);
    enum waited waited = l->recorded ? wait_recorder(l) : WAITED_DONE;
    if (waited == WAITED_LATE)
        say_line(&l->out[1], "the record is not finished after %g s; it is kept and \"benchwrap sync --local\" finishes it",
                 l->options.finish_wait);
    else if (waited == WAITED_SIGNAL)
        say_line(&l->out[1], "a signal came before the record was finished; it is kept and \"benchwrap sync --local\" finishes it");
    else if (l->recorded && !l->recorder.done && !l->reported)
        say_line(&l->out[1], "the recorder ended early; what was recorded is kept: \"benchwrap sync --local\" finishes it");
    else if (l->recorder.summary[0]) /* with --quiet the recorder sends failures alone */
        say_text(&l->out[1], l->recorder.summary);
    if (l->recorder.done && l->recorder.pid > 0) /* reaped, so that it is not adopted as a zombie by the process above */
        waitpid(l->recorder.pid, NULL, WNOHANG);
    signals_close(&l->signals);
    return l->exit_status ? l->exit_status : exit_status(l);
}
