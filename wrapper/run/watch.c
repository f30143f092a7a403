/* watch.c: while the program runs: streams out of the rings, signals counted, samples, messages, the journal kept on disk. */
#include "base/clock.h"
#include "base/fs.h"
#include "collector/collector.h"
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SYNC_S = 30, /* design: the journal is synced every 30 s, */
    MINUTE_S = 60,
    BEAT_S = 60, /* it receives a heartbeat every minute */
    EAGER = WIRE_RING / 4, /* while bytes flow, wake at a quarter of the ring */
    GONE_S = 10,
    SIGNAL_MS = 250,
    FLOW_MS = 500 /* and at least so often: no byte stays unwritten for a second */
};
static const int64_t SECOND = 1000000000;

/* Reads the content of one ring. Returns the number of bytes read. */
static uint64_t drain_ring(struct run *run, int i)
{
    struct wire_ring *ring = &run->wire->ring[i];
    const char *base = run->data + (size_t)i * WIRE_RING;
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed), start = tail;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    while (tail < head) {
        size_t at = tail % WIRE_RING, n = head - tail < WIRE_RING - at ? (size_t)(head - tail) : WIRE_RING - at;
        if (n > WIRE_RING / 8)
            n = WIRE_RING / 8; /* free a part of the ring early */
        redact_stream_write(&run->cleaned[i], base + at, n);
        tail += n;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    return tail - start;
}

static bool drain_rings(struct run *run)
{
    uint64_t taken = 0;
    for (int i = 0; i < WIRE_STREAMS; i++)
        if (run->wire->ring[i].used)
            taken += drain_ring(run, i);
    return taken > 0;
}

/* Sets when the launcher wakes the recorder; false: enough bytes have arrived already. */
static bool set_wake(struct run *run)
{
    bool quiet = true;
    for (int i = 0; i < WIRE_STREAMS; i++) {
        struct wire_ring *ring = &run->wire->ring[i];
        if (!ring->used)
            continue;
        uint64_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed) + (run->idle ? 1 : EAGER);
        atomic_store(&ring->wake_at, at);
        if (atomic_load(&ring->head) >= at)
            quiet = false;
    }
    return quiet;
}

/* Reads the pending signals: counts them for the launcher, and passes each to job_signalled. */
static void read_signals(struct run *run)
{
    struct signalfd_siginfo s[8];
    ssize_t n;
    while (run->signals >= 0 && (n = read(run->signals, s, sizeof s)) > 0)
        for (size_t i = 0; i < (size_t)n / sizeof *s; i++)
            if (s[i].ssi_signo < WIRE_SIGNALS) {
                atomic_fetch_add(&run->wire->seen[s[i].ssi_signo], 1);
                run->pause.continued |= s[i].ssi_signo == SIGCONT;
                job_signalled(run, (int)s[i].ssi_signo, (pid_t)s[i].ssi_pid);
            }
}

/* Handles the start of the program: begins all that accompanies it, and notes its pid and start. */
static void program_started(struct run *run, const struct wire_msg *m)
{
    run->host.pid = m->pid;
    starter_watch_begin(run); /* first: what the program starts at once may be short */
    run_server_started(run);
    step_begin(run);
    collectors_begin(run);
    run_live_begin(run);
    run->program_mono_ns = m->mono_ns;
    journal_started(run->journal, m->wall_ms, m->mono_ns);
    run->dirty = true;
    int64_t now = clock_mono_ns();
    run->next_sample = run->sample_ns > 0 ? now + run->sample_ns : INT64_MAX;
}

/* Waits 1 ms, since out of memory does not show whether the launcher lives. False: the launcher has
 * been gone for GONE_S seconds. */
static bool await_launcher_message(struct run *run, bool is_gone)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    nanosleep(&nap, NULL);
    if (!is_gone)
        return true;
    if (!run->gone_ns)
        run->gone_ns = clock_mono_ns();
    return clock_mono_ns() - run->gone_ns < GONE_S * SECOND;
}

/* Handles one message, or the launcher's end. is_gone: the launcher has closed its end of the
 * socket. False: no more will come. */
static bool read_launcher_message(struct run *run, bool is_gone)
{
    struct wire_msg m = {0};
    ssize_t n = recv(WIRE_SOCKET_FD, &m, sizeof m, MSG_DONTWAIT);
    if (n < 0 && errno == ECONNRESET) /* the launcher closed without reading all that was sent: its own last messages follow that error */
        n = recv(WIRE_SOCKET_FD, &m, sizeof m, MSG_DONTWAIT);
    if (n < 0 && (errno == ENOMEM || errno == ENOBUFS))
        return await_launcher_message(run, is_gone);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    if (n == 0)
        return false;
    if (m.kind == WIRE_HELD)
        profiler_attach(run, m.pid);
    else if (m.kind == WIRE_STARTED)
        program_started(run, &m);
    else if (m.kind == WIRE_ENDED || m.kind == WIRE_NOEXEC)
        run->end = m;
    return true;
}

struct journal_sync {
    int spool;
    bool all;
};

/* Runs in a child process: syncs the journal, or with work->all the complete spool. Opens its own
 * descriptor: the recorder's carries the journal's lock, which must not live on in a child whose
 * sync is slow. Returns 0 also on failure. */
static int sync_spool_file(void *context, int out)
{
    const struct journal_sync *work = context;
    CLEANUP_FD int fd = openat(work->spool, work->all ? "." : "journal", O_RDONLY | O_CLOEXEC);
    (void)out;
    if (fd >= 0 && work->all)
        fs_sync_tree(fd, ".", NULL);
    else if (fd >= 0)
        fdatasync(fd);
    return 0;
}

/* Syncs in a child process: the rings would fill while a busy disk syncs. Does nothing while the
 * one before still runs. */
void run_sync(struct run *run, bool all)
{
    struct journal_sync work = {run->spool.dir, all};
    const struct child_work_plan plan = {.run = sync_spool_file, .context = &work, .keep = {&work.spool}, .outlives = true};
    child_work_reap(&run->syncer, 0);
    if (run->syncer.pid > 0)
        return;
    child_work_start(&run->syncer, &plan);
    fs_close(&run->syncer.fd); /* it has no answer */
}

/* Records samples in the journal by a record that is freed at once: memory does not grow with the
 * program's time. */
static void record_sample(struct run *run, int64_t now)
{
    struct record one;
    int64_t period = node_period(run->sample_ns, now - run->program_mono_ns);
    if (period > MINUTE_S * SECOND && run->sample_ns < period)
        period = run->sample_ns > MINUTE_S * SECOND ? run->sample_ns : MINUTE_S * SECOND; /* counters of energy go round */
    record_init(&one, run->record.id, run->record.start_ms);
    one.listen = run->record.listen;
    one.context = run->record.context;
    one.redact = run->record.redact;
    one.redact_context = run->record.redact_context;
    probes_run(PROBE_SAMPLE, run->nested, &run->host, &one);
    pause_sample(&run->pause, run->host.pid, now);
    record_deinit(&one);
    run->dirty = true;
    run->next_sample += ((now - run->next_sample) / period + 1) * period;
}

void run_pass_words(struct run *run)
{
    for (int i = 0; i < WIRE_STREAMS; i++)
        redact_stream_flush(&run->cleaned[i], false);
}

/* Does what is due now: samples, beats, queries, and writing and syncing the journal. */
static void run_on_time(struct run *run, int64_t now)
{
    if (run->idle || run->job.signal) /* behind such a signal KILL may follow at any time */
        run_pass_words(run);
    run_server_on_time(run, now);
    job_on_time(run, now);
    step_on_time(run, now);
    collectors_on_time(run, now);
    starter_watch_on_time(run, now);
    if (now >= run->next_sample)
        record_sample(run, now);
    if (now >= run->next_beat) {
        run->dirty = true;
        run->next_beat = now + BEAT_S * SECOND;
    }
    if (now >= run->next_flush && (run->dirty || now >= run->next_sync)) {
        struct err err = {0};
        if (run->dirty) /* behind all facts, so that it ends what a killed recorder has measured */
            journal_beat(run->journal, clock_wall_ms());
        run->dirty = false;
        if (journal_flush(run->journal, false, &err) < 0)
            run_report(run, WIRE_NOTE, 0, err.text);
        run->next_flush = now + SECOND;
        if (now >= run->next_sync) {
            run_sync(run, false);
            run->next_sync = now + SYNC_S * SECOND;
        }
    }
}

/* Milliseconds until something is due. */
static int time_out(const struct run *run, int64_t now)
{
    int64_t next = run->next_sample < run->next_beat ? run->next_sample : run->next_beat;
    if (next > run->next_sync)
        next = run->next_sync;
    if (next > run_server_next(run))
        next = run_server_next(run);
    if (next > job_next(run))
        next = job_next(run);
    if (next > collectors_next(run))
        next = collectors_next(run);
    if (next > step_next(run))
        next = step_next(run);
    if (next > starter_watch_next(&run->starters))
        next = starter_watch_next(&run->starters);
    if (run->log.rest_until_ns > now && next > run->log.rest_until_ns)
        next = run->log.rest_until_ns;
    if (run->dirty && next > run->next_flush)
        next = run->next_flush;
    int64_t ms = (next - now + 999999) / 1000000;
    if (!run->idle && ms > FLOW_MS)
        ms = FLOW_MS;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static struct log_store run_log_store(struct run *run)
{
    return (struct log_store){run->spool.dir, &run->keep_left, &run->redaction.redact};
}

void run_watch(struct run *run)
{
    struct pollfd fds[] = {{WIRE_SOCKET_FD, POLLIN, 0},
                           {run->signals, POLLIN, 0},
                           {-1, POLLIN, 0},
                           {-1, POLLIN, 0},
                           {-1, POLLIN, 0},
                           {-1, POLLIN, 0},
                           {-1, POLLIN, 0}};
    int64_t now = clock_mono_ns();
    log_open(&run->log, run->wire->has_log_socket ? WIRE_LOG_FD : -1, (const void *)((const char *)run->wire + EMIT_SHARED_AT));
    run->next_sample = INT64_MAX;
    run->next_flush = now;
    run->next_sync = now + SECOND; /* the first: not while the program is starting, and never for the shortest of runs */
    run->next_beat = now + BEAT_S * SECOND;
    run->idle = true;
    for (bool more = true; more && run->end.kind == 0;) {
        now = clock_mono_ns();
        run_on_time(run, now);
        if (!set_wake(run)) {
            run->idle = false;
            drain_rings(run);
            continue;
        }
        fds[2].fd = run->log.rest_until_ns > now ? -1 : run->log.fd;
        fds[3].fd = run->server.line;
        fds[4].fd = job_fd(run);
        fds[5].fd = collectors_fd(run);
        fds[6].fd = starter_watch_fd(&run->starters);
        int wait_ms = time_out(run, now);
        pause_wait_begin(&run->pause, now + wait_ms * INT64_C(1000000));
        int n = poll(fds, sizeof fds / sizeof *fds, wait_ms);
        if (n < 0 && errno != EINTR) { /* out of memory for a moment */
            struct timespec nap = {.tv_nsec = 1000000};
            nanosleep(&nap, NULL);
        }
        if (n < 0 || fds[1].revents)
            read_signals(run);
        pause_wait_end(&run->pause, clock_mono_ns());
        run->idle = !drain_rings(run) && n == 0;
        if (n > 0 && fds[2].revents) {
            struct log_store to = run_log_store(run);
            uint64_t foreign = run->log.foreign;
            run->dirty |= (uint64_t)log_receive(&run->log, &to, &run->record) > run->log.foreign - foreign;
        }
        if (n > 0 && fds[3].revents)
            run_server_receive(run);
        if (n > 0 && fds[4].revents)
            job_receive(run);
        if (n > 0 && fds[5].revents)
            collectors_receive(run);
        if (n > 0 && fds[6].revents)
            starter_watch_receive(run);
        if (n < 0 || (n > 0 && fds[0].revents))
            more = read_launcher_message(run, n > 0 && fds[0].revents & POLLHUP);
    }
    starter_watch_end(&run->starters);
}

/* Waits for a signal that the program's exit status names: a shell whose child was killed ends
 * with 128 + n, sometimes before the same signal of a scheduler, sent process by process, has
 * arrived. */
static void await_signal(struct run *run)
{
    const struct wire_msg *e = &run->end;
    struct pollfd p = {.fd = run->signals, .events = POLLIN};
    int64_t until = clock_mono_ns() + SIGNAL_MS * INT64_C(1000000), left;
    int named = e->kind == WIRE_ENDED && WIFEXITED(e->status) ? WEXITSTATUS(e->status) - 128 : 0;
    if (!run_is_ending(named) || named == SIGKILL || e->finish_signal) /* no process receives SIGKILL */
        return;
    for (read_signals(run); !run->job.signal && (left = until - clock_mono_ns()) > 0;
         read_signals(run)) /* others, as SIGCHLD, may come too */
        if (poll(&p, 1, (int)(left / 1000000) + 1) < 0 && errno != EINTR)
            return;
}

void run_drain(struct run *run)
{
    struct log_store to = run_log_store(run);
    drain_rings(run);
    log_close(&run->log, &to, &run->record);
    await_signal(run);
    for (int i = 0; i < WIRE_STREAMS; i++) {
        redact_stream_flush(&run->cleaned[i], true);
        redact_stream_deinit(&run->cleaned[i]);
    }
    read_signals(run);
}
