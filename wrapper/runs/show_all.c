/* show_all.c: everything that is recorded of one run, in tables. */
#include "base/listing.h"
#include "base/show.h"
#include "runs/fact_words.h"
#include "runs/entry_stats.h"
#include "runs/server_copies.h"
#include "runs/show.h"
#include "mlruns-format/key.h"
#include "mlruns-format/missing.h"
#include "series/table.h"
#include "mlruns-format/verdict.h"

#include <math.h>
#include <string.h>

enum { VALUE_SHOWN = 100 };

static void range_of(const struct tree_entry *e, double *ret_min, double *ret_max)
{
    *ret_min = *ret_max = NAN;
    for (size_t i = 0; i < e->count; i++) {
        *ret_min = fmin(*ret_min, e->samples[i].value); /* fmin, fmax pass over NaN */
        *ret_max = fmax(*ret_max, e->samples[i].value);
    }
}

static void meta_line(const struct show_state *s, const char *name, struct str value)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    buf_plain(&b, value, 4000);
    fprintf(s->out, "%-12s%s\n", name, b.n ? b.p : "-");
}

static void put_server_lines(const struct show_state *s)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8192);
    for (const struct sent_note *note = server_copies_of(s->runs, s->run, s->arena); note; note = note->next) {
        buf_clear(&b);
        sent_note_link(note, &b);
        meta_line(s, "server", buf_text(&b));
    }
}

static void print_meta(const struct show_state *s)
{
    const struct tree_run *run = s->run;
    struct arena *a = s->arena;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    meta_line(s, "run", str_of(run->id));
    meta_line(s, "name", str_of(run->name));
    meta_line(s, "experiment", str_of(arena_printf(a, "%s (%llu)", run->experiment, (unsigned long long)run->experiment_id)));
    meta_line(s, "status", str_of(runs_status(run)));
    const char *verdict = runs_text(run->tags, "benchwrap.verdict", a), *reason = runs_text(run->tags, "benchwrap.reason", a);
    if (verdict && strcmp(verdict, "pass") == 0 && !verdict_judged(s->detail))
        meta_line(s, "verdict", STR("output valid, no reference to judge by"));
    else if (verdict)
        meta_line(s, "verdict", str_of(reason && *reason ? arena_printf(a, "%s: %s", verdict, reason) : verdict));
    show_time(&b, run->start_ms);
    if (run->end_ms) {
        buf_puts(&b, " for ");
        show_duration(&b, (double)(run->end_ms - run->start_ms) / 1e3);
    } else {
        buf_puts(&b, ", no end is known");
    }
    meta_line(s, "started", buf_text(&b));
    meta_line(s, "user", str_of(run->user));
    meta_line(s, "path", str_of(run->path));
    put_server_lines(s);
    if (run->problem)
        meta_line(s, "damaged", str_of(run->problem));
    if (s->detail_problem)
        meta_line(s, "damaged", str_of(s->detail_problem));
}

/* Prints the statistics of repetitions. */
static void print_points(const struct show_state *s)
{
    CLEANUP_BUF struct buf table;
    buf_init(&table, 64 << 20);
    if (!s->notes)
        return;
    show_heading(s, "Repetitions");
    series_table(s->notes, series_figures(s->notes), true, 0, &s->screen, &table);
    fwrite(table.p ? table.p : "", 1, table.n, s->out);
}

/* Prints a table of keys and values below a heading; nothing for an empty list. -1: out of memory. */
static int print_texts(const struct show_state *s, const char *title, const struct tree_entry *list)
{
    static const struct listing_column columns[] = {{"key", "KEY", false, 60}, {"value", "VALUE", false, VALUE_SHOWN}};
    struct listing l;
    if (!list)
        return 0;
    show_heading(s, title);
    listing_init(&l, columns, 2, s->arena);
    for (const struct tree_entry *e = list; e; e = e->next) {
        listing_text(&l, e->key);
        listing_str(&l, e->value);
    }
    int status = listing_print(&l, s->out);
    listing_deinit(&l);
    return status;
}

const char *show_metric_words(const struct show_state *s, const char *key)
{
    const char *benchmark = runs_text(s->run->tags, "benchmark", s->arena);
    return benchmark && strcmp(benchmark, "llmload") == 0 ? fact_words_of_metric(key) : NULL;
}

/* Adds the row of one metric: the median, or the latest value where the key names a statistic or no
 * median is known; nothing over the points of a sweep; minimum and maximum where it has several values. */
static void show_metric_row(const struct show_state *s, struct listing *l, const struct tree_entry *e)
{
    const struct tree_sample *last = tree_entry_latest(e);
    double min, max, median = e->key[key_stem(e->key)] ? NAN : entry_stats_median(s->run, e);
    range_of(e, &min, &max);
    listing_text(l, e->key);
    if (last && !entry_stats_is_over_points(s->run, e))
        listing_number(l, isnan(median) ? last->value : median, NULL);
    else
        listing_none(l);
    listing_text(l, show_metric_unit(s, e->key));
    listing_text(l, json_string(json_get(show_metric_detail(s, e->key), "direction"), NULL));
    listing_number(l, (double)e->count, NULL);
    if (e->count > 1 && !isnan(min)) {
        listing_number(l, min, NULL);
        listing_number(l, max, NULL);
    } else {
        listing_none(l);
        listing_none(l);
    }
    listing_text(l, show_metric_words(s, e->key));
}

/* Returns the rank in the order of interest: what the program measured, what it used, what the
 * machine did while it ran. */
static int metric_rank(const char *key)
{
    return key_is_result(key) ? 0 : strncmp(key, "run.", 4) == 0 ? 1 : 2;
}

/* Prints the table of all metrics, by their rank. Returns -1 when listing_print fails. */
static int show_print_metrics(const struct show_state *s)
{
    static const struct listing_column columns[] = {
        {"key", "METRIC", false, 60},       {"value", "VALUE", true, 0},
        {"unit", "UNIT", false, 0},         {"direction", "BETTER", false, 0, .drop = 3},
        {"n", "N", true, 0, .drop = 2},     {"min", "MIN", true, 0, .drop = 1},
        {"max", "MAX", true, 0, .drop = 1}, {"meaning", "MEANING", false, 0, .drop = 4, .no_empty = true}};
    struct listing l;
    if (!s->run->metrics)
        return 0;
    show_heading(s, "Metrics");
    listing_init(&l, columns, sizeof columns / sizeof columns[0], s->arena);
    for (int rank = 0; rank <= 2; rank++)
        for (const struct tree_entry *e = s->run->metrics; e; e = e->next)
            if (metric_rank(e->key) == rank)
                show_metric_row(s, &l, e);
    int status = listing_print(&l, s->out);
    listing_deinit(&l);
    return status;
}

static void number_or_none(struct listing *l, const struct json *m, const char *key)
{
    const struct json *v = json_get(m, key);
    if (json_is_number(v))
        listing_number(l, json_number(v, 0), NULL);
    else
        listing_none(l);
}

/* Prints the metrics that references judged. */
static int print_references(const struct show_state *s)
{
    static const struct listing_column columns[] = {
        {"metric", "METRIC", false, 60}, {"value", "VALUE", true, 0}, {"low", "LOW", true, 0},          {"reference", "REFERENCE", true, 0},
        {"high", "HIGH", true, 0},       {"unit", "UNIT", false, 0},  {"verdict", "VERDICT", false, 0}, {"entry", "ENTRY", false, 60}};
    const struct json *all = json_get(s->detail, "references");
    struct listing l;
    if (!json_count(all))
        return 0;
    show_heading(s, "References");
    listing_init(&l, columns, sizeof columns / sizeof columns[0], s->arena);
    for (const struct json *m = json_first(all); m; m = json_next(m)) {
        const char *verdict = json_string(json_get(m, "verdict"), "");
        bool fails = json_bool(json_get(m, "fails"), false), outside = strcmp(verdict, "above") == 0 || strcmp(verdict, "below") == 0;
        listing_text(&l, json_string(json_get(m, "metric"), NULL));
        number_or_none(&l, m, "value");
        number_or_none(&l, m, "low");
        number_or_none(&l, m, "reference");
        number_or_none(&l, m, "high");
        listing_text(&l, json_string(json_get(m, "unit"), ""));
        listing_text(&l, arena_printf(s->arena, "%s%s", verdict, fails ? ", fails" : outside ? ", better" : ""));
        listing_text(&l, json_string(json_get(m, "entry"), ""));
    }
    int status = listing_print(&l, s->out);
    listing_deinit(&l);
    return status;
}

/* Prints missing values with their reasons, then the warnings. Returns -1 when listing_print
 * fails. */
static int show_print_missing(const struct show_state *s)
{
    static const struct listing_column columns[] = {{"key", "WHAT", false, 60}, {"reason", "WHY", .wrap = true}};
    const struct json *missing = json_get(s->detail, "missing"), *warnings = json_get(s->detail, "warnings");
    struct listing l;
    int status = 0;
    if (json_count(missing)) {
        show_heading(s, "Missing");
        listing_init(&l, columns, 2, s->arena);
        for (const struct json *m = json_first(missing); m; m = json_next(m)) {
            listing_text(&l, json_string(json_get(m, "key"), NULL));
            listing_text(&l, missing_words(json_string(json_get(m, "reason"), NULL)));
        }
        status = listing_print(&l, s->out);
        listing_deinit(&l);
    }
    if (json_count(warnings))
        show_heading(s, "Warnings");
    for (const struct json *w = json_first(warnings); w; w = json_next(w)) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 1 << 20);
        screen_wrap_plain(&s->screen, str_of(json_string(json_get(w, "text"), "")), 0, 2, &b);
        fwrite(b.p ? b.p : "", 1, b.n, s->out);
        status = b.failed ? -1 : status;
    }
    return status;
}

/* Prints the artifacts with their sizes in bytes, readable by people. Returns -1 when listing_print
 * fails. */
static int print_artifacts(const struct show_state *s)
{
    static const struct listing_column columns[] = {{"path", "FILE", false, 0}, {"size", "SIZE", true, 0}};
    struct listing l;
    if (!s->artifacts || !s->artifact_count)
        return 0;
    show_heading(s, "Artifacts");
    listing_init(&l, columns, 2, s->arena);
    for (size_t i = 0; i < s->artifact_count; i++) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 64);
        show_size(&b, s->artifacts[i].size);
        listing_text(&l, s->artifacts[i].path);
        listing_number(&l, (double)s->artifacts[i].size, b.p);
    }
    int status = listing_print(&l, s->out);
    listing_deinit(&l);
    if (s->artifacts_cut)
        fprintf(s->out, "and more\n");
    return status;
}

int show_all(const struct show_state *s)
{
    print_meta(s);
    print_points(s);
    return print_references(s) | show_print_metrics(s) | print_texts(s, "Parameters", s->run->params) |
           print_texts(s, "Facts of the parent run", s->inherited) | print_texts(s, "Tags", s->run->tags) | show_print_missing(s) |
           print_artifacts(s);
}
