/* signals.c: passes signals on so that the program receives each exactly once, sent to the
 * launcher's pid or to the whole group.
 *
 * A signal sent to the group reaches launcher, recorder and program alike; one sent to the launcher's pid reaches it alone and must be
 * forwarded. The kernel does not report which it was, so the recorder, same group and all signals blocked, is the observer: its count, and what is pending for
 * it (it may be busy or stopped). kill(-group) runs under the kernel's task list lock, and setpgid
 * acquires that lock too: after a setpgid that
 * changes nothing, whoever else is hit by the same kill has been hit. Only senders that walk pid by pid (slurmstepd) need waiting. */
#include "launch/signals.h"

#include "launch/fd.h"
#include "launch/proc.h"
#include "launch/spawn.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int signals_open(struct signals *s)
{
    sigset_t all;
    *s = (struct signals){.fd = -1, .self = getpid(), .group = getpgrp()};
    sigfillset(&all);
    s->fd = fd_high(signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC));
    return s->fd < 0 ? -1 : 0;
}

/* Accounts for all signals that the observer has counted so far. */
static void signals_restart_counts(struct signals *s)
{
    for (int i = 0; i < WIRE_SIGNALS && s->observer.seen; i++)
        s->base[i] = s->observer.seen[i];
}

void signals_set_observer(struct signals *s, pid_t pid, const _Atomic uint32_t *seen)
{
    s->observer = (struct signal_observer){.pid = pid, .seen = seen};
    signals_restart_counts(s);
}

/* Runs in a child in the launcher's group: counts each signal that reaches the child, until the
 * launcher ends. */
_Noreturn static void signal_observer_main(_Atomic uint32_t *seen, pid_t parent)
{
    sigset_t all;
    sigfillset(&all);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "signal-witness");
    if (getppid() != parent)
        _exit(0);
    fd_close_from(0);
    for (;;) {
        int number = sigwaitinfo(&all, NULL);
        if (number > 0 && number < WIRE_SIGNALS)
            seen[number]++;
    }
}

int signals_start_observer(struct signals *s)
{
    s->observer = (struct signal_observer){0};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    pid_t pid = spawn_fork();
    if (pid == 0)
        signal_observer_main(page, s->self);
    if (pid < 0) {
        munmap(page, 4096);
        return -1;
    }
    signals_set_observer(s, pid, page);
    s->observer.page = page;
    return 0;
}

bool signals_of_terminal(const struct signals *s, int number)
{
    return number == SIGTTIN || number == SIGTTOU || (number == SIGTSTP && s->stop_asked);
}

void signals_stop(struct signals *s, int number)
{
    struct sigaction stop = {.sa_handler = SIG_DFL}, was;
    sigset_t one, all;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigfillset(&all);
    sigaction(number, &stop, &was);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here this process stops, and continues from here */
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigaction(number, &was, NULL);
    s->stop_asked = false;
}

void signals_close(struct signals *s)
{
    if (s->observer.page && s->observer.pid > 0)
        kill(s->observer.pid, SIGKILL);
    fd_close(&s->fd);
}

/* Returns when every process that the senders known so far signal has received its signal. */
static void signals_barrier(const struct signals *s)
{
    setpgid(0, s->group); /* a session leader gets EPERM, under the same lock */
}

static bool is_ending(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* Decides what a signal means for the launcher itself (*todo), and queues it where the program may
 * need it too. Nothing is queued for a program that has ended. */
static void signals_enqueue(struct signals *s, const struct signalfd_siginfo *info, int64_t now_ns, unsigned *todo)
{
    int number = (int)info->ssi_signo;
    if (number == SIGCHLD && info->ssi_code != SI_USER && info->ssi_code != SI_QUEUE && info->ssi_code != SI_TKILL) {
        *todo |= SIGNALS_CHILD;
        return;
    }
    if (number == SIGWINCH)
        *todo |= SIGNALS_RESIZE;
    if (number == SIGTSTP)
        s->stop_asked = true;
    if (number == SIGCONT)
        s->stop_asked = false;
    if ((pid_t)info->ssi_pid == s->self && info->ssi_code <= 0)
        return; /* SIGPIPE, SIGXFSZ of the launcher's own writing */
    if (is_ending(number) && !s->ended && !s->finish_signal && !proc_ignores(s->program, number))
        s->finish_signal = number;
    if (s->ended) {
        *todo |= is_ending(number) ? SIGNALS_END : 0;
        return;
    }
    bool walked = info->ssi_code != SI_KERNEL && (info->ssi_pid == 0 || proc_is_ancestor((pid_t)info->ssi_pid));
    s->queue[s->queued++] = (struct signals_entry){*info, now_ns + (walked ? SIGNALS_WALK_MS : SIGNALS_WAIT_MS) * 1000000LL,
                                                   now_ns + (walked ? SIGNALS_HELD_UP_MS : 0) * 1000000LL};
}

/* Reads the signals that have arrived, as far as the queue has capacity. */
static void signals_read(struct signals *s, int64_t now_ns, unsigned *todo)
{
    struct signalfd_siginfo info;
    int tries = 0; /* a call that fails each time must not block the launcher */
    while (s->queued < SIGNALS_QUEUE && tries < 100) { /* the rest waits in the kernel */
        ssize_t n = read(s->fd, &info, sizeof info);
        if (n == (ssize_t)sizeof info)
            signals_enqueue(s, &info, now_ns, todo);
        else if (n < 0 && errno == EINTR)
            tries++;
        else {
            if (n >= 0 || errno != EAGAIN) /* cannot be read: then at least children are waited for */
                *todo |= SIGNALS_CHILD;
            break;
        }
    }
    if (tries >= 100)
        *todo |= SIGNALS_CHILD;
}

static void signals_forward(struct signals *s, const struct signalfd_siginfo *info)
{
    union sigval value = {.sival_ptr = (void *)(uintptr_t)info->ssi_ptr};
    if (info->ssi_code == SI_QUEUE)
        sigqueue(s->program, (int)info->ssi_signo, value);
    else
        kill(s->program, (int)info->ssi_signo);
}

/* Returns whether the observer received one more than is accounted for. Its count first, then what
 * is pending for it: what it reads from its queue in between is counted a moment later, and nothing
 * is counted twice. */
static bool has_observer_seen(const struct signals *s, int number)
{
    int32_t more = (int32_t)(s->observer.seen[number] - s->base[number]);
    uint64_t pending;
    if (more <= 0 && proc_pending(s->observer.pid, &pending))
        more += (int32_t)(pending >> (number - 1) & 1);
    return more > 0;
}

static bool is_observer_alive(const struct signals *s)
{
    return s->observer.pid > 0;
}

/* Returns whether the kernel sends this by itself to a whole group (terminal) rather than to one
 * process (timer, limit). */
static bool is_terminals(int number)
{
    return number == SIGINT || number == SIGQUIT || number == SIGTSTP || number == SIGWINCH || number == SIGHUP || number == SIGCONT ||
           number == SIGTTIN || number == SIGTTOU;
}

enum signals_decision { DROP, FORWARD, LATER };

/* Returns whether the sender is slurmstepd, which signals every process of the step one after the
 * other, the program among them even if it has left the group. */
static bool is_step_daemon(pid_t pid)
{
    struct proc_id id;
    return pid > 0 && proc_look(pid, &id) && strcmp(id.comm, "slurmstepd") == 0;
}

/* Decides whether the launcher forwards the signal. DROP: the program got it too or sent it, or
 * it is about the launcher alone. LATER: the observer may still show that it reached the
 * complete group. */
static enum signals_decision signals_decide(struct signals *s, const struct signals_entry *e, int64_t now_ns)
{
    int number = (int)e->info.ssi_signo;
    bool member = getpgid(s->program) == s->group, kernel = e->info.ssi_code == SI_KERNEL;
    if (kernel && !is_terminals(number))
        return DROP;
    if ((pid_t)e->info.ssi_pid == s->program && !kernel)
        return DROP;
    bool hangup_of_leader = (number == SIGHUP || number == SIGCONT) && getsid(0) == s->self;
    if (kernel && !hangup_of_leader)
        return member ? DROP : FORWARD;
    if (!member && !is_step_daemon((pid_t)e->info.ssi_pid))
        return FORWARD;
    if (!is_observer_alive(s))
        return FORWARD;
    if (has_observer_seen(s, number)) {
        s->base[number]++;
        return DROP;
    }
    if (now_ns < e->until_ns)
        return LATER;
    return now_ns < e->latest_ns && proc_is_busy((pid_t)e->info.ssi_pid)
               ? LATER
               : FORWARD; /* a crowded machine: it has not come to the others yet */
}

/* Forwards or drops the queued signals; those that are not decided yet stay queued. */
static void decide_all(struct signals *s, int64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->queued; i++) {
        enum signals_decision v = signals_decide(s, &s->queue[i], now_ns);
        if (v == LATER)
            s->queue[kept++] = s->queue[i];
        else if (v == FORWARD)
            signals_forward(s, &s->queue[i].info);
    }
    s->queued = kept;
}

/* Removes counts of the observer without a signal here (it alone was hit, or two of a kind became
 * one here): they must not account for a later one. */
static void signals_settle(struct signals *s, int64_t now_ns, unsigned *todo)
{
    uint32_t seen[WIRE_SIGNALS];
    bool more = false;
    for (int i = 1; i < WIRE_SIGNALS; i++) {
        seen[i] = s->observer.seen[i];
        more |= (int32_t)(seen[i] - s->base[i]) > 0;
    }
    if (!more)
        return;
    signals_barrier(s);
    signals_read(s, now_ns, todo);
    for (size_t i = 0; i < s->queued; i++)
        seen[s->queue[i].info.ssi_signo] = s->base[s->queue[i].info.ssi_signo];
    for (int i = 1; i < WIRE_SIGNALS; i++)
        if ((int32_t)(seen[i] - s->base[i]) > 0)
            s->base[i] = seen[i];
}

unsigned signals_handle(struct signals *s, int64_t now_ns)
{
    unsigned todo = 0;
    signals_read(s, now_ns, &todo);
    if (!s->program || s->ended) {
        s->queued = s->ended ? 0 : s->queued;
        return todo;
    }
    if (s->queued) {
        signals_barrier(s);
        signals_read(s, now_ns, &todo);
        decide_all(s, now_ns);
    }
    if (is_observer_alive(s))
        signals_settle(s, now_ns, &todo);
    return todo;
}

void signals_started(struct signals *s, pid_t program)
{
    unsigned todo = 0;
    uint64_t pending = 0;
    signals_barrier(s);
    signals_read(s, 0, &todo);
    s->program = program;
    proc_pending(program, &pending);
    for (size_t i = 0; i < s->queued; i++) {
        uint64_t bit = 1ULL << (s->queue[i].info.ssi_signo - 1);
        if (!(pending & bit))
            signals_forward(s, &s->queue[i].info);
    }
    s->queued = 0;
    signals_restart_counts(s);
}

int signals_timeout(const struct signals *s)
{
    return s->queued && s->program ? 2 : -1;
}
