/* output_text.c: the table for people. */
#include "benchmarks/native/taskrate/output.h"

#include "benchmarks/native/taskrate/provider.h"

#include "base/listing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 12 us, 3.4 ms, 1.2 s; "-" for none. */
static const char *output_text_seconds(double seconds, char *to, size_t size)
{
    double v = fabs(seconds);
    if (isnan(seconds))
        snprintf(to, size, "-");
    else if (v < 1e-3)
        snprintf(to, size, "%.3g us", seconds * 1e6);
    else if (v < 1)
        snprintf(to, size, "%.3g ms", seconds * 1e3);
    else
        snprintf(to, size, "%.4g s", seconds);
    return to;
}

/* Adds a cell of at most six characters, with four significant digits where they fit; "-" where the
 * value is not known. */
static void batch_cell(struct listing *l, bool known, double v)
{
    char text[32];
    if (!known) {
        listing_none(l);
        return;
    }
    snprintf(text, sizeof text, "%.*f", v < 1 ? 4 : v < 10 ? 3 : v < 100 ? 2 : v < 1000 ? 1 : 0, v);
    listing_text(l, text);
}

static const char *output_text_rate(double v, char *to, size_t size)
{
    if (!(v > 0))
        snprintf(to, size, "-");
    else
        snprintf(to, size, v < 10 ? "%.3f" : v < 1000 ? "%.1f" : "%.0f", v);
    return to;
}

/* Breaks a line at the width of the screen. The catalogue's rules read the begin of each line only. */
static void output_text_line(const struct screen *screen, struct buf *line, struct buf *to)
{
    screen_wrap(screen, buf_text(line), 0, 2, to);
    buf_putc(to, '\n');
    buf_clear(line);
}

static void output_text_head(const struct bench *b, struct buf *to)
{
    const struct bench_settings *s = &b->set;
    buf_printf(to, "taskrate %s: %s, payload %s%s\n", BW_VERSION, b->provider->name, output_payload(s),
               s->payload == PAYLOAD_CALL ? " (in this process, no process is made)" : "");
    buf_printf(to, "slots: %u, %s\n", s->slots ? s->slots : b->slots, s->slots ? "--slots" : b->slots_from ? b->slots_from : "-");
    buf_printf(to, "path: %s\n", s->payload == PAYLOAD_CALL ? "client (a function call)" : b->provider->path);
    if (b->scheduler_version)
        buf_printf(to, "version: %s\n", b->scheduler_version);
}

/* Appends the table with a row for each measured batch. Warm-ups, the chain and the floor have
 * none. */
static void put_batches(const struct bench *b, const struct screen *screen, struct buf *to)
{
    static const struct listing_column columns[] = {
        {.key = "label", .heading = "label", .whole = true},
        {.key = "rep", .heading = "rep", .right = true, .drop = 1, .tight = true},
        {.key = "tasks/s", .heading = "tasks/s", .right = true, .tight = true},
        {.key = "sent/s", .heading = "sent/s", .right = true, .drop = 6, .tight = true},
        {.key = "submit", .heading = "submit", .right = true, .drop = 5, .tight = true},
        {.key = "start", .heading = "start", .right = true, .tight = true},
        {.key = "p99", .heading = "p99", .right = true, .drop = 3, .tight = true},
        {.key = "whole", .heading = "whole", .right = true, .drop = 2, .tight = true},
        {.key = "peak", .heading = "peak", .right = true, .drop = 4, .tight = true},
        {.key = "fail", .heading = "fail", .right = true, .tight = true},
        {.key = "lost", .heading = "lost", .right = true, .tight = true},
        {.key = "twice", .heading = "twice", .right = true, .tight = true},
    };
    struct arena arena;
    struct listing l;
    uint64_t fewest = UINT64_MAX; /* starts of a batch that has a p99 */
    arena_init(&arena, DOCUMENT_MAX);
    listing_init(&l, columns, sizeof columns / sizeof *columns, &arena);
    for (size_t i = 0; i < b->batch_count; i++) {
        const struct task_batch *x = &b->batches[i];
        if (x->warmup || x->floor || x->chain)
            continue;
        fewest = x->start.n && x->start.n < fewest ? x->start.n : fewest;
        struct batch_group g = {.tasks = x->tasks, .duration = x->duration};
        char label[64], rep[16];
        output_label(&g, label, sizeof label);
        snprintf(rep, sizeof rep, "%u", x->repetition);
        listing_text(&l, label);
        listing_text(&l, rep);
        batch_cell(&l, x->throughput > 0, x->throughput);
        batch_cell(&l, x->submit_rate > 0, x->submit_rate);
        batch_cell(&l, x->submit.n, x->submit.at[0] * 1e3);
        batch_cell(&l, x->start.n, x->start.at[0] * 1e3);
        batch_cell(&l, x->start.n, x->start.at[3] * 1e3);
        batch_cell(&l, x->turnaround.n, x->turnaround.at[0] * 1e3);
        listing_number(&l, x->concurrency_max, NULL);
        listing_number(&l, (double)x->failed, NULL);
        listing_number(&l, (double)x->lost, NULL);
        listing_number(&l, (double)x->duplicates, NULL);
    }
    if (listing_rows(&l))
        buf_putc(to, '\n');
    if (listing_render(&l, screen, to) < 0)
        to->failed = true;
    if (listing_rows(&l)) {
        const uint64_t needed = stats_quantile_needs(0.99);
        const char *few = fewest < needed ? arena_printf(&arena, " (not recorded: p99 needs %u tasks)", (unsigned)needed) : "";
        const char *legend = arena_printf(&arena,
                                          "latencies in ms: submit: one call; start: from submission to start, median and p99%s; "
                                          "whole: from submission to end; peak: most tasks at once; twice: tasks that ran twice",
                                          few ? few : "");
        const struct screen page = {.width = screen_columns(screen)};
        buf_puts(to, "  "), screen_wrap(&page, str_of(legend), 2, 2, to), buf_puts(to, "\n\n");
    }
    listing_deinit(&l);
    arena_deinit(&arena);
}

static void output_text_interval(struct buf *to, const struct stats *s, const char *unit)
{
    char a[24], low[24], high[24];
    buf_printf(to, "%s %s (median of %zu", output_text_rate(s->median, a, sizeof a), unit, s->n);
    if (figures_has_interval(s))
        buf_printf(to, ", 95 %% of the mean: %s … %s)", output_text_rate(s->ci_low, low, sizeof low),
                   output_text_rate(s->ci_high, high, sizeof high));
    else
        buf_puts(to, s->n < 3 ? "; 3 give an interval)" : "; they differ too much for an interval)");
}

static void put_summary(const struct bench *b, const struct screen *screen, struct buf *line, struct buf *to)
{
    struct batch_group groups[GROUPS_MAX];
    char a[24];
    double floor = 0;
    for (size_t i = 0; i < b->batch_count; i++)
        if (b->batches[i].floor && !b->batches[i].warmup && b->batches[i].throughput > 0)
            floor = b->batches[i].throughput;
    size_t n = figures_groups(b, groups);
    for (size_t k = 0; k < n; k++) {
        const struct batch_group *g = &groups[k];
        char label[64];
        output_label(g, label, sizeof label);
        if (g->chain && g->turnaround50.n) {
            buf_printf(line, "%s: %s from one submission to the next, one task at a time", label,
                       output_text_seconds(g->turnaround50.median, a, sizeof a));
            output_text_line(screen, line, to);
            continue;
        }
        buf_printf(line, "%s: ", label);
        if (g->throughput.n)
            output_text_interval(line, &g->throughput, "tasks/s");
        else
            buf_puts(line, g->usable ? "too short for a throughput" : "no throughput");
        if (g->throughput.n && floor > 0)
            buf_printf(line, ", %.3g of the local floor", g->throughput.median / floor);
        if (g->crowded)
            buf_puts(line, ", more tasks at once than slots");
        else if (g->duration > 0 && g->makespan.n)
            buf_printf(line, ", slots busy %.0f %%", 100 * figures_efficiency(g));
        if (g->throttled)
            buf_puts(line, ", throttled");
        output_text_line(screen, line, to);
    }
    if (floor > 0) {
        buf_printf(line, "floor: %s tasks/s, the same tasks started on this machine without a scheduler",
                   output_text_rate(floor, a, sizeof a));
        output_text_line(screen, line, to);
    }
}

/* After the table: the catalogue's rules assign METG50 to the batches before it. */
static void put_model(const struct bench *b, const struct screen *screen, struct buf *line, struct buf *to)
{
    struct batch_group groups[GROUPS_MAX];
    struct model m;
    struct metg metg;
    char a[24], c[24];
    size_t n = figures_groups(b, groups);
    figures_model(groups, n, &m);
    figures_metg(groups, n, &m, &metg);
    if (isnan(metg.seconds) && isnan(metg.low))
        buf_printf(line, "METG50: unknown: %s", metg.how);
    else if (isnan(metg.seconds))
        buf_printf(line, "METG50: between %s and %s (%s)", output_text_seconds(metg.low, a, sizeof a),
                   output_text_seconds(metg.high, c, sizeof c), metg.how);
    else
        buf_printf(line, "METG50: %s%s (%s)",
                   metg.at_most    ? "at most "
                   : metg.at_least ? "at least "
                                   : "",
                   output_text_seconds(metg.seconds, a, sizeof a), metg.how);
    output_text_line(screen, line, to);
    buf_puts(line, "  METG50 is the shortest task duration that keeps half of the slots busy.");
    output_text_line(screen, line, to);
    if (m.known) {
        buf_printf(line, "latency model: %s * n^%.3g with n tasks on a slot%s", output_text_seconds(m.t_s, a, sizeof a), m.alpha,
                   m.alpha_assumed ? " (only one size measured: exponent 1 assumed)" : "");
        output_text_line(screen, line, to);
    }
}

static void output_text_warnings(const struct bench *b, const struct screen *screen, struct buf *line, struct buf *to)
{
    for (size_t i = 0; i < b->batch_count; i++) {
        const struct task_batch *x = &b->batches[i];
        char a[24];
        if (x->no_throughput) {
            buf_printf(line,
                       "%s %u of %zu task%s: %s: %zu submitted, %zu ended (%s/s), %zu lost, %zu cancelled, %zu failed, %zu refused%s%s",
                       batch_kind(x), x->repetition, x->tasks, str_plural(x->tasks), x->no_throughput, x->submitted, x->ended,
                       output_text_rate(x->ended_rate, a, sizeof a), x->lost, x->cancelled, x->failed, x->refused, x->reason[0] ? "; " : "",
                       x->reason);
            output_text_line(screen, line, to);
        }
        if (x->too_brief && !x->no_throughput && !x->warmup && !x->chain) {
            buf_printf(line, "%s %u: too short for rates: %zu task%s in %s; 10 tasks, or 0.1 s, show one", batch_kind(x), x->repetition,
                       x->ended, str_plural((double)x->ended), output_text_seconds(x->makespan, a, sizeof a));
            output_text_line(screen, line, to);
        }
        if (x->throttled) {
            buf_printf(line, "%s %u: %s", batch_kind(x), x->repetition, x->throttled_why);
            output_text_line(screen, line, to);
        }
        if (x->too_short) {
            buf_printf(line, "batch %u: start latencies are smaller than the uncertainty of the nodes' clocks (%s)", x->repetition,
                       output_text_seconds(x->clock_width, a, sizeof a));
            output_text_line(screen, line, to);
        }
    }
    for (size_t i = 0; i < b->note_count; i++) {
        buf_printf(line, "note: %s", b->notes[i]);
        output_text_line(screen, line, to);
    }
    if (b->interrupted)
        buf_puts(to, "interrupted: this is a partial result\n");
}

/* The answer, then the batches that it comes from, then the warnings. The catalogue's rules read it. */
void output_text(const struct bench *b, const struct screen *screen, struct buf *to)
{
    struct buf line CLEANUP_BUF;
    buf_init(&line, DOCUMENT_MAX);
    output_text_head(b, to);
    buf_putc(to, '\n');
    put_summary(b, screen, &line, to);
    put_batches(b, screen, to);
    put_model(b, screen, &line, to);
    output_text_warnings(b, screen, &line, to);
    to->failed |= line.failed;
}
