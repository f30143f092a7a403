/* local.c: the local provider: a thread for each processor starts tasks and waits for them. */
#include "benchmarks/native/taskrate/local.h"

#include "base/clock.h"
#include "base/join.h"
#include "benchmarks/native/taskrate/provider.h"
#include "benchmarks/native/taskrate/spawn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS_MAX = 4096, WATCH_MS = 50, PER_THREAD_MAX = 1024, REFUSALS_IN_A_ROW = 100 };

/* A task that runs. The watching thread may kill it as long as pid is set; both hold the lock,
 * since the kernel may reuse a reaped pid for another process. */
struct task_place {
    pid_t pid;
    int pidfd;
    size_t task;
    int64_t began;
};

struct local_worker {
    struct local_crew *crew;
    pthread_t thread;
    pthread_mutex_t lock;
    struct task_place *place; /* [places] */
    size_t places, running;
    struct spawner spawner;
    char word[64]; /* the stub's first argument */
    int failed; /* errno of the last task that could not be started, or of what ended the thread early */
    unsigned in_a_row; /* of those */
    bool started;
};

struct local_crew {
    struct bench *b;
    struct task_batch *batch;
    enum task_payload payload;
    struct argument_words words; /* the command; word[1] is replaced for the stub */
    char word_rest[30]; /* ",NANOSECONDS[b]" */
    bool stamped; /* the stub is what is started */
    _Atomic size_t next;
    _Atomic bool stop;
    _Atomic bool hung;
    _Atomic bool hopeless; /* too many tasks in a row could not be started */
};

unsigned local_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* Writes the digits of n without a NUL and returns the place behind them; without printf, since this
 * is in the way of every task. */
static char *local_print_number(char *to, size_t n)
{
    char digits[24];
    int i = 0;
    do
        digits[i++] = (char)('0' + n % 10);
    while (n /= 10);
    while (i)
        *to++ = digits[--i];
    return to;
}

static void stub_word(struct local_worker *w, size_t task)
{
    char *p = w->word;
    *p++ = 's';
    p = local_print_number(p, (size_t)w->crew->b->tasks.self_fd);
    *p++ = ',';
    p = local_print_number(p, task);
    memcpy(p, w->crew->word_rest, sizeof w->crew->word_rest);
}

static void local_finish_task(struct local_worker *w, struct task_place *place, int status, int64_t when)
{
    struct tasks *t = &w->crew->b->tasks;
    struct wire_stamps *self = &t->self[place->task];
    bool stamped = self->start >= t->submit[place->task] && self->end >= self->start && self->end <= when;
    if (!stamped) /* none, or a false one */
        *self = (struct wire_stamps){0};
    t->known[place->task] = when;
    t->status[place->task] = (int16_t)spawn_status(status);
    t->flags[place->task] |= (uint8_t)(TASK_ENDED | (stamped ? TASK_STAMPED : 0));
}

/* Runs a task as a call in this thread, without a process, and records its times. */
static void local_call_task(struct local_worker *w, size_t task)
{
    struct tasks *t = &w->crew->b->tasks;
    int64_t duration = (int64_t)(w->crew->batch->duration * 1e9);
    t->submit[task] = clock_mono_ns();
    int64_t start = clock_mono_ns();
    t->submitted[task] = start;
    if (duration && w->crew->b->set.busy)
        while (clock_mono_ns() < start + duration)
            ;
    else if (duration) {
        struct timespec until = {(start + duration) / 1000000000, (start + duration) % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
            ;
    }
    t->self[task] = (struct wire_stamps){start, clock_mono_ns()};
    t->known[task] = clock_mono_ns();
    t->status[task] = 0;
    t->flags[task] = TASK_SUBMITTED | TASK_STAMPED | TASK_ENDED;
}

/* Starts a task in the place. pidfd: also opens place->pidfd, which the caller closes. False: it
 * could not be started, the task is marked as refused, and w->failed has errno. Many of these in a
 * row stop the crew. */
static bool local_start_task(struct local_worker *w, struct task_place *place, size_t task, bool pidfd)
{
    static char path[] = "PATH=/usr/bin:/bin";
    static char *const none[] = {NULL}, *const small[] = {
                                            path, NULL}; /* what is not needed costs its copying; commands of the user's need theirs */
    struct local_crew *c = w->crew;
    struct tasks *t = &c->b->tasks;
    char *argv[WORDS_MAX + 1];
    memcpy(argv, c->words.word, (c->words.n + 1) * sizeof *argv);
    if (c->stamped) {
        stub_word(w, task);
        argv[1] = w->word;
    }
    place->task = task;
    t->flags[task] = TASK_SUBMITTED;
    char *const *environment = c->payload == PAYLOAD_STUB ? none : c->payload == PAYLOAD_COMMAND ? environ : small;
    pthread_mutex_lock(&w->lock);
    place->began = t->submit[task] = clock_mono_ns();
    pid_t pid = spawn_task(&w->spawner, argv, environment, pidfd ? &place->pidfd : NULL);
    t->submitted[task] = clock_mono_ns();
    place->pid = pid > 0 ? pid : 0;
    int sys = errno;
    pthread_mutex_unlock(&w->lock);
    if (pid > 0) {
        w->in_a_row = 0;
        return true;
    }
    w->failed = sys;
    t->flags[task] |= TASK_REFUSED;
    if (++w->in_a_row >= REFUSALS_IN_A_ROW) /* the others would fare no better */
        c->hopeless = true;
    else if (sys == EAGAIN || sys == ENOMEM)
        usleep(1000);
    return false;
}

/* Reaps the task's process, which has ended, frees the place, and records the task's end at `when` (monotonic
 * ns). The lock keeps the watching thread from killing another process that gets the pid. */
static void local_reap_task(struct local_worker *w, struct task_place *place, int64_t when)
{
    int status = 0;
    pthread_mutex_lock(&w->lock);
    while (waitpid(place->pid, &status, 0) < 0 && errno == EINTR)
        ;
    place->pid = 0;
    pthread_mutex_unlock(&w->lock);
    local_finish_task(w, place, status, when);
}

/* Waits until the task's process has ended, and reaps it. Waiting costs one system call, without the
 * lock, and the time of the end is read before the task is reaped. */
static void local_wait_task(struct local_worker *w, struct task_place *place)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)place->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    local_reap_task(w, place, clock_mono_ns());
}

static bool next_task(struct local_crew *c, size_t *ret)
{
    return !c->stop && !c->hopeless && (*ret = c->next++) < c->b->tasks.n;
}

/* Runs tasks one after the other in w->place[0] until none is left. A task that cannot be started
 * is marked as refused. */
static void local_run_one_by_one(struct local_worker *w)
{
    struct local_crew *c = w->crew;
    size_t task;
    while (next_task(c, &task)) {
        if (c->payload == PAYLOAD_CALL) {
            local_call_task(w, task);
            continue;
        }
        if (local_start_task(w, &w->place[0], task, false))
            local_wait_task(w, &w->place[0]);
    }
}

/* Runs up to w->places tasks at once in one thread, until none is left: epoll reports the pidfds of
 * those that end. -1 with errno: epoll is not available, no task was started. */
static int local_run_several(struct local_worker *w)
{
    struct local_crew *c = w->crew;
    struct epoll_event events[64];
    size_t task;
    bool more = true;
    int ep = epoll_create1(EPOLL_CLOEXEC);
    if (ep < 0)
        return -1;
    while (more || w->running) {
        for (size_t i = 0; more && w->running < w->places && i < w->places; i++) {
            struct task_place *p = &w->place[i];
            if (p->pid)
                continue;
            if (!(more = next_task(c, &task)))
                break;
            if (!local_start_task(w, p, task, true))
                continue;
            struct epoll_event e = {.events = EPOLLIN, .data.ptr = p};
            if (p->pidfd < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, p->pidfd, &e) < 0) { /* no pidfds here: waited for at once */
                local_wait_task(w, p);
                if (p->pidfd >= 0)
                    close(p->pidfd);
                continue;
            }
            w->running++;
        }
        int n = w->running ? epoll_wait(ep, events, 64, 1000) : 0;
        int64_t when = clock_mono_ns();
        for (int i = 0; i < n; i++) {
            struct task_place *p = events[i].data.ptr;
            epoll_ctl(ep, EPOLL_CTL_DEL, p->pidfd, NULL); /* closing alone does not: another thread's child may hold it until its exec */
            local_reap_task(w, p, when);
            close(p->pidfd);
            w->running--;
        }
    }
    close(ep);
    return 0;
}

/* The thread of one worker. w->failed: errno of a failure, else unchanged. Returns NULL. */
static void *local_run_worker(void *argument)
{
    struct local_worker *w = argument;
    if (w->places == 1 || w->crew->payload == PAYLOAD_CALL)
        local_run_one_by_one(w);
    else if (local_run_several(w) < 0)
        w->failed = errno;
    return NULL;
}

/* The command that all tasks are: the stub with its argument, the payload itself, or the stub around it. */
static int local_make_command(struct local_crew *c, struct err *err)
{
    const struct bench_settings *set = &c->b->set;
    c->stamped = c->payload == PAYLOAD_STUB || set->wrap;
    snprintf(c->word_rest, sizeof c->word_rest, ",%lld%s", (long long)(c->batch->duration * 1e9), set->busy ? "b" : "");
    if (!c->stamped)
        return words_join(&c->words, &set->command, err);
    if (words_addv(&c->words, err, set->stub, "", NULL) < 0)
        return -1;
    return provider_rest(set, c->payload, &c->words, err);
}

/* Kills what has run for too long, or everything once the end was requested. */
static void local_kill_overdue(struct local_crew *c, struct local_worker *workers, size_t count)
{
    int64_t limit = (int64_t)((c->b->set.task_timeout + c->batch->duration) * 1e9);
    for (size_t i = 0; i < count; i++) {
        struct local_worker *w = &workers[i];
        for (size_t k = 0; k < w->places; k++) {
            if (pthread_mutex_trylock(&w->lock) != 0)
                continue;
            struct task_place *p = &w->place[k];
            bool late = p->pid && clock_mono_ns() - p->began > limit;
            if (p->pid && (late || c->stop))
                kill(p->pid, SIGKILL);
            c->hung |= late;
            pthread_mutex_unlock(&w->lock);
        }
    }
}

static void crew_end(struct local_worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        spawner_deinit(&workers[i].spawner);
        pthread_mutex_destroy(&workers[i].lock);
        free(workers[i].place);
    }
    free(workers);
}

/* Returns `count` workers that share the batch's slots; crew_end frees them. NULL with err: out of
 * memory, and nothing is left. */
static struct local_worker *crew_hire(struct local_crew *c, size_t count, struct err *err)
{
    struct local_worker *workers = calloc(count, sizeof *workers);
    for (size_t i = 0; workers && i < count; i++) {
        struct local_worker *w = &workers[i];
        w->crew = c;
        w->places = c->batch->slots / count + (i < c->batch->slots % count);
        pthread_mutex_init(&w->lock, NULL);
        w->place = calloc(w->places, sizeof *w->place);
        if (!w->place || spawner_init(&w->spawner) < 0) {
            err_memory(err, "%u tasks at once", c->batch->slots);
            crew_end(workers, i + 1);
            return NULL;
        }
        w->spawner.keep = c->stamped ? c->b->tasks.self_fd : -1;
        w->spawner.death = c->stamped && !c->b->set.wrap ? 0 : SIGKILL; /* the stub does that itself, where it lasts */
    }
    if (!workers)
        err_memory(err, "the threads");
    return workers;
}

/* Sets the reason of the batch: the first of interruption, a thread or a task that could not be
 * started, and a task that ran too long. given_up: so many failed in a row that no more were tried. */
static void say_why(struct local_crew *c, struct local_worker *workers, size_t count)
{
    struct task_batch *batch = c->batch;
    if (c->stop)
        snprintf(batch->reason, sizeof batch->reason, "interrupted");
    for (size_t i = 0; i < count && !batch->reason[0]; i++)
        if (workers[i].failed && !workers[i].started)
            snprintf(batch->reason, sizeof batch->reason, "not all threads could be started, so fewer tasks ran at once: %s",
                     strerror(workers[i].failed));
        else if (workers[i].failed)
            snprintf(batch->reason, sizeof batch->reason, "tasks could not be started: %s: %s%s", c->words.n ? c->words.word[0] : "",
                     strerror(workers[i].failed), c->hopeless ? "; no more were tried" : "");
    batch->given_up = c->hopeless;
    if (c->hung && !batch->reason[0])
        snprintf(batch->reason, sizeof batch->reason, "tasks ran for longer than %g s (--task-timeout%s) and were killed",
                 c->b->set.task_timeout + batch->duration, batch->duration > 0 ? " and a task's duration" : "");
}

/* Waits for the threads, with an eye on signals and on tasks that hang. */
static void local_join_workers(struct local_crew *c, struct local_worker *workers, size_t count)
{
    struct pollfd poll_signals = {.fd = c->b->signal_fd, .events = POLLIN};
    for (size_t i = 0; i < count; i++) {
        if (!workers[i].started)
            continue;
        for (;;) {
            if (join_until(workers[i].thread, clock_mono_ns() + WATCH_MS * INT64_C(1000000)))
                break;
            if (poll(&poll_signals, 1, 0) > 0 && bench_stop(c->b))
                c->stop = true;
            local_kill_overdue(c, workers, count);
        }
    }
}

int local_run(struct bench *b, struct task_batch *batch, enum task_payload payload, struct err *err)
{
    struct local_crew c = {.b = b, .batch = batch, .payload = payload};
    size_t count = local_processors(), started = 0;
    if (payload != PAYLOAD_CALL && local_make_command(&c, err) < 0)
        return -1;
    if (!batch->slots || batch->slots > SLOTS_MAX)
        return err_set(err, ERR_USAGE, "--slots: expected a number from 1 to %d, got \"%u\"", SLOTS_MAX, batch->slots);
    if (count > batch->slots)
        count = batch->slots;
    if (batch->slots / count > PER_THREAD_MAX)
        return err_set(err, ERR_USAGE, "--slots %u: at most %d for each processor", batch->slots, PER_THREAD_MAX);
    struct local_worker *workers = crew_hire(&c, count, err);
    if (!workers)
        return -1;
    batch->begin = clock_mono_ns();
    for (size_t i = 0; i < count; i++)
        if ((workers[i].failed = pthread_create(&workers[i].thread, NULL, local_run_worker, &workers[i])) == 0)
            workers[i].started = true, started++;
    if (!started) {
        errno = workers[0].failed;
        err_sys(err, "starting threads");
        crew_end(workers, count);
        return -1;
    }
    local_join_workers(&c, workers, count);
    batch->end = clock_mono_ns();
    batch->calls = b->tasks.n;
    batch->completion = "the process was reaped";
    say_why(&c, workers, count);
    crew_end(workers, count);
    return 0;
}
