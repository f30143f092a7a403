/* summary.c: what a run prints at its end: outcome, headline metrics, warnings, where the run is stored. */
#include "run/summary.h"

#include "base/folder.h"
#include "base/listing.h"
#include "base/show.h"
#include "base/stats.h"
#include "mlruns-format/key.h"
#include "mlruns-format/no_metrics.h"
#include "plan/references.h"
#include "run/last_lines.h"
#include "run/usual.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADLINES_MAX = 6, TEXT_MAX = 200, LABEL = 12 };

/* Returns the latest value of a metric; NULL: there is none. */
static const struct fact *latest_metric(const struct record *r, struct str key)
{
    const struct fact *found = NULL;
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC && str_eq(f->key, key))
            found = f;
    return found;
}

static bool is_result_fact(const struct fact *f)
{
    return f->kind == FACT_METRIC && key_is_result(f->key.p);
}

bool summary_has_results(const struct record *r)
{
    for (const struct fact *f = r->first; f; f = f->next)
        if (is_result_fact(f))
            return true;
    return false;
}

void summary_line(const struct screen *screen, enum style style, const char *label, size_t width, struct str text, struct buf *to)
{
    CLEANUP_BUF struct buf plain;
    size_t own = screen_text_width(str_of(label));
    buf_init(&plain, 16 << 10);
    buf_plain(&plain, text, 1000);
    buf_puts(to, "  ");
    screen_puts(screen, style, label, to);
    screen_fill(to, width > own ? width - own : 0);
    screen_wrap(screen, buf_text(&plain), 2 + width, 2 + width, to);
    buf_putc(to, '\n');
}

/* ---- the first line ---- */

/* Appends the first line: "fio finished in 3.4 s", "sh failed after 50 ms, exit status 2". */
static void summary_print_outcome(const struct summary *s, struct buf *to)
{
    const struct record *r = &s->f->record;
    const struct fact *benchmark = record_find(r, FACT_TAG, "benchmark");
    double wall = record_number(r, "run.wall_s", NAN), status = record_number(r, "run.exit_status", -1);
    bool finished = r->status == RUN_FINISHED;
    const char *word = finished ? "finished" : r->status == RUN_KILLED ? "was stopped" : "failed";
    buf_plain(to, benchmark ? benchmark->text : STR("run"), 60);
    buf_putc(to, ' ');
    screen_puts(s->screen, finished ? STYLE_PLAIN : STYLE_BAD, word, to);
    if (isfinite(wall)) {
        buf_puts(to, finished ? " in " : " after ");
        show_duration(to, wall);
    }
    if (status >= 0 && r->status != RUN_KILLED)
        buf_printf(to, ", exit status %.0f", status);
    buf_putc(to, '\n');
}

/* Returns whether the reason is only the exit status, which the first line has. */
static bool is_exit_status(const char *reason, double status)
{
    char words[40];
    snprintf(words, sizeof words, "exit status %.0f", status);
    return strcmp(reason, words) == 0;
}

void summary_print_reason(const struct summary *s, struct buf *to)
{
    const struct record *r = &s->f->record;
    bool failed = strcmp(s->f->verdict, "fail") == 0;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 16 << 10);
    failure_reason(str_of(s->f->reason), r->status != RUN_FINISHED, &b);
    const char *reason = b.n ? b.p : "";
    if (!reason[0] || is_exit_status(reason, record_number(r, "run.exit_status", -1)))
        return;
    const char *label = r->status != RUN_FINISHED ? "reason:" : failed ? "failed:" : "not judged:";
    summary_line(s->screen, failed ? STYLE_BAD : STYLE_PLAIN, label, LABEL, str_of(reason), to);
}

/* ---- headline metrics ---- */

/* Returns the metric's value: of several the median; a key that names a statistic has one value. */
static double value_of_metric(const struct record *r, const struct fact *m)
{
    double *values = m->key.p[key_stem(m->key.p)] ? NULL : malloc((r->count + 1) * sizeof *values), value = m->value;
    size_t n = 0;
    struct stats stats;
    for (const struct fact *f = r->first; values && f; f = f->next)
        if (f->kind == FACT_METRIC && str_eq(f->key, m->key) && isfinite(f->value))
            values[n++] = f->value;
    if (n > 1) {
        stats_of(values, n, &stats);
        value = stats.median;
    }
    free(values);
    return value;
}

/* Adds the row of one metric: key, value, unit, and the verdict of its reference or how it compares
 * with earlier runs. */
static void summary_add_metric(struct listing *l, const struct fact *m, const struct summary *s, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1024);
    show_metric(&b, m->key.p, m->unit);
    listing_text(l, b.p);
    const char *unit = m->unit;
    double value = value_of_metric(&s->f->record, m), scale = show_scale(value, &unit);
    buf_clear(&b);
    show_value(&b, value * scale);
    listing_number(l, value, arena_dup(a, b.p, b.n));
    listing_style(l, STYLE_MAIN);
    buf_clear(&b);
    show_unit(&b, unit);
    listing_text(l, b.p ? b.p : "");
    bool fails;
    enum style style = STYLE_PLAIN;
    const char *verdict = run_reference_of(&s->f->record, m->key.p, scale, a, &fails);
    if (verdict)
        style = fails ? STYLE_BAD : STYLE_GOOD;
    else
        verdict = usual_range(s->usual, m->key.p, scale, a, &style);
    listing_text(l, verdict ? verdict : "");
    listing_style(l, style);
}

static bool is_metric_listed(const struct listing *l, const struct fact *const *shown, const struct fact *m)
{
    for (size_t i = 0; i < listing_rows(l); i++)
        if (str_eq(shown[i]->key, m->key))
            return true;
    return false;
}

/* Adds the headline metrics of the rules, else the first metrics. False: the program printed none. */
static bool print_headlines(const struct summary *s, struct arena *a, struct buf *to)
{
    static const struct listing_column columns[] = {{"metric", "METRIC", false, 60, .whole = true},
                                                    {"value", "VALUE", true, 0},
                                                    {"unit", "UNIT", false, 0, .whole = true, .tight = true},
                                                    {"verdict", "VERDICT", false, 0, .drop = 1, .no_empty = true}};
    const struct record *r = &s->f->record;
    const struct fact *tag = record_find(r, FACT_TAG, "benchwrap.headline"), *shown[HEADLINES_MAX];
    struct str rest = tag ? tag->text : STR(""), key;
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    l.bare = true;
    l.indent = 2;
    while (listing_rows(&l) < HEADLINES_MAX && (key = str_word(&rest)).n > 0) {
        const struct fact *m = latest_metric(r, key);
        if (!m || !is_result_fact(m) || is_metric_listed(&l, shown, m))
            continue;
        shown[listing_rows(&l)] = m;
        summary_add_metric(&l, m, s, a);
    }
    for (const struct fact *f = r->first; f && !tag && listing_rows(&l) < HEADLINES_MAX; f = f->next)
        if (is_result_fact(f) && !is_metric_listed(&l, shown, f)) {
            const struct fact *m = latest_metric(r, f->key);
            shown[listing_rows(&l)] = m;
            summary_add_metric(&l, m, s, a);
        }
    listing_render(&l, s->screen, to);
    bool any = listing_rows(&l) > 0;
    listing_deinit(&l);
    return any;
}

/* ---- no metrics ---- */

/* Returns whether the output was read by the generic reader, or by no rules. */
static bool is_unknown(const struct record *r)
{
    const struct fact *rules = record_find(r, FACT_TAG, "benchwrap.rules");
    return rules ? str_is(rules->text, "generic") : !record_find(r, FACT_TAG, "benchwrap.rules_version");
}

/* Appends the last lines of the stored output, each cut to TEXT_MAX bytes. Nothing without a
 * spool. */
static void print_last_lines(const struct summary *s, struct buf *to)
{
    struct folder spool = folder_disk(s->spool);
    struct str lines[LAST_LINES_MAX];
    const char *name = "";
    char label[16];
    CLEANUP_BUF struct buf kept;
    buf_init(&kept, 64 << 10);
    size_t n = s->spool < 0 ? 0 : last_lines(&spool, &kept, &name, lines);
    snprintf(label, sizeof label, "%s:", name);
    for (size_t i = 0; i < n; i++)
        summary_line(s->screen, STYLE_PLAIN, i ? "" : label, LABEL, str_sub(lines[i], 0, TEXT_MAX), to);
}

/* Returns whether one of the results is a guess of the generic reader. What the program logged
 * itself is none. */
static bool has_guessed_results(const struct record *r)
{
    for (const struct fact *f = r->first; f; f = f->next)
        if (is_result_fact(f) && f->source && strncmp(f->source, "rule:generic:", strlen("rule:generic:")) == 0)
            return true;
    return false;
}

/* Returns the warning with which the rules explain why they found none, without its first words; p
 * NULL: there is none. */
static struct str no_metrics_reason(const struct fact *f)
{
    return f->kind == FACT_WARNING ? no_metrics_in(f->text) : (struct str){NULL, 0};
}

/* Appends why there are no metrics; nothing for a program that failed, whose own last lines explain
 * more. */
void summary_print_no_metrics(const struct summary *s, struct buf *to)
{
    const struct record *r = &s->f->record;
    struct str reason = {NULL, 0};
    if (r->status != RUN_FINISHED)
        return;
    for (const struct fact *f = r->first; f && !reason.p; f = f->next)
        reason = no_metrics_reason(f);
    if (!reason.p && s->f->reason[0]) /* it already has a reason */
        return;
    if (!reason.p && !is_unknown(r))
        reason = STR("the rules found none in the output");
    if (!reason.p)
        return;
    summary_line(s->screen, STYLE_PLAIN, "no metrics:", LABEL, reason, to);
    if (!is_unknown(r))
        return;
    summary_line(s->screen, STYLE_DIM, "hint:", LABEL, STR("benchwrap log loss=0.3           inside the program, or"), to);
    summary_line(s->screen, STYLE_DIM, "", LABEL, STR("benchwrap rules new --from last   draft a rule file from this output"), to);
}

/* ---- warnings, place ---- */

void summary_print_warnings(const struct summary *s, const char *source, struct buf *to)
{
    enum { SHOWN = 4 };
    const struct record *r = &s->f->record;
    unsigned n = 0;
    for (const struct fact *f = r->first; f; f = f->next) {
        if (f->kind != FACT_WARNING || (f->source && strcmp(f->source, SUMMARY_TOLD) == 0) ||
            (source && (!f->source || strcmp(f->source, source) != 0)) || no_metrics_reason(f).p)
            continue;
        if (n++ < SHOWN)
            summary_line(s->screen, STYLE_WARN, "!", 2, str_sub(f->text, 0, TEXT_MAX), to);
    }
    if (n > SHOWN)
        buf_printf(to, "    and %u more warning%s: benchwrap show %.8s\n", n - SHOWN, str_plural(n - SHOWN), r->id);
}

void summary_tree(const char *absolute, struct buf *to)
{
    char cwd[PATH_MAX];
    struct str tree = str_of(absolute), here = getcwd(cwd, sizeof cwd) && strcmp(cwd, "/") ? str_of(cwd) : STR("");
    if (here.n && tree.n > here.n && str_starts(tree, here.p) && tree.p[here.n] == '/') {
        tree = (struct str){tree.p + here.n + 1, tree.n - here.n - 1};
        buf_puts(to, "./");
    }
    buf_plain(to, tree, 1000);
}

void summary_print_place(const struct summary *s, struct buf *to)
{
    screen_style_begin(s->screen, STYLE_DIM, to);
    buf_printf(to, "  run %.8s in ", s->f->record.id);
    summary_tree(s->f->head.tree, to);
    buf_puts(to, "    next: benchwrap show");
    if (s->tree_option) {
        buf_puts(to, " -t ");
        buf_plain(to, str_of(s->tree_option), 1000);
    }
    screen_style_end(s->screen, STYLE_DIM, to);
    buf_putc(to, '\n');
}

void summary_print(const struct summary *s, struct buf *to)
{
    const struct record *r = &s->f->record;
    struct arena a;
    arena_init(&a, 1 << 20);
    summary_print_outcome(s, to);
    buf_putc(to, '\n');
    size_t before = to->n;
    if (r->status != RUN_FINISHED) /* its own words first */
        print_last_lines(s, to);
    summary_print_reason(s, to);
    if (print_headlines(s, &a, to)) {
        if (has_guessed_results(r))
            summary_line(
                s->screen, STYLE_DIM, "", 0,
                STR("metrics guessed from the output, as no rule file describes this program. To add a metric: benchwrap log NAME=VALUE"),
                to);
    } else if (!summary_has_results(r)) {
        summary_print_no_metrics(s, to);
    }
    if (to->n > before)
        buf_putc(to, '\n');
    before = to->n;
    summary_print_warnings(s, NULL, to);
    if (to->n > before)
        buf_putc(to, '\n');
    summary_print_place(s, to);
    arena_deinit(&a);
}
