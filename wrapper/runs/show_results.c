/* show_results.c: the results of a run on its screen: values with their spread, references, the verdict, and why it failed. */
#include "base/listing.h"
#include "base/show.h"
#include "mlruns-format/key.h"
#include "mlruns-format/verdict.h"
#include "plan/references.h"
#include "run/last_lines.h"
#include "runs/entry_stats.h"
#include "runs/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESULTS_MAX = 14, LINE_MAX_SHOWN = 200 };

/* Statistics that name what the value is spread over; the others follow from them. */
static const char *const spread[] = {"mean", "min", "p50", "p90", "p95", "p99", "p999", "max"};
/* Which statistic stands for a metric, the first that it has. "": the metric itself. */
static const char *const preferred[] = {"median", "", "mean", "p50", "max", "min"};

struct show_result {
    const char *stem, *unit, *of; /* key without statistic; of: the statistic that is the value */
    const char *shown_unit;
    double scale; /* of shown_unit */
    const struct tree_entry *value;
    const struct tree_entry *spread[sizeof spread / sizeof *spread];
};

static const struct tree_entry *show_find_metric(const struct show_state *s, const char *stem, const char *statistic)
{
    const char *key = statistic[0] ? arena_printf(s->arena, "%s.%s", stem, statistic) : stem;
    return key ? runs_entry(s->run->metrics, key) : NULL;
}

static bool is_show_headline(const struct show_state *s, const char *key)
{
    for (struct str rest = str_of(show_tag(s, "benchwrap.headline")), word; (word = str_word(&rest)).n > 0;)
        if (str_is(word, key))
            return true;
    return false;
}

/* Returns the rank: headline metrics come first. What a load generator reports about itself
 * explains the results, and comes last. */
static int result_rank(const struct show_state *s, const char *key)
{
    return is_show_headline(s, key) ? 0 : show_metric_words(s, key) ? 2 : 1;
}

/* Returns the result of a metric that has statistics: the statistic that is a headline metric, else
 * the first of `preferred`, as value, and the others as spread. ret.value is NULL where the run has
 * none of them. */
static struct show_result show_result_of(const struct show_state *s, const char *stem)
{
    struct show_result r = {.stem = stem, .of = "", .scale = 1};
    for (size_t i = 0; !r.value && i < sizeof spread / sizeof *spread; i++) { /* a rule has this one as headline metric */
        const struct tree_entry *e = show_find_metric(s, stem, spread[i]);
        if (e && is_show_headline(s, e->key)) {
            r.value = e;
            r.of = spread[i];
        }
    }
    bool chosen = r.value != NULL;
    for (size_t i = 0; !r.value && i < sizeof preferred / sizeof *preferred; i++)
        if ((r.value = show_find_metric(s, stem, preferred[i])))
            r.of = preferred[i];
    for (size_t i = 0; i < sizeof spread / sizeof *spread; i++) {
        const struct tree_entry *e = show_find_metric(s, stem, spread[i]);
        if (!r.value && e) {
            r.value = e;
            r.of = spread[i];
        } else if (e && e != r.value && (i || chosen)) { /* the mean only where another one is the value */
            r.spread[i] = e;
        }
    }
    r.unit = r.shown_unit = r.value ? show_metric_unit(s, r.value->key) : "";
    if (r.value)
        r.scale = show_scale(entry_stats_median(s->run, r.value), &r.shown_unit);
    return r;
}

/* Writes the values around the one of the row; for a count that its name does not explain what it
 * counts. */
static void put_spread(const struct show_state *s, const struct show_result *r, struct buf *to)
{
    const char *words = show_metric_words(s, r->stem);
    struct stats stats;
    if (r->value->count > 1 && entry_stats_of(r->value, &stats)) {
        buf_printf(to, "median of %zu, ", stats.n);
        show_value(to, stats.min * r->scale);
        buf_puts(to, " … ");
        show_value(to, stats.max * r->scale);
    }
    for (size_t i = 0; i < sizeof spread / sizeof *spread; i++) {
        const struct tree_sample *last = r->spread[i] ? tree_entry_latest(r->spread[i]) : NULL;
        if (!last || !isfinite(last->value))
            continue;
        buf_printf(to, "%s%s ", to->n ? "   " : "", spread[i]);
        show_value(to, last->value * r->scale);
    }
    if (!to->n)
        buf_puts(to, words ? words : "");
}

/* Returns the result of the references for one of the metric's keys; NULL: none. */
static const struct json *reference_of(const struct show_state *s, const struct show_result *r)
{
    size_t n = strlen(r->stem);
    for (const struct json *m = json_first(json_get(s->detail, "references")); m; m = json_next(m)) {
        const char *key = json_string(json_get(m, "metric"), "");
        if (strncmp(key, r->stem, n) == 0 && (!key[n] || key[n] == '.') &&
            strcmp(json_string(json_get(m, "verdict"), ""), "no reference") != 0)
            return m;
    }
    return NULL;
}

/* Adds the cell with the verdict of the reference and its range, in the unit of the value; empty
 * where none applies. */
static void put_reference(const struct show_state *s, struct listing *l, const struct show_result *r)
{
    const struct json *m = reference_of(s, r);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    if (!m) {
        listing_text(l, "");
        return;
    }
    const char *verdict = json_string(json_get(m, "verdict"), "");
    bool fails = json_bool(json_get(m, "fails"), false);
    buf_printf(&b, "%s, reference ", fails || strcmp(verdict, "pass") == 0 ? verdict : "better");
    run_reference_range(m, r->scale, &b);
    listing_text(l, b.p);
    listing_style(l, fails ? STYLE_BAD : STYLE_GOOD);
}

static void result_row(const struct show_state *s, struct listing *l, const struct show_result *r)
{
    CLEANUP_BUF struct buf b;
    double value = entry_stats_median(s->run, r->value);
    buf_init(&b, 4096);
    show_metric(&b, r->stem, r->unit);
    if (*r->of && strcmp(r->of, "median") != 0)
        buf_printf(&b, "%c%s", r->of[0] == 'p' ? '.' : ' ', r->of); /* percentiles are spelled as in the key */
    listing_text(l, b.p);
    buf_clear(&b);
    show_value(&b, value * r->scale);
    listing_number(l, value, b.p);
    listing_style(l, STYLE_MAIN);
    buf_clear(&b);
    show_unit(&b, r->shown_unit);
    listing_text(l, b.p ? b.p : "");
    put_reference(s, l, r);
}

/* Writes the table, and behind each row the spread of its metric, on its own lines where the screen
 * is narrow: it is never left out. */
static int put_rows(const struct show_state *s, const struct listing *l, const struct show_result *rows, struct buf *to)
{
    enum { GAP = 2, INDENT = 6 };
    struct screen plain = s->screen;
    CLEANUP_BUF struct buf styled, measured, spread_;
    size_t widest = 0;
    plain.has_colour = false;
    buf_init(&styled, 1 << 20);
    buf_init(&measured, 1 << 20);
    buf_init(&spread_, 4096);
    if (listing_render(l, &s->screen, &styled) < 0 || listing_render(l, &plain, &measured) < 0)
        return -1;
    for (struct str rest = buf_text(&measured), line; rest.n && (line = str_cut(&rest, '\n')).p;)
        widest = screen_text_width(line) > widest ? screen_text_width(line) : widest;
    struct str lines = buf_text(&styled), widths = buf_text(&measured);
    for (const struct show_result *r = rows; lines.n; r++) {
        size_t used = screen_text_width(str_cut(&widths, '\n'));
        buf_str(to, str_cut(&lines, '\n'));
        buf_clear(&spread_);
        put_spread(s, r, &spread_);
        struct str text = buf_text(&spread_);
        if (text.n && screen_text_width(text) + widest + GAP <= s->screen.width) {
            screen_fill(to, widest + GAP - used);
            buf_str(to, text);
        } else if (text.n) {
            buf_putc(to, '\n');
            screen_fill(to, INDENT);
            show_put_items(s, text, INDENT, INDENT, to);
        }
        buf_putc(to, '\n');
    }
    return 0;
}

/* Prints a row for each metric of the program, headline metrics first. *ret_more: those that are
 * left out. */
int show_put_results(const struct show_state *s, size_t *ret_more, struct buf *to)
{
    static const struct listing_column columns[] = {{"metric", "", false, 50, .whole = true},
                                                    {"value", "", true, 0},
                                                    {"unit", "", false, 0, .whole = true, .tight = true, .no_empty = true},
                                                    {"reference", "", false, 0, .whole = true, .no_empty = true}};
    struct show_result *rows = arena_get(s->arena, RESULTS_MAX * sizeof *rows);
    const char **seen = NULL;
    size_t n = 0, room = 0;
    struct listing l;
    for (const struct tree_entry *e = s->run->metrics; e; e = e->next)
        room++;
    seen = arena_get(s->arena, (room + 1) * sizeof *seen);
    listing_init(&l, columns, sizeof columns / sizeof *columns, s->arena);
    l.bare = true;
    l.indent = 2;
    *ret_more = 0;
    for (int rank = 0; seen && rank <= 2; rank++)
        for (const struct tree_entry *e = s->run->metrics; e; e = e->next) {
            const char *stem = arena_dup(s->arena, e->key, key_stem(e->key));
            bool known = !stem || !key_is_result(e->key) || result_rank(s, e->key) != rank;
            for (size_t i = 0; stem && i < n; i++)
                known = known || strcmp(seen[i], stem) == 0;
            if (known)
                continue;
            seen[n++] = stem;
            if (listing_rows(&l) == RESULTS_MAX) { /* of thousands of metrics only the first ones are read */
                ++*ret_more;
                continue;
            }
            struct show_result r = show_result_of(s, stem);
            if (rows && r.value && r.value->count) {
                rows[listing_rows(&l)] = r;
                result_row(s, &l, &r);
            } else
                ++*ret_more;
        }
    int status = rows ? put_rows(s, &l, rows, to) : -1;
    listing_deinit(&l);
    return seen ? status : -1;
}

/* Returns whether one of the results is a guess of the generic reader. What the program logged
 * itself is none. */
static bool has_guessed_metrics(const struct show_state *s)
{
    for (const struct json *m = json_first(json_get(s->detail, "metrics")); m; m = json_next(m))
        if (key_is_result(json_key(m)) && strncmp(json_string(json_get(m, "source"), ""), "rule:generic:", strlen("rule:generic:")) == 0)
            return true;
    return false;
}

bool show_has_failed(const struct show_state *s)
{
    return s->run->status == RUN_FAILED || s->run->status == RUN_KILLED;
}

/* Prints "pass" only where a value was compared with a reference. */
void show_put_verdict(const struct show_state *s, bool has_results, struct buf *to)
{
    const char *verdict = show_tag(s, "benchwrap.verdict"), *reason = show_tag(s, "benchwrap.reason"), *rules = show_tag(s, "benchmark");
    const char *version = show_tag(s, "benchwrap.rules_version");
    CLEANUP_BUF struct buf b;
    size_t judged = verdict_judged(s->detail);
    buf_init(&b, 8192);
    if (verdict && strcmp(verdict, "fail") == 0) {
        failure_reason(str_of(reason ? reason : "no reason is recorded"), show_has_failed(s), &b);
        show_put_line(s, "Failed", STYLE_BAD, buf_text(&b), to);
    } else if (verdict && strcmp(verdict, "pass") == 0 && judged) {
        buf_printf(&b, "%zu metric%s within the references", judged, str_plural(judged));
        show_put_line(s, "Pass", STYLE_GOOD, buf_text(&b), to);
    } else if (verdict && strcmp(verdict, "pass") == 0) {
        buf_puts(&b, "Output valid");
        if (rules && version)
            buf_printf(&b, " (rules %s %s)", rules, version);
        buf_puts(&b, ". No reference to judge the values by.");
        show_put_line(s, "", STYLE_PLAIN, buf_text(&b), to);
    } else if (reason) {
        show_put_line(s, "Not judged", STYLE_PLAIN, str_of(reason), to);
    }
    if (has_results && has_guessed_metrics(s))
        show_put_line(s, "", STYLE_PLAIN, STR("Metrics guessed from the output, as no rule file describes this program."), to);
}

/* Writes the last lines of the output of a run that failed, which often state the cause. */
void show_put_last_lines(const struct show_state *s, struct buf *to)
{
    const char *name = "";
    struct folder tree = runs_tree(s->runs, s->run);
    struct str lines[LAST_LINES_MAX];
    char path[256];
    CLEANUP_FOLDER struct folder in = {0};
    CLEANUP_BUF struct buf kept;
    buf_init(&kept, 64 << 10);
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(s->run));
    if (!show_has_failed(s) || folder_enter(&tree, path, &in) < 0)
        return;
    size_t n = last_lines(&in, &kept, &name, lines);
    for (size_t i = 0; i < n; i++) {
        CLEANUP_BUF struct buf line;
        buf_init(&line, 8 * LINE_MAX_SHOWN);
        buf_plain(&line, lines[i], LINE_MAX_SHOWN);
        show_put_line(s, i == 0 ? name : "        ", STYLE_PLAIN, buf_text(&line), to);
    }
}
