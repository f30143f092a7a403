/* drawings.c: a histogram of latencies and a timeline of a batch, as SVG without scripts or fonts of its own. */
#include "benchmarks/native/taskrate/output.h"

#include "base/fs.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 320, LEFT = 60, BOTTOM = 40, TOP = 40, BINS = 48, STEPS = 240, DRAWING_MAX = 1 << 20 };
static const double plot_w = WIDTH - LEFT - 20, plot_h = HEIGHT - TOP - BOTTOM;

static void open_svg(struct buf *to, const char *title, const char *below)
{
    buf_printf(
        to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        WIDTH, HEIGHT);
    buf_printf(to, "<text x=\"%d\" y=\"22\" font-size=\"14\">%s</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", LEFT,
               title, LEFT + (int)plot_w / 2, HEIGHT - 6, below);
    buf_printf(to, "<path d=\"M%d %d V%d H%d\" fill=\"none\" stroke=\"black\"/>\n", LEFT, TOP, HEIGHT - BOTTOM, WIDTH - 20);
}

static void tick_x(struct buf *to, double share, const char *text)
{
    double x = LEFT + share * plot_w;
    buf_printf(to, "<path d=\"M%.1f %d v5\" stroke=\"black\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
               HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18, text);
}

static void tick_y(struct buf *to, double share, double value)
{
    double y = HEIGHT - BOTTOM - share * plot_h;
    buf_printf(to, "<path d=\"M%d %.1f h-5\" stroke=\"black\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n", LEFT, y,
               LEFT - 8, y + 4, value);
}

/* 10 us … on a logarithmic axis */
static void draw_decades(struct buf *to, double low, double high)
{
    static const char *const names[] = {"1 ns",  "10 ns",  "100 ns", "1 us", "10 us", "100 us", "1 ms",
                                        "10 ms", "100 ms", "1 s",    "10 s", "100 s", "1000 s"};
    for (int e = (int)ceil(low); e <= (int)floor(high) && e < 13; e++)
        if (e >= 0)
            tick_x(to, (e - low) / (high - low), names[e]);
}

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

static bool draw_histogram(struct tasks *t, struct buf *to)
{
    size_t bins[BINS] = {0}, most = 0, n = draw_latencies(t, true);
    bool start = n > 0;
    if (!start)
        n = draw_latencies(t, false);
    if (!n)
        return false;
    tasks_sort(t->scratch, n);
    double low = log10((double)t->scratch[0]) - 0.02, high = log10((double)t->scratch[n - 1]) + 0.02;
    for (size_t i = 0; i < n; i++) {
        int bin = (int)((log10((double)t->scratch[i]) - low) / (high - low) * BINS);
        bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
        if (++bins[bin] > most)
            most = bins[bin];
    }
    open_svg(to, start ? "start latency: submission to the task's first instruction" : "turnaround: submission to known end",
             "seconds, logarithmic");
    for (int i = 0; i < BINS; i++) {
        double h = plot_h * (double)bins[i] / (double)most, w = plot_w / BINS;
        if (bins[i])
            buf_printf(to, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#3b6ea5\"><title>tasks: %zu</title></rect>\n",
                       LEFT + i * w, HEIGHT - BOTTOM - h, w - 1, h, bins[i]);
    }
    draw_decades(to, low, high);
    tick_y(to, 1, (double)most);
    tick_y(to, 0.5, (double)most / 2);
    static const double at[] = {0.5, 0.99};
    for (int i = 0; i < 2; i++) {
        double x = LEFT + plot_w * (log10(tasks_quantile(t->scratch, n, at[i])) - low) / (high - low);
        buf_printf(
            to,
            "<path d=\"M%.1f %d V%d\" stroke=\"#c0392b\" stroke-dasharray=\"4 3\"/><text x=\"%.1f\" y=\"%d\" fill=\"#c0392b\">p%.0f</text>\n",
            x, TOP, HEIGHT - BOTTOM, x + 3, TOP + 10, at[i] * 100);
    }
    buf_puts(to, "</svg>\n");
    return true;
}

/* Tasks that run, at STEPS moments, and the share that is over. Starts and ends in the two halves of t->scratch, sorted. */
static bool draw_timeline(struct tasks *t, struct buf *to)
{
    int64_t first = INT64_MAX, *start = t->scratch, *end = t->scratch + t->room;
    size_t n = 0, most = 1;
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
    double span = (double)(end[n - 1] - first);
    size_t running[STEPS + 1], over[STEPS + 1];
    for (size_t s = 0, i = 0, k = 0; s <= STEPS; s++) {
        int64_t now = first + (int64_t)(span * (double)s / STEPS);
        while (i < n && start[i] <= now)
            i++;
        while (k < n && end[k] <= now)
            k++;
        running[s] = i > k ? i - k : 0;
        over[s] = k;
        most = running[s] > most ? running[s] : most;
    }
    open_svg(to, "tasks that run (blue, left scale) and share that is over (grey)", "seconds since the first submission");
    for (int pass = 0; pass < 2; pass++) {
        buf_printf(to, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", pass ? "#3b6ea5" : "#999999");
        for (size_t s = 0; s <= STEPS; s++) {
            double share = pass ? (double)running[s] / (double)most : (double)over[s] / (double)n;
            buf_printf(to, "%c%.1f %.1f", s ? 'L' : 'M', LEFT + plot_w * (double)s / STEPS, HEIGHT - BOTTOM - plot_h * share);
        }
        buf_puts(to, "\"/>\n");
    }
    for (int i = 0; i <= 4; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.4g", span / 1e9 * i / 4);
        tick_x(to, i / 4.0, text);
    }
    tick_y(to, 1, (double)most);
    tick_y(to, 0.5, (double)most / 2);
    buf_puts(to, "</svg>\n");
    return true;
}

int drawings_write(struct bench *b, const char *dir, struct err *err)
{
    static const struct {
        const char *name;
        bool (*draw)(struct tasks *t, struct buf *to);
    } drawings[] = {{"histogram.svg", draw_histogram}, {"timeline.svg", draw_timeline}};
    for (size_t i = 0; i < 2; i++) {
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
