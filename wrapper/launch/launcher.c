/* launcher.c: one wrapped run in the launcher: start, turns of the loop, end. */
#include "launch/launcher.h"

#include "base/clock.h"
#include "base/screen.h"

#include "launch/drain.h"
#include "launch/ending.h"
#include "launch/fd.h"
#include "launch/keys.h"
#include "launch/messages.h"
#include "launch/peel.h"
#include "launch/proc.h"
#include "launch/say.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LEAVE_NS = 200000000 /* what a process gets that the program left behind */,
    DRAIN_NS = 2000000000 /* and as long is tried to drain it */,
    STOP_NS = 200000000 /* what the output of a stopped program may delay the launcher's stop */,
    PIECES_A_TURN = 16 /* 4 MiB, then the other stream and the signals have their turn */
};

pid_t launcher_sender(const struct launch *l)
{
    return l->recorder.wire ? atomic_load_explicit(&l->recorder.wire->sender, memory_order_relaxed) : 0;
}

/* Writes the pids of the launcher's helper processes into ret, 0-terminated. */
static void launcher_helpers(const struct launch *l, pid_t ret[4])
{
    int n = 0;
    if (l->recorder.pid > 0)
        ret[n++] = l->recorder.pid;
    if (l->signals.observer.page && l->signals.observer.pid > 0)
        ret[n++] = l->signals.observer.pid;
    if (launcher_sender(l) > 0)
        ret[n++] = launcher_sender(l);
    ret[n] = 0;
}

/* ---- children ---- */

/* Does what wait4 does for any child; where wait4 fails, tries waitid. 0: none now; -1: no child is
 * left, or both failed and l->reap_again is set. */
static pid_t reap_one(struct launch *l, int *status, struct rusage *usage)
{
    pid_t pid = wait4(-1, status, WNOHANG | WUNTRACED, usage);
    if (pid >= 0 || errno == ECHILD)
        return pid;
    siginfo_t info = {0};
    if (syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG, usage) == 0 && info.si_pid) {
        *status = info.si_code == CLD_EXITED    ? (info.si_status & 0xff) << 8
                  : info.si_code == CLD_STOPPED ? 0x7f | info.si_status << 8
                                                : info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
        return info.si_pid;
    }
    l->reap_again = true;
    return -1;
}

static void add_time(struct timeval *to, const struct timeval *more)
{
    to->tv_sec += more->tv_sec;
    to->tv_usec += more->tv_usec;
    if (to->tv_usec >= 1000000)
        to->tv_sec++, to->tv_usec -= 1000000;
}

static void add_usage(struct rusage *to, const struct rusage *more)
{
    add_time(&to->ru_utime, &more->ru_utime);
    add_time(&to->ru_stime, &more->ru_stime);
    to->ru_maxrss = to->ru_maxrss > more->ru_maxrss ? to->ru_maxrss : more->ru_maxrss;
    to->ru_minflt += more->ru_minflt;
    to->ru_majflt += more->ru_majflt;
    to->ru_inblock += more->ru_inblock;
    to->ru_oublock += more->ru_oublock;
    to->ru_nvcsw += more->ru_nvcsw;
    to->ru_nivcsw += more->ru_nivcsw;
}

static bool pump_both(struct launch *l, int64_t now_ns);

/* Stops the launcher by the signal by which the terminal has stopped the program: the shell must
 * see its job stopped. What the program has written is passed on before, for at most STOP_NS, since
 * another process may continue to write. A program stopped by another process's SIGSTOP is left
 * alone: the process that continues it may not know the launcher. */
static void launcher_follow_stop(struct launch *l, int number)
{
    struct proc_id now;
    int64_t until = clock_mono_ns() + STOP_NS;
    for (int64_t now_ns = clock_mono_ns(); now_ns < until && pump_both(l, now_ns);)
        now_ns = clock_mono_ns();
    if (!signals_of_terminal(&l->signals, number) || !proc_look(l->pid, &now) || now.state != 'T')
        return;
    signals_stop(&l->signals, number);
}

/* Notes the program's end: status, times and usage; what is in its streams now is still read. */
static void program_ended(struct launch *l, int status, const struct rusage *usage)
{
    l->ended = l->signals.ended = true;
    l->status = status;
    l->ended_ns = clock_mono_ns();
    l->ended_wall_ms = clock_wall_after_ms(l->start_wall_ms, l->start_ns);
    add_usage(&l->usage, usage);
    for (int i = 0; i < 2; i++)
        pump_program_ended(&l->stream[i]);
}

/* Reaps all children that have ended or stopped: program, recorder, signal observer, sender,
 * drainer. Others are orphans of the program, whose usage is added to the program's. */
static void launcher_reap(struct launch *l)
{
    struct rusage usage;
    int status;
    l->reap_again = false;
    for (pid_t pid; memset(&usage, 0, sizeof usage), (pid = reap_one(l, &status, &usage)) > 0;) {
        if (WIFSTOPPED(status)) {
            if (pid == l->pid)
                launcher_follow_stop(l, WSTOPSIG(status));
        } else if (pid == l->pid && !l->ended)
            program_ended(l, status, &usage);
        else if (pid == l->recorder.pid) {
            l->recorder.pid = 0;
            l->recorder.exit = status;
            if (l->helpless)
                messages_note_end(l);
        } else if (pid == l->signals.observer.pid)
            l->signals.observer.pid = 0;
        else if (pid != launcher_sender(l) && pid != l->drainer) {
            l->orphans++;
            add_usage(&l->usage, &usage);
        }
    }
}

/* ---- the recorder ---- */

/* Returns the stream for the launcher's own messages. */
static struct out *stderr_of(struct launch *l)
{
    return &l->out[1];
}

/* ---- one turn ---- */

/* Prints once that a stream failed and was closed; not that its reader has gone (EPIPE). */
static void report_failure(struct launch *l, struct pump_stream *s)
{
    int error = s->failure;
    if (!error || (error == EPIPE && !s->is_unread) || s->reported)
        return;
    s->reported = true;
    if (s->is_unread)
        say_line(stderr_of(l), "%s: cannot read what the program writes: %s; the stream is closed after %llu byte%s",
                 s->number == 1 ? "stdout" : "stderr", strerror(error), (unsigned long long)s->passed, str_plural(s->passed));
    else
        say_line(stderr_of(l), "%s: writing failed after %llu byte%s: %s; the stream is closed, and %llu byte%s lost",
                 s->number == 1 ? "stdout" : "stderr", (unsigned long long)s->passed, str_plural(s->passed), strerror(error),
                 (unsigned long long)s->lost, s->lost == 1 ? " is" : "s are");
}

/* Moves bytes of both streams, at most PIECES_A_TURN steps each, and wakes the recorder once its
 * ring has as many bytes as it waits for. Returns whether bytes moved. */
static bool pump_both(struct launch *l, int64_t now_ns)
{
    bool moved = false, wake = false;
    for (int i = 0; i < 2; i++) {
        struct pump_stream *s = &l->stream[i];
        if (pump_finished(s))
            continue;
        for (int k = 0; k < PIECES_A_TURN && pump_step(s, l->recorder.alive, now_ns, &wake); k++)
            moved = true;
        report_failure(l, s);
    }
    if (wake) {
        struct wire_msg msg = {.kind = WIRE_WAKE};
        recorder_send(&l->recorder, &msg);
    }
    return moved;
}

/* Starts the drainer where background processes hold the streams longer than the launcher waits, so
 * that they live and write as without benchwrap. Closes the streams, with a message, where no
 * drainer could be started within DRAIN_NS. */
static void hand_streams_over(struct launch *l, int64_t now_ns, bool at_once)
{
    uint32_t open = 0;
    bool owed = false;
    for (int i = 0; i < 2; i++) {
        struct pump_stream *s = &l->stream[i];
        open |= pump_finished(s) ? 0 : 1U << i;
        owed |= s->owed || s->left;
    }
    if (!open || (!at_once && (owed || now_ns < l->ended_ns + LEAVE_NS)))
        return;
    l->drainer = drain_start(l->stream);
    if (l->drainer > 0)
        l->open_streams = open;
    else if (at_once || now_ns >= l->ended_ns + DRAIN_NS) {
        say_line(stderr_of(l), "cannot pass on what background processes of the program write from now on: %s", strerror(errno));
        for (int i = 0; i < 2; i++) {
            l->stream[i].lost += l->stream[i].left;
            l->stream[i].left = 0;
            pump_close(&l->stream[i]);
        }
    }
}

static int earlier_timeout(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* Returns for how many milliseconds the next poll may wait; -1: without limit. */
static int turn_timeout(const struct launch *l, int64_t now_ns)
{
    int ms = earlier_timeout(signals_timeout(&l->signals), l->ended ? -1 : limit_timeout(&l->limit, now_ns));
    for (int i = 0; i < 2; i++) {
        ms = earlier_timeout(ms, pump_timeout(&l->stream[i], now_ns));
        if (l->stream[i].is_pty && l->stream[i].source >= 0 && l->stream[i].pty.real >= 0)
            ms = earlier_timeout(ms, keys_looking(&l->stream[i].pty) ? KEYS_LOOK_MS : 100); /* modes set without a byte of output */
    }
    if (l->reap_again)
        ms = earlier_timeout(ms, 10);
    if (l->ended)
        ms = earlier_timeout(ms, l->ended_ns + LEAVE_NS <= now_ns ? 10 : (int)((l->ended_ns + LEAVE_NS - now_ns) / 1000000 + 1));
    return ms;
}

enum { AT_SIGNALS, AT_RECORDER, AT_LINE, AT_SOURCE, AT_OUT = AT_SOURCE + 2, AT_KEYS = AT_OUT + 2, AT_COUNT = AT_KEYS + 2 };

/* Waits until there is something to do. Descriptors of -1 are skipped by poll. */
static void wait_turn(struct launch *l, struct pollfd *p)
{
    p[AT_SIGNALS] = (struct pollfd){.fd = l->signals.fd, .events = POLLIN};
    p[AT_RECORDER] = (struct pollfd){.fd = l->recorder.alive ? l->recorder.socket : -1, .events = POLLIN};
    p[AT_LINE] = (struct pollfd){.fd = l->line, .events = POLLIN};
    for (int i = 0; i < 2; i++) {
        struct pump_stream *s = &l->stream[i];
        p[AT_SOURCE + i] = (struct pollfd){.fd = pump_wants_input(s) ? s->source : -1, .events = POLLIN};
        p[AT_KEYS + i] = (struct pollfd){.fd = s->is_pty ? s->pty.keys : -1, .events = POLLIN};
        p[AT_OUT + i] = (struct pollfd){.fd = s->left && !s->retry_ns ? s->out->fd : -1, .events = POLLOUT};
    }
    if (poll(p, AT_COUNT, turn_timeout(l, clock_mono_ns())) < 0) {
        struct timespec nap = {.tv_nsec = 1000000};
        if (errno != EINTR)
            nanosleep(&nap, NULL);
        for (int i = 0; i < AT_COUNT; i++) /* all may be ready: nothing below waits */
            p[i].revents = p[i].fd >= 0 ? POLLIN : 0;
    }
}

/* Sets the size of the caller's terminal on the program's, and reports a change to the program. */
static void resize_terminals(struct launch *l)
{
    bool changed = false;
    for (int i = 0; i < 2; i++)
        if (l->stream[i].is_pty && l->stream[i].source >= 0)
            changed |= pty_resize(&l->stream[i].pty);
    if (changed && l->pid > 0 && !l->ended)
        kill(l->pid, SIGWINCH); /* it may have read the size between the terminal's signal and the copy of the size */
}

/* Handles that the exec failed: sets the exit status, and reports that to the recorder and on
 * standard error. */
static void program_failed(struct launch *l)
{
    char text[512];
    struct wire_msg msg = {.kind = WIRE_NOEXEC, .status = l->failure.error, .wall_ms = clock_wall_ms(), .mono_ns = clock_mono_ns()};
    l->exit_status = spawn_explain(l->program[0], &l->failure, text, sizeof text);
    recorder_send(&l->recorder, &msg);
    say_line(stderr_of(l), "%s", text);
    if (!l->id) /* a series is recorded, with what it could not start */
        say_line(stderr_of(l), "nothing was recorded");
}

/* Waits for an event, then handles all that have arrived: signals, children, streams, keys,
 * messages and the time limit. */
static void launcher_turn(struct launch *l)
{
    struct pollfd p[AT_COUNT];
    pid_t except[4];
    wait_turn(l, p);
    int64_t now_ns = clock_mono_ns();
    if (p[AT_SIGNALS].revents || l->signals.queued) {
        unsigned todo = signals_handle(&l->signals, now_ns);
        if (todo & SIGNALS_RESIZE)
            resize_terminals(l);
        if (todo & SIGNALS_CHILD || p[AT_SIGNALS].revents & ~POLLIN)
            launcher_reap(l);
        if (todo & SIGNALS_END)
            hand_streams_over(l, now_ns, true);
    }
    if (l->reap_again)
        launcher_reap(l);
    if (p[AT_LINE].revents && spawn_result(&l->line, &l->failure) < 0)
        program_failed(l);
    pump_both(l, now_ns);
    launcher_helpers(l, except);
    for (int i = 0; i < 2; i++)
        if (l->stream[i].is_pty && l->stream[i].source >= 0) {
            struct pty *pty = &l->stream[i].pty;
            pty_follow(pty);
            if (p[AT_KEYS + i].revents && pty->keys >= 0)
                keys_carry(pty, except);
            keys_look(pty, except);
        }
    if (p[AT_RECORDER].revents)
        messages_receive(l);
    if (!l->ended)
        limit_check(&l->limit, now_ns, l->pid, except);
    else
        hand_streams_over(l, now_ns, false);
}

/* ---- start ---- */

/* Writes into the shared memory what the recorder needs to know about this launch: screen, times,
 * ranks, parent run and scope. */
static void fill_wire(struct launch *l)
{
    struct wire *w = l->recorder.wire;
    const char *parent = getenv("BENCHWRAP_RUN_ID");
    struct screen screen = screen_of(2);
    w->columns = screen.width == SIZE_MAX ? 0 : (uint32_t)screen.width;
    w->is_terminal = screen.is_terminal;
    w->has_colour = screen.has_colour;
    w->start_wall_ms = l->start_wall_ms;
    w->start_mono_ns = l->start_ns;
    w->launcher = getpid();
    if (parent && str_hex(str_of(parent), 32))
        memcpy(w->parent_id, parent, 33);
    w->in_series = l->id != NULL;
    w->rank = l->rank.rank;
    w->ranks = l->rank.ranks;
    strncpy(w->rank_source, l->rank.source, sizeof w->rank_source - 1);
    bool launches = peel_is_parallel(l->program);
    const char *scope = l->options.per_rank && l->rank.known ? "rank"
                        : l->rank.known && !(launches && l->rank.ranks == 1)
                            ? "rank0" /* not srun --pty bash, and a launcher in that shell */
                        : launches ? "launcher"
                                   : "process";
    strncpy(w->scope, scope, sizeof w->scope - 1);
}

/* Opens both streams of the program, or one pipe for both where they are one file; l->out is open.
 * 0; -1 with errno. */
static int open_streams(struct launch *l)
{
    if (pump_open(&l->stream[0], 1, &l->out[0], l->options.capture) < 0)
        return -1;
    bool one = l->stream[0].captured && !l->stream[0].is_pty && l->out[1].way != OUT_CLOSED && !l->out[1].is_tty && out_same_file(1, 2);
    if (one)
        pump_merge(l->stream);
    else if (pump_open(&l->stream[1], 2, &l->out[1], l->options.capture) < 0)
        return -1;
    l->recorder.wire->merged = one;
    for (int i = 0; i < 2; i++)
        pump_record(&l->stream[i], l->recorder.wire, i);
    return 0;
}

/* Opens signals, memory and streams, and starts the recorder, which records how the streams are. 0,
 * or -1 with errno and *ret_what. */
static int launcher_prepare(struct launch *l, const char **ret_what)
{
    *ret_what = "cannot read signals";
    if (signals_open(&l->signals) < 0)
        return -1;
    if (recorder_open(&l->recorder, l->id, ret_what) < 0)
        return -1;
    fill_wire(l);
    *ret_what = "cannot open the program's streams";
    if (open_streams(l) < 0)
        return -1;
    *ret_what = "cannot start the recorder";
    return recorder_start(&l->recorder, l->argv);
}

/* Starts the program, held until observer, counters and profiler are ready. False with errno: no
 * process was made. A failed exec shows later, on l->line. */
static bool start_program(struct launch *l)
{
    char **env = l->recorded ? recorder_environment(&l->recorder, environ) : environ;
    if (!env)
        return false;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    l->pid = spawn_held(&l->state, l->program, env, l->stream[0].for_child, l->stream[1].for_child, &l->line);
    int error = errno;
    if (l->recorded)
        free(env);
    errno = error;
    if (l->pid < 0) {
        l->pid = 0;
        return false;
    }
    for (int i = 0; i < 2; i++) { /* the pipe's write end must end with the program; a pty's slave is pump's */
        if (!l->stream[i].is_pty && l->stream[i].captured)
            fd_close(&l->stream[i].for_child);
        l->stream[i].for_child = -1;
    }
    if (l->recorded)
        signals_set_observer(&l->signals, l->recorder.pid, l->recorder.wire->seen);
    else
        signals_start_observer(&l->signals);
    if (l->recorded && l->options.counters)
        counters_open(&l->counters, l->pid);
    messages_wait_profiler(l);
    signals_started(&l->signals, l->pid);
    int64_t now_ns = clock_mono_ns();
    struct wire_msg msg = {
        .kind = WIRE_STARTED, .pid = l->pid, .mono_ns = now_ns, .wall_ms = clock_wall_after_ms(l->start_wall_ms, l->start_ns)};
    if (l->options.timeout > 0)
        l->limit = (struct time_limit){.due_ns = now_ns + (int64_t)(l->options.timeout * 1e9),
                                       .grace_ns = (int64_t)(l->options.kill_after * 1e9),
                                       .signal = l->options.signal};
    spawn_release(l->line);
    if (l->recorded)
        recorder_send(&l->recorder, &msg);
    return true;
}

/* Waits at most a fifth of a second for the end of a recorder that has been requested to end. */
static void reap_recorder(struct launch *l)
{
    for (int ms = 0; ms < 200; ms += 2) {
        struct timespec nap = {.tv_nsec = 2000000};
        launcher_reap(l);
        if (l->recorder.pid <= 0)
            return;
        nanosleep(&nap, NULL);
    }
}

/* Releases what was set up, and ends the recorder. The program must find nothing of benchwrap, not even
 * a child process. */
static void abandon_recording(struct launch *l)
{
    struct wire_msg none = {.kind = WIRE_NOEXEC, .wall_ms = clock_wall_ms(), .mono_ns = clock_mono_ns()};
    recorder_send(&l->recorder, &none); /* it did not run under this record, which is thrown away */
    for (int i = 0; i < 2; i++) {
        pump_close(&l->stream[i]);
        if (l->stream[i].captured && !l->stream[i].is_pty)
            fd_close(&l->stream[i].for_child);
        l->stream[i] = (struct pump_stream){.number = i + 1, .source = -1, .for_child = -1};
    }
    recorder_close(&l->recorder);
    reap_recorder(l);
    if (l->recorder.pid > 0) {
        kill(l->recorder.pid, SIGKILL);
        waitpid(l->recorder.pid, NULL, 0);
    }
    l->recorder.pid = 0;
    l->recorded = false;
    l->helpless = true;
}

/* Waits for what ends by itself a moment after the program: mpirun's daemons, or the srun that
 * holds them, need some 20 ms. They are given ten times that, and counted with the program; where
 * its pipes were waited for, that was the time. */
static void let_leave(struct launch *l)
{
    struct timespec nap = {.tv_nsec = 2000000};
    while ((l->left = ending_left(l)) > 0 && l->recorded && !l->limit.reached && clock_mono_ns() < l->ended_ns + LEAVE_NS) {
        nanosleep(&nap, NULL);
        nap.tv_nsec += nap.tv_nsec / 2;
        launcher_reap(l);
    }
}

/* Handles events until the program and its streams have ended, or its exec has failed, then ends the
 * run. Returns the exit status. */
static int loop_and_end(struct launch *l)
{
    while (!l->exit_status && !(l->ended && pump_finished(&l->stream[0]) && pump_finished(&l->stream[1])))
        launcher_turn(l);
    if (!l->exit_status)
        let_leave(l);
    return ending_finish(l);
}

/* Handles a failure of benchwrap before the program could start: under --strict returns 125, else runs
 * the program unrecorded, with the launcher above it only for a time limit or --gate. error: errno;
 * 0: `what` is the complete text. */
static int run_unrecorded(struct launch *l, const char *what, int error)
{
    char why[600];
    if (error)
        snprintf(why, sizeof why, "%s: %s", what, strerror(error));
    else
        snprintf(why, sizeof why, "%s", what);
    abandon_recording(l);
    if (l->options.strict) {
        say_stderr("%s; not started (--strict)", why);
        return 125;
    }
    say_stderr("%s; running it unrecorded", why);
    bool stays = l->options.timeout > 0 || l->options.gate;
    if (stays && l->signals.fd >= 0 && start_program(l))
        return loop_and_end(l);
    if (stays)
        say_stderr("without a process above the program there is no time limit, and --gate is not checked");
    signals_close(&l->signals);
    spawn_restore(&l->state);
    return spawn_exec(l->program);
}

int launcher_run(struct launch *l)
{
    const char *what = "cannot block signals";
    l->line = l->signals.fd = -1;
    l->recorder = (struct recorder){.socket = -1, .its_end = -1, .memory = -1, .log = -1};
    for (int i = 0; i < 2; i++) {
        out_open(&l->out[i], i + 1);
        l->stream[i] = (struct pump_stream){.number = i + 1, .source = -1, .for_child = -1};
    }
    if (!spawn_save(&l->state)) {
        say_stderr("%s: %s; running it unrecorded", what, strerror(errno));
        return l->options.strict ? 125 : spawn_exec(l->program);
    }
    if (launcher_prepare(l, &what) < 0)
        return run_unrecorded(l, what, errno);
    bool there = messages_wait_ready(l);
    if (l->recorder.refused) {
        say_stderr("%s", l->recorder.summary);
        abandon_recording(l);
        return 125;
    }
    if (!there) {
        reap_recorder(l);
        int exit = l->recorder.exit;
        char text[200];
        snprintf(text, sizeof text, "the recorder did not start (%s %d; see \"benchwrap doctor\")",
                 WIFSIGNALED(exit) ? "signal" : "exit status", WIFSIGNALED(exit) ? WTERMSIG(exit) : WEXITSTATUS(exit));
        return run_unrecorded(l, text, 0);
    }
    l->recorded = true;
    if (!start_program(l))
        return run_unrecorded(l, "cannot make a process for the program", errno);
    return loop_and_end(l);
}
