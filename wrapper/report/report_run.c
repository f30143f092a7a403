/* report_run.c: one run as a document. */
#include "report/report.h"
#include "base/show.h"
#include "compare/compare.h"
#include "mlruns-format/headline.h"
#include "mlruns-format/key.h"
#include "mlruns-format/missing.h"
#include "mlruns-format/verdict.h"
#include "plan/references.h"
#include "report/charts.h"
#include "runs/code_functions.h"
#include "runs/entry_stats.h"
#include "runs/inherit.h"
#include "runs/row_words.h"
#include "runs/stale.h"
#include "series/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OUTPUT_TAIL = DOC_OUTPUT_MAX,
    WARNINGS_MAX = 40,
    METRICS_MAX = 1500,
    FACTS_MAX = 600,
    VALUE_MAX = 300,
    SAMPLED_MAX = 3,
    NODES_MAX = 1024,
    FUNCTIONS_MOST = 30
};

struct report_state {
    struct doc *d;
    struct arena *a;
    struct runs *runs;
    struct tree_run *run;
    struct json *detail;
    struct series_notes *notes;
    const char *problem;
};

/* ---- shared ---- */

const char *report_value(double value, const char *unit, const char **ret_unit, struct arena *a)
{
    CLEANUP_BUF struct buf b, u;
    const char *shown = unit;
    buf_init(&b, 64);
    buf_init(&u, 64);
    double scale = unit ? show_scale(value, &shown) : 1;
    show_value(&b, value * scale);
    show_unit(&u, shown);
    if (ret_unit)
        *ret_unit = arena_dup(a, u.p ? u.p : "", u.n);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

const char *report_time(int64_t ms, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_time_utc(&b, ms);
    return b.n >= 19 ? arena_printf(a, "%.10s\u00a0%.8s\u00a0UTC", b.p, b.p + 11) : "";
}

const char *report_foot(const struct runs *runs, struct arena *a)
{
    return arena_printf(a, "benchwrap %s, from %s", BW_VERSION, runs->tree ? runs->tree : "a commit");
}

const char *report_name(const struct tree_run *run, struct arena *a)
{
    const char *benchmark = runs_text(run->tags, "benchmark", a);
    return row_words_made_name(run->name, benchmark) && benchmark ? benchmark : run->name && *run->name ? run->name : run->id;
}

static const char *report_tag(const struct report_state *r, const char *key)
{
    const char *text = runs_text(r->run->tags, key, r->a);
    return text && *text ? text : NULL;
}

/* ---- head ---- */

/* Writes the answer of the report: the verdict with its reason. A pass that no reference supports
 * is called "output valid"; a run without verdict shows its status. */
static void report_verdict(const struct report_state *r)
{
    const char *verdict = report_tag(r, "benchwrap.verdict"), *reason = report_tag(r, "benchwrap.reason"), *status = runs_status(r->run);
    size_t judged = verdict_judged(r->detail);
    char word[32];
    size_t n = 0;
    for (; status[n] && n + 1 < sizeof word; n++)
        word[n] = str_lower(status[n]);
    word[n] = 0;
    const char *word_kept = arena_printf(r->a, "%s", word);
    if (verdict && strcmp(verdict, "fail") == 0)
        doc_answer(r->d, STYLE_BAD, r->run->status == RUN_FINISHED ? "fail" : word_kept, reason ? reason : "No reason is recorded.");
    else if (verdict && strcmp(verdict, "pass") == 0 && judged)
        doc_answer(r->d, STYLE_GOOD, "pass", arena_printf(r->a, "%zu metric%s within the references.", judged, str_plural(judged)));
    else if (verdict && strcmp(verdict, "pass") == 0)
        doc_answer(r->d, STYLE_PLAIN, "output valid", "No reference to judge the values by.");
    else
        doc_answer(r->d, r->run->status == RUN_FINISHED || r->run->status == RUN_RUNNING ? STYLE_PLAIN : STYLE_BAD, word_kept,
                   reason                           ? reason
                   : r->run->status == RUN_FINISHED ? "Not judged: no rule or reference applies."
                                                    : "");
}

/* Adds when, by whom, where and how long the run ran to the report. */
static void report_origin(const struct report_state *r)
{
    const char *host = json_string(json_get(json_get(r->detail, "run"), "host"), ""), *site = report_tag(r, "site"), *who = r->run->user;
    const struct tree_entry *wall = runs_entry(r->run->metrics, r->notes ? "series.wall_s" : "run.wall_s");
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8192);
    buf_puts(&b, report_time(r->run->start_ms, r->a));
    if (wall && wall->count) {
        buf_puts(&b, ", ");
        show_duration(&b, tree_entry_latest(wall)->value);
    }
    if (who && *who)
        buf_printf(&b, ", by %s", who);
    if (*host)
        buf_printf(&b, "%s%s", who && *who ? " on " : ", on ", host);
    if (site)
        buf_printf(&b, ", site %s", site);
    buf_printf(&b, ", experiment %s, run %s", r->run->experiment, r->run->id);
    doc_text(r->d, STYLE_DIM, arena_dup(r->a, b.p ? b.p : "", b.n));
}

/* Returns the result of the comparison with a reference: "reference 190 … 210, below", in the unit
 * that its value is shown in; NULL: nothing. */
static const char *reference_words(const struct report_state *r, const char *key, double value, const char *unit, enum style *ret_style)
{
    for (const struct json *m = json_first(json_get(r->detail, "references")); m; m = json_next(m)) {
        const char *verdict = json_string(json_get(m, "verdict"), "");
        if (strcmp(json_string(json_get(m, "metric"), ""), key) != 0 || strcmp(verdict, "no reference") == 0)
            continue;
        CLEANUP_BUF struct buf b;
        buf_init(&b, 400);
        bool fails = json_bool(json_get(m, "fails"), false);
        buf_printf(&b, "%s, reference ", fails || strcmp(verdict, "pass") == 0 ? verdict : "better");
        run_reference_range(m, show_scale(value, &unit), &b);
        *ret_style = fails ? STYLE_BAD : STYLE_GOOD;
        return arena_dup(r->a, b.p, b.n);
    }
    return NULL;
}

/* Returns "277 … 1151" of a metric with several values, in the unit that the value next to it is
 * shown in. NULL: it has one. */
static const char *spread_words(const struct tree_entry *e, double value, const char *unit, struct arena *a)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < e->count; i++)
        low = fmin(low, e->samples[i].value), high = fmax(high, e->samples[i].value);
    if (e->count < 2 || !(low <= high))
        return NULL;
    const char *shown = unit;
    double scale = show_scale(value, &shown);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 200);
    show_value(&b, low * scale);
    buf_puts(&b, " … ");
    show_value(&b, high * scale);
    return arena_dup(a, b.p, b.n);
}

/* Adds a card for each headline metric to the report: value, unit, and its reference, range or
 * better direction. */
static void report_cards(const struct report_state *r)
{
    struct headline found[HEADLINES_MAX];
    struct folder tree = runs_tree(r->runs, r->run);
    size_t n = headlines_of(&tree, r->run, HEADLINES_MAX, r->a, found), used = 0;
    struct doc_card *cards = arena_get(r->a, (HEADLINES_MAX + 1) * sizeof *cards);
    for (size_t i = 0; cards && i < n && i < HEADLINES_MAX; i++) {
        const struct tree_entry *e = runs_entry(r->run->metrics, found[i].key);
        struct plotted_metric m = {0};
        double value = e && e->count > 1 ? entry_stats_median(r->run, e) : found[i].value;
        if (!isfinite(value))
            continue;
        struct doc_card *c = &cards[used++];
        plotted_describe(&m, found[i].key, r->detail, r->a);
        c->name = m.name;
        c->value = report_value(value, m.unit, &c->unit, r->a);
        c->more = reference_words(r, found[i].key, value, m.unit, &c->style);
        if (e && e->count < 2 && found[i].key[key_stem(found[i].key)] == '.') { /* a statistic: its metric has the values */
            const struct tree_entry *values = runs_entry(r->run->metrics, arena_dup(r->a, found[i].key, key_stem(found[i].key)));
            const char *range = values ? spread_words(values, value, m.unit, r->a) : NULL;
            if (!c->more && range)
                c->more = arena_printf(r->a, "of %zu values, %s", values->count, range);
        }
        if (!c->more && e && spread_words(e, value, m.unit, r->a))
            c->more = arena_printf(r->a, "median of %zu, %s", e->count, spread_words(e, value, m.unit, r->a));
        else if (!c->more && m.better)
            c->more = m.better == CHART_HIGHER ? "higher is better" : "lower is better";
    }
    if (cards && used)
        doc_cards(r->d, cards, used);
}

/* Adds the table of statistics of repetitions and sweeps, with a row for each headline metric and
 * point; the others are counted. */
static void report_statistics(const struct report_state *r)
{
    enum { ROWS_MOST = 400 };
    static const struct doc_column columns[] = {
        {"metric"},        {"point"}, {"median", NULL, true}, {"min", NULL, true}, {"max", NULL, true},
        {"n", NULL, true}, {"unit"},  {"best point"}};
    const struct series_figure *figures = r->notes ? series_figures(r->notes) : NULL;
    struct doc_grid *t = figures ? doc_table(r->d, "statistics over repetitions", columns, sizeof columns / sizeof *columns) : NULL;
    size_t rows = 0, more = 0;
    for (int headlines = 1; t && headlines >= 0; headlines--)
        for (const struct series_figure *f = figures; f; f = f->next) {
            if (f->headline != (headlines == 1))
                continue;
            if (!f->headline || rows++ >= ROWS_MOST) {
                more++;
                continue;
            }
            CLEANUP_BUF struct buf name;
            const char *unit;
            buf_init(&name, 1000);
            show_metric(&name, f->key, f->unit);
            const char *median = report_value(f->stats.median, f->unit, &unit, r->a);
            doc_cell_text(t, STYLE_PLAIN, arena_dup(r->a, name.p ? name.p : "", name.n));
            doc_cell_text(t, STYLE_PLAIN, arena_printf(r->a, "%s", series_label(r->notes, f->point)));
            doc_cell_number(t, STYLE_PLAIN, f->stats.median, median);
            const char *shown = f->unit;
            double scale = show_scale(f->stats.median, &shown), ends[] = {f->stats.min * scale, f->stats.max * scale};
            for (int i = 0; i < 2; i++)
                doc_cell_number(t, STYLE_DIM, ends[i] / scale, report_value(ends[i], NULL, NULL, r->a));
            doc_cell_number(t, STYLE_DIM, (double)f->stats.n, arena_printf(r->a, "%zu", f->stats.n));
            doc_cell_text(t, STYLE_DIM, unit);
            doc_cell_text(t, STYLE_GOOD, f->best ? "best" : "");
        }
    if (more)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "%zu more: benchwrap show %.8s", more, r->run->id));
}

/* ---- plots ---- */

static void add_charts(const struct report_state *r, const struct chart_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        doc_chart(r->d, &list->list[i]);
}

enum { SERIES_METRICS = 4 };
/* Collects the headline metrics of a series, one value of each; the wall time alone where there is
 * no other. Returns how many. */
static size_t series_headlines(const struct report_state *r, const struct series_figure *ret[SERIES_METRICS])
{
    size_t n = 0;
    for (int pass = 0; pass < 2 && !n; pass++)
        for (const struct series_figure *f = series_figures(r->notes); f && n < SERIES_METRICS; f = f->next) {
            bool known = !f->headline || (strncmp(f->key, "run.", 4) == 0) != (pass == 1);
            for (size_t i = 0; i < n; i++)
                known = known || strcmp(ret[i]->key, f->key) == 0;
            if (!known)
                ret[n++] = f;
        }
    return n;
}

/* Plots the points of a sweep, or the repetitions, for each headline metric. */
static void plot_series(const struct report_state *r, struct chart_list *list)
{
    const struct series_figure *found[SERIES_METRICS];
    const struct parameter_sweep *sweep = &r->notes->sweep;
    struct err ignored = {0};
    for (size_t i = 0, n = series_headlines(r, found); i < n; i++) {
        struct plotted_rows rows = {
            .runs = r->runs, .a = r->a, .expand = true, .metrics = 1, .metric[0].wanted = arena_printf(r->a, "%s", found[i]->key)};
        rows.fields[0] = sweep->count ? arena_printf(r->a, "%s", sweep->axes[0].name) : NULL;
        rows.fields[1] = sweep->count > 1 ? arena_printf(r->a, "%s", sweep->axes[1].name) : NULL;
        if (plotted_add(&rows, r->run, "repetitions", &ignored) == 0) {
            if (sweep->count && sweep->count <= 2)
                charts_sweep(&rows, NULL, list, &ignored);
            else if (!sweep->count)
                charts_groups(&rows, NULL, list, &ignored);
        }
        plotted_deinit(&rows);
    }
}

/* Adds the scaling of a sweep over the number of units, if it shows some. Returns -1 with err. */
static int put_sweep_scaling(const struct report_state *r, const struct report_options *o, struct err *err)
{
    const struct series_figure *found[SERIES_METRICS];
    const char *metrics[SERIES_METRICS];
    size_t n = r->notes && r->notes->sweep.count ? series_headlines(r, found) : 0;
    for (size_t i = 0; i < n; i++)
        metrics[i] = arena_printf(r->a, "%s", found[i]->key);
    if (!n)
        return o->over || o->work ? err_set(err, ERR_INPUT, "one run that is no sweep shows no scaling: choose several runs") : 0;
    return report_scaling(r->d, r->runs, &r->run, 1, metrics, n, o, err);
}

/* Adds the cards of a sweep: the range of the medians of each headline metric, and the best
 * point. */
static void sweep_cards(const struct report_state *r)
{
    const struct series_figure *found[SERIES_METRICS], *figures = series_figures(r->notes);
    size_t n = series_headlines(r, found);
    struct doc_card *cards = arena_get(r->a, (SERIES_METRICS + 1) * sizeof *cards);
    for (size_t i = 0; cards && i < n; i++) {
        double low = INFINITY, high = -INFINITY;
        const struct series_figure *best = NULL;
        CLEANUP_BUF struct buf name;
        buf_init(&name, 1000);
        for (const struct series_figure *f = figures; f; f = f->next)
            if (strcmp(f->key, found[i]->key) == 0) {
                low = fmin(low, f->stats.median), high = fmax(high, f->stats.median);
                best = f->best ? f : best;
            }
        const char *unit = found[i]->unit;
        double scale = show_scale(high, &unit);
        show_metric(&name, found[i]->key, found[i]->unit);
        cards[i] = (struct doc_card){.name = arena_dup(r->a, name.p ? name.p : "", name.n)};
        report_value(high, found[i]->unit, &cards[i].unit, r->a);
        if (best)
            cards[i].value = report_value(best->stats.median * scale, NULL, NULL, r->a);
        else
            cards[i].value =
                arena_printf(r->a, "%s … %s", report_value(low * scale, NULL, NULL, r->a), report_value(high * scale, NULL, NULL, r->a));
        cards[i].more = best ? arena_printf(r->a, "best, at %s", series_label(r->notes, best->point))
                             : arena_printf(r->a, "medians of %zu points", r->notes->sweep.points);
        cards[i].style = best ? STYLE_GOOD : STYLE_PLAIN;
    }
    if (cards && n)
        doc_cards(r->d, cards, n);
}

/* Plots the values of headline metrics that the run has several of, as boxes. */
static void plot_repetitions(const struct report_state *r, struct chart_list *list)
{
    enum { VALUES_FEW = 3 };
    struct headline found[HEADLINES_MAX];
    struct folder tree = runs_tree(r->runs, r->run);
    size_t n = headlines_of(&tree, r->run, HEADLINES_MAX, r->a, found);
    for (size_t i = 0; i < n && i < HEADLINES_MAX; i++) {
        const char *stem = arena_dup(r->a, found[i].key, key_stem(found[i].key));
        const struct tree_entry *e = stem ? runs_entry(r->run->metrics, stem) : NULL;
        if (!e || e->count < VALUES_FEW || !compare_are_repetitions(r->run, e))
            continue;
        double *v = arena_get(r->a, e->count * sizeof *v), *lane = arena_get(r->a, e->count * sizeof *lane);
        const char **names = arena_get(r->a, 2 * sizeof *names), **labels = arena_get(r->a, e->count * sizeof *labels);
        struct chart_series *series = ARENA_NEW(r->a, struct chart_series);
        struct chart *c = charts_add(list, r->a);
        struct plotted_metric m = {0};
        if (!v || !lane || !names || !labels || !series || !c)
            return;
        for (size_t k = 0; k < e->count; k++) {
            v[k] = e->samples[k].value;
            labels[k] = arena_printf(r->a, "%lld", (long long)e->samples[k].step);
        }
        plotted_describe(&m, stem, r->detail, r->a);
        names[0] = arena_printf(r->a, "%zu values", e->count);
        *series = (struct chart_series){.name = "repetition", .mark = CHART_BOX, .x = v, .y = lane, .n = e->count, .labels = labels};
        *c = (struct chart){.title = m.name, .x = charts_axis(&m), .y = {.names = names, .count = 1}, .series = series, .count = 1};
    }
}

/* Adds the charts that the run has data for. A chart that cannot be made is left out, and its error
 * ignored. */
static void report_plots(const struct report_state *r)
{
    struct chart_list list = {0};
    struct err ignored = {0};
    size_t sampled = 0;
    if (r->notes)
        plot_series(r, &list);
    else
        plot_repetitions(r, &list);
    charts_latency(r->runs, &r->run, 1, r->detail, NULL, r->a, &list, &ignored);
    charts_steps(r->runs, &r->run, 1, r->detail, NULL, r->a, &list, &ignored);
    for (const struct tree_entry *e = r->run->metrics; e && !r->notes && sampled < SAMPLED_MAX; e = e->next)
        if (e->count >= 10 && compare_are_repetitions(r->run, e) && entry_stats_span_ms(e) >= 1000)
            sampled += charts_samples(r->runs, r->run, e->key, r->a, &list, &ignored) == 0;
    charts_nodes(r->runs, r->run, NULL, r->a, &list, &ignored);
    if (!list.count)
        return;
    doc_heading(r->d, "Plots");
    add_charts(r, &list);
}

/* ---- conditions ---- */

static const char *clipped_value(struct str value, struct arena *a)
{
    return value.n > VALUE_MAX ? arena_printf(a, "%.*s… (%zu bytes)", VALUE_MAX, value.p, value.n)
                               : arena_dup(a, value.p ? value.p : "", value.n);
}

static void report_machine(const struct report_state *r)
{
    static const struct {
        const char *key, *name, *after;
    } facts[] = {{"node.type", "node type", ""},
                 {"cpu.model", "processor", ""},
                 {"cpu.threads", "hardware threads", ""},
                 {"memory.total_GiB", "memory", " GiB"},
                 {"gpu.count", "GPUs", ""},
                 {"gpu.model", "GPU", ""},
                 {"fs.type", "file system", ""},
                 {"os.name", "system", ""},
                 {"kernel.release", "kernel", ""},
                 {"machine.virtualization", "virtualization", ""},
                 {"job.scheduler", "scheduler", ""},
                 {"job.partition", "partition", ""},
                 {"job.nodes", "nodes of the job", ""},
                 {"step.nodes", "nodes of the step", ""},
                 {"step.tasks", "tasks of the step", ""}};
    struct doc_grid *t = doc_facts(r->d, "machine");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *value = runs_text(r->run->params, facts[i].key, r->a);
        if (value && strcmp(value, "none") != 0 && !(strcmp(facts[i].key, "gpu.count") == 0 && strcmp(value, "0") == 0))
            doc_fact(t, facts[i].name, arena_printf(r->a, "%s%s", value, facts[i].after));
    }
}

/* Writes the command, the inputs of the program without those that describe the machine, and the
 * facts of the machine. */
static void report_conditions(const struct report_state *r)
{
    const char *command = report_tag(r, "benchwrap.command");
    struct doc_grid *t = NULL;
    doc_heading(r->d, "Conditions");
    if (command)
        doc_command(r->d, command);
    for (const struct tree_entry *e = r->run->params; e; e = e->next) {
        if (strncmp(e->key, "series.", 7) == 0 || inputs_of_machine(e->key) ||
            !inputs_matter(e->key, inputs_source(r->detail, e->key), NULL))
            continue;
        t = t ? t : doc_facts(r->d, "inputs");
        doc_fact(t, arena_printf(r->a, "%s", e->key), clipped_value(e->value, r->a));
    }
    report_machine(r);
}

/* Adds a folded table of up to FACTS_MAX entries. The command that shows the others follows it. */
static void fold_entries(const struct report_state *r, const char *name, const struct tree_entry *list)
{
    size_t n = 0;
    for (const struct tree_entry *e = list; e; e = e->next)
        n++;
    if (!n)
        return;
    doc_fold(r->d, arena_printf(r->a, "All %zu %s", n, name));
    struct doc_grid *t = doc_facts(r->d, name);
    size_t rows = 0;
    for (const struct tree_entry *e = list; e && rows++ < FACTS_MAX; e = e->next)
        doc_fact(t, arena_printf(r->a, "%s", e->key), clipped_value(e->value, r->a));
    if (n > FACTS_MAX)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "%zu more: benchwrap show --all %.8s", n - FACTS_MAX, r->run->id));
    doc_unfold(r->d);
}

/* ---- noise and warnings ---- */

/* Writes up to WARNINGS_MAX warnings, and a folded table of up to FACTS_MAX missing values with
 * their reasons. */
static void report_noise(const struct report_state *r)
{
    size_t warnings = json_count(json_get(r->detail, "warnings")), missing = json_count(json_get(r->detail, "missing")), n = 0;
    if (!warnings && !missing)
        return;
    doc_heading(r->d, "Noise and warnings");
    for (const struct json *w = json_first(json_get(r->detail, "warnings")); w && n < WARNINGS_MAX; w = json_next(w), n++)
        doc_note(r->d, arena_printf(r->a, "%s", json_string(json_get(w, "text"), "")));
    if (warnings > WARNINGS_MAX)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "and %zu more", warnings - WARNINGS_MAX));
    if (!missing)
        return;
    doc_fold(r->d, arena_printf(r->a, "%zu missing value%s", missing, str_plural(missing)));
    struct doc_grid *t = doc_facts(r->d, "missing values");
    n = 0;
    for (const struct json *m = json_first(json_get(r->detail, "missing")); m && n++ < FACTS_MAX; m = json_next(m))
        doc_fact(t, arena_printf(r->a, "%s", json_string(json_get(m, "key"), json_key(m))),
                 arena_printf(r->a, "%s", missing_words(json_string(json_get(m, "reason"), json_string(m, "")))));
    if (missing > FACTS_MAX)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "%zu more: benchwrap show --all %.8s", missing - FACTS_MAX, r->run->id));
    doc_unfold(r->d);
}

/* ---- metrics ---- */

/* Returns whether the metric is a statistic ("bw.max") of another metric of the run ("bw") with
 * values. The row of "bw" shows these, so the statistic gets no row. Out of memory: false. */
static bool is_derived(const struct report_state *r, const char *key)
{
    static const char *const statistics[] = {"max", "min", "mean", "median", "sd", "n", "ci_low", "ci_high"};
    size_t stem = key_stem(key);
    const char *other = key[stem] == '.' ? arena_dup(r->a, key, stem) : NULL;
    const struct tree_entry *e = other ? runs_entry(r->run->metrics, other) : NULL;
    for (size_t i = 0; e && e->count && i < sizeof statistics / sizeof *statistics; i++)
        if (strcmp(key + stem + 1, statistics[i]) == 0)
            return true;
    return false;
}

/* Returns whether one of the metrics was compared with a reference. */
static bool has_references(const struct report_state *r)
{
    for (const struct json *m = json_first(json_get(r->detail, "references")); m; m = json_next(m))
        if (strcmp(json_string(json_get(m, "verdict"), ""), "no reference") != 0)
            return true;
    return false;
}

/* Writes the table of result metrics, or of those of the machine, up to METRICS_MAX rows. Several
 * values are shown as median and range. Statistics of another metric are counted, not shown. */
static void metric_rows(const struct report_state *r, bool results)
{
    static const struct doc_column columns[] = {{"metric"}, {"value", NULL, true}, {"unit"}, {"range"}, {"n", NULL, true},
                                                {"better"}, {"reference"}};
    size_t rows = 0, more = 0, derived = 0, count = sizeof columns / sizeof *columns - !has_references(r);
    struct doc_grid *t = NULL;
    for (const struct tree_entry *e = r->run->metrics; e; e = e->next) {
        struct plotted_metric m = {0};
        const char *unit;
        enum style style = STYLE_PLAIN;
        if (key_is_result(e->key) != results || !e->count)
            continue;
        if (is_derived(r, e->key)) {
            derived++;
            continue;
        }
        if (rows++ >= METRICS_MAX) {
            more++;
            continue;
        }
        t = t ? t : doc_table(r->d, results ? "metrics" : "metrics of the machine", columns, count);
        double value = e->count > 1 ? entry_stats_median(r->run, e) : e->samples[0].value;
        plotted_describe(&m, arena_printf(r->a, "%s", e->key), r->detail, r->a);
        const char *shown = report_value(value, m.unit, &unit, r->a), *reference = reference_words(r, e->key, value, m.unit, &style);
        doc_cell_text(t, STYLE_PLAIN, m.name);
        doc_cell_number(t, STYLE_PLAIN, value, isfinite(value) ? shown : NULL);
        doc_cell_text(t, STYLE_DIM, unit);
        doc_cell_text(t, STYLE_DIM, e->count > 1 ? spread_words(e, value, m.unit, r->a) : "");
        doc_cell_number(t, STYLE_DIM, (double)e->count, arena_printf(r->a, "%zu", e->count));
        doc_cell_text(t, STYLE_DIM, m.better == CHART_HIGHER ? "higher" : m.better == CHART_LOWER ? "lower" : "");
        if (count == sizeof columns / sizeof *columns)
            doc_cell_text(t, style, reference ? reference : "");
    }
    if (derived)
        doc_text(r->d, STYLE_DIM,
                 arena_printf(r->a, "Values with a range are medians. %zu more statistics of these metrics: benchwrap show --all %.8s",
                              derived, r->run->id));
    if (more)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "%zu more: benchwrap show --all %.8s", more, r->run->id));
}

/* Writes the metrics: of a parent run the statistics first, then those of the program, and folded
 * those of the machine and the process. */
static void report_all_metrics(const struct report_state *r)
{
    size_t results = 0, machine = 0;
    for (const struct tree_entry *e = r->run->metrics; e; e = e->next)
        *(key_is_result(e->key) ? &results : &machine) += 1;
    if (results || r->notes)
        doc_heading(r->d, "Metrics");
    if (r->notes)
        report_statistics(r);
    if (results && r->notes)
        doc_fold(r->d, arena_printf(r->a, "All %zu metrics of the program", results));
    if (results)
        metric_rows(r, true);
    if (results && r->notes)
        doc_unfold(r->d);
    if (!machine)
        return;
    doc_fold(r->d, arena_printf(r->a, "%zu metrics of the machine and the process", machine));
    metric_rows(r, false);
    doc_unfold(r->d);
}

/* ---- functions, nodes, output ---- */

/* Writes the functions with most samples (--profile-code). */
static void report_functions(const struct report_state *r)
{
    static const struct doc_column columns[] = {{"function"}, {"module"}, {"share", "%", true}, {"samples", NULL, true}};
    struct code_profile profile;
    const char *why = code_functions_missing(r->detail);
    code_functions_read(r->runs, r->run, r->a, &profile);
    if (!profile.count && !why)
        return;
    doc_heading(r->d, "Code profile");
    if (!profile.count) {
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "Missing: %s", why));
        return;
    }
    struct doc_grid *t = doc_table(r->d, "functions with most samples", columns, sizeof columns / sizeof *columns);
    size_t shown = profile.count < FUNCTIONS_MOST ? profile.count : FUNCTIONS_MOST;
    for (size_t i = 0; i < shown; i++) {
        const struct profiled_function *f = &profile.list[i];
        double share = 100 * (double)f->samples / (double)profile.samples;
        doc_cell_text(t, STYLE_PLAIN, f->function);
        doc_cell_text(t, STYLE_DIM, f->module);
        doc_cell_number(t, STYLE_PLAIN, share, report_value(share, NULL, NULL, r->a));
        doc_cell_number(t, STYLE_DIM, (double)f->samples, arena_printf(r->a, "%llu", (unsigned long long)f->samples));
    }
    if (profile.count > shown)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "%zu more: artifact " CODE_PROFILE_FILE, profile.count - shown));
}

/* Writes a table of the nodes in artifacts/nodes.json, up to NODES_MAX of them; the others are
 * counted. Writes nothing
 * where the file is missing or cannot be parsed. */
static void report_nodes(const struct report_state *r)
{
    CLEANUP_BUF struct buf text, facts;
    struct json *j = NULL;
    struct folder tree = runs_tree(r->runs, r->run);
    static const struct doc_column columns[] = {{"node"}, {"state"}, {"facts that the nodes do not share"}};
    const char *path = arena_printf(r->a, "%s/artifacts/nodes.json", tree_run_path(r->run));
    size_t n = 0;
    buf_init(&text, 64 << 20);
    buf_init(&facts, 4096);
    if (!path || folder_read(&tree, path, 32 << 20, &text) < 0 || json_parse(&j, buf_text(&text), NULL, NULL) < 0)
        return;
    doc_heading(r->d, "Nodes");
    struct doc_grid *t = doc_table(r->d, "nodes", columns, 3);
    for (const struct json *node = json_first(json_get(j, "nodes")); node && n++ < NODES_MAX; node = json_next(node)) {
        buf_clear(&facts);
        const struct json *f = json_first(json_get(node, "facts"));
        for (; f && facts.n < 400; f = json_next(f))
            buf_printf(&facts, "%s%s %s", facts.n ? ", " : "", json_key(f), json_string(f, ""));
        buf_puts(&facts, f ? ", …" : "");
        doc_cell_text(t, STYLE_PLAIN, arena_printf(r->a, "%s", json_string(json_get(node, "name"), "?")));
        doc_cell_text(t, json_bool(json_get(node, "complete"), true) ? STYLE_DIM : STYLE_WARN,
                      json_bool(json_get(node, "complete"), true) ? "complete" : "incomplete");
        doc_cell_text(t, STYLE_PLAIN, arena_dup(r->a, facts.p ? facts.p : "", facts.n));
    }
    if (json_count(json_get(j, "nodes")) > NODES_MAX)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "%zu more: artifact nodes.json", json_count(json_get(j, "nodes")) - NODES_MAX));
    json_free(j);
}

/* The last bytes of a stored stream, OUTPUT_TAIL at least. */
struct stream_tail {
    struct buf text;
    size_t size; /* of the stream */
};

/* Called for each piece of the stream. Out of memory: text.failed. */
static void keep_stream_tail(void *context, const void *p, size_t n)
{
    struct stream_tail *tail = context;
    struct buf *text = &tail->text;
    tail->size += n;
    if (n > OUTPUT_TAIL) {
        p = (const char *)p + (n - OUTPUT_TAIL);
        n = OUTPUT_TAIL;
    }
    if (text->n > OUTPUT_TAIL) {
        memmove(text->p, text->p + text->n - OUTPUT_TAIL, OUTPUT_TAIL);
        text->n = OUTPUT_TAIL;
    }
    buf_add(text, p, n);
}

/* Writes the last part of a stored stream, from the begin of a line. */
static void report_stream(const struct report_state *r, const char *name, const char *heading, bool *has_heading)
{
    struct stream_tail tail = {.size = 0};
    struct folder tree = runs_tree(r->runs, r->run);
    const char *path = arena_printf(r->a, "%s/artifacts/%s", tree_run_path(r->run), name);
    buf_init(&tail.text, 4 * OUTPUT_TAIL);
    if (path && folder_feed(&tree, path, UINT64_MAX, keep_stream_tail, &tail) >= 0 && tail.text.n && !tail.text.failed) {
        struct str lines = buf_text(&tail.text);
        if (!*has_heading)
            doc_heading(r->d, "Output");
        *has_heading = true;
        if (tail.size > OUTPUT_TAIL) {
            const char *end = memchr(lines.p + lines.n - OUTPUT_TAIL, '\n', OUTPUT_TAIL);
            lines = str_sub(lines, end ? (size_t)(end + 1 - lines.p) : lines.n - OUTPUT_TAIL, lines.n);
        }
        doc_fold(r->d, arena_printf(r->a, "%s, %s%zu bytes", heading, lines.n < tail.size ? "the last " : "", lines.n));
        doc_output(r->d, (struct str){arena_dup(r->a, lines.p, lines.n), lines.n});
        doc_unfold(r->d);
    }
    buf_deinit(&tail.text);
}

int report_run(struct doc *d, struct runs *runs, struct tree_run *run, const struct report_options *o, struct err *err)
{
    struct report_state r = {.d = d, .a = d->a, .runs = runs, .run = run};
    bool has_output = false;
    int status = 0;
    r.detail = runs_detail(runs, run, &r.problem, d->a);
    r.problem = run->problem ? run->problem : r.problem;
    inherit_params(runs, run, d->a);
    r.notes = plotted_notes(runs, run, d->a);
    d->title = run->name && *run->name ? run->name : run->id;
    d->foot = report_foot(runs, d->a);
    report_verdict(&r);
    report_origin(&r);
    if (r.problem)
        doc_note(d, arena_printf(d->a, "This run is damaged: %s", r.problem));
    if (stale_reason(run))
        doc_note(d, arena_printf(d->a, "Stale: %s; hint: benchwrap reparse %.8s", stale_reason(run), run->id));
    if (r.notes && r.notes->sweep.count)
        sweep_cards(&r);
    else
        report_cards(&r);
    report_plots(&r);
    if (put_sweep_scaling(&r, o, err) < 0)
        status = -1;
    report_conditions(&r);
    report_noise(&r);
    report_functions(&r);
    report_nodes(&r);
    report_all_metrics(&r);
    fold_entries(&r, "params", run->params);
    fold_entries(&r, "tags", run->tags);
    report_stream(&r, "stdout.log", "standard output", &has_output);
    report_stream(&r, "stderr.log", "standard error", &has_output);
    if (r.notes)
        series_notes_deinit(r.notes);
    json_free(r.detail);
    return status < 0 ? -1 : d->a->failed ? err_memory(err, "the report") : r.problem ? 1 : 0;
}
