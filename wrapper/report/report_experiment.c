/* report_experiment.c: the runs of an experiment as a document. */
#include "report/report.h"
#include "base/show.h"
#include "base/stats.h"
#include "report/charts.h"
#include "runs/entry_stats.h"
#include "runs/fact_words.h"
#include "runs/stale.h"
#include "series/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPERIMENT_METRICS = 4, RUNS_MOST = 1000, VARYING_MOST = 12, VALUE_MOST = 200 };

struct run_values { /* of one run: NaN where it has none in the unit of the metric */
    const struct tree_run *run;
    double value[EXPERIMENT_METRICS];
};
struct experiment_report {
    struct doc *d;
    struct arena *a;
    struct runs *runs;
    struct tree_run *const *list;
    size_t n;
    const struct report_options *o;
    struct plotted_metric metric[EXPERIMENT_METRICS];
    size_t metrics;
    struct run_values *values; /* of each run, by its address */
    size_t other_units[EXPERIMENT_METRICS]; /* runs that have the metric in another unit */
    struct plotted_rows rows; /* all runs, with their keys; its values are those of the first metric */
    const char **varying; /* facts in which the keys differ */
};

/* Finds the headline metrics of the newest runs that have some. */
static void find_experiment_metrics(struct experiment_report *r)
{
    for (size_t i = 0; i < r->n && r->metrics < EXPERIMENT_METRICS; i++) {
        const char *problem = NULL;
        struct json *detail = runs_detail(r->runs, r->list[i], &problem, r->a);
        for (struct str rest = str_of(runs_text(r->list[i]->tags, "benchwrap.headline", r->a)), word; (word = str_word(&rest)).n > 0;) {
            const char *key = arena_dup(r->a, word.p, word.n);
            bool known = !key || !runs_entry(r->list[i]->metrics, key) || strncmp(key, "run.", 4) == 0 || strncmp(key, "series.", 7) == 0;
            for (size_t k = 0; k < r->metrics; k++)
                known = known || strcmp(r->metric[k].key, key) == 0;
            if (!known && r->metrics < EXPERIMENT_METRICS)
                plotted_describe(&r->metric[r->metrics++], key, detail, r->a);
        }
        json_free(detail);
    }
    if (!r->metrics)
        r->metric[r->metrics++] = (struct plotted_metric){
            .key = "run.wall_s", .name = "run.wall", .unit = "s", .shown_unit = "s", .better = CHART_LOWER, .ways = DIR_LOWER};
}

static int by_run_address(const void *a, const void *b)
{
    const struct run_values *x = a, *y = b;
    return ((uintptr_t)x->run > (uintptr_t)y->run) - ((uintptr_t)x->run < (uintptr_t)y->run);
}

/* Joins units and directions of all runs, and notes the values. */
static void read_experiment_values(struct experiment_report *r)
{
    r->values = arena_get(r->a, (r->n + 1) * sizeof *r->values);
    for (size_t i = 0; r->values && i < r->n; i++) {
        const char *problem = NULL;
        struct json *detail = runs_detail(r->runs, r->list[i], &problem, r->a);
        r->values[i].run = r->list[i];
        for (size_t k = 0; k < r->metrics; k++) {
            struct plotted_metric own;
            const struct tree_entry *e = runs_entry(r->list[i]->metrics, r->metric[k].key);
            r->values[i].value[k] = entry_stats_median(r->list[i], e);
            if (!e)
                continue;
            plotted_describe(&own, e->key, detail, r->a);
            if (plotted_join(&r->metric[k], own.unit, own.ways, r->a))
                continue;
            r->values[i].value[k] = NAN;
            r->other_units[k]++;
        }
        json_free(detail);
    }
    if (r->values && r->n)
        qsort(r->values, r->n, sizeof *r->values, by_run_address);
}

static double run_value(const struct experiment_report *r, const struct tree_run *run, size_t metric)
{
    const struct run_values key = {.run = run}, *found = bsearch(&key, r->values, r->n, sizeof *r->values, by_run_address);
    return found ? found->value[metric] : NAN;
}

/* ---- head ---- */

/* Writes how many runs there are, from when to when, and how many failed. Adds a card for each
 * metric: the newest value of a finished run, and the best one where all runs have the same key. */
static void put_experiment_answer(const struct experiment_report *r)
{
    size_t failed = 0, shown = 0;
    for (size_t i = 0; i < r->n; i++)
        failed += r->list[i]->status == RUN_FAILED || r->list[i]->status == RUN_KILLED;
    doc_answer(r->d, failed ? STYLE_WARN : STYLE_PLAIN, arena_printf(r->a, "%zu run%s", r->n, str_plural(r->n)),
               arena_printf(r->a, "from %s to %s%s", report_time(r->list[r->n - 1]->start_ms, r->a),
                            report_time(r->list[0]->start_ms, r->a),
                            failed ? arena_printf(r->a, "; %zu failed or were killed.", failed) : "."));
    struct doc_card *cards = arena_get(r->a, (r->metrics + 1) * sizeof *cards);
    for (size_t k = 0; cards && k < r->metrics; k++) {
        const struct plotted_metric *m = &r->metric[k];
        double best = NAN, latest = NAN;
        bool is_newest = true; /* the run with the latest value is the newest one that finished */
        const struct tree_run *at = NULL;
        for (size_t i = 0; i < r->n; i++) {
            double v = r->list[i]->status == RUN_FINISHED ? run_value(r, r->list[i], k) : NAN;
            is_newest = is_newest && (isfinite(latest) || isfinite(v) || r->list[i]->status != RUN_FINISHED);
            if (isnan(latest))
                latest = v;
            if (isfinite(v) && m->better && (isnan(best) || (m->better == CHART_HIGHER ? v > best : v < best)))
                best = v, at = r->list[i];
        }
        if (isnan(latest))
            continue;
        struct doc_card *c = &cards[shown++];
        const char *unit = m->unit;
        double scale = show_scale(latest, &unit);
        c->name = arena_printf(r->a, is_newest ? "%s, newest run" : "%s, newest run that has it", m->name);
        c->value = report_value(latest, m->unit, &c->unit, r->a);
        if (at && !r->varying[0])
            c->more = arena_printf(r->a, "best %s, run %.8s", report_value(best * scale, NULL, NULL, r->a), at->id);
        else if (m->better)
            c->more = m->better == CHART_HIGHER ? "higher is better" : "lower is better";
    }
    if (cards && shown)
        doc_cards(r->d, cards, shown);
}

/* ---- plots ---- */

/* Adds a history chart for each metric, of the runs with the comparison key of the newest run, or
 * states why there is none. Returns -1 with err. */
static int put_experiment_plots(const struct experiment_report *r, struct err *err)
{
    struct chart_list list = {0};
    size_t other_keys = 0;
    for (size_t k = 0; k < r->metrics; k++) {
        struct plotted_rows rows = {.runs = r->runs, .a = r->a, .metrics = 1, .metric[0].wanted = r->metric[k].key, .ignore = r->o->ignore};
        const char *note = NULL;
        double reference[2];
        int status = 0;
        for (size_t i = 0; i < r->n && status == 0; i++)
            status = plotted_add(&rows, r->list[i], "runs", err);
        if (status == 0)
            status = plotted_restrict(&rows, NULL, err);
        if (status == 0)
            status = plotted_check(&rows, NULL, true, &note, err);
        if (status == 0 && rows.count > 1) {
            charts_reference(&rows, reference);
            status = charts_history(&rows, reference, note, &list, err);
        }
        other_keys = rows.other_keys;
        plotted_deinit(&rows);
        if (status < 0)
            return -1;
    }
    if (list.count || other_keys)
        doc_heading(r->d, "Plots");
    if (!list.count && other_keys)
        doc_text(r->d, STYLE_DIM, "No history: no other run has the comparison key of the newest one.");
    for (size_t i = 0; i < list.count; i++)
        doc_chart(r->d, &list.list[i]);
    return 0;
}

/* Makes the column of a metric, with all values in one unit: that of the largest. Returns the
 * factor by which they are shown. */
static double values_column(const struct experiment_report *r, size_t k, struct doc_column *ret)
{
    const char *unit = r->metric[k].unit;
    double greatest = 0;
    for (size_t i = 0; i < r->n; i++)
        greatest = fmax(greatest, fabs(run_value(r, r->list[i], k)));
    double scale = show_scale(greatest, &unit);
    *ret = (struct doc_column){.heading = r->metric[k].name, .unit = plotted_unit(unit, r->a), .is_number = true};
    return scale;
}

/* ---- conditions, differences ---- */

enum { KEYS_MOST = 60, KEY_FACTS = 6, DISTURBED_COLUMNS = 2 };

/* Returns the index of the first run with the key of the run at `at`. */
static size_t first_of_key(const struct plotted_rows *rows, size_t at)
{
    size_t i = 0;
    while (!comparison_key_shared(rows->list[i].key, rows->list[at].key))
        i++;
    return i;
}

/* Writes one row of the table below: what the runs of one key have measured. values: capacity for
 * all runs. */
static void put_result_of_key(const struct experiment_report *r, struct doc_grid *t, size_t first, const double *scale, double *values)
{
    const struct plotted_rows *rows = &r->rows;
    size_t count = 0, disturbed = 0, unjudged = 0;
    for (size_t i = first; i < rows->count; i++)
        if (comparison_key_shared(rows->list[i].key, rows->list[first].key)) {
            count++;
            disturbed += runs_entry(rows->list[i].run->tags, "benchwrap.noisy") != NULL;
            unjudged += rows->list[i].unjudged;
        }
    for (size_t k = 0; k < KEY_FACTS && r->varying[k]; k++) {
        struct str v = comparison_key_value(rows->list[first].key, r->varying[k]);
        doc_cell_text(t, STYLE_MAIN, v.p ? arena_dup(r->a, v.p, v.n < 60 ? v.n : 60) : NULL);
    }
    doc_cell_number(t, STYLE_PLAIN, (double)count, arena_printf(r->a, "%zu", count));
    doc_cell_number(t, disturbed ? STYLE_WARN : STYLE_PLAIN, (double)disturbed,
                    unjudged ? arena_printf(r->a, "%zu (%zu not judged)", disturbed, unjudged) : arena_printf(r->a, "%zu", disturbed));
    for (size_t k = 0; k < r->metrics; k++) {
        struct stats stats;
        size_t n = 0;
        for (size_t i = first; i < rows->count; i++) {
            double v = comparison_key_shared(rows->list[i].key, rows->list[first].key) ? run_value(r, rows->list[i].run, k) : NAN;
            if (isfinite(v))
                values[n++] = v;
        }
        if (n)
            stats_of(values, n, &stats);
        doc_cell_number(t, STYLE_PLAIN, n ? stats.median : NAN, n ? report_value(stats.median * scale[k], NULL, NULL, r->a) : NULL);
    }
}

/* Writes the results, a row for each comparison key: what the reader of the differences compares
 * first. */
static void put_results_by_key(const struct experiment_report *r)
{
    size_t facts = 0, keys = 0;
    double scale[EXPERIMENT_METRICS], *values = arena_get(r->a, (r->rows.count + 1) * sizeof *values);
    struct doc_column *columns = arena_get(r->a, (KEY_FACTS + DISTURBED_COLUMNS + r->metrics) * sizeof *columns);
    if (!columns || !values)
        return;
    for (; facts < KEY_FACTS && r->varying[facts]; facts++)
        columns[facts] = (struct doc_column){.heading = r->varying[facts]};
    columns[facts] = (struct doc_column){.heading = "runs", .is_number = true};
    columns[facts + 1] = (struct doc_column){.heading = "disturbed", .is_number = true};
    for (size_t k = 0; k < r->metrics; k++)
        scale[k] = values_column(r, k, &columns[facts + DISTURBED_COLUMNS + k]);
    doc_text(r->d, STYLE_DIM, "Medians of the runs that share inputs and system.");
    struct doc_grid *t =
        doc_table(r->d, "results of runs with the same inputs and system: medians", columns, facts + DISTURBED_COLUMNS + r->metrics);
    for (size_t i = 0; i < r->rows.count; i++)
        if (first_of_key(&r->rows, i) == i && keys++ < KEYS_MOST)
            put_result_of_key(r, t, i, scale, values);
    if (keys > KEYS_MOST)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "and %zu more", keys - KEYS_MOST));
}

/* Returns how many runs have each value, as "4 (2), 8 (3), absent (1)". Sorts the list. */
static const char *count_values(const char **values, size_t n, size_t lacking, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    size_t listed = 0;
    buf_init(&b, 1 << 16);
    if (n)
        qsort(values, n, sizeof *values, str_natural_order);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(values[i], values[end]) == 0; end++) {}
        if (listed++ < VARYING_MOST)
            buf_printf(&b, "%s%s (%zu)", b.n ? ", " : "", values[i], end - i);
    }
    if (listed > VARYING_MOST)
        buf_printf(&b, " and %zu more", listed - VARYING_MOST);
    if (lacking)
        buf_printf(&b, "%sabsent (%zu)", b.n ? ", " : "", lacking);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

static bool is_varying(const struct experiment_report *r, const char *fact)
{
    for (const char **name = r->varying; *name; name++)
        if (strcmp(*name, fact) == 0)
            return true;
    return false;
}

/* Adds a row to the table: the fact, and how many runs have each of its values. tags: `key` names a
 * tag, else a param. */
static void put_fact_values(const struct experiment_report *r, struct doc_grid *t, const char *kind, const char *key, bool tags)
{
    const char **values = arena_get(r->a, (r->n + 1) * sizeof *values);
    size_t n = 0;
    for (size_t i = 0; values && i < r->n; i++) {
        const struct tree_entry *e = runs_entry(tags ? r->list[i]->tags : r->list[i]->params, key);
        if (e)
            values[n++] = arena_dup(r->a, e->value.p, e->value.n < VALUE_MOST ? e->value.n : VALUE_MOST);
    }
    doc_cell_text(t, STYLE_DIM, kind);
    doc_cell_text(t, STYLE_PLAIN, tags ? key : fact_words_and_key(key, r->a));
    doc_cell_text(t, STYLE_PLAIN, count_values(values, n, r->n - n, r->a));
}

/* Writes params and tags that differ and are in no comparison key: facts of the machine, names that
 * the user set. */
static void put_other_differences(const struct experiment_report *r)
{
    static const struct doc_column columns[] = {{"kind"}, {"fact"}, {"values"}};
    struct compare_group all = {.name = "runs", .members = arena_get(r->a, (r->n + 1) * sizeof *all.members), .count = r->n};
    size_t n = 0;
    for (size_t i = 0; all.members && i < r->n; i++)
        all.members[i] = (struct compare_member){.run = r->list[i]};
    if (!all.members)
        return;
    const char **params = compare_params(&all, 1, r->a), **tags = compare_tags(&all, 1, r->a);
    for (const char **key = params; *key; key++)
        n += !is_varying(r, *key);
    for (const char **key = tags; *key; key++)
        n += !is_varying(r, *key);
    if (!n)
        return;
    doc_fold(r->d, arena_printf(r->a, "%zu other param%s or tag%s that differ%s", n, str_plural(n), str_plural(n), n == 1 ? "s" : ""));
    struct doc_grid *t = doc_table(r->d, "other params and tags that differ", columns, sizeof columns / sizeof *columns);
    for (const char **key = params; *key; key++)
        if (!is_varying(r, *key))
            put_fact_values(r, t, "param", *key, false);
    for (const char **key = tags; *key; key++)
        if (!is_varying(r, *key))
            put_fact_values(r, t, "tag", *key, true);
    doc_unfold(r->d);
}

/* Writes the facts of the comparison key that all runs share, then a table of those that differ
 * with how many runs have each value. Shared values above 300 bytes are left out. */
static void put_experiment_conditions(const struct experiment_report *r)
{
    const struct comparison_key *key = r->rows.count ? r->rows.list[0].key : NULL;
    struct doc_grid *t = NULL;
    doc_heading(r->d, "Conditions");
    for (size_t i = 0; key && i < key->count; i++) {
        if (is_varying(r, key->facts[i].name) || key->facts[i].value.n > 300)
            continue;
        t = t ? t : doc_facts(r->d, "what all runs share");
        doc_fact(t, key->facts[i].name, arena_dup(r->a, key->facts[i].value.p, key->facts[i].value.n));
    }
    doc_heading(r->d, "Differences");
    if (!r->varying[0])
        doc_text(r->d, STYLE_PLAIN, "All runs have the same inputs and the same system.");
    else
        put_results_by_key(r);
    static const struct doc_column columns[] = {{"fact"}, {"values"}};
    t = r->varying[0] ? doc_table(r->d, "facts that differ", columns, 2) : NULL;
    for (const char **name = r->varying; *name; name++) {
        const char **values = arena_get(r->a, (r->rows.count + 1) * sizeof *values);
        size_t n = 0;
        for (size_t i = 0; values && i < r->rows.count; i++) {
            struct str v = comparison_key_value(r->rows.list[i].key, *name);
            if (v.p)
                values[n++] = arena_dup(r->a, v.p, v.n < VALUE_MOST ? v.n : VALUE_MOST);
        }
        doc_cell_text(t, STYLE_PLAIN, fact_words_and_key(*name, r->a));
        doc_cell_text(t, STYLE_PLAIN, count_values(values, n, r->rows.count - n, r->a));
    }
    put_other_differences(r);
}

/* ---- noise and warnings, runs ---- */

/* Returns "damaged: …", "FAILED, …" or "disturbed: …" in the arena; NULL: the run is none of
 * these. */
static const char *run_trouble(const struct experiment_report *r, const struct tree_run *run)
{
    const char *noisy = runs_text(run->tags, "benchwrap.noisy", r->a), *reason = runs_text(run->tags, "benchwrap.reason", r->a);
    if (run->problem)
        return arena_printf(r->a, "damaged: %s", run->problem);
    if (run->status != RUN_FINISHED)
        return arena_printf(r->a, "%s%s%s", runs_status(run), reason ? ", " : "", reason ? reason : "");
    return noisy ? arena_printf(r->a, "disturbed: %s", noisy) : NULL;
}

/* Writes why runs are stale, damaged, failed or disturbed, up to NAMED_MOST of these notes, and for
 * each metric how many values another unit excludes. `damaged` is written only where there is no
 * other note. */
static void put_experiment_notes(const struct experiment_report *r, size_t damaged)
{
    enum { NAMED_MOST = 20 };
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct tree_run *run = r->list[i];
        const char *const notes[] = {stale_reason(run), run_trouble(r, run)};
        for (size_t k = 0; k < sizeof notes / sizeof *notes; k++) {
            if (notes[k] && n++ == 0)
                doc_heading(r->d, "Noise and warnings");
            if (notes[k] && n <= NAMED_MOST)
                doc_note(r->d, arena_printf(r->a, "%.8s %s: %s", run->id, run->name, notes[k]));
        }
    }
    if (n > NAMED_MOST)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "and %zu more", n - NAMED_MOST));
    for (size_t k = 0; k < r->metrics; k++)
        if (r->other_units[k]) {
            if (n++ == 0)
                doc_heading(r->d, "Noise and warnings");
            doc_note(r->d, arena_printf(
                               r->a, "%zu run%s of %zu %s %s in another unit than %s: nothing is converted, and these values are left out",
                               r->other_units[k], str_plural(r->other_units[k]), r->n, r->other_units[k] == 1 ? "has" : "have",
                               r->metric[k].name, *r->metric[k].shown_unit ? r->metric[k].shown_unit : "none"));
        }
    if (damaged && !n)
        doc_note(r->d, arena_printf(r->a, "%zu damaged run%s", damaged, str_plural(damaged)));
}

/* Writes the table of the first `n` runs where the user chose no columns: the facts that differ (6
 * at most), and each metric in the unit of its largest value. */
static void put_usual_runs(const struct experiment_report *r, struct tree_run *const *list, size_t n)
{
    size_t varying = 0, count;
    while (varying < 6 && r->varying[varying])
        varying++;
    struct doc_column *columns = arena_get(r->a, (6 + varying + r->metrics) * sizeof *columns);
    if (!columns)
        return;
    columns[0] = (struct doc_column){.heading = "run"};
    columns[1] = (struct doc_column){.heading = "started"};
    columns[2] = (struct doc_column){.heading = "name"};
    columns[3] = (struct doc_column){.heading = "status"};
    count = 4;
    for (size_t i = 0; i < varying; i++)
        columns[count++] = (struct doc_column){.heading = r->varying[i]};
    double scale[EXPERIMENT_METRICS];
    for (size_t k = 0; k < r->metrics; k++)
        scale[k] = values_column(r, k, &columns[count++]);
    struct doc_grid *t = doc_table(r->d, "runs", columns, count);
    for (size_t i = 0; i < n; i++) {
        const struct tree_run *run = list[i];
        const struct comparison_key *key = NULL;
        for (size_t k = 0; k < r->rows.count && !key; k++)
            if (r->rows.list[k].run == run)
                key = r->rows.list[k].key;
        doc_cell_text(t, STYLE_PLAIN, arena_printf(r->a, "%.8s", run->id));
        doc_cell_text(t, STYLE_DIM, report_time(run->start_ms, r->a));
        doc_cell_text(t, STYLE_PLAIN, report_name(run, r->a));
        doc_cell_text(t, run->status == RUN_FINISHED ? STYLE_DIM : STYLE_BAD, runs_status(run));
        for (size_t k = 0; k < varying; k++) {
            struct str v = key ? comparison_key_value(key, r->varying[k]) : (struct str){NULL, 0};
            doc_cell_text(t, STYLE_PLAIN, v.p ? arena_dup(r->a, v.p, v.n < 60 ? v.n : 60) : NULL);
        }
        for (size_t k = 0; k < r->metrics; k++) {
            double value = run_value(r, run, k);
            doc_cell_number(t, STYLE_PLAIN, value, isnan(value) ? NULL : report_value(value * scale[k], NULL, NULL, r->a));
        }
    }
}

/* Writes up to RUNS_MOST runs in the order that the user chose, then how many more there are.
 * Returns -1 with err. */
static int put_experiment_runs(const struct experiment_report *r, struct err *err)
{
    struct tree_run *const *list = report_order(r->runs, r->list, r->n, r->o, r->a, err);
    size_t shown = r->n < RUNS_MOST ? r->n : RUNS_MOST;
    if (!list)
        return -1;
    doc_heading(r->d, "Runs");
    if (!r->o->columns)
        put_usual_runs(r, list, shown);
    else if (report_runs_table(r->d, r->runs, list, NULL, shown, r->o, err) < 0)
        return -1;
    if (shown < r->n)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "%zu more runs", r->n - shown));
    return 0;
}

/* Finds the facts of the keys in which the runs differ, but for the version. */
static int find_varying(struct experiment_report *r, struct err *err)
{
    struct comparison_key *keys = arena_get(r->a, (r->rows.count + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < r->rows.count; i++)
        keys[i] = *r->rows.list[i].key;
    size_t n = 0;
    r->varying = NULL;
    static const enum comparison_part parts[] = {COMPARISON_MEASURED, COMPARISON_PROGRAM, COMPARISON_SYSTEM};
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        const char **names = keys ? comparison_key_difference(keys, r->rows.count, parts[part], r->a) : NULL;
        size_t more = 0;
        while (names && names[more])
            more++;
        const char **all = names ? arena_get(r->a, (n + more + 1) * sizeof *all) : NULL;
        if (!all)
            return err_memory(err, "the keys of %zu runs", r->n);
        for (size_t i = 0; i < n; i++)
            all[i] = r->varying[i];
        for (size_t i = 0; i <= more; i++)
            all[n + i] = names[i];
        r->varying = all;
        n += more;
    }
    return 0;
}

int report_experiment(struct doc *d, struct runs *runs, struct tree_run *const *list, size_t n, const struct report_options *o,
                      struct err *err)
{
    struct experiment_report r = {.d = d, .a = d->a, .runs = runs, .list = list, .n = n, .o = o};
    const char *metrics[EXPERIMENT_METRICS];
    int status = 0;
    bool one = true;
    find_experiment_metrics(&r);
    read_experiment_values(&r);
    if (!r.values)
        return err_memory(err, "the values of %zu runs", n);
    r.rows = (struct plotted_rows){.runs = runs, .a = d->a, .metrics = 1, .metric[0].wanted = r.metric[0].key, .ignore = o->ignore};
    for (size_t i = 0; i < n && status == 0; i++) {
        one = one && strcmp(list[i]->experiment, list[0]->experiment) == 0;
        status = plotted_add(&r.rows, list[i], "runs", err);
    }
    plotted_deinit(&r.rows);
    if (status < 0 || find_varying(&r, err) < 0)
        return -1;
    d->title = one ? arena_printf(d->a, "Experiment %s", list[0]->experiment) : arena_printf(d->a, "%zu runs", n);
    d->foot = report_foot(runs, d->a);
    put_experiment_answer(&r);
    if (put_experiment_plots(&r, err) < 0)
        return -1;
    for (size_t k = 0; k < r.metrics; k++)
        metrics[k] = r.metric[k].key;
    if (report_scaling(d, runs, list, n, metrics, r.metrics, o, err) < 0)
        return -1;
    put_experiment_conditions(&r);
    put_experiment_notes(&r, r.rows.unread);
    if (put_experiment_runs(&r, err) < 0)
        return -1;
    return d->a->failed ? err_memory(err, "the report") : r.rows.unread > 0;
}
