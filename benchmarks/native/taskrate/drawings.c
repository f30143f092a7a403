/* drawings.c: a histogram of latencies and a timeline of a batch, as SVG. */
#include "benchmarks/native/taskrate/output.h"

#include "base/fs.h"
#include "plot/chart_svg.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BINS = 48, STEPS = 240, DRAWING_MAX = 1 << 20 };

/* Latencies into t->scratch; start latencies, or turnarounds where tasks do not stamp themselves. */
static size_t draw_latencies(struct tasks *t, bool start)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        int64_t v = start ? (t->self[i].start ? t->self[i].start - t->submit[i] : 0) : t->known[i] ? t->known[i] - t->submit[i] : 0;
        if (t->submit[i] && v > 0)
            t->scratch[n++] = v;
    }
    return n;
}

/* Appends the histogram of start latencies, else of end latencies, as SVG. False: there are none. */
static bool draw_histogram(struct tasks *t, struct buf *to)
{
    double from[BINS], till[BINS], tasks[BINS] = {0};
    size_t n = draw_latencies(t, true);
    bool start = n > 0;
    if (!start)
        n = draw_latencies(t, false);
    if (!n)
        return false;
    tasks_sort(t->scratch, n);
    double low = log10((double)t->scratch[0]) - 0.02, high = log10((double)t->scratch[n - 1]) + 0.02;
    for (size_t i = 0; i < n; i++) {
        int bin = (int)((log10((double)t->scratch[i]) - low) / (high - low) * BINS);
        tasks[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
    }
    for (int i = 0; i < BINS; i++) { /* nanoseconds to milliseconds */
        from[i] = pow(10, low + (high - low) * i / BINS) / 1e6;
        till[i] = pow(10, low + (high - low) * (i + 1) / BINS) / 1e6;
    }
    const struct chart_series bars = {.name = NULL, .mark = CHART_BARS, .x = from, .x2 = till, .y = tasks, .n = BINS};
    const struct chart_guide quantiles[] = {{CHART_MARK, tasks_quantile(t->scratch, n, 0.5) / 1e6, 0, "p50"},
                                            {CHART_MARK, tasks_quantile(t->scratch, n, 0.99) / 1e6, 0, "p99"}};
    chart_svg(to, &(struct chart){.title = start ? "Start latency: submission to the task's first instruction"
                                                 : "Turnaround: submission to known end",
                                  .x = {.label = start ? "start latency" : "turnaround", .unit = "ms", .better = CHART_LOWER, .log = true},
                                  .y = {.label = "tasks", .zero = true},
                                  .series = &bars,
                                  .count = 1,
                                  .guides = quantiles,
                                  .guide_count = 2});
    return true;
}

/* Tasks that run, or that are over, at STEPS moments. Starts and ends in the two halves of t->scratch, sorted. */
static bool draw_over_time(struct tasks *t, bool want_ended, struct buf *to)
{
    int64_t first = INT64_MAX, *start = t->scratch, *end = t->scratch + t->room;
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->known[i] && t->submit[i]) {
            first = t->submit[i] < first ? t->submit[i] : first;
            start[n] = t->self[i].start ? t->self[i].start : t->submit[i];
            end[n++] = t->self[i].end ? t->self[i].end : t->known[i];
        }
    if (!n)
        return false;
    tasks_sort(start, n);
    tasks_sort(end, n);
    double span = (double)(end[n - 1] - first), at[STEPS + 1], tasks[STEPS + 1];
    for (size_t s = 0, i = 0, k = 0; s <= STEPS; s++) {
        int64_t now = first + (int64_t)(span * (double)s / STEPS);
        while (i < n && start[i] <= now)
            i++;
        while (k < n && end[k] <= now)
            k++;
        at[s] = span * (double)s / STEPS / 1e9;
        tasks[s] = want_ended ? (double)k : i > k ? (double)(i - k) : 0;
    }
    const struct chart_series line = {.mark = CHART_LINE, .x = at, .y = tasks, .n = STEPS + 1};
    chart_svg(to, &(struct chart){.title = want_ended ? "Tasks that have ended" : "Tasks that run",
                                  .x = {.label = "time since the first submission", .unit = "s", .zero = true},
                                  .y = {.label = "tasks", .zero = true},
                                  .series = &line,
                                  .count = 1});
    return true;
}

static bool draw_timeline(struct tasks *t, struct buf *to)
{
    return draw_over_time(t, false, to);
}

static bool draw_progress(struct tasks *t, struct buf *to)
{
    return draw_over_time(t, true, to);
}

int drawings_write(struct bench *b, const char *dir, struct err *err)
{
    static const struct {
        const char *name;
        bool (*draw)(struct tasks *t, struct buf *to);
    } drawings[] = {{"histogram.svg", draw_histogram}, {"timeline.svg", draw_timeline}, {"progress.svg", draw_progress}};
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        char path[4096];
        CLEANUP_BUF struct buf to;
        buf_init(&to, DRAWING_MAX);
        if (!drawings[i].draw(&b->tasks, &to))
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, drawings[i].name);
        if (to.failed || fs_write(AT_FDCWD, path, buf_text(&to), 0644, false, err) < 0)
            return -1;
    }
    return 0;
}
