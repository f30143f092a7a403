/* plots.c: see plots.h; the drawing is base/svg.h's. */
#include "benchmarks/native/llmload/output/plots.h"

#include "base/fs.h"
#include "base/svg.h"
#include "benchmarks/native/llmload/report_parts.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>

enum { BINS = 80, SVG_MAX = 16 << 20 };

static int write_chart(const char *dir, const char *name, const struct svg_chart *chart, struct err *err)
{
    struct buf path CLEANUP_BUF, text CLEANUP_BUF;
    buf_init(&path, 4096);
    buf_init(&text, SVG_MAX);
    buf_printf(&path, "%s/%s.svg", dir, name);
    svg_write_chart(&text, chart);
    if (path.failed || text.failed)
        return err_set(err, ERR_SYSTEM, "--plots: the path of %s.svg is too long, or out of memory for it", name);
    return fs_write(AT_FDCWD, path.p, buf_text(&text), 0644, false, err) < 0 ? err_wrap(err, "--plots") : 0;
}

/* Bins of equal width of the logarithm from the minimum to the maximum. */
static size_t fill_bins(const struct hdr *h, double scale, double low[BINS], double high[BINS], double counts[BINS])
{
    double first = fmax((double)h->min / scale, 1e-6), last = fmax((double)h->max / scale, first * 1.0001);
    double step = log(last / first) / BINS;
    int64_t from, to;
    uint64_t n;
    for (size_t i = 0; i < BINS; i++) {
        low[i] = first * exp(step * (double)i);
        high[i] = first * exp(step * (double)(i + 1));
        counts[i] = 0;
    }
    for (size_t at = 0; hdr_next(h, &at, &from, &to, &n);) {
        double v = ((double)from + (double)to) / 2 / scale;
        long i = v > first ? (long)(log(v / first) / step) : 0;
        counts[i < 0 ? 0 : i >= BINS ? BINS - 1 : i] += (double)n;
    }
    return BINS;
}

static int plot_histogram(const char *dir, const struct metrics *m, enum metric which, const char *title, struct err *err)
{
    const struct hdr *h = &m->h[which];
    const struct load_metric_row *row = &metric_rows[which];
    double low[BINS], high[BINS], counts[BINS];
    struct buf label CLEANUP_BUF, note CLEANUP_BUF;
    buf_init(&label, 200);
    buf_init(&note, 400);
    if (!h->n)
        return 0;
    buf_printf(&label, "%s (%s)", row->key, row->unit);
    const double values[] = {hdr_states(h, 0.5) ? hdr_quantile(h, 0.5) : NAN, hdr_states(h, 0.99) ? hdr_quantile(h, 0.99) : NAN,
                             hdr_max(h)};
    static const char *const names[] = {"median", "p99", "max"};
    buf_printf(&note, "n %llu", (unsigned long long)h->n);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        buf_printf(&note, ", %s ", names[i]);
        report_figure(&note, values[i] / row->scale);
    }
    buf_printf(&note, "%s%s", row->unit[0] ? " " : "", row->unit);
    struct svg_series s = {NULL, SVG_BARS, low, high, counts, fill_bins(h, row->scale, low, high, counts)};
    bool wide = (double)h->max > 3 * fmax((double)h->min, 1);
    struct svg_chart chart = {
        .title = title, .note = note.p, .x = {label.p, wide, false}, .y = {"requests", false, true}, .series = &s, .count = 1};
    if (which == METRIC_ITL)
        chart.y.label = "gaps";
    return write_chart(dir, row->key, &chart, err);
}

static int in_time(const char *dir, const struct outcome *o, const char *title, struct err *err)
{
    const struct load_series *s = &o->m.series;
    double *v = calloc(s->n * 5 + 1, sizeof *v);
    if (!v)
        return err_memory(err, "--plots");
    double *x = v, *x2 = v + s->n, *sent = x2 + s->n, *done = sent + s->n, *flight = done + s->n;
    double width = (double)s->width_ns / 1e9;
    for (size_t i = 0; i < s->n; i++) {
        x[i] = (double)i * width;
        x2[i] = (double)(i + 1) * width;
        sent[i] = s->b[i].sent / width;
        done[i] = s->b[i].completed / width;
        flight[i] = (double)s->b[i].in_flight_ns / (double)s->width_ns;
    }
    struct svg_series rows[] = {{"sent per s", SVG_STEPS, x, x2, sent, s->n},
                                {"completed per s", SVG_STEPS, x, x2, done, s->n},
                                {"in flight", SVG_STEPS, x, x2, flight, s->n}};
    struct svg_chart chart = {
        .title = title, .x = {"time since the start (s)", false, true}, .y = {"requests", false, true}, .series = rows, .count = 3};
    int rc = write_chart(dir, "time", &chart, err);
    for (size_t i = 0; rc == 0 && i < s->n; i++)
        sent[i] = (double)(s->b[i].tokens ? s->b[i].tokens : s->b[i].chunks) / width;
    rows[0].name = NULL;
    chart.count = 1;
    chart.y.label = "tokens per s";
    if (rc == 0)
        rc = write_chart(dir, "tokens", &chart, err);
    free(v);
    return rc;
}

int plots_write(const char *dir, const struct outcome *o, const char *title, struct err *err)
{
    static const enum metric which[] = {METRIC_TTFT, METRIC_ITL, METRIC_TPOT, METRIC_E2EL};
    if (fs_mkdirs(AT_FDCWD, dir, 0755, err) < 0)
        return err_wrap(err, "--plots");
    for (size_t i = 0; i < sizeof which / sizeof *which; i++)
        if (plot_histogram(dir, &o->m, which[i], title, err) < 0)
            return -1;
    return in_time(dir, o, title, err);
}

int plots_saturation(const char *dir, const struct saturation_point *points, size_t n, const char *load_label, const char *title,
                     struct err *err)
{
    enum { COLUMNS = 6 };
    double *v = calloc(n * (COLUMNS + 1) + 1, sizeof *v);
    if (!v)
        return err_memory(err, "--plots");
    for (size_t i = 0; i < n; i++) {
        const double row[] = {points[i].load,    points[i].requests_per_s, points[i].goodput_per_s, points[i].tokens_per_s,
                              points[i].ttft_ms, points[i].ttft_p99_ms,    points[i].itl_ms};
        for (size_t k = 0; k <= COLUMNS; k++)
            v[k * n + i] = row[k];
    }
    struct svg_series through[] = {{"requests/s", SVG_LINE, v, NULL, v + n, n},
                                   {"requests/s within objectives", SVG_LINE, v, NULL, v + 2 * n, n}};
    struct svg_series tokens[] = {{NULL, SVG_LINE, v, NULL, v + 3 * n, n}};
    struct svg_series latency[] = {{"TTFT median", SVG_LINE, v, NULL, v + 4 * n, n},
                                   {"TTFT p99", SVG_LINE, v, NULL, v + 5 * n, n},
                                   {"ITL mean", SVG_LINE, v, NULL, v + 6 * n, n}};
    struct svg_chart charts[] = {{title, NULL, {load_label, false, true}, {"requests/s", false, true}, through, 2},
                                 {title, NULL, {load_label, false, true}, {"output tokens/s", false, true}, tokens, 1},
                                 {title, NULL, {load_label, false, true}, {"ms", true, false}, latency, 3}};
    static const char *const names[] = {"saturation", "saturation-tokens", "saturation-latency"};
    int rc = fs_mkdirs(AT_FDCWD, dir, 0755, err);
    for (size_t i = 0; rc == 0 && i < sizeof names / sizeof *names; i++)
        rc = write_chart(dir, names[i], &charts[i], err);
    free(v);
    return rc;
}
