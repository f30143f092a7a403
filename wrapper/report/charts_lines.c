/* charts_lines.c: a line for each run: the quantiles of a latency, and a metric over its steps; see charts.h. */
#include "base/array.h"
#include "base/stats.h"
#include "compare/compare.h"
#include "mlruns-format/key.h"
#include "report/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTILES_MAX = 400, SAMPLES_FEW = 20, LINES_MAX = 7 };

/* ---- which runs have a line ---- */

/* Runs of a plot of several that have no line. */
struct left_lines {
    size_t failed, warmups, lacking, other_units, more;
};

/* Returns whether the run is left out next to others. One that did not finish has measured a part,
 * a warm-up something else. The plot of one run alone shows it. */
static bool is_left_line(const struct tree_run *run, size_t n, struct left_lines *left)
{
    bool failed = n > 1 && run->status != RUN_FINISHED, warmup = n > 1 && !failed && runs_entry(run->tags, "benchwrap.warmup");
    left->failed += failed;
    left->warmups += warmup;
    return failed || warmup;
}

/* Sets the chart's note on lines that are left out, with the number for each reason, and their sum
 * in left_out. NULL in left_why: none is left out. */
static void put_left_lines(const struct left_lines *left, struct arena *a, struct chart *c)
{
    const struct {
        size_t n;
        const char *words;
    } parts[] = {{left->failed, "that did not finish"},
                 {left->warmups, "for warm-up"},
                 {left->lacking, "without it"},
                 {left->other_units, "with it in another unit"},
                 {left->more, arena_printf(a, "beyond the first %d", LINES_MAX)}};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1000);
    c->left_out = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].n) {
            buf_printf(&b, "%s%zu %s", b.n ? ", " : "", parts[i].n, parts[i].words);
            c->left_out += parts[i].n;
        }
    c->left_why = b.n ? arena_dup(a, b.p, b.n) : NULL;
}

/* Returns the note of a plot of one run that did not finish, else NULL. */
static const char *note_of_one(struct tree_run *const *list, size_t n, struct arena *a)
{
    const char *unfinished = n == 1 ? charts_unfinished(list[0], a) : "";
    return unfinished && *unfinished ? arena_printf(a, "run %.8s%s", list[0]->id, unfinished) : NULL;
}

/* ---- latency ---- */

/* Determines the quantile that a name ends in: "read.clat.p99" -> 0.99 and "read.clat". Returns
 * false where it ends in none. */
static bool quantile_of_name(const char *name, size_t *ret_stem, double *ret_quantile)
{
    const char *dot = strrchr(name, '.');
    size_t n = dot ? strlen(dot) : 0;
    uint64_t digits;
    if (n < 4 || n > 8 || dot[1] != 'p' || !str_uint(str_of(dot + 2), &digits))
        return false;
    *ret_stem = (size_t)(dot - name);
    *ret_quantile = (double)digits / pow(10, (double)n - 2);
    return true;
}

struct latency_line {
    double *x, *y;
    size_t n;
    struct plotted_metric metric;
};

static double latest_percentile(const struct tree_entry *e)
{
    const struct tree_sample *latest = tree_entry_latest(e);
    return latest ? latest->value : NAN;
}

struct percentile {
    const char *name, *unit;
    size_t stem; /* characters of the name before its quantile */
    double quantile, value;
};

static int by_stem(const void *x, const void *y)
{
    const struct percentile *a = x, *b = y;
    size_t n = a->stem < b->stem ? a->stem : b->stem;
    int order = strncmp(a->name, b->name, n);
    if (order || a->stem != b->stem)
        return order ? order : a->stem < b->stem ? -1 : 1;
    order = strcmp(a->unit, b->unit);
    return order ? order : (a->quantile > b->quantile) - (a->quantile < b->quantile);
}

static bool is_same_stem(const struct percentile *a, const struct percentile *b)
{
    return a->stem == b->stem && strncmp(a->name, b->name, a->stem) == 0 && strcmp(a->unit, b->unit) == 0;
}

/* Reads the percentiles that a run has of a metric; `wanted` NULL: of the first one, by its name,
 * with three or more, behind `skip` of them. */
static bool latency_percentiles(const struct tree_run *run, const struct json *detail, const char *wanted, size_t skip, struct arena *a,
                                struct latency_line *ret)
{
    enum { ENOUGH = 3 };
    struct percentile *list = NULL;
    size_t n = 0, room = 0, end;
    for (const struct tree_entry *e = run->metrics; e; e = e->next) {
        struct plotted_metric m = {0};
        struct percentile p;
        if (!strstr(e->key, ".p") || !isfinite(latest_percentile(e)))
            continue;
        plotted_describe(&m, e->key, detail, a);
        p = (struct percentile){.name = m.name, .unit = m.unit, .value = latest_percentile(e)};
        if (m.name && quantile_of_name(m.name, &p.stem, &p.quantile) &&
            (!wanted || (strlen(wanted) == p.stem && strncmp(wanted, m.name, p.stem) == 0)) && ARRAY_FITS_IN(a, list, room, n + 1))
            list[n++] = p;
    }
    if (n)
        qsort(list, n, sizeof *list, by_stem);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && is_same_stem(&list[i], &list[end]); end++) {}
        if (end - i < ENOUGH || skip-- > 0)
            continue;
        *ret = (struct latency_line){arena_get(a, (end - i) * sizeof *ret->x), arena_get(a, (end - i) * sizeof *ret->y), end - i, {0}};
        ret->metric.name = arena_dup(a, list[i].name, list[i].stem);
        ret->metric.unit = list[i].unit;
        ret->metric.shown_unit = plotted_unit(list[i].unit, a);
        ret->metric.better = CHART_LOWER;
        ret->metric.ways = DIR_LOWER;
        for (size_t k = i; ret->x && ret->y && k < end; k++) {
            ret->x[k - i] = list[k].quantile;
            ret->y[k - i] = list[k].value;
        }
        return ret->x && ret->y && ret->metric.name;
    }
    return false;
}

/* Computes the quantiles of the samples of one metric. */
static bool latency_samples(const struct tree_run *run, const struct json *detail, const char *wanted, struct arena *a,
                            struct latency_line *ret)
{
    const struct tree_entry *e = wanted ? plotted_metric_of(run, detail, wanted, a) : NULL;
    double *v = e && e->count >= SAMPLES_FEW ? arena_get(a, e->count * sizeof *v) : NULL;
    size_t n = 0;
    for (size_t i = 0; v && i < e->count; i++)
        if (isfinite(e->samples[i].value))
            v[n++] = e->samples[i].value;
    if (n < SAMPLES_FEW)
        return false;
    struct stats ordered;
    stats_of(v, n, &ordered); /* sorts them */
    size_t points = n < QUANTILES_MAX ? n : QUANTILES_MAX;
    double nines = log10((double)n);
    *ret = (struct latency_line){arena_get(a, points * sizeof *ret->x), arena_get(a, points * sizeof *ret->y), points, {0}};
    plotted_describe(&ret->metric, e->key, detail, a);
    for (size_t i = 0; ret->x && ret->y && i < points; i++) { /* even steps on the axis of nines, which a tail needs */
        double q = points == n ? (double)i / (double)n : 1 - pow(10, -nines * (double)i / (double)(points - 1));
        ret->x[i] = fmin(q, 1 - 1 / (double)n);
        ret->y[i] = stats_quantile(v, n, ret->x[i]);
    }
    return ret->x && ret->y;
}

/* Adds the distributions of the other metrics of the same unit, up to LINES_MAX lines. Returns how
 * many lines there are. */
static size_t add_other_latencies(const struct tree_run *run, const struct json *detail, struct plotted_metric *metric, struct arena *a,
                                  struct chart_series *series, size_t used, double *low, double *high)
{
    struct latency_line line;
    for (size_t skip = 1; used < LINES_MAX && latency_percentiles(run, detail, NULL, skip, a, &line); skip++) {
        if (strcmp(line.metric.unit, metric->unit) != 0)
            continue;
        for (size_t k = 0; k < line.n; k++)
            *low = fmin(*low, line.y[k]), *high = fmax(*high, line.y[k]);
        series[used++] = (struct chart_series){.name = line.metric.name, .mark = CHART_CURVE, .x = line.x, .y = line.y, .n = line.n};
    }
    if (used > 1) {
        series[0].name = metric->name;
        metric->name = "latency";
    }
    return used;
}

/* Joins unit and direction of a line with those of the axis, which the first line describes. False: it has no place there, and is counted. */
static bool is_line_on_axis(struct plotted_metric *metric, const struct latency_line *line, bool has, struct left_lines *left,
                            struct arena *a)
{
    if (has && !metric->name)
        *metric = line->metric;
    bool fits = has && plotted_join(metric, line->metric.unit, line->metric.ways, a);
    left->lacking += !has;
    left->other_units += has && !fits;
    return fits;
}

int charts_latency(struct runs *runs, struct tree_run *const *list, size_t n, const struct json *detail, const char *wanted,
                   struct arena *a, struct chart_list *to, struct err *err)
{
    struct chart *c = charts_add(to, a);
    struct chart_series *series = arena_get(a, (n + LINES_MAX) * sizeof *series);
    struct plotted_metric metric = {.wanted = wanted};
    size_t used = 0, at = 0;
    struct left_lines left = {0};
    double low = INFINITY, high = -INFINITY;
    if (!c || !series)
        return err_memory(err, "the quantiles of %zu runs", n);
    for (; at < n && used < LINES_MAX; at++) {
        const struct tree_run *run = list[at];
        if (is_left_line(run, n, &left))
            continue;
        const char *problem = NULL;
        struct json *own = detail ? NULL : runs_detail(runs, run, &problem, a);
        const struct json *facts = detail ? detail : own;
        struct latency_line line;
        bool has = latency_percentiles(run, facts, metric.name ? metric.name : wanted, 0, a, &line) ||
                   latency_samples(run, facts, metric.key ? metric.key : wanted, a, &line);
        json_free(own);
        if (!is_line_on_axis(&metric, &line, has, &left, a))
            continue;
        for (size_t k = 0; k < line.n; k++)
            low = fmin(low, line.y[k]), high = fmax(high, line.y[k]);
        series[used++] = (struct chart_series){.name = n > 1 ? arena_printf(a, "%.8s %s", run->id, run->name) : NULL,
                                               .mark = line.n > 30 ? CHART_LINE : CHART_CURVE,
                                               .x = line.x,
                                               .y = line.y,
                                               .n = line.n};
    }
    if (n == 1 && used && !wanted && !metric.key) /* one run: its other latencies next to the first one */
        used = add_other_latencies(list[0], detail, &metric, a, series, used, &low, &high);
    if (!used && to->count--)
        return err_set(err, ERR_INPUT, "%s%.60s has neither three percentiles nor %d samples%s", wanted ? "" : "no metric of the run",
                       wanted ? wanted : "", SAMPLES_FEW, left.failed ? "; runs that did not finish are left out" : "");
    left.more = n - at;
    *c = (struct chart){.title = arena_printf(a, "Distribution of %s", metric.name),
                        .note = note_of_one(list, n, a),
                        .x = {.label = "share of the values below", .nines = true},
                        .y = charts_axis(&metric),
                        .series = series,
                        .count = used};
    c->y.log = low > 0 && high / low >= 10;
    c->y.zero = !c->y.log && low >= 0;
    put_left_lines(&left, a, c);
    return a->failed ? err_memory(err, "the quantiles of %zu runs", n) : 0;
}

/* ---- steps ---- */

const struct tree_sample *charts_sorted_samples(const struct tree_entry *e, int (*order)(const void *a, const void *b), struct arena *a)
{
    struct tree_sample *sorted = arena_get(a, (e->count + 1) * sizeof *sorted);
    if (sorted && e->count) {
        memcpy(sorted, e->samples, e->count * sizeof *sorted);
        qsort(sorted, e->count, sizeof *sorted, order);
    }
    return sorted;
}

static int by_step_then_time(const void *x, const void *y)
{
    return tree_sample_is_later(x, y) - tree_sample_is_later(y, x);
}

static bool is_step_table(const struct tree_run *run, const struct tree_entry *e)
{
    bool differs = false;
    for (size_t i = 1; e && i < e->count && !differs; i++)
        differs = e->samples[i].step != e->samples[0].step;
    return differs && !compare_are_repetitions(run, e);
}

/* Fills *ret with the values of a metric over its steps, in the arena: of each step the latest
 * value. `wanted` NULL: of the first result with steps. False: there is none, or out of memory. */
static bool steps_of(const struct tree_run *run, const struct json *detail, const char *wanted, struct arena *a, struct latency_line *ret)
{
    const struct tree_entry *e = wanted ? plotted_metric_of(run, detail, wanted, a) : run->metrics;
    while (!wanted && e && !(key_is_result(e->key) && is_step_table(run, e)))
        e = e->next;
    if (!is_step_table(run, e))
        return false;
    *ret = (struct latency_line){arena_get(a, e->count * sizeof *ret->x), arena_get(a, e->count * sizeof *ret->y), 0, {0}};
    plotted_describe(&ret->metric, e->key, detail, a);
    const struct tree_sample *sorted = charts_sorted_samples(e, by_step_then_time, a);
    for (size_t i = 0; ret->x && ret->y && sorted && i < e->count; i++) {
        if (ret->n && ret->x[ret->n - 1] == (double)sorted[i].step)
            ret->n--;
        ret->x[ret->n] = (double)sorted[i].step;
        ret->y[ret->n++] = sorted[i].value;
    }
    return ret->x && ret->y && sorted;
}

int charts_steps(struct runs *runs, struct tree_run *const *list, size_t n, const struct json *detail, const char *wanted, struct arena *a,
                 struct chart_list *to, struct err *err)
{
    struct chart *c = charts_add(to, a);
    struct chart_series *series = arena_get(a, (n + 1) * sizeof *series);
    struct plotted_metric metric = {.wanted = wanted};
    size_t used = 0, at = 0;
    struct left_lines left = {0};
    double low = INFINITY, high = -INFINITY, first = INFINITY, last = 0;
    if (!c || !series)
        return err_memory(err, "the steps of %zu runs", n);
    for (; at < n && used < LINES_MAX; at++) {
        const struct tree_run *run = list[at];
        if (is_left_line(run, n, &left))
            continue;
        const char *problem = NULL;
        struct json *own = detail ? NULL : runs_detail(runs, run, &problem, a);
        const struct json *facts = detail ? detail : own;
        struct latency_line line;
        bool has = steps_of(run, facts, metric.key ? metric.key : wanted, a, &line);
        json_free(own);
        if (!is_line_on_axis(&metric, &line, has, &left, a))
            continue;
        for (size_t k = 0; k < line.n; k++) {
            low = fmin(low, line.y[k]), high = fmax(high, line.y[k]);
            first = fmin(first, line.x[k]), last = fmax(last, line.x[k]);
        }
        series[used++] = (struct chart_series){.name = n > 1 ? arena_printf(a, "%.8s %s", run->id, run->name) : NULL,
                                               .mark = CHART_CURVE,
                                               .x = line.x,
                                               .y = line.y,
                                               .n = line.n};
    }
    if (!used) {
        to->count--;
        return err_set(err, ERR_INPUT, "%s%.60s has no table of steps, and no param is named by --over%s",
                       wanted ? "" : "no metric of the run", wanted ? wanted : "",
                       left.failed ? "; runs that did not finish are left out" : "");
    }
    left.more = n - at;
    *c = (struct chart){.title = arena_printf(a, "%s over its steps", metric.name),
                        .note = note_of_one(list, n, a),
                        .x = {.label = "step"},
                        .y = charts_axis(&metric),
                        .series = series,
                        .count = used};
    c->x.log = c->x.two = first > 0 && last / first >= 8;
    c->y.log = low > 0 && high / low >= 20;
    c->y.zero = !c->y.log && low >= 0;
    put_left_lines(&left, a, c);
    return a->failed ? err_memory(err, "the steps of %zu runs", n) : 0;
}
