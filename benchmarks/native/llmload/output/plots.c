/* plots.c: see plots.h; the drawing is plot/chart_svg.h's. */
#include "benchmarks/native/llmload/output/plots.h"

#include "base/fs.h"
#include "benchmarks/native/llmload/report_parts.h"
#include "plot/chart_svg.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>

enum { BINS = 80, SVG_MAX = 16 << 20 };

/* Writes the chart as DIR/NAME.svg. Returns 0, or -1 with *err. */
static int write_chart(const char *dir, const char *name, const struct chart *chart, struct err *err)
{
    struct buf path CLEANUP_BUF, text CLEANUP_BUF;
    buf_init(&path, 4096);
    buf_init(&text, SVG_MAX);
    buf_printf(&path, "%s/%s.svg", dir, name);
    chart_svg(&text, chart);
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

/* Writes the histogram of a metric with its quantiles; nothing where it has no values. -1 with err. */
static int plot_histogram(const char *dir, const struct metrics *m, enum metric which, const char *title, struct err *err)
{
    const struct hdr *h = &m->h[which];
    const struct load_metric_row *row = &metric_rows[which];
    double low[BINS], high[BINS], counts[BINS];
    struct buf note CLEANUP_BUF;
    buf_init(&note, 400);
    if (!h->n)
        return 0;
    const double values[] = {hdr_states(h, 0.5) ? hdr_quantile(h, 0.5) : NAN, hdr_states(h, 0.99) ? hdr_quantile(h, 0.99) : NAN,
                             hdr_max(h)};
    static const char *const names[] = {"median", "p99", "max"};
    buf_printf(&note, "n %llu", (unsigned long long)h->n);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        buf_printf(&note, ", %s ", names[i]);
        report_figure(&note, values[i] / row->scale);
    }
    buf_printf(&note, "%s%s", row->unit[0] ? " " : "", row->unit);
    if (h->open)
        buf_printf(&note, "; %llu more times are not known", (unsigned long long)h->open);
    const struct chart_series bars = {
        .mark = CHART_BARS, .x = low, .x2 = high, .y = counts, .n = fill_bins(h, row->scale, low, high, counts)};
    bool wide = (double)h->max > 3 * fmax((double)h->min, 1);
    const struct chart chart = {.title = title,
                                .note = note.p,
                                .x = {.label = row->key, .unit = row->unit, .better = CHART_LOWER, .log = wide},
                                .y = {.label = which == METRIC_ITL ? "gaps" : "requests", .zero = true},
                                .series = &bars,
                                .count = 1};
    return write_chart(dir, row->key, &chart, err);
}

/* Writes the plot of requests over time. -1 with err. */
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
    struct chart_series rows[] = {{.name = "sent per s", .mark = CHART_STEPS, .x = x, .x2 = x2, .y = sent, .n = s->n},
                                  {.name = "completed per s", .mark = CHART_STEPS, .x = x, .x2 = x2, .y = done, .n = s->n},
                                  {.name = "in flight", .mark = CHART_STEPS, .x = x, .x2 = x2, .y = flight, .n = s->n}};
    struct chart chart = {.title = title,
                          .x = {.label = "time since the start", .unit = "s", .zero = true},
                          .y = {.label = "requests", .zero = true},
                          .series = rows,
                          .count = 3};
    int rc = write_chart(dir, "time", &chart, err);
    for (size_t i = 0; rc == 0 && i < s->n; i++)
        sent[i] = (double)(s->b[i].tokens ? s->b[i].tokens : s->b[i].chunks) / width;
    rows[0].name = NULL;
    chart.count = 1;
    chart.y = (struct chart_axis){.label = "output tokens/s", .better = CHART_HIGHER, .zero = true};
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
    const struct chart_series through[] = {{.name = "requests/s", .mark = CHART_CURVE, .x = v, .y = v + n, .n = n},
                                           {.name = "requests/s within objectives", .mark = CHART_CURVE, .x = v, .y = v + 2 * n, .n = n}};
    const struct chart_series tokens[] = {{.mark = CHART_CURVE, .x = v, .y = v + 3 * n, .n = n}};
    const struct chart_series latency[] = {{.name = "TTFT median", .mark = CHART_CURVE, .x = v, .y = v + 4 * n, .n = n},
                                           {.name = "TTFT p99", .mark = CHART_CURVE, .x = v, .y = v + 5 * n, .n = n},
                                           {.name = "ITL mean", .mark = CHART_CURVE, .x = v, .y = v + 6 * n, .n = n}};
    const struct chart_axis load = {.label = load_label, .zero = true};
    const struct chart charts[] = {
        {.title = title, .x = load, .y = {.label = "requests/s", .better = CHART_HIGHER, .zero = true}, .series = through, .count = 2},
        {.title = title, .x = load, .y = {.label = "output tokens/s", .better = CHART_HIGHER, .zero = true}, .series = tokens, .count = 1},
        {.title = title,
         .x = load,
         .y = {.label = "latency", .unit = "ms", .better = CHART_LOWER, .log = true},
         .series = latency,
         .count = 3}};
    static const char *const names[] = {"saturation", "saturation-tokens", "saturation-latency"};
    int rc = fs_mkdirs(AT_FDCWD, dir, 0755, err);
    for (size_t i = 0; rc == 0 && i < sizeof names / sizeof *names; i++)
        rc = write_chart(dir, names[i], &charts[i], err);
    free(v);
    return rc;
}
