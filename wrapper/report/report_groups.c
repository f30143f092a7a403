/* report_groups.c: groups of runs, compared, as a document. */
#include "report/report.h"
#include "base/show.h"
#include "compare/compare_machine.h"
#include "compare/compare_parts.h"
#include "report/charts.h"
#include "report/scaling.h"
#include "runs/fact_words.h"
#include "runs/stale.h"

#include <math.h>
#include <string.h>

enum { PLOTS_MOST = 6, VALUES_MAX = 200, ROWS_MOST = 800, DIFFERENCES_MOST = 300 };

struct groups_report {
    struct doc *d;
    struct arena *a;
    struct runs *runs;
    const struct compare_group *groups;
    size_t count;
    const struct report_options *o;
    struct compared_metric *metrics;
    struct compared_keys keys;
    struct compare_text text;
};

static const char *letter_of(size_t g, struct arena *a)
{
    return g < 26 ? arena_printf(a, "%c", (char)('A' + g)) : arena_printf(a, "%zu", g + 1);
}

/* Adds the lines that a part of the comparison prints as paragraphs of the document. */
static void put_compared_lines(struct groups_report *r, const struct buf *text, bool as_notes)
{
    for (struct str rest = buf_text(text); rest.n;) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (str_starts(line, "! "))
            line = str_sub(line, 2, line.n);
        const char *kept = arena_dup(r->a, line.p ? line.p : "", line.n);
        if (line.n && as_notes)
            doc_note(r->d, kept);
        else if (line.n)
            doc_answer(r->d, STYLE_PLAIN, NULL, kept);
        if (!rest.p)
            break;
    }
}

static void put_group_answers(struct groups_report *r)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 18);
    r->text.to = &b;
    for (size_t g = 1; g < r->count; g++)
        compare_put_answer(&r->text, g);
    put_compared_lines(r, &b, false);
}

/* Writes a table of the groups: letter, what made the group, number of runs, and the start of its
 * first and last run. */
static void put_group_list(struct groups_report *r)
{
    static const struct doc_column columns[] = {{"group"}, {"what"}, {"runs", NULL, true}, {"first run"}, {"last run"}};
    struct doc_grid *t = doc_table(r->d, "groups", columns, sizeof columns / sizeof *columns);
    for (size_t g = 0; g < r->count; g++) {
        const struct compare_group *group = &r->groups[g];
        int64_t first = INT64_MAX, last = 0;
        for (size_t i = 0; i < group->count; i++) {
            first = group->members[i].run->start_ms < first ? group->members[i].run->start_ms : first;
            last = group->members[i].run->start_ms > last ? group->members[i].run->start_ms : last;
        }
        doc_cell_text(t, STYLE_MAIN, arena_printf(r->a, "%s%s", letter_of(g, r->a), g ? "" : ", base"));
        doc_cell_text(t, STYLE_PLAIN,
                      r->o->by ? arena_printf(r->a, "%s=%s", r->o->by, group->name)
                      : group->count > 1
                          ? group->name
                          : arena_printf(r->a, "%.8s %s", group->members[0].run->id, report_name(group->members[0].run, r->a)));
        doc_cell_number(t, STYLE_PLAIN, (double)group->count, arena_printf(r->a, "%zu", group->count));
        doc_cell_text(t, STYLE_DIM, report_time(first, r->a));
        doc_cell_text(t, STYLE_DIM, report_time(last, r->a));
    }
}

/* ---- the table ---- */

static enum style outcome_style(const struct compared_side *side)
{
    return side->other_inputs                ? STYLE_DIM
           : side->outcome == OUTCOME_BETTER ? STYLE_GOOD
           : side->outcome == OUTCOME_WORSE  ? STYLE_BAD
                                             : STYLE_DIM;
}

/* Adds the row that compares group `g` with the base. Medians have one unit, that of the larger
 * one. The ratio is also shown where no interval is known, if both medians are positive. */
static void compared_row(struct groups_report *r, struct doc_grid *t, const struct compared_metric *m, size_t g)
{
    const struct compared_side *base = &m->sides[0], *side = &m->sides[g];
    CLEANUP_BUF struct buf change, interval, unit;
    const char *shown = m->unit;
    double scale = show_scale(fmax(base->n ? fabs(base->median) : 0, side->n ? fabs(side->median) : 0), &shown);
    double ratio = side->change.known                                           ? side->change.ratio
                   : base->n && side->n && base->median > 0 && side->median > 0 ? side->median / base->median
                                                                                : NAN;
    buf_init(&change, 200);
    buf_init(&interval, 200);
    buf_init(&unit, 100);
    show_unit(&unit, shown);
    if (ratio > 0)
        show_change(&change, ratio);
    if (side->change.known)
        show_change_interval(&interval, side->change.ratio, side->change.low, side->change.high);
    doc_cell_text(t, STYLE_PLAIN, compare_metric_name(m, r->a));
    if (r->count > 2)
        doc_cell_text(t, STYLE_PLAIN, letter_of(g, r->a));
    doc_cell_number(t, STYLE_PLAIN, base->n ? base->median : NAN, base->n ? report_value(base->median * scale, NULL, NULL, r->a) : NULL);
    doc_cell_number(t, STYLE_PLAIN, side->n ? side->median : NAN, side->n ? report_value(side->median * scale, NULL, NULL, r->a) : NULL);
    doc_cell_text(t, STYLE_DIM, arena_dup(r->a, unit.p ? unit.p : "", unit.n));
    doc_cell_number(t, STYLE_PLAIN, ratio, arena_dup(r->a, change.p ? change.p : "", change.n));
    doc_cell_text(t, STYLE_DIM, arena_dup(r->a, interval.p ? interval.p : "", interval.n));
    doc_cell_text(t, outcome_style(side),
                  side->outcome == OUTCOME_NONE                          ? ""
                  : side->outcome == OUTCOME_SAME && !side->other_inputs ? (compare_is_varied(side) ? "too varied" : "no difference")
                                                                         : compare_verdict(side));
}

/* Adds a line that counts what a table leaves out; nothing for 0. */
static void put_more_rows(struct groups_report *r, size_t more)
{
    if (more)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "%zu more: benchwrap compare --all", more));
}

/* Writes the table of headline metrics, or of all others, up to about ROWS_MOST rows. Returns the
 * number of rows; without a row there is no table. */
static size_t put_compared_table(struct groups_report *r, bool headlines)
{
    static const struct doc_column pair[] = {{"metric"},        {"A", NULL, true}, {"B", NULL, true}, {"unit"}, {"change", NULL, true},
                                             {"95 % interval"}, {"verdict"}};
    static const struct doc_column many[] = {
        {"metric"}, {"group"}, {"A", NULL, true}, {"value", NULL, true}, {"unit"}, {"change", NULL, true}, {"95 % interval"}, {"verdict"}};
    struct doc_grid *t = NULL;
    size_t rows = 0, more = 0;
    for (const struct compared_metric *m = r->metrics; m; m = m->next) {
        bool is_first = m->headline && !compare_is_wall(m);
        if (is_first != headlines)
            continue;
        if (rows >= ROWS_MOST) {
            more++;
            continue;
        }
        if (!t)
            t = doc_table(r->d, headlines ? "comparison of headline metrics" : "comparison of other metrics", r->count > 2 ? many : pair,
                          r->count > 2 ? sizeof many / sizeof *many : sizeof pair / sizeof *pair);
        for (size_t g = 1; g < r->count; g++, rows++)
            compared_row(r, t, m, g);
    }
    put_more_rows(r, more);
    return rows;
}

/* ---- plots ---- */

/* Returns whether the metric is one value of a headline metric, or of the wall time where the
 * groups have no such metric. */
static bool is_charted_metric(bool has_headlines, const struct compared_metric *m)
{
    bool is_headline = has_headlines ? m->headline && !compare_is_wall(m) : compare_is_wall(m);
    return m->step < 0 && is_headline;
}

/* Plots the groups as boxes, for each headline metric; refused where they share no axis, and then
 * the document states why. */
static int put_group_plots(struct groups_report *r, struct err *err)
{
    const char *const named[] = {r->o->by, NULL};
    struct chart_list list = {0};
    struct err refused = {0};
    const char *note = NULL;
    size_t plots = 0;
    bool has_headlines = compare_has_headlines(&r->text);
    for (const struct compared_metric *m = r->metrics; m && plots < PLOTS_MOST; m = m->next) {
        if (!is_charted_metric(has_headlines, m))
            continue;
        struct plotted_rows rows = {
            .runs = r->runs, .a = r->a, .expand = true, .metrics = 1, .metric[0].wanted = m->key, .ignore = r->o->ignore};
        int status = 0;
        for (size_t g = 0; g < r->count && status == 0; g++)
            for (size_t i = 0; i < r->groups[g].count && status == 0; i++)
                status =
                    plotted_add(&rows, r->groups[g].members[i].run,
                                r->o->by ? r->groups[g].name : arena_printf(r->a, "%s  %s", letter_of(g, r->a), r->groups[g].name), err);
        if (status == 0 && plotted_check(&rows, named, false, &note, &refused) < 0)
            status = 1;
        else if (status == 0)
            status = charts_groups(&rows, note, &list, err);
        plotted_deinit(&rows);
        if (status < 0)
            return -1;
        if (status > 0)
            break;
        plots++;
    }
    if (!list.count && !refused.kind)
        return 0;
    doc_heading(r->d, "Plots");
    if (refused.kind)
        doc_text(r->d, STYLE_DIM, arena_printf(r->a, "No plot: %s.", refused.text));
    for (size_t i = 0; i < list.count; i++)
        doc_chart(r->d, &list.list[i]);
    return 0;
}

/* ---- conditions and differences ---- */

static const char *clip_values(const char *text, struct arena *a)
{
    return strlen(text) > VALUES_MAX ? arena_printf(a, "%.*s…", VALUES_MAX, text) : text;
}

/* Writes a sentence for hardware and one for settings: the same, not recorded for all runs, or
 * which params differ. */
static void put_machine_words(struct groups_report *r)
{
    static const char *const names[] = {"Hardware", "Settings"};
    struct machine_difference parts[MACHINE_PARTS];
    machine_compare(r->groups, r->count, r->a, parts);
    for (int i = 0; i < MACHINE_PARTS; i++) {
        CLEANUP_BUF struct buf b;
        size_t n = 0;
        buf_init(&b, 1 << 16);
        for (const char **key = parts[i].keys; key && *key; key++)
            buf_printf(&b, "%s%s", n++ ? ", " : "", *key);
        doc_text(r->d, STYLE_PLAIN,
                 parts[i].state == MACHINE_SAME ? arena_printf(r->a, "%s: the same.", names[i])
                 : parts[i].state == MACHINE_UNKNOWN
                     ? arena_printf(r->a, "%s: not recorded for all runs%s%s.", names[i], n ? "; what differs: " : "", n ? b.p : "")
                     : arena_printf(r->a, "%s: differs in %s.", names[i], n ? b.p : "something that no parameter names"));
    }
}

static void put_difference(struct groups_report *r, struct doc_grid *t, const char *key, bool is_tag)
{
    doc_cell_text(t, STYLE_PLAIN, fact_words_and_key(key, r->a));
    for (size_t g = 0; g < r->count; g++) {
        const struct compare_group *group = &r->groups[g];
        doc_cell_text(t, STYLE_PLAIN, clip_values(is_tag ? compare_tag(group, key, r->a) : compare_param(group, key, r->a), r->a));
    }
}

/* Makes a column for each group behind that of the names. */
static struct doc_column *group_columns(const struct groups_report *r, const char *name)
{
    struct doc_column *columns = arena_get(r->a, (r->count + 1) * sizeof *columns);
    for (size_t g = 0; columns && g < r->count; g++)
        columns[g + 1] = (struct doc_column){.heading = r->o->by ? arena_printf(r->a, "%s: %.40s", letter_of(g, r->a), r->groups[g].name)
                                                                 : letter_of(g, r->a)};
    if (columns)
        columns[0] = (struct doc_column){.heading = name};
    return columns;
}

static void tag_rows(struct groups_report *r, const char *const *tags)
{
    struct doc_column *columns = group_columns(r, "tag");
    struct doc_grid *t = columns && *tags ? doc_table(r->d, "tags that differ", columns, r->count + 1) : NULL;
    for (size_t rows = 0; t && *tags && rows < DIFFERENCES_MOST; tags++, rows++)
        put_difference(r, t, *tags, true);
    size_t more = 0;
    while (*tags++)
        more++;
    put_more_rows(r, t ? more : 0);
}

/* Writes the table of inputs, or of the other params, that differ between groups, up to
 * DIFFERENCES_MOST rows. Without a row it states that the inputs are the same, or that not all
 * command lines are known. */
static void difference_rows(struct groups_report *r, bool inputs)
{
    struct doc_column *columns = group_columns(r, inputs ? "input" : "param");
    struct doc_grid *t = NULL;
    size_t rows = 0;
    for (const char **key = r->text.differing; columns && *key; key++) {
        if (compare_is_input(&r->text, *key) != inputs || rows++ >= DIFFERENCES_MOST)
            continue;
        t = t ? t : doc_table(r->d, inputs ? "inputs that differ" : "other params that differ", columns, r->count + 1);
        put_difference(r, t, *key, false);
    }
    put_more_rows(r, rows > DIFFERENCES_MOST ? rows - DIFFERENCES_MOST : 0);
    if (inputs && !t)
        doc_text(r->d, STYLE_PLAIN,
                 r->text.arguments_known ? "All groups have the same inputs."
                                         : "No recorded input differs. Not all command lines are known.");
}

/* Returns "800 MB/s (+260 %)": the median of the group, against the base. */
static const char *result_text(const struct groups_report *r, const struct compared_metric *m, size_t g)
{
    const struct compared_side *base = &m->sides[0], *side = &m->sides[g];
    CLEANUP_BUF struct buf b;
    buf_init(&b, 300);
    if (!side->n)
        return NULL;
    show_quantity(&b, side->median, m->unit);
    if (g && base->n && base->median > 0 && side->median > 0) {
        buf_puts(&b, " (");
        show_change(&b, side->median / base->median);
        buf_puts(&b, side->other_inputs ? ", other inputs)" : ")");
    }
    return arena_dup(r->a, b.p ? b.p : "", b.n);
}

/* Adds the table of the groups' results, which readers compare before the differences. */
static void result_rows(struct groups_report *r)
{
    enum { RESULTS_MOST = 8 };
    struct doc_column *columns = group_columns(r, "result");
    struct doc_grid *t = NULL;
    size_t rows = 0;
    bool has_headlines = compare_has_headlines(&r->text);
    for (const struct compared_metric *m = r->metrics; columns && m && rows < RESULTS_MOST; m = m->next) {
        if (!is_charted_metric(has_headlines, m))
            continue;
        t = rows++ ? t : doc_table(r->d, "results: medians", columns, r->count + 1);
        doc_cell_text(t, STYLE_MAIN, compare_metric_name(m, r->a));
        for (size_t g = 0; g < r->count; g++)
            doc_cell_text(t, STYLE_MAIN, result_text(r, m, g));
    }
}

/* Writes what all groups share, and then the differences: results, inputs, machine, and folded the
 * other params and tags. */
static void put_conditions(struct groups_report *r)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    doc_heading(r->d, "Conditions");
    compare_keys_show(&r->keys, r->groups, r->count, true, &b);
    doc_text(r->d, STYLE_PLAIN, arena_dup(r->a, b.p ? b.p : "", b.n));
    buf_clear(&b);
    compare_keys_hint(&r->keys, r->metrics, r->count, r->a, &b);
    if (b.n)
        doc_note(r->d, arena_dup(r->a, b.p, b.n));
    doc_heading(r->d, "Differences");
    result_rows(r);
    difference_rows(r, true);
    put_machine_words(r);
    const char **tags = compare_tags(r->groups, r->count, r->a);
    size_t others = 0;
    for (const char **key = r->text.differing; *key; key++)
        others += !compare_is_input(&r->text, *key);
    for (const char **key = tags; *key; key++)
        others++;
    if (!others)
        return;
    doc_fold(r->d, arena_printf(r->a, "%zu other param%s or tag%s that differ%s", others, str_plural(others), str_plural(others),
                                others == 1 ? "s" : ""));
    difference_rows(r, false);
    tag_rows(r, tags);
    doc_unfold(r->d);
}

/* Writes what limits the comparison, such as failed and disturbed runs, missing values and other
 * units, under a heading. Nothing is written where there is no such line. */
static void put_group_noise(struct groups_report *r)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 18);
    r->text.to = &b;
    compare_put_failed(&r->text);
    compare_put_disturbed(&r->text);
    compare_put_partial(&r->text);
    compare_put_missing(&r->text);
    compare_put_units(&r->text);
    compare_put_disputed(&r->text);
    compare_put_mixed(&r->text);
    if (!b.n)
        return;
    doc_heading(r->d, "Noise and warnings");
    put_compared_lines(r, &b, true);
}

static size_t group_of_run(const struct groups_report *r, const struct tree_run *run)
{
    for (size_t g = 0; g < r->count; g++)
        for (size_t i = 0; i < r->groups[g].count; i++)
            if (r->groups[g].members[i].run == run)
                return g;
    return 0;
}

static void put_usual_group_runs(const struct groups_report *r, struct tree_run *const *list, const char *const *letters, size_t n)
{
    static const struct doc_column columns[] = {{"group"}, {"run"}, {"name"}, {"started"}, {"status"}};
    struct doc_grid *t = doc_table(r->d, "runs", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        doc_cell_text(t, STYLE_PLAIN, letters[i]);
        doc_cell_text(t, STYLE_PLAIN, arena_printf(r->a, "%.8s", list[i]->id));
        doc_cell_text(t, STYLE_PLAIN, report_name(list[i], r->a));
        doc_cell_text(t, STYLE_DIM, report_time(list[i]->start_ms, r->a));
        doc_cell_text(t, list[i]->status == RUN_FINISHED ? STYLE_DIM : STYLE_BAD, runs_status(list[i]));
    }
}

/* Returns all runs, group by group. NULL: out of memory. */
static struct tree_run **all_members(const struct groups_report *r, size_t *ret_n)
{
    size_t n = 0, used = 0;
    for (size_t g = 0; g < r->count; g++)
        n += r->groups[g].count;
    struct tree_run **all = arena_get(r->a, (n + 1) * sizeof *all);
    for (size_t g = 0; all && g < r->count; g++)
        for (size_t i = 0; i < r->groups[g].count; i++)
            all[used++] = r->groups[g].members[i].run;
    *ret_n = n;
    return all;
}

/* Adds the table of the runs of all groups, each with its group's letter. -1 with err. */
static int put_group_runs(struct groups_report *r, struct tree_run *const *all, size_t n, struct err *err)
{
    struct tree_run *const *list = report_order(r->runs, all, n, r->o, r->a, err);
    const char **letters = arena_get(r->a, (n + 1) * sizeof *letters);
    if (!list)
        return -1;
    for (size_t i = 0; letters && i < n; i++)
        letters[i] = letter_of(group_of_run(r, list[i]), r->a);
    if (!letters)
        return err_memory(err, "the report");
    doc_heading(r->d, "Runs");
    if (r->o->columns)
        return report_runs_table(r->d, r->runs, list, letters, n, r->o, err);
    put_usual_group_runs(r, list, letters, n);
    return 0;
}

/* Returns whether each group that the user names is its own point. Groups of one size may differ in
 * something that no record shows. */
static bool are_groups_points(const struct groups_report *r, const char *x)
{
    for (size_t g = 0; x && g < r->count; g++) {
        const char *value = compare_param(&r->groups[g], x, r->a);
        for (size_t k = 0; k < g; k++)
            if (strcmp(value, compare_param(&r->groups[k], x, r->a)) == 0)
                return false;
        if (strstr(value, ", "))
            return false;
    }
    return true;
}

/* Adds the scaling section for up to SCALED_MOST charted metrics. The groups need one size each,
 * unless o->by made them. Where they lack it: -1 with err if o->over or o->work is set, else
 * nothing is added. */
static int put_group_scaling(struct groups_report *r, struct tree_run *const *all, size_t n, struct err *err)
{
    enum { SCALED_MOST = 4 };
    const char *metrics[SCALED_MOST];
    size_t used = 0;
    bool has_headlines = compare_has_headlines(&r->text);
    for (const struct compared_metric *m = r->metrics; m && used < SCALED_MOST; m = m->next)
        if (is_charted_metric(has_headlines, m))
            metrics[used++] = m->key;
    if (!r->o->by && !are_groups_points(r, r->o->over ? r->o->over : scaling_axis(all, n, r->a))) {
        if (r->o->over || r->o->work)
            return err_set(err, ERR_INPUT,
                           "several groups have the same size, or one has several: choose runs by options, and lines by --by");
        return 0;
    }
    return report_scaling(r->d, r->runs, all, n, metrics, used, r->o, err);
}

/* Fills the document of compared groups. -1 with err. */
static int fill_groups(struct groups_report *r, struct err *err)
{
    size_t n;
    if (compare_metrics(r->groups, r->count, false, r->a, &r->metrics, err) < 0 ||
        compare_keys_read(r->runs, r->groups, r->count, r->o->by, r->o->ignore, r->metrics, r->a, &r->keys, err) < 0)
        return -1;
    r->text = (struct compare_text){.arena = r->a,
                                    .groups = r->groups,
                                    .count = r->count,
                                    .metrics = r->metrics,
                                    .keys = &r->keys,
                                    .by = r->o->by,
                                    .screen.width = SIZE_MAX};
    put_group_answers(r);
    put_group_list(r);
    put_compared_table(r, true);
    struct tree_run **all = all_members(r, &n);
    if (!all)
        return err_memory(err, "the report");
    if (put_group_plots(r, err) < 0 || put_group_scaling(r, all, n, err) < 0)
        return -1;
    r->text.arguments_known = compare_add_arguments(r->runs, r->groups, r->count, r->a);
    if (!(r->text.differing = compare_params(r->groups, r->count, r->a)))
        return err_memory(err, "the report");
    put_conditions(r);
    put_group_noise(r);
    doc_heading(r->d, "Other metrics");
    if (!put_compared_table(r, false))
        doc_text(r->d, STYLE_DIM, "none");
    return put_group_runs(r, all, n, err);
}

int report_groups(struct doc *d, struct runs *runs, struct compare_group *groups, size_t count, const struct report_options *o,
                  struct err *err)
{
    struct groups_report r = {.d = d, .a = d->a, .runs = runs, .groups = groups, .count = count, .o = o};
    bool damaged = false;
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++) {
            const char *problem = NULL;
            groups[g].members[i].detail = runs_detail(runs, groups[g].members[i].run, &problem, d->a);
            problem = groups[g].members[i].run->problem ? groups[g].members[i].run->problem : problem;
            if (problem)
                doc_note(d, arena_printf(d->a, "Run %.8s is damaged: %s", groups[g].members[i].run->id, problem));
            damaged = damaged || problem;
            if (stale_reason(groups[g].members[i].run))
                doc_note(d, arena_printf(d->a, "%.8s %s: %s", groups[g].members[i].run->id, groups[g].members[i].run->name,
                                         stale_reason(groups[g].members[i].run)));
        }
    d->title = o->by ? arena_printf(d->a, "Comparison by %s", o->by) : arena_printf(d->a, "Comparison of %zu groups", count);
    d->foot = report_foot(runs, d->a);
    int status = fill_groups(&r, err);
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            json_free(groups[g].members[i].detail);
    return status < 0 ? -1 : d->a->failed ? err_memory(err, "the report") : damaged;
}
