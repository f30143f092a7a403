/* charts_inside.c: what one run has inside: samples over time, nodes; see charts.h. */
#include "base/array.h"
#include "base/stats.h"
#include "mlruns-format/key.h"
#include "report/charts.h"
#include "runs/entry_stats.h"
#include "series/notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_FILE_MAX = 64 << 20, NODES_FILE_MAX = 32 << 20, PHASES_MAX = 200 };

const char *charts_unfinished(const struct tree_run *run, struct arena *a)
{
    return run->status == RUN_FINISHED ? "" : arena_printf(a, ", which did not finish (%s)", runs_status(run));
}

/* ---- samples ---- */

/* Samples of one key as they come in, thinned or complete. */
struct sample_list {
    double *time_s, *value;
    size_t n, times_room, values_room;
    bool failed;
};

static void keep_sample(struct sample_list *l, double time_s, double value)
{
    l->failed |= !ARRAY_FITS(l->time_s, l->times_room, l->n + 1) || !ARRAY_FITS(l->value, l->values_room, l->n + 1);
    if (l->failed)
        return;
    l->time_s[l->n] = time_s;
    l->value[l->n++] = value;
}

/* Reads all samples of a key from series.jsonl. Returns false where that file does not have
 * them. */
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

/* Returns the first metric that was sampled over time. */
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

/* Collects the samples of a run, else those of its repetitions one after the other. */
static const char *collect_samples(struct runs *runs, const struct tree_run *run, const struct series_notes *notes, const char *wanted,
                                   struct arena *a, struct sample_list *to, struct plotted_metric *metric)
{
    const char *problem = NULL;
    struct json *detail = runs_detail(runs, run, &problem, a);
    const struct tree_entry *e = wanted ? plotted_metric_of(run, detail, wanted, a) : notes ? NULL : first_sampled(run);
    if (e && !(notes && e->count < 5)) {
        plotted_describe(metric, e->key, detail, a);
        const struct tree_sample *sorted = charts_sorted_samples(e, tree_sample_order, a);
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
    size_t known = 0; /* without those that separate repetitions */
    for (size_t i = 0; i < samples.n && !samples.failed; i++)
        known += isfinite(samples.value[i]);
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
                        .note = arena_printf(a, "%zu sample%s of run %.8s%s", known, str_plural(known), run->id, charts_unfinished(run, a)),
                        .x = {.label = "time since the start", .unit = "s"},
                        .y = charts_axis(&metric),
                        .series = series,
                        .count = 1,
                        .guides = guides,
                        .guide_count = phases};
    return a->failed ? err_memory(err, "the samples of a run") : 0;
}

/* ---- nodes ---- */

/* Names the outliers, beyond the quartiles by 1.5 times their distance. Returns how many are missing. */
static size_t name_outliers(const double *v, const char **labels, size_t n)
{
    double *sorted = malloc((n + 1) * sizeof *sorted);
    size_t known = 0;
    for (size_t i = 0; sorted && i < n; i++)
        if (isfinite(v[i]))
            sorted[known++] = v[i];
    struct stats ordered;
    if (known)
        stats_of(sorted, known, &ordered);
    double low = known ? stats_quantile(sorted, known, 0.25) : NAN, high = known ? stats_quantile(sorted, known, 0.75) : NAN;
    double reach = 1.5 * (high - low);
    for (size_t i = 0; i < n; i++)
        if (!(known >= 4 && (v[i] < low - reach || v[i] > high + reach)))
            labels[i] = NULL;
    free(sorted);
    return n - known;
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
    size_t lacking = name_outliers(v, labels, used);
    names[0] = arena_printf(a, "%zu nodes", used);
    *series = (struct chart_series){.name = "node", .mark = CHART_BOX, .x = v, .y = lane, .n = used, .labels = labels, .named = true};
    *c = (struct chart){.title = arena_printf(a, "%s on each node", metric.name),
                        .note = arena_printf(a, "mean over the run %.8s%s; outliers are named", run->id, charts_unfinished(run, a)),
                        .x = charts_axis(&metric),
                        .y = {.names = names, .count = 1},
                        .series = series,
                        .count = 1,
                        .left_out = lacking,
                        .left_why = lacking ? arena_printf(a, "%zu node%s without it", lacking, str_plural(lacking)) : NULL};
    return a->failed ? err_memory(err, "the nodes of a run") : 0;
}
