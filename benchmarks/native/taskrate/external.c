/* external.c: batches that another launcher or scheduler runs. */
#include "benchmarks/native/taskrate/external.h"

#include "base/clock.h"
#include "benchmarks/native/taskrate/command.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { REFUSALS_IN_A_ROW = 5, TRIES_MAX = 6, ASK_FIRST_S = 2, ASK_LAST_S = 30, GRACE_S = 2, CANNOT_REPORT = 126 /* the stub's */ };

struct drive {
    struct bench *b;
    struct task_batch *batch;
    struct report_channel *report;
    const struct task_provider *provider;
    enum provider_how how;
    struct clients clients;
    struct buf input;
    struct arena words; /* of the submission that is being made */
    size_t next, chunk, window;
    size_t submitted, ended; /* tasks in the queue or through it; of those over */
    size_t again_first, again_count; /* a submission that is to be repeated; count 0: none */
    unsigned tries; /* of that */
    unsigned refusals, in_a_row;
    double tokens, burst; /* the bucket */
    int64_t filled, hungry; /* when it was filled last; since when it is empty although there is work (0: it is not) */
    int64_t not_before; /* backing off until then */
    int64_t heard; /* the last sign of life */
    int64_t ask_at;
    double ask_every;
    bool giving_up;
    int64_t gave_up; /* when */
    char queue_why[300];
};

static double drive_seconds_since(int64_t then)
{
    return (double)(clock_mono_ns() - then) / 1e9;
}

/* Stops submitting and sets the reason of the batch; later calls for the same batch do nothing.
 * lost: reports are missing and later batches are tried; false: nothing more can come, so this is
 * the last one. */
static void drive_give_up(struct drive *d, bool lost, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void drive_give_up(struct drive *d, bool lost, const char *fmt, ...)
{
    va_list ap;
    if (d->giving_up)
        return;
    d->giving_up = true;
    d->gave_up = clock_mono_ns();
    d->batch->given_up = !lost;
    va_start(ap, fmt);
    vsnprintf(d->batch->reason, sizeof d->batch->reason, fmt, ap);
    va_end(ap);
}

/* Returns whether --rate allows a call now, and counts it. Adds the time of waiting to the
 * batch. */
static bool drive_take_token(struct drive *d)
{
    double rate = d->b->set.rate;
    int64_t now = clock_mono_ns();
    if (rate <= 0)
        return true;
    d->tokens += rate * (double)(now - d->filled) / 1e9;
    d->filled = now;
    if (d->tokens > d->burst)
        d->tokens = d->burst;
    if (d->tokens < 1) {
        if (!d->hungry)
            d->hungry = now;
        return false;
    }
    if (d->hungry)
        d->batch->waited += (double)(now - d->hungry) / 1e9;
    d->hungry = 0;
    d->tokens -= 1;
    return true;
}

static void drive_mark_submitted(struct drive *d, size_t first, size_t count, int64_t submit)
{
    struct tasks *t = &d->b->tasks;
    for (size_t i = first; i < first + count; i++) {
        if (t->flags[i] & TASK_SUBMITTED)
            t->flags[i] |= TASK_RETRIED;
        else
            t->submit[i] = submit; /* of the first try: the wait for another is a part of its time */
        t->flags[i] |= TASK_SUBMITTED;
    }
}

static void drive_mark_refused(struct drive *d, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        d->b->tasks.flags[i] |= TASK_REFUSED;
}

/* Starts one submission. False with *err: none was started; where the command itself could not be
 * started, its tasks are marked as refused. */
static bool drive_submit(struct drive *d, struct err *err)
{
    bool again = d->again_count > 0;
    size_t left = d->b->tasks.n - d->next;
    arena_deinit(&d->words);
    arena_init(&d->words, 0);
    struct submission s = {.batch = d->batch,
                           .first = again ? d->again_first : d->next,
                           .count = again             ? d->again_count
                                    : left < d->chunk ? left
                                                      : d->chunk,
                           .input = &d->input,
                           .arena = &d->words};
    buf_clear(&d->input);
    if (d->provider->line(d->b, &s, err) < 0)
        return false;
    d->b->submitted = true;
    drive_mark_submitted(d, s.first, s.count, clock_mono_ns());
    struct submit_client *one = clients_start(&d->clients, &s.argv, buf_text(&d->input), err);
    if (!one) {
        drive_mark_refused(d, s.first, s.count);
        return false;
    }
    one->first = s.first;
    one->count = s.count;
    d->batch->calls++;
    if (again)
        d->again_count = 0;
    else
        d->next += s.count;
    d->submitted += s.count;
    d->heard = clock_mono_ns();
    return true;
}

/* Refusals that pass: the controller is busy or limits the rate of calls. */
static bool drive_is_temporary(struct str says)
{
    static const char *const words[] = {"temporarily", "try again", "retry", "limit", "too many", "unavailable", "throttl"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
        for (size_t n = strlen(words[w]), i = 0; i + n <= says.n; i++)
            if (str_is_anycase(str_sub(says, i, n), words[w]))
                return true;
    return false;
}

/* Schedules the tasks of a refused submission again where the refusal is temporary, else marks them
 * as refused. Stops the submission after too many refusals. */
static void drive_handle_refusal(struct drive *d, struct submit_client *one)
{
    CLEANUP_BUF struct buf says;
    buf_init(&says, 2048);
    client_says(one, &says);
    d->refusals++;
    d->in_a_row++;
    d->submitted -= one->count;
    bool again = !one->overdue && drive_is_temporary(buf_text(&says)) && d->tries < TRIES_MAX && d->again_count == 0;
    if (again) {
        d->again_first = one->first;
        d->again_count = one->count;
        d->not_before = clock_mono_ns() + (INT64_C(1000000000) << d->tries++);
        d->batch->stalled += (double)(INT64_C(1) << (d->tries - 1));
    } else
        drive_mark_refused(d, one->first, one->count);
    bool growth = d->in_a_row >= REFUSALS_IN_A_ROW || (d->refusals > 10 && d->refusals * 10 > d->batch->calls);
    if (one->overdue)
        drive_give_up(d, false, "a submission did not return within %g s (--client-timeout) and was ended; nothing more was submitted",
                      d->b->set.client_timeout);
    else if (growth || (!again && d->chunk > 1))
        drive_give_up(d, false, "submission was refused %u time%s, the last time with: %s; nothing more was submitted", d->refusals,
                      str_plural(d->refusals), says.n ? says.p : "no word");
    else
        bench_note(d->b, "a submission was refused (%s)%s", says.n ? says.p : "no word", again ? " and repeated after a while" : "");
}

/* Counts the tasks of an ended command as ended: those that reported, and the others where the
 * command failed. After status 0 a report may still come. Stops the batch after many failures in
 * a row. */
static void attached_ended(struct drive *d, struct submit_client *one, int64_t when)
{
    struct tasks *t = &d->b->tasks;
    CLEANUP_BUF struct buf says;
    buf_init(&says, 2048);
    for (size_t i = one->first; i < one->first + one->count; i++) {
        bool told = t->flags[i] & TASK_STAMPED;
        t->known[i] = when;
        if (told)
            d->ended++;
        else if (one->status) { /* it never ran, or died before its report */
            t->status[i] = (int16_t)one->status;
            t->flags[i] |= TASK_ENDED;
            d->ended++;
        }
    }
    if (!one->status)
        return;
    client_says(one, &says);
    if (one->status == CANNOT_REPORT && !(t->flags[one->first] & TASK_STAMPED))
        bench_note(d->b, "a task could not deliver its report (status %d): see --address and --report-dir", one->status);
    if (says.n)
        bench_note(d->b, "a command ended with status %d: %s", one->status, says.p);
    d->in_a_row++;
    d->refusals++;
    if (d->in_a_row >= 2 * REFUSALS_IN_A_ROW && !(t->flags[one->first] & TASK_STAMPED))
        drive_give_up(d, false, "%u commands failed one after the other, the last one with: %s; no more were started", d->in_a_row,
                      says.n ? says.p : "no word");
}

/* Notes how the command for all tasks ended. drive_check_end() handles tasks without a report. */
static void tool_ended(struct drive *d, const struct submit_client *one)
{
    CLEANUP_BUF struct buf says;
    buf_init(&says, 2048);
    client_says(one, &says);
    if (one->status)
        bench_note(d->b, "the command ended with status %d%s%s", one->status, says.n ? ": " : "", says.n ? says.p : "");
}

/* Records the result of a submission whose client has ended, and frees the client. */
static void client_ended(struct drive *d, struct submit_client *one)
{
    struct tasks *t = &d->b->tasks;
    int64_t when = clock_mono_ns();
    struct str text = {one->text, one->text_n};
    d->heard = when;
    if (d->how == HOW_ATTACHED)
        attached_ended(d, one, when);
    else if (d->how == HOW_TOOL)
        tool_ended(d, one);
    else if (one->status)
        drive_handle_refusal(d, one);
    else
        for (size_t i = one->first; i < one->first + one->count; i++)
            t->submitted[i] = when;
    if (one->status == 0) {
        d->in_a_row = 0;
        d->tries = 0;
    }
    double took = (double)(when - one->begun) / 1e9;
    if ((d->how == HOW_DETACHED || d->how == HOW_BULK) && took > 1 && str_has(text, "retrying"))
        d->batch->stalled += took;
    clients_free(&d->clients, one);
}

/* Returns advice on the network for the end of a message, "" where a task has reported. */
static const char *drive_report_advice(const struct drive *d)
{
    return d->ended || d->report->file >= 0 ? ""
                                            : "; none has: if nodes cannot send datagrams to this machine, see --address and --report-dir";
}

/* Queries the scheduler's queue when no report came for a while, at growing intervals. Marks the
 * batch as lost when the queue has none of its jobs any more. A failed query changes nothing. */
static void drive_ask_queue(struct drive *d)
{
    struct queue q = {0};
    int64_t now = clock_mono_ns();
    if (now < d->ask_at || drive_seconds_since(d->heard) < ASK_FIRST_S)
        return;
    if (d->provider->ask)
        d->provider->ask(d->b, &q);
    d->ask_every = d->ask_every * 2 < ASK_LAST_S ? d->ask_every * 2 : ASK_LAST_S;
    d->ask_at = clock_mono_ns() + (int64_t)(d->ask_every * 1e9);
    if (q.known)
        snprintf(d->queue_why, sizeof d->queue_why, "%zu of them wait%s%s, %zu run", q.waiting, q.why[0] ? ": " : "", q.why, q.running);
    if (q.known && q.waiting + q.running == 0 && drive_seconds_since(d->heard) > GRACE_S) {
        report_take(d->report, d->b);
        drive_give_up(d, true, "the queue has none of the jobs any more, without a report from %zu task%s%s", d->submitted - d->ended,
                      str_plural(d->submitted - d->ended), drive_report_advice(d));
    }
}

/* Returns true where the batch is over: all tasks have ended, or it was stopped and its commands
 * have ended. Otherwise queries the queue, and stops the batch where no report came for the
 * seconds of --stall and of a task; a later call then returns true. */
static bool drive_check_end(struct drive *d)
{
    bool all = d->next == d->b->tasks.n && !d->again_count && !d->clients.running;
    double stall = d->b->set.stall + d->batch->duration;
    if (d->giving_up && !d->clients.running && (d->ended == d->submitted || drive_seconds_since(d->heard) > GRACE_S))
        return true;
    if (all && d->ended >= d->submitted)
        return true;
    bool no_queue = d->how == HOW_ATTACHED || d->how == HOW_TOOL;
    if (all && no_queue && drive_seconds_since(d->heard) > GRACE_S) {
        drive_give_up(d, true, "the commands have ended without a report from %zu task%s%s", d->submitted - d->ended,
                      str_plural(d->submitted - d->ended), drive_report_advice(d));
        return true;
    }
    if (!no_queue && !d->clients.running)
        drive_ask_queue(d);
    if (drive_seconds_since(d->heard) > stall) {
        if (d->how == HOW_TOOL)
            clients_overdue(&d->clients, 0);
        drive_give_up(d, false, "no report for %g s (--stall%s), with %zu task%s not done%s%s%s", stall,
                      d->batch->duration > 0 ? " and a task's duration" : "", d->submitted - d->ended, str_plural(d->submitted - d->ended),
                      d->queue_why[0] ? "; " : "", d->queue_why, d->queue_why[0] ? "" : drive_report_advice(d));
    }
    return false;
}

/* Submits what the limits allow, then waits up to 50 ms for reports and clients. Returns -1 with
 * *err only where the first submission fails. */
static int drive_once(struct drive *d, struct err *err)
{
    while (!d->giving_up && (d->next < d->b->tasks.n || d->again_count) && d->clients.running < d->clients.room &&
           clock_mono_ns() >= d->not_before && d->submitted - d->ended < d->window && drive_take_token(d))
        if (!drive_submit(d, err)) {
            if (d->next == 0)
                return -1;
            drive_give_up(d, false, "%s", err->text);
        }
    bool fast = d->report->file >= 0 || d->hungry;
    struct pollfd fds[3] = {{d->clients.epoll, POLLIN, 0}, {d->report->socket, POLLIN, 0}, {d->b->signal_fd, POLLIN, 0}};
    poll(fds, 3, fast ? 1 : 50);
    size_t ended = report_take(d->report, d->b);
    if (ended)
        d->heard = clock_mono_ns(), d->ask_every = ASK_FIRST_S / 2.0;
    if (d->how != HOW_ATTACHED)
        d->ended += ended;
    for (struct submit_client *one; (one = clients_ended(&d->clients));)
        client_ended(d, one);
    double limit = d->how == HOW_TOOL ? INFINITY /* it lasts as long as it has to; --stall ends it */
                                      : d->b->set.client_timeout + (d->how == HOW_ATTACHED ? d->batch->duration : 0);
    clients_overdue(&d->clients, limit);
    if (fds[2].revents && bench_stop(d->b))
        drive_give_up(d, false, "interrupted");
    return 0;
}

/* Counts the ended tasks again, with the reports that came after their command had ended. */
static void late_reports(struct drive *d)
{
    struct tasks *t = &d->b->tasks;
    if (d->how != HOW_ATTACHED)
        return;
    d->ended = 0;
    for (size_t i = 0; i < t->n; i++)
        d->ended += t->flags[i] & TASK_ENDED && t->known[i] ? 1 : 0;
}

/* Waits a few seconds at most, outside the measured time, until the queue has no job of this batch:
 * jobs that are completing would delay the next batch. */
static void drive_wait_queue_empty(struct drive *d)
{
    for (int i = 0; i < 8 && d->provider->ask && !d->b->stop; i++) {
        struct queue q = {0};
        d->provider->ask(d->b, &q);
        if (!q.known || q.waiting + q.running == 0)
            return;
        poll(&(struct pollfd){d->b->signal_fd, POLLIN, 0}, 1, 100 << (i < 4 ? i : 4));
    }
}

/* Returns how many commands run at once. Where each waits for its tasks, --slots limits them. */
static size_t external_clients(const struct bench *b, enum provider_how how)
{
    size_t most = how == HOW_ATTACHED && b->set.slots ? b->set.slots / b->set.width : b->set.clients;
    return most < b->set.clients ? (most ? most : 1) : b->set.clients;
}

int external_run(struct bench *b, struct task_batch *batch, struct report_channel *report, struct err *err)
{
    struct drive d = {.b = b,
                      .batch = batch,
                      .report = report,
                      .provider = b->provider,
                      .how = b->provider->how(b),
                      .chunk = 1,
                      .window = SIZE_MAX,
                      .ask_every = 1};
    size_t clients = batch->chain ? 1 : external_clients(b, d.how);
    int rc = 0;
    if (d.how == HOW_BULK || d.how == HOW_TOOL || b->set.width > 1)
        d.chunk = b->provider->chunk(b);
    if (batch->chain)
        d.window = d.chunk = 1;
    if (clients_init(&d.clients, clients, err) < 0)
        return -1;
    buf_init(&d.input, (size_t)256 << 20);
    arena_init(&d.words, 0);
    report_take(report, b); /* what came after the batch before is none of this one */
    b->tasks.strangers = 0;
    d.burst = b->set.rate > 1 && !b->set.evenly ? b->set.rate : 1;
    d.tokens = d.burst;
    d.filled = d.heard = batch->begin = clock_mono_ns();
    while (rc == 0 && !drive_check_end(&d)) {
        rc = drive_once(&d, err);
        if (d.how == HOW_ATTACHED && !d.clients.running)
            late_reports(&d);
        bool in_flight = d.how == HOW_DETACHED || d.how == HOW_BULK; /* submissions: their tasks may begin after their end */
        if (d.giving_up && b->stop && d.clients.running && (!in_flight || drive_seconds_since(d.gave_up) > GRACE_S))
            break; /* the end was requested: the commands are ended too */
    }
    clients_deinit(&d.clients);
    batch->end = clock_mono_ns();
    if (!batch->given_up)
        drive_wait_queue_empty(&d);
    report_take(report, b); /* second runs of tasks that were over */
    batch->completion = d.how == HOW_ATTACHED ? "the task's command has ended" : report_describe(report);
    buf_deinit(&d.input);
    arena_deinit(&d.words);
    return rc;
}
