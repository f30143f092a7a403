/* figures.c: from the book of a batch to its quantities. */
#include "benchmarks/native/taskrate/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *batch_kind(const struct task_batch *batch)
{
    return batch->floor ? "floor" : batch->warmup ? "warm-up" : batch->chain ? "chain" : "batch";
}

typedef int64_t between(const struct tasks *t, size_t i);

static int64_t submit_latency(const struct tasks *t, size_t i)
{
    return t->submitted[i] ? t->submitted[i] - t->submit[i] : -1;
}

static int64_t start_latency(const struct tasks *t, size_t i)
{
    return t->self[i].start ? t->self[i].start - t->submit[i] : -1;
}

static int64_t run_time(const struct tasks *t, size_t i)
{
    return t->self[i].end ? t->self[i].end - t->self[i].start : -1;
}

static int64_t completion_latency(const struct tasks *t, size_t i)
{
    return t->self[i].end && t->known[i] ? t->known[i] - t->self[i].end : -1;
}

static int64_t task_turnaround(const struct tasks *t, size_t i)
{
    return t->known[i] ? t->known[i] - t->submit[i] : -1;
}

static bool task_was_accepted(const struct tasks *t, size_t i)
{
    return (t->flags[i] & (TASK_SUBMITTED | TASK_REFUSED)) == TASK_SUBMITTED;
}

/* A latency's quantiles over all tasks that have it. Only those of other machines can come out negative, by their clocks. */
static void figures_quantiles(struct tasks *t, between *f, struct latency_quantiles *ret, const char *why)
{
    static const double at[QUANTILES] = {0.5, 0.9, 0.95, 0.99, 1};
    double sum = 0;
    size_t n = 0;
    *ret = (struct latency_quantiles){.why = why};
    for (size_t i = 0; i < t->n; i++) {
        if (!task_was_accepted(t, i) || (f != submit_latency && !(t->flags[i] & TASK_ENDED)))
            continue;
        int64_t v = f(t, i);
        bool stamped = f == start_latency || f == run_time || f == completion_latency;
        if (v < 0 && !(stamped && t->flags[i] & TASK_STAMPED && t->node[i]))
            continue;
        t->scratch[n++] = v;
        sum += (double)v;
    }
    if (!n)
        return;
    tasks_sort(t->scratch, n);
    ret->n = n;
    ret->mean = sum / (double)n / 1e9;
    for (int i = 0; i < QUANTILES; i++)
        ret->at[i] = tasks_quantile(t->scratch, n, at[i]) / 1e9;
}

/* When a task was over: by its own stamp, else when that was known. */
static int64_t end_of(const struct tasks *t, size_t i)
{
    return t->self[i].end ? t->self[i].end : t->known[i];
}

/* Counts the tasks of the batch by outcome. Tasks without an end are lost, or cancelled where the
 * batch was stopped. */
static void figures_count(struct tasks *t, struct task_batch *batch)
{
    for (size_t i = 0; i < t->n; i++) {
        uint8_t f = t->flags[i];
        batch->submitted += task_was_accepted(t, i);
        batch->refused += f & TASK_REFUSED ? 1 : 0;
        batch->ended += task_was_accepted(t, i) && f & TASK_ENDED;
        batch->stamped += f & TASK_STAMPED ? 1 : 0;
        batch->failed += task_was_accepted(t, i) && f & TASK_ENDED && t->status[i] != 0;
        size_t open = task_was_accepted(t, i) && !(f & TASK_ENDED);
        batch->lost += batch->given_up ? 0 : open;
        batch->cancelled += batch->given_up ? open : 0;
        batch->retried += f & TASK_RETRIED ? 1 : 0;
    }
    batch->duplicates = t->duplicates;
    batch->strangers = t->strangers;
}

bool figures_is_crowded(const struct task_batch *batch)
{
    return batch->slots && batch->concurrency_max > 1.25 * batch->slots;
}

/* Computes how many tasks ran at once: the maximum, and the mean from the first start to the last
 * end. Only tasks with their own times count; without any, the values stay as they are. */
static void figures_concurrency(struct tasks *t, struct task_batch *batch)
{
    int64_t *start = t->scratch, *end = t->scratch + t->room;
    size_t n = 0, running = 0, most = 0;
    double busy = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->flags[i] & TASK_STAMPED && task_was_accepted(t, i)) {
            busy += (double)(t->self[i].end - t->self[i].start);
            start[n] = t->self[i].start;
            end[n++] = t->self[i].end;
        }
    if (!n)
        return;
    tasks_sort(start, n);
    tasks_sort(end, n);
    for (size_t i = 0, k = 0; i < n; i++) {
        for (; k < n && end[k] <= start[i]; k++)
            running -= running > 0;
        if (++running > most)
            most = running;
    }
    double span = (double)(end[n - 1] - start[0]);
    batch->concurrency_max = (double)most;
    batch->concurrency_mean = span > 0 ? busy / span : 0;
    if (figures_is_crowded(batch))
        batch->idle = NAN;
    else if (batch->makespan > 0 && batch->slots)
        batch->idle = 1 - busy / 1e9 / (batch->makespan * batch->slots);
}

/* Ends between 10 % and 90 %, a second: what is left when start and end of the batch do not count. */
static double figures_steady_rate(struct tasks *t, size_t ended)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (task_was_accepted(t, i) && t->flags[i] & TASK_ENDED)
            t->scratch[n++] = end_of(t, i);
    if (n != ended || n < 20)
        return 0;
    tasks_sort(t->scratch, n);
    size_t low = n / 10, high = n - 1 - n / 10;
    double span = (double)(t->scratch[high] - t->scratch[low]) / 1e9;
    return span > 0 ? (double)(high - low) / span : 0;
}

/* Returns the rate a second; 0: so few events in so short a time show none. */
static double batch_rate(double events, double seconds)
{
    return stats_has_rate(events, seconds) ? events / seconds : 0;
}

/* Computes the rates of a batch in tasks/s, or the reason why there is no throughput. */
static void figures_rates(struct tasks *t, struct task_batch *batch)
{
    int64_t first = INT64_MAX, end = 0, known = 0, submitted = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!task_was_accepted(t, i))
            continue;
        if (t->submit[i] < first)
            first = t->submit[i];
        if (t->submitted[i] > submitted)
            submitted = t->submitted[i];
        if (t->flags[i] & TASK_ENDED && end_of(t, i) > end)
            end = end_of(t, i);
        if (t->flags[i] & TASK_ENDED && t->known[i] > known)
            known = t->known[i];
    }
    if (!batch->ended || end <= first) {
        batch->no_throughput = "no task has ended: this is no throughput";
        return;
    }
    batch->makespan = (double)(end - first) / 1e9;
    batch->ended_rate = batch_rate((double)batch->ended, batch->makespan);
    batch->too_brief = batch->ended_rate <= 0;
    if (submitted > first && batch->submit.n)
        batch->submit_rate = batch_rate((double)batch->submitted, (double)(submitted - first) / 1e9);
    if (!batch->complete)
        batch->no_throughput =
            batch->lost ? "tasks were lost: this is no throughput" : "the batch was not completed: this is no throughput";
    else if (batch->lost)
        batch->no_throughput = "tasks were lost: this is no throughput";
    else if (batch->failed)
        batch->no_throughput = "tasks failed: this is no throughput";
    else if (batch->stepped != 0 && batch->nodes && batch->clock_width > 0)
        batch->no_throughput = "the clock was set while tasks of other machines ran";
    if (batch->no_throughput)
        return;
    batch->throughput = batch->ended_rate;
    batch->client_throughput = batch_rate((double)batch->ended, (double)(known - first) / 1e9);
    batch->steady = batch->too_brief ? 0 : figures_steady_rate(t, batch->ended);
}

/* Adds the nodes with tasks, and the widest interval (seconds) of their clocks' offsets. */
static void node_clocks(const struct clocks_table *c, struct task_batch *batch)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct clocks_node *n = &c->node[i];
        if (!n->tasks)
            continue;
        batch->nodes++;
        batch->elsewhere = batch->elsewhere || !n->same;
        if (n->same || n->low == INT64_MIN || n->high == INT64_MAX)
            continue;
        double width = (double)(n->high - n->low) / 1e9;
        if (width > batch->clock_width || batch->clock_width == 0) {
            batch->clock_width = width;
            batch->clock_low = (double)n->low / 1e9;
            batch->clock_high = (double)n->high / 1e9;
        }
        if (fabs((double)n->shift / 1e9) > fabs(batch->shift))
            batch->shift = (double)n->shift / 1e9;
    }
    batch->stepped = (double)c->stepped / 1e9;
}

/* Records the reason where --rate or refusals slowed the submission. */
static void figures_throttling(const struct bench *b, struct task_batch *batch)
{
    double span = (double)(batch->end - batch->begin) / 1e9;
    if (batch->waited > 0.05 * span) {
        batch->throttled = true;
        snprintf(batch->throttled_why, sizeof batch->throttled_why,
                 "throttled: submission waited %.3g of %.3g s for the limit of %g calls a second (--rate)", batch->waited, span,
                 b->set.rate);
    } else if (batch->stalled > 0) {
        batch->throttled = true;
        snprintf(batch->throttled_why, sizeof batch->throttled_why,
                 "throttled: the controller refused for a while, submission slept %.3g s", batch->stalled);
    }
}

void figures_of(struct bench *b, struct task_batch *batch)
{
    struct tasks *t = &b->tasks;
    clocks_settle(&b->clocks, t);
    figures_count(t, batch);
    node_clocks(&b->clocks, batch);
    bool stamps = batch->stamped > 0;
    const char *unstamped = stamps ? "no task has it" : "the payload does not stamp itself (--wrap has it started by the stub)";
    batch->complete = !batch->reason[0] && batch->ended == batch->tasks;
    figures_quantiles(t, submit_latency, &batch->submit, "there is no call that returns before the task has ended");
    figures_quantiles(t, start_latency, &batch->start, unstamped);
    figures_quantiles(t, run_time, &batch->run, unstamped);
    figures_quantiles(t, completion_latency, &batch->completed, unstamped);
    figures_quantiles(t, task_turnaround, &batch->turnaround, "no task has ended");
    if (batch->stepped != 0 && batch->clock_width > 0) {
        batch->start = (struct latency_quantiles){.why = "the clock was set while tasks of other machines ran"};
        batch->completed = batch->start;
    }
    figures_rates(t, batch);
    figures_concurrency(t, batch);
    batch->too_short = batch->clock_width > 0 && batch->start.n && batch->start.at[0] < batch->clock_width;
    figures_throttling(b, batch);
}
