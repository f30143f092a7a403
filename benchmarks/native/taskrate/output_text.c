/* output_text.c: the table for people. */
#include "benchmarks/native/taskrate/output.h"

#include "benchmarks/native/taskrate/provider.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 12 us, 3.4 ms, 1.2 s; "-" for none. */
static const char *span(double seconds, char *to, size_t size)
{
    double v = fabs(seconds);
    if (isnan(seconds))
        snprintf(to, size, "-");
    else if (v < 1e-3)
        snprintf(to, size, "%.3gus", seconds * 1e6);
    else if (v < 1)
        snprintf(to, size, "%.3gms", seconds * 1e3);
    else
        snprintf(to, size, "%.4gs", seconds);
    return to;
}

/* A column of the table, right in its place. */
static void cell(struct buf *to, int width, bool known, double v)
{
    if (!known)
        buf_printf(to, " %*s", width, "-");
    else if (v < 10)
        buf_printf(to, " %*.4f", width, v);
    else
        buf_printf(to, " %*.*f", width, v < 1000 ? 2 : 0, v);
}

static const char *rate(double v, char *to, size_t size)
{
    if (!(v > 0))
        snprintf(to, size, "-");
    else
        snprintf(to, size, v < 10 ? "%.3f" : v < 1000 ? "%.1f" : "%.0f", v);
    return to;
}

static void row(struct buf *to, const struct batch *x)
{
    struct group g = {.tasks = x->tasks, .duration = x->duration, .chain = x->chain};
    char label[64];
    output_label(&g, label, sizeof label);
    buf_printf(to, "%-16s %-8s %4u", x->floor ? "floor" : label,
               x->warmup  ? "warm-up"
               : x->floor ? "floor"
               : x->chain ? "chain"
                          : "batch",
               x->repetition);
    cell(to, 12, x->throughput > 0, x->throughput);
    cell(to, 12, x->submit_rate > 0, x->submit_rate);
    cell(to, 12, x->submit.n, x->submit.at[0] * 1e3);
    cell(to, 11, x->start.n, x->start.at[0] * 1e3);
    cell(to, 11, x->start.n, x->start.at[3] * 1e3);
    cell(to, 10, x->turnaround.n, x->turnaround.at[0] * 1e3);
    buf_printf(to, " %6.0f %6zu %6zu %6zu\n", x->concurrency_max, x->failed, x->lost, x->duplicates);
}

static void head(const struct bench *b, struct buf *to)
{
    const struct settings *s = &b->set;
    buf_printf(to, "taskrate %s: %s, payload %s%s, %u slots (%s)\n", BW_VERSION, b->provider->name, output_payload(s),
               s->payload == PAYLOAD_CALL ? " (in this process, no process is made)" : "", s->slots ? s->slots : b->slots,
               s->slots        ? "--slots"
               : b->slots_from ? b->slots_from
                               : "-");
    buf_printf(to, "path: %s\n", s->payload == PAYLOAD_CALL ? "client (a function call)" : b->provider->path);
    if (b->scheduler_version)
        buf_printf(to, "version: %s\n", b->scheduler_version);
}

static void columns(struct buf *to)
{
    buf_printf(to, "%-16s %-8s %4s %12s %12s %12s %11s %11s %10s %6s %6s %6s %6s\n", "label", "kind", "rep", "tasks(op/s)", "submits(op/s)",
               "submit50(ms)", "start50(ms)", "start99(ms)", "turn50(ms)", "atonce", "failed", "lost", "twice");
}

static void interval(struct buf *to, const struct stats *s, const char *unit)
{
    char a[24], low[24], high[24];
    buf_printf(to, "%s %s (median of %zu", rate(s->median, a, sizeof a), unit, s->n);
    if (s->n >= 3)
        buf_printf(to, ", 95 %% of the mean: %s … %s)", rate(s->ci_low, low, sizeof low), rate(s->ci_high, high, sizeof high));
    else
        buf_puts(to, "; 3 give an interval)");
}

static void summary(const struct bench *b, struct buf *to, double floor)
{
    struct group groups[GROUPS_MAX];
    char a[24];
    size_t n = figures_groups(b, groups);
    for (size_t k = 0; k < n; k++) {
        const struct group *g = &groups[k];
        char label[64];
        output_label(g, label, sizeof label);
        if (g->chain && g->turnaround50.n) {
            buf_printf(to, "%s: %s from one task's submission to the next (one in flight)\n", label,
                       span(g->turnaround50.median, a, sizeof a));
            continue;
        }
        buf_printf(to, "%s: ", label);
        if (g->throughput.n)
            interval(to, &g->throughput, "tasks/s");
        else
            buf_puts(to, "no throughput");
        if (g->throughput.n && floor > 0)
            buf_printf(to, ", %.3g of the local floor", g->throughput.median / floor);
        if (g->duration > 0 && g->makespan.n)
            buf_printf(to, ", slots busy %.0f %%", 100 * figures_efficiency(g));
        buf_puts(to, g->throttled ? ", throttled\n" : "\n");
    }
}

/* Behind the table: the catalogue's rules give METG50 to the batches before it. */
static void put_model(const struct bench *b, struct buf *to)
{
    struct group groups[GROUPS_MAX];
    struct model m;
    struct metg metg;
    char a[24];
    size_t n = figures_groups(b, groups);
    figures_model(groups, n, &m);
    figures_metg(groups, n, &m, &metg);
    if (m.known)
        buf_printf(to, "latency model: %s * n^%.3g with n tasks on a slot%s\n", span(m.t_s, a, sizeof a), m.alpha,
                   m.alpha_assumed ? " (one size alone: exponent taken to be 1)" : "");
    if (isnan(metg.seconds))
        buf_printf(to, "METG50: not known: %s\n", metg.how);
    else
        buf_printf(to, "METG50: %s%s (%s)\n",
                   metg.at_most    ? "at most "
                   : metg.at_least ? "at least "
                                   : "",
                   span(metg.seconds, a, sizeof a), metg.how);
}

static void words(const struct bench *b, struct buf *to)
{
    for (size_t i = 0; i < b->batch_count; i++) {
        const struct batch *x = &b->batches[i];
        char a[24];
        if (x->no_throughput)
            buf_printf(to,
                       "%s %u of %zu tasks: %s: %zu submitted, %zu ended (%s/s), %zu lost, %zu cancelled, %zu failed, %zu refused%s%s\n",
                       x->warmup  ? "warm-up"
                       : x->chain ? "chain"
                                  : "batch",
                       x->repetition, x->tasks, x->no_throughput, x->submitted, x->ended, rate(x->ended_rate, a, sizeof a), x->lost,
                       x->cancelled, x->failed, x->refused, x->reason[0] ? "; " : "", x->reason);
        if (x->throttled)
            buf_printf(to, "%s %u: %s\n", x->warmup ? "warm-up" : "batch", x->repetition, x->throttled_why);
        if (x->too_short)
            buf_printf(to, "batch %u: start latencies are smaller than what the nodes' clocks can tell (%s)\n", x->repetition,
                       span(x->clock_width, a, sizeof a));
    }
    for (size_t i = 0; i < b->note_count; i++)
        buf_printf(to, "note: %s\n", b->notes[i]);
    if (b->interrupted)
        buf_puts(to, "interrupted: this is a partial result\n");
}

/* The answer, then the batches that it comes from, then what is to be known of them. The catalogue's rules read it. */
void output_text(const struct bench *b, struct buf *to)
{
    double floor = 0;
    for (size_t i = 0; i < b->batch_count; i++)
        if (b->batches[i].floor && !b->batches[i].warmup && b->batches[i].throughput > 0)
            floor = b->batches[i].throughput;
    head(b, to);
    buf_putc(to, '\n');
    summary(b, to, floor);
    buf_putc(to, '\n');
    columns(to);
    for (size_t i = 0; i < b->batch_count; i++)
        row(to, &b->batches[i]);
    put_model(b, to);
    words(b, to);
}
