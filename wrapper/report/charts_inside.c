/* charts_inside.c: what one run has inside: quantiles of a latency, samples over time, nodes; see charts.h. */
#include "base/array.h"
#include "base/stats.h"
#include "compare/compare.h"
#include "mlruns-format/key.h"
#include "report/charts.h"
#include "runs/entry_stats.h"
#include "series/notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTILES_MAX = 400, SAMPLES_FEW = 20, SAMPLES_FILE_MAX = 64 << 20, NODES_FILE_MAX = 32 << 20, LINES_MAX = 7, PHASES_MAX = 200 };

/* ---- latency ---- */

/* The quantile that a name ends in: "read.clat.p99" -> 0.99 and "read.clat"; false: none. */
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

static int by_quantile(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

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

/* The percentiles that a run has of a metric; `wanted` NULL: of the first one, by its name, with
 * three or more, behind `skip` of them. */
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
        for (size_t k = i; ret->x && ret->y && k < end; k++) {
            ret->x[k - i] = list[k].quantile;
            ret->y[k - i] = list[k].value;
        }
        return ret->x && ret->y && ret->metric.name;
    }
    return false;
}

/* The quantiles of the samples of one metric. */
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
    qsort(v, n, sizeof *v, by_quantile);
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

/* The distributions of the other metrics of the same unit, up to LINES_MAX lines. Returns how many lines there are. */
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

int charts_latency(struct runs *runs, struct tree_run *const *list, size_t n, const struct json *detail, const char *wanted,
                   struct arena *a, struct chart_list *to, struct err *err)
{
    struct chart *c = charts_add(to, a);
    struct chart_series *series = arena_get(a, (n + LINES_MAX) * sizeof *series);
    struct plotted_metric metric = {.wanted = wanted};
    size_t used = 0, lacking = 0, more = n > LINES_MAX ? n - LINES_MAX : 0;
    double low = INFINITY, high = -INFINITY;
    if (!c || !series)
        return err_memory(err, "the quantiles of %zu runs", n);
    for (size_t i = 0; i < n && i < LINES_MAX; i++) {
        const char *problem = NULL;
        struct json *own = detail ? NULL : runs_detail(runs, list[i], &problem, a);
        const struct json *facts = detail ? detail : own;
        struct latency_line line;
        bool has = latency_percentiles(list[i], facts, metric.name ? metric.name : wanted, 0, a, &line) ||
                   latency_samples(list[i], facts, metric.key ? metric.key : wanted, a, &line);
        json_free(own);
        if (!has || (metric.name && strcmp(metric.unit, line.metric.unit) != 0)) {
            lacking++;
            continue;
        }
        if (!metric.name)
            metric = line.metric;
        for (size_t k = 0; k < line.n; k++)
            low = fmin(low, line.y[k]), high = fmax(high, line.y[k]);
        series[used++] = (struct chart_series){.name = n > 1 ? arena_printf(a, "%.8s %s", list[i]->id, list[i]->name) : NULL,
                                               .mark = line.n > 30 ? CHART_LINE : CHART_CURVE,
                                               .x = line.x,
                                               .y = line.y,
                                               .n = line.n};
    }
    if (n == 1 && used && !wanted && !metric.key) /* one run: its other latencies next to the first one */
        used = add_other_latencies(list[0], detail, &metric, a, series, used, &low, &high);
    if (!used && to->count--)
        return err_set(err, ERR_INPUT, "%s%.60s has neither three percentiles nor %d samples", wanted ? "" : "no metric of the run",
                       wanted ? wanted : "", SAMPLES_FEW);
    *c = (struct chart){.title = arena_printf(a, "Distribution of %s", metric.name),
                        .x = {.label = "share of the values below", .nines = true},
                        .y = charts_axis(&metric),
                        .series = series,
                        .count = used,
                        .left_out = lacking + more};
    c->y.log = low > 0 && high / low >= 10;
    c->y.zero = !c->y.log && low >= 0;
    if (lacking + more)
        c->left_why = arena_printf(a, "%zu run%s without it%s", lacking, str_plural(lacking),
                                   more ? arena_printf(a, ", %zu beyond the first %d", more, LINES_MAX) : "");
    return a->failed ? err_memory(err, "the quantiles of %zu runs", n) : 0;
}

/* ---- steps ---- */

/* The samples in this order, which need not be that of the file. NULL: out of memory. */
static const struct tree_sample *samples_sorted(const struct tree_entry *e, int (*order)(const void *a, const void *b), struct arena *a)
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
    const struct tree_sample *sorted = samples_sorted(e, by_step_then_time, a);
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
    size_t used = 0, lacking = 0, more = n > LINES_MAX ? n - LINES_MAX : 0;
    double low = INFINITY, high = -INFINITY, first = INFINITY, last = 0;
    if (!c || !series)
        return err_memory(err, "the steps of %zu runs", n);
    for (size_t i = 0; i < n && i < LINES_MAX; i++) {
        const char *problem = NULL;
        struct json *own = detail ? NULL : runs_detail(runs, list[i], &problem, a);
        const struct json *facts = detail ? detail : own;
        struct latency_line line;
        bool has = steps_of(list[i], facts, metric.key ? metric.key : wanted, a, &line);
        json_free(own);
        if (!has) {
            lacking++;
            continue;
        }
        if (!metric.key)
            metric = line.metric;
        for (size_t k = 0; k < line.n; k++) {
            low = fmin(low, line.y[k]), high = fmax(high, line.y[k]);
            first = fmin(first, line.x[k]), last = fmax(last, line.x[k]);
        }
        series[used++] = (struct chart_series){.name = n > 1 ? arena_printf(a, "%.8s %s", list[i]->id, list[i]->name) : NULL,
                                               .mark = CHART_CURVE,
                                               .x = line.x,
                                               .y = line.y,
                                               .n = line.n};
    }
    if (!used) {
        to->count--;
        return err_set(err, ERR_INPUT, "%s%.60s has no table of steps, and no param is named by --over",
                       wanted ? "" : "no metric of the run", wanted ? wanted : "");
    }
    *c = (struct chart){.title = arena_printf(a, "%s over its steps", metric.name),
                        .x = {.label = "step"},
                        .y = charts_axis(&metric),
                        .series = series,
                        .count = used,
                        .left_out = lacking + more};
    c->x.log = c->x.two = first > 0 && last / first >= 8;
    c->y.log = low > 0 && high / low >= 20;
    c->y.zero = !c->y.log && low >= 0;
    if (lacking + more)
        c->left_why = arena_printf(a, "%zu run%s without it%s", lacking, str_plural(lacking),
                                   more ? arena_printf(a, ", %zu beyond the first %d", more, LINES_MAX) : "");
    return a->failed ? err_memory(err, "the steps of %zu runs", n) : 0;
}

/* ---- samples ---- */

/* Samples of one key as they come in, thinned or complete. */
struct sample_list {
    double *time_s, *value;
    size_t n, room;
    bool failed;
};

static void keep_sample(struct sample_list *l, double time_s, double value)
{
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 1024;
        double *t = realloc(l->time_s, room * sizeof *t), *v = t ? realloc(l->value, room * sizeof *v) : NULL;
        l->time_s = t ? t : l->time_s;
        l->value = v ? v : l->value;
        l->failed = l->failed || !t || !v;
        if (l->failed)
            return;
        l->room = room;
    }
    l->time_s[l->n] = time_s;
    l->value[l->n++] = value;
}

/* All samples of a key from series.jsonl; false: they are not there. */
static bool read_all_samples(const struct runs *runs, const struct tree_run *run, const char *key, struct sample_list *to)
{
    CLEANUP_BUF struct buf text;
    struct folder tree = runs_tree(runs, run);
    char path[300];
    buf_init(&text, SAMPLES_FILE_MAX + (1 << 20));
    snprintf(path, sizeof path, "%.200s/artifacts/series.jsonl", tree_run_path(run));
    if (folder_read(&tree, path, SAMPLES_FILE_MAX, &text) < 0)
        return false;
    for (struct str rest = buf_text(&text), line; (line = str_cut(&rest, '\n')).n || rest.p;) {
        struct json *j = NULL;
        if (line.n && str_has(str_sub(line, 0, 400), key) && json_parse(&j, line, NULL, NULL) == 0 &&
            strcmp(json_string(json_get(j, "key"), ""), key) == 0)
            for (const struct json *s = json_first(json_get(j, "samples")); s; s = json_next(s))
                keep_sample(to, (json_number(json_at(s, 0), NAN) - (double)run->start_ms) / 1e3, json_number(json_at(s, 2), NAN));
        json_free(j);
        if (!rest.p)
            break;
    }
    return to->n > 0;
}

/* The first metric that was sampled over time. */
static const struct tree_entry *first_sampled(const struct tree_run *run)
{
    const struct tree_entry *machine = NULL;
    for (const struct tree_entry *e = run->metrics; e; e = e->next)
        if (e->count >= 5 && entry_stats_span_ms(e) >= 1000) {
            if (key_is_result(e->key))
                return e;
            machine = machine ? machine : e;
        }
    return machine;
}

/* Returns the repetitions of the run as phases of a chart, in seconds from its start; *ret_n is 0
 * where it has none. The arena owns them; NULL: out of memory. */
static struct chart_guide *phases_of(struct series_notes *notes, const struct tree_run *run, struct arena *a, size_t *ret_n)
{
    struct chart_guide *list = arena_get(a, PHASES_MAX * sizeof *list);
    *ret_n = 0;
    for (const struct series_repetition *r = notes ? notes->first : NULL; list && r && *ret_n < PHASES_MAX; r = r->next) {
        CLEANUP_BUF struct buf label = {0};
        if (!r->start_ms || !r->end_ms)
            continue;
        buf_init(&label, 1000);
        sweep_label(&notes->sweep, r->point, &label);
        list[(*ret_n)++] = (struct chart_guide){
            CHART_PHASE, (double)(r->start_ms - run->start_ms) / 1e3, (double)(r->end_ms - run->start_ms) / 1e3,
            arena_printf(a, "%s%s%s%zu", r->warmup ? "warm-up " : "", label.n ? label.p : "", label.n ? " #" : "#", r->repetition)};
    }
    return list;
}

/* The samples of a run, else those of its repetitions one behind the other. */
static const char *collect_samples(struct runs *runs, const struct tree_run *run, const struct series_notes *notes, const char *wanted,
                                   struct arena *a, struct sample_list *to, struct plotted_metric *metric)
{
    const char *problem = NULL;
    struct json *detail = runs_detail(runs, run, &problem, a);
    const struct tree_entry *e = wanted ? plotted_metric_of(run, detail, wanted, a) : notes ? NULL : first_sampled(run);
    if (e && !(notes && e->count < 5)) {
        plotted_describe(metric, e->key, detail, a);
        const struct tree_sample *sorted = samples_sorted(e, tree_sample_order, a);
        if (!read_all_samples(runs, run, e->key, to))
            for (size_t i = 0; sorted && i < e->count; i++)
                keep_sample(to, (double)(sorted[i].time_ms - run->start_ms) / 1e3, sorted[i].value);
    }
    json_free(detail);
    for (const struct series_repetition *r = notes && !to->n ? notes->first : NULL; r; r = r->next) {
        struct tree_run *child = NULL;
        struct plotted_metric own = {0};
        if (runs_find(runs, arena_printf(a, "=%s", r->id), TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE, a, &child, NULL) != 0)
            continue;
        size_t before = to->n;
        collect_samples(runs, child, NULL, wanted ? wanted : metric->key, a, to, &own);
        for (size_t i = before; i < to->n; i++)
            to->time_s[i] += (double)(child->start_ms - run->start_ms) / 1e3;
        if (to->n > before && !metric->key)
            *metric = own;
        if (to->n > before)
            keep_sample(to, to->time_s[to->n - 1], NAN); /* no line from one repetition to the next */
    }
    return metric->key;
}

int charts_samples(struct runs *runs, const struct tree_run *run, const char *wanted, struct arena *a, struct chart_list *to,
                   struct err *err)
{
    struct sample_list samples = {0};
    struct plotted_metric metric = {0};
    struct series_notes *notes = plotted_notes(runs, run, a);
    struct chart *c = charts_add(to, a);
    struct chart_series *series = ARENA_NEW(a, struct chart_series);
    size_t phases = 0;
    collect_samples(runs, run, notes, wanted, a, &samples, &metric);
    struct chart_guide *guides = phases_of(notes, run, a, &phases);
    if (notes)
        series_notes_deinit(notes);
    double *x = arena_get(a, (samples.n + 1) * sizeof *x), *y = arena_get(a, (samples.n + 1) * sizeof *y);
    if (x && y && samples.n) {
        memcpy(x, samples.time_s, samples.n * sizeof *x);
        memcpy(y, samples.value, samples.n * sizeof *y);
    }
    free(samples.time_s);
    free(samples.value);
    if (!x || !y || !c || !series || !guides || samples.failed)
        return err_memory(err, "the samples of a run");
    if (!samples.n) {
        to->count--;
        return err_set(err, ERR_INPUT,
                       wanted ? "the run %.8s has no samples of \"%.60s\"" : "the run %.8s has no metric that was sampled over time",
                       run->id, wanted ? wanted : "");
    }
    *series = (struct chart_series){.mark = samples.n > 60 ? CHART_LINE : CHART_CURVE, .x = x, .y = y, .n = samples.n};
    *c = (struct chart){.title = arena_printf(a, "%s over time", metric.name),
                        .note = arena_printf(a, "%zu samples of run %.8s", samples.n, run->id),
                        .x = {.label = "time since the start", .unit = "s"},
                        .y = charts_axis(&metric),
                        .series = series,
                        .count = 1,
                        .guides = guides,
                        .guide_count = phases};
    return a->failed ? err_memory(err, "the samples of a run") : 0;
}

/* ---- nodes ---- */

/* Names those values that are outside the quartiles by 1.5 times their distance. */
static void name_outliers(const double *v, const char **labels, size_t n)
{
    double *sorted = malloc((n + 1) * sizeof *sorted);
    size_t known = 0;
    for (size_t i = 0; sorted && i < n; i++)
        if (isfinite(v[i]))
            sorted[known++] = v[i];
    if (known)
        qsort(sorted, known, sizeof *sorted, by_quantile);
    double low = known ? stats_quantile(sorted, known, 0.25) : NAN, high = known ? stats_quantile(sorted, known, 0.75) : NAN;
    double reach = 1.5 * (high - low);
    for (size_t i = 0; i < n; i++)
        if (!(known >= 4 && (v[i] < low - reach || v[i] > high + reach)))
            labels[i] = NULL;
    free(sorted);
}

int charts_nodes(struct runs *runs, const struct tree_run *run, const char *wanted, struct arena *a, struct chart_list *to, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct json *j = NULL;
    struct folder tree = runs_tree(runs, run);
    const char *path = arena_printf(a, "%s/artifacts/nodes.json", tree_run_path(run)), *key = NULL;
    buf_init(&text, NODES_FILE_MAX + (1 << 20));
    if (!path || folder_read(&tree, path, NODES_FILE_MAX, &text) < 0)
        return err_set(err, ERR_INPUT, "the run %.8s has no nodes.json: it ran on one node, or collected no facts of others", run->id);
    if (json_parse(&j, buf_text(&text), NULL, err) < 0)
        return err_wrap(err, "nodes.json of the run %.8s", run->id);
    size_t n = json_count(json_get(j, "nodes")), used = 0;
    double *v = arena_get(a, (n + 1) * sizeof *v), *lane = arena_get(a, (n + 1) * sizeof *lane);
    const char **labels = arena_get(a, (n + 1) * sizeof *labels), **names = arena_get(a, 2 * sizeof *names);
    struct chart_series *series = ARENA_NEW(a, struct chart_series);
    struct plotted_metric metric = {0};
    for (const struct json *node = json_first(json_get(j, "nodes")); v && lane && labels && node; node = json_next(node)) {
        const struct json *found = NULL;
        for (const struct json *s = json_first(json_get(node, "series")); s && !found; s = json_next(s)) {
            struct plotted_metric own = {0};
            if (!key)
                plotted_describe(&own, arena_printf(a, "%s", json_key(s)), NULL, a);
            if (key      ? strcmp(json_key(s), key) == 0
                : wanted ? strcmp(json_key(s), wanted) == 0 || (own.name && strcmp(own.name, wanted) == 0)
                         : *json_key(s) != 0) {
                found = s;
                if (!key)
                    metric = own, key = own.key;
            }
        }
        lane[used] = 0;
        v[used] = json_number(json_get(found, "mean"), NAN);
        labels[used++] = arena_printf(a, "%s", json_string(json_get(node, "name"), "?"));
    }
    json_free(j);
    struct chart *c = charts_add(to, a);
    if (!v || !lane || !labels || !names || !series || !c || a->failed)
        return err_memory(err, "the nodes of a run");
    if (!key) {
        to->count--;
        return err_set(err, ERR_INPUT,
                       wanted ? "no node of the run %.8s has a series \"%.60s\"" : "the nodes of the run %.8s have no series", run->id,
                       wanted ? wanted : "");
    }
    name_outliers(v, labels, used);
    names[0] = arena_printf(a, "%zu nodes", used);
    *series = (struct chart_series){.name = "node", .mark = CHART_BOX, .x = v, .y = lane, .n = used, .labels = labels, .named = true};
    *c = (struct chart){.title = arena_printf(a, "%s on each node", metric.name),
                        .note = arena_printf(a, "mean over the run %.8s; nodes that stand out are named", run->id),
                        .x = charts_axis(&metric),
                        .y = {.names = names, .count = 1},
                        .series = series,
                        .count = 1};
    return a->failed ? err_memory(err, "the nodes of a run") : 0;
}
