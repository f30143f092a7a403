/* history_text.c: histories as text: the answer first, then a row for each change, then what else changed there. */
#include "history/history.h"

#include "base/listing.h"
#include "base/show.h"

#include <math.h>
#include <string.h>

struct text_state {
    const struct history *h;
    const struct history_request *asked;
    struct screen screen;
    struct buf *to;
    struct arena *a;
};

static void put_history_line(struct text_state *t, size_t first, size_t indent, struct buf *line)
{
    screen_wrap_plain(&t->screen, buf_text(line), first, indent, t->to);
    buf_clear(line);
}

const char *history_metric_label(const struct history_metric_series *m, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1024);
    show_metric(&b, m->key->name, m->key->unit);
    if (m->key->step >= 0)
        buf_printf(&b, " @%lld", (long long)m->key->step);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

static const char *ratio_text(const struct level_change *c, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    if (c->is.ratio_known)
        show_change(&b, c->is.ratio);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* The same for a sentence: values where there is no ratio, as between 0 and 5. */
const char *history_change_words(const struct history_metric_series *m, const struct level_change *c, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    if (c->is.ratio_known)
        return ratio_text(c, a);
    buf_puts(&b, "from ");
    show_quantity(&b, c->is.before, m->key->unit);
    buf_puts(&b, " to ");
    show_quantity(&b, c->is.after, m->key->unit);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* Appends the newest change of each metric: "Regression: bw -12 % since run 3f2a81c0, latency +14 %
 * since run 3f2a81c0". */
static size_t put_newest(struct text_state *t, const struct history_group *g, enum level_verdict verdict, const char *word,
                         struct buf *line)
{
    enum { NAMED = 5 };
    size_t n = 0;
    for (size_t i = 0; i < g->metric_count; i++) {
        const struct history_metric_series *m = &g->metrics[i];
        const struct level_change *c = m->points.count ? &m->changes[m->points.count - 1] : NULL;
        if (!c || c->verdict != verdict || n++ >= NAMED)
            continue;
        buf_printf(line, "%s%s%s %s since run %.8s",
                   n > 1     ? ", "
                   : line->n ? "; "
                             : "",
                   n > 1 ? "" : word, history_metric_label(m, t->a), history_change_words(m, c, t->a), c->run->id);
    }
    if (n > NAMED)
        buf_printf(line, " and %zu more", n - NAMED);
    return n;
}

/* Returns the number of values of the group's longest series. *ret_searched: series with enough
 * values to be searched. */
static size_t longest_series(const struct history_group *g, size_t *ret_searched)
{
    size_t n = 0;
    *ret_searched = 0;
    for (size_t i = 0; i < g->metric_count; i++) {
        n = g->metrics[i].n > n ? g->metrics[i].n : n;
        *ret_searched += g->metrics[i].n >= HISTORY_RUNS_MIN;
    }
    return n;
}

static bool has_series(const struct history_group *g)
{
    for (size_t i = 0; i < g->member_count; i++)
        if (runs_entry(g->members[i]->run->metrics, "series.wall_s"))
            return true;
    return false;
}

/* Appends why no metric of the group is searched. most: values of the longest series. */
static void put_too_few_values(const struct history_group *g, size_t most, struct buf *line)
{
    if (g->point_count < HISTORY_RUNS_MIN)
        buf_printf(line, "Too few runs: %zu with the same inputs, %d are needed%s.", g->point_count, HISTORY_RUNS_MIN,
                   has_series(g) ? "; a series of repetitions counts as one" : "");
    else if (!most)
        buf_printf(line, "No metric: none of %zu runs with the same inputs has one.", g->point_count);
    else
        buf_printf(line, "Too few values: no metric has more than %zu in %zu runs with the same inputs, %d are needed.", most,
                   g->point_count, HISTORY_RUNS_MIN);
}

/* Writes the newest changes of the group by verdict, or that there is none, or too few runs to
 * search. Newest values that deviate without confirmation get a second sentence. */
static void put_group_answer(struct text_state *t, const struct history_group *g)
{
    CLEANUP_BUF struct buf line;
    buf_init(&line, 1 << 16);
    size_t n = 0, odd = 0, searched, most = longest_series(g, &searched);
    if (!searched) {
        put_too_few_values(g, most, &line);
        put_history_line(t, 2, 2, &line);
        return;
    }
    n += put_newest(t, g, LEVEL_REGRESSION, "Regression: ", &line);
    n += put_newest(t, g, LEVEL_IMPROVEMENT, "Improvement: ", &line);
    n += put_newest(t, g, LEVEL_DIFFERENT, "Different: ", &line);
    if (!n)
        buf_printf(&line, "No change: %zu metric%s of %zu runs", searched, str_plural(searched), most);
    buf_putc(&line, '.');
    put_history_line(t, 2, 2, &line);
    for (size_t i = 0; i < g->metric_count; i++)
        for (size_t k = 0; k < g->metrics[i].points.odd_count; k++)
            odd += g->metrics[i].points.odd[k].kind == ODD_UNCONFIRMED;
    if (odd) {
        buf_puts(&line, "Not confirmed: the newest values of some metrics deviate. The next runs decide whether it is a change.");
        put_history_line(t, 2, 2, &line);
    }
}

static void put_history_runs(struct text_state *t, const struct history_group *g)
{
    CLEANUP_BUF struct buf line;
    buf_init(&line, 1 << 16);
    const struct tree_run *first = g->members[0]->run, *last = g->members[g->member_count - 1]->run;
    buf_printf(&line, "%zu run%s of experiment %s, ", g->point_count, str_plural(g->point_count), g->experiment);
    show_time(&line, first->start_ms);
    if (g->point_count > 1) {
        buf_puts(&line, " to ");
        show_time(&line, last->start_ms);
    }
    CLEANUP_BUF struct buf key;
    buf_init(&key, 1 << 16);
    comparison_key_show(&g->key, COMPARISON_MEASURED, 6, &key);
    const char *left_out = comparison_left_out(t->asked->ignore, t->a);
    if (key.n) {
        buf_puts(&line, ": ");
        buf_str(&line, buf_text(&key));
    }
    if (left_out)
        buf_printf(&line, ". Left out: %s", left_out);
    if (g->key.hidden)
        buf_printf(&line, ". Hidden values may differ: %s.", g->key.hidden);
    put_history_line(t, 2, 4, &line);
}

static bool is_one_metric(const struct history_metric_series *x, const struct history_metric_series *y)
{
    return x->key->step == y->key->step && strcmp(x->key->name, y->key->name) == 0;
}

/* Writes "rate is in MB/s (12 values), GB/s (12 values): each unit has its own history." Series of
 * one metric are neighbours. */
static void put_several_units(struct text_state *t, const struct history_group *g)
{
    CLEANUP_BUF struct buf line;
    buf_init(&line, 1 << 16);
    for (size_t i = 0, end; i < g->metric_count; i = end) {
        for (end = i + 1; end < g->metric_count && is_one_metric(&g->metrics[i], &g->metrics[end]); end++) {}
        if (end == i + 1)
            continue;
        buf_printf(&line, "! %s is in several units: ", history_metric_label(&g->metrics[i], t->a));
        for (size_t k = i; k < end; k++) {
            buf_puts(&line, k > i ? ", " : "");
            if (*g->metrics[k].key->unit)
                show_unit(&line, g->metrics[k].key->unit);
            else
                buf_puts(&line, "none");
            buf_printf(&line, " (%zu value%s)", g->metrics[k].n, str_plural(g->metrics[k].n));
        }
        buf_puts(&line, ". Each unit has its own history.");
        put_history_line(t, 2, 4, &line);
    }
}

/* Writes a warning that names up to NAMED metrics for which the runs state different better
 * directions. */
static void put_disputed_directions(struct text_state *t, const struct history_group *g)
{
    enum { NAMED = 5 };
    CLEANUP_BUF struct buf line;
    size_t n = 0;
    buf_init(&line, 1 << 16);
    for (size_t i = 0; i < g->metric_count; i++)
        if (g->metrics[i].is_disputed && n++ < NAMED)
            buf_printf(&line, "%s%s", n > 1 ? ", " : "! The runs disagree on the better direction of ",
                       history_metric_label(&g->metrics[i], t->a));
    if (n > NAMED)
        buf_printf(&line, " and %zu more", n - NAMED);
    if (!n)
        return;
    buf_puts(&line, ": no change of it is a regression or an improvement.");
    put_history_line(t, 2, 4, &line);
}

/* ---- the table ---- */

static void add_number_cell(struct listing *l, double value, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_value(&b, value);
    listing_number(l, value, arena_dup(a, b.p ? b.p : "", b.n));
}

static void add_change_row(struct text_state *t, struct listing *l, const struct history_metric_series *m, const struct level_change *c)
{
    static const enum style styles[] = {[LEVEL_DIFFERENT] = STYLE_PLAIN, [LEVEL_REGRESSION] = STYLE_BAD, [LEVEL_IMPROVEMENT] = STYLE_GOOD};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    const char *unit = m->key->unit;
    double scale = show_scale(fabs(c->is.before) > fabs(c->is.after) ? fabs(c->is.before) : fabs(c->is.after), &unit);
    listing_text(l, arena_printf(t->a, "%.8s", c->run->id));
    show_time(&b, c->run->start_ms);
    listing_text(l, arena_dup(t->a, b.p, b.n > 3 ? b.n - 3 : b.n)); /* without seconds */
    buf_clear(&b);
    listing_text(l, history_metric_label(m, t->a));
    add_number_cell(l, c->is.before * scale, t->a);
    add_number_cell(l, c->is.after * scale, t->a);
    show_unit(&b, unit);
    listing_text(l, arena_dup(t->a, b.p ? b.p : "", b.n));
    buf_clear(&b);
    listing_text(l, ratio_text(c, t->a));
    if (c->is.ratio_known)
        show_change_interval(&b, c->is.ratio, c->is.low, c->is.high);
    listing_text(l, arena_dup(t->a, b.p ? b.p : "", b.n));
    listing_text(l, c->is.p < 1e-12 ? "<1e-12" : arena_printf(t->a, "%.0e", c->is.p));
    listing_text(l, level_verdict_name(c->verdict));
    listing_style(l, styles[c->verdict]);
}

struct change_place {
    const struct history_metric_series *m;
    const struct level_change *c;
};

/* Returns the changes of all metrics, by run, in the arena; NULL: out of memory. */
static struct change_place *sorted_changes(const struct history_group *g, struct arena *a, size_t *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < g->metric_count; i++)
        n += g->metrics[i].points.count;
    struct change_place *list = arena_get(a, (n + 1) * sizeof *list);
    *ret = 0;
    for (size_t i = 0; list && i < g->metric_count; i++)
        for (size_t k = 0; k < g->metrics[i].points.count; k++) {
            struct change_place one = {&g->metrics[i], &g->metrics[i].changes[k]};
            size_t at = (*ret)++;
            for (; at && list[at - 1].c->run->start_ms > one.c->run->start_ms; at--)
                list[at] = list[at - 1];
            list[at] = one;
        }
    return list;
}

/* Appends the table of changes. Returns -1 when out of memory. */
static int put_changes(struct text_state *t, const struct change_place *list, size_t n)
{
    static const struct listing_column columns[] = {{"run", "run", false, 0, .whole = true},
                                                    {"time", "time", false, 0, .drop = 3},
                                                    {"metric", "metric", false, 40, .whole = true},
                                                    {"before", "before", true, 0},
                                                    {"after", "after", true, 0},
                                                    {"unit", "", false, 0, .tight = true, .no_empty = true},
                                                    {"change", "change", true, 0, .no_empty = true},
                                                    {"interval", "95 %", true, 0, .drop = 1, .no_empty = true},
                                                    {"p", "p", true, 0, .drop = 2},
                                                    {"verdict", "", false, 0, .whole = true}};
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof *columns, t->a);
    l.indent = 2;
    for (size_t i = 0; i < n; i++)
        add_change_row(t, &l, list[i].m, list[i].c);
    if (n)
        buf_putc(t->to, '\n');
    int status = listing_render(&l, &t->screen, t->to);
    listing_deinit(&l);
    return status;
}

/* ---- what else changed ---- */

static void put_cause_change(const struct cause_change *c, struct buf *line)
{
    enum { VALUE_MAX = 40 };
    buf_printf(line, "%s ", c->key);
    for (int side = 0; side < 2; side++) {
        const char *value = side ? c->after : c->before;
        CLEANUP_BUF struct buf cut;
        buf_init(&cut, 1 << 16);
        if (side)
            buf_puts(line, " -> ");
        if (value)
            screen_clip_middle(&cut, str_of(value), strlen(value) == 64 ? 11 : VALUE_MAX);
        buf_str(line, value ? buf_text(&cut) : STR("(none)"));
    }
}

void history_put_causes(const struct level_change *c, struct buf *to)
{
    enum { NAMED = 6 };
    for (size_t k = 0; k < c->changed_count && k < NAMED; k++) {
        if (k)
            buf_puts(to, ", ");
        put_cause_change(&c->changed[k], to);
    }
    if (c->changed_count > NAMED)
        buf_printf(to, " and %zu more", c->changed_count - NAMED);
}

/* Writes "At run 3f2a81c0 also changed: program.sha256 …", once for each run. */
static void put_also_changed(struct text_state *t, const struct change_place *list, size_t n)
{
    enum { FEW = 3 };
    bool begun = false;
    CLEANUP_BUF struct buf line;
    buf_init(&line, 1 << 16);
    for (size_t i = 0; i < n; i++) {
        const struct level_change *c = list[i].c;
        bool known = false;
        for (size_t k = 0; k < i; k++)
            known = known || list[k].c->run == c->run;
        if (known || (!c->changed_count && n > FEW))
            continue;
        double days = (double)(c->run->start_ms - c->before->start_ms) / 86400e3;
        buf_printf(&line, "run %.8s%s: ", c->run->id,
                   c->changed_offset > 0   ? ", the run after it"
                   : c->changed_offset < 0 ? ", the run before it"
                                           : "");
        if (!c->changed_count)
            buf_puts(&line, "nothing else that is recorded changed");
        else
            buf_puts(&line, "also changed: ");
        history_put_causes(c, &line);
        if (days >= 2)
            buf_printf(&line, "; %.0f days after the run before", days);
        if (!begun)
            buf_putc(t->to, '\n');
        begun = true;
        put_history_line(t, 2, 4, &line);
    }
}

/* Writes a line of outliers and one of values not confirmed, up to NAMED in each, with the expected
 * value. */
static void put_odd(struct text_state *t, const struct history_group *g)
{
    enum { NAMED = 4 };
    CLEANUP_BUF struct buf line;
    buf_init(&line, 1 << 16);
    for (int kind = ODD_OUTLIER; kind <= ODD_UNCONFIRMED; kind++) {
        size_t n = 0;
        for (size_t i = 0; i < g->metric_count; i++)
            for (size_t k = 0; k < g->metrics[i].points.odd_count; k++) {
                const struct history_metric_series *m = &g->metrics[i];
                const struct odd_value *o = &m->points.odd[k];
                if ((int)o->kind != kind || n++ >= NAMED)
                    continue;
                buf_printf(&line, "%s%s ",
                           n > 1                 ? ", "
                           : kind == ODD_OUTLIER ? "Outliers: "
                                                 : "Not confirmed: ",
                           history_metric_label(m, t->a));
                show_quantity(&line, m->values[o->at], m->key->unit);
                buf_puts(&line, " instead of ");
                show_quantity(&line, o->expected, m->key->unit);
                buf_printf(&line, " in run %.8s", g->points[m->places[o->at]].run->run->id);
            }
        if (n > NAMED)
            buf_printf(&line, " and %zu more", n - NAMED);
        if (n)
            put_history_line(t, 2, 4, &line);
    }
}

/* Writes the group: answer, runs, warnings, and the last CHANGES_SHOWN changes in their order, with
 * what else changed. -1: out of memory. */
static int put_history_group(struct text_state *t, const struct history_group *g)
{
    enum { CHANGES_SHOWN = 12 };
    size_t n;
    struct change_place *list = sorted_changes(g, t->a, &n);
    put_group_answer(t, g);
    put_history_runs(t, g);
    put_several_units(t, g);
    put_disputed_directions(t, g);
    size_t hidden = n > CHANGES_SHOWN ? n - CHANGES_SHOWN : 0;
    list += list ? hidden : 0;
    n -= hidden;
    if (!list || put_changes(t, list, n) < 0)
        return -1;
    if (hidden) {
        CLEANUP_BUF struct buf line;
        buf_init(&line, 1024);
        buf_printf(&line, "%zu earlier change%s; --json has all", hidden, str_plural(hidden));
        put_history_line(t, 2, 4, &line);
    }
    put_also_changed(t, list, n);
    put_odd(t, g);
    return 0;
}

/* Writes what the reader may type next; one line at most. */
static void put_next_step(struct text_state *t, size_t shown, size_t few)
{
    CLEANUP_BUF struct buf line;
    buf_init(&line, 4096);
    const struct level_change *newest = NULL;
    for (size_t i = 0; i < shown; i++)
        for (size_t k = 0; k < t->h->groups[i].metric_count; k++) {
            const struct history_metric_series *m = &t->h->groups[i].metrics[k];
            const struct level_change *c = m->points.count ? &m->changes[m->points.count - 1] : NULL;
            if (c && (!newest || c->run->start_ms > newest->run->start_ms))
                newest = c;
        }
    if (newest)
        buf_printf(&line, "hint: benchwrap explain %.8s %.8s", newest->before->id, newest->run->id);
    else if (few && !t->asked->run && t->h->groups[0].point_count < HISTORY_RUNS_MIN)
        buf_puts(&line, "hint: --ignore PARAM joins groups that differ in it");
    if (!line.n)
        return;
    buf_putc(t->to, '\n');
    put_history_line(t, 2, 8, &line);
}

/* Writes how many runs are left out, for each reason. few: comparison keys that have too few
 * runs. */
static void put_left_out_runs(struct text_state *t, size_t few)
{
    const struct history *h = t->h;
    CLEANUP_BUF struct buf line;
    buf_init(&line, 4096);
    const struct {
        size_t n;
        const char *words;
    } parts[] = {{h->failed, "did not finish"},
                 {h->copies, "copies of another run"},
                 {h->ahead, "start in the future"},
                 {h->damaged, "cannot be read"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].n)
            buf_printf(&line, "%s%zu %s", line.n ? ", " : "Runs left out: ", parts[i].n, parts[i].words);
    if (line.n) {
        buf_putc(&line, '.');
        put_history_line(t, 2, 4, &line);
    }
    if (few) {
        buf_printf(&line, "%zu other comparison key%s with fewer than %d runs.", few, str_plural(few), HISTORY_RUNS_MIN);
        put_history_line(t, 2, 4, &line);
    }
}

int history_write_text(const struct history *h, const struct history_request *asked, FILE *out)
{
    CLEANUP_BUF struct buf to;
    buf_init(&to, 1u << 30);
    struct text_state t = {.h = h, .asked = asked, .screen = screen_of_file(out), .to = &to, .a = asked->arena};
    size_t shown = 0;
    while (shown < h->group_count && (shown == 0 || h->groups[shown].point_count >= HISTORY_RUNS_MIN))
        shown++;
    for (size_t i = 0; i < shown; i++) {
        if (i)
            buf_putc(&to, '\n');
        if (put_history_group(&t, &h->groups[i]) < 0)
            return -1;
    }
    size_t few = h->group_count - shown;
    if (few || h->failed || h->copies || h->ahead || h->damaged)
        buf_putc(&to, '\n');
    put_left_out_runs(&t, few);
    put_next_step(&t, shown, few);
    fwrite(to.p ? to.p : "", 1, to.n, out);
    return to.failed || asked->arena->failed ? -1 : 0;
}
