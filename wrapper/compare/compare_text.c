/* compare_text.c: a comparison as text: the answer in a sentence, what explains it, and a row for each metric. */
#include "compare/compare_text.h"

#include "base/listing.h"
#include "base/show.h"
#include "compare/arguments.h"
#include "compare/compare_machine.h"
#include "compare/compare_parts.h"
#include "mlruns-format/no_metrics.h"
#include "runs/entry_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_SIDE_BY_SIDE = 2 };

static const char *group_letter(size_t g, struct arena *a)
{
    return arena_printf(a, "%c", (char)('A' + g));
}

/* ---- the groups ---- */

/* Appends the table of groups. Returns -1 when out of memory. */
static int compare_put_groups(struct compare_text *t)
{
    static const struct listing_column columns[] = {{"group", "", false, 0, .whole = true},
                                                    {"name", "", false, 60, .whole = true},
                                                    {"first", "", false, 40, .drop = 1, .no_empty = true},
                                                    {"runs", "", false, 0, .whole = true},
                                                    {"base", "", false, 0, .no_empty = true}};
    struct listing l;
    struct arena *a = t->arena;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    l.bare = true;
    for (size_t g = 0; g < t->count; g++) {
        const struct compare_group *group = &t->groups[g];
        const struct tree_run *run = group->members[0].run;
        size_t repetitions = compare_repetitions(t, g);
        listing_text(&l, group_letter(g, a));
        if (t->by)
            listing_text(&l, arena_printf(a, "%s=%s", t->by, group->name));
        else
            listing_text(&l, group->count == 1 ? arena_printf(a, "%.8s", run->id) : group->name);
        listing_text(&l, group->count == 1 ? run->name : "");
        size_t points = group->count == 1 ? entry_stats_points(run) : 0;
        listing_text(&l, arena_printf(a, "%zu run%s of %s%s%s", group->count, str_plural(group->count), run->experiment,
                                      points ? arena_printf(a, ", %zu point%s", points, str_plural(points)) : "",
                                      repetitions > 1 ? arena_printf(a, ", %zu repetitions", repetitions) : ""));
        listing_text(&l, g ? "" : "base");
    }
    int status = listing_render(&l, &t->screen, t->to);
    listing_deinit(&l);
    return status;
}

/* ---- what explains it ---- */

static size_t put_keys(const char **keys, struct buf *to)
{
    size_t n = 0;
    for (; keys && *keys; keys++)
        buf_printf(to, "%s%s", n++ ? ", " : "", *keys);
    return n;
}

/* Writes the values of what differs, one column for each group; all: not the inputs alone. */
static int put_params(struct compare_text *t, bool all)
{
    struct arena *a = t->arena;
    struct listing_column *columns = arena_get(a, (t->count + 1) * sizeof *columns);
    struct listing l;
    if (!columns)
        return -1;
    columns[0] = (struct listing_column){.key = "key", .heading = "", .max = 60, .whole = true};
    for (size_t g = 0; g < t->count; g++)
        columns[g + 1] = (struct listing_column){.key = "", .heading = group_letter(g, a), .max = 40};
    listing_init(&l, columns, t->count + 1, a);
    l.indent = 2;
    for (const char **key = t->differing; *key; key++) {
        if (!all && !compare_is_input(t, *key))
            continue;
        listing_text(&l, *key);
        for (size_t g = 0; g < t->count; g++)
            listing_text(&l, compare_param(&t->groups[g], *key, a));
    }
    int status = listing_render(&l, &t->screen, t->to);
    listing_deinit(&l);
    return status;
}

/* Appends which inputs differ, or that none does, and whether all command lines are known. Returns
 * how many differ. */
static size_t compare_put_inputs(struct compare_text *t)
{
    CLEANUP_BUF struct buf b;
    size_t n = 0;
    buf_init(&b, 1 << 16);
    for (const char **key = t->differing; *key; key++)
        if (compare_is_input(t, *key))
            buf_printf(&b, "%s%s", n++ ? ", " : "Inputs that differ: ", *key);
    if (!n && t->arguments_known)
        buf_puts(&b, t->count == 2 ? "A and B have the same inputs" : "All groups have the same inputs");
    if (!n && !t->arguments_known)
        buf_puts(&b, "No recorded input differs");
    buf_puts(&b, t->arguments_known ? "." : ". Not all command lines are known.");
    compare_put_wrapped(t, 2, buf_text(&b));
    return n;
}

/* Writes how the program differs. One that was edited or rebuilt is no other input, but explains a
 * change. */
static void put_program(struct compare_text *t)
{
    enum { HASH = 64, HASH_SHOWN = 12, VERSION_SHOWN = 60 };
    CLEANUP_BUF struct buf b;
    struct arena *a = t->arena;
    const char **keys = program_compare(t->groups, t->count, a);
    buf_init(&b, 1 << 16);
    if (!keys || !keys[0])
        return;
    buf_puts(&b, "The program differs: ");
    for (const char **key = keys; *key; key++) {
        buf_printf(&b, "%s%s (", key == keys ? "" : ", ", *key);
        for (size_t g = 0; g < t->count; g++) {
            const char *value = compare_param(&t->groups[g], *key, a);
            bool is_hash = strlen(value) == HASH && str_ends(str_of(*key), "sha256");
            buf_puts(&b, g ? ", " : "");
            screen_clip(&b, is_hash ? (struct str){value, HASH_SHOWN} : str_of(value), VERSION_SHOWN);
        }
        buf_putc(&b, ')');
    }
    buf_putc(&b, '.');
    compare_put_wrapped(t, 2, buf_text(&b));
}

static void put_environment_difference(struct compare_text *t)
{
    const char *differs = environment_compare(t->groups, t->count, t->arena);
    const char *line = differs ? arena_printf(t->arena, "The environment differs: %s.", differs) : NULL;
    if (line)
        compare_put_wrapped(t, 2, str_of(line));
}

/* Writes which values are hidden. Two hidden values of equal length have the same text. */
static void put_hidden_arguments(struct compare_text *t)
{
    const char *hidden = comparison_key_hidden(t->keys->list, t->keys->count, t->arena);
    const char *line = hidden ? arena_printf(t->arena, "Hidden values may differ: %s.", hidden) : NULL;
    if (line)
        compare_put_wrapped(t, 2, str_of(line));
}

static void put_compared_keys(struct compare_text *t)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    compare_keys_show(t->keys, t->groups, t->count, t->all, &b);
    if (b.n)
        compare_put_wrapped(t, 2, buf_text(&b));
}

/* Writes one sentence where nothing differs, else one for hardware and one for settings. */
static void compare_put_machine(struct compare_text *t)
{
    static const char *const names[] = {"Hardware", "Settings"};
    struct machine_difference parts[MACHINE_PARTS];
    machine_compare(t->groups, t->count, t->arena, parts);
    bool same = true;
    for (int i = 0; i < MACHINE_PARTS; i++)
        same = same && parts[i].state == MACHINE_SAME && !(t->all && parts[i].keys && parts[i].keys[0]);
    if (same) {
        compare_put_wrapped(t, 2, STR("Hardware and settings: the same."));
        return;
    }
    for (int i = 0; i < MACHINE_PARTS; i++) {
        CLEANUP_BUF struct buf b, keys;
        buf_init(&b, 1 << 16);
        buf_init(&keys, 1 << 16);
        size_t n = put_keys(parts[i].keys, &keys);
        buf_printf(&b, "%s: ", names[i]);
        if (parts[i].state == MACHINE_SAME && n && t->all)
            buf_puts(&b, "the same. Recorded for some runs only: ");
        else if (parts[i].state == MACHINE_SAME) {
            buf_puts(&b, "the same");
            buf_clear(&keys);
        } else if (parts[i].state == MACHINE_UNKNOWN)
            buf_printf(&b, "not recorded for all runs%s", n ? "; what differs: " : "");
        else
            buf_puts(&b, n ? "differs in " : "differs in something that no parameter names");
        buf_str(&b, buf_text(&keys));
        buf_putc(&b, '.');
        compare_put_wrapped(t, 2, buf_text(&b));
    }
}

/* ---- metrics ---- */

static const char *compare_value_text(double value, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_value(&b, value);
    return arena_dup(a, b.p, b.n);
}

/* Returns the factor by which the groups' medians are shown, in one unit (*ret_unit): the one in
 * which the largest is shown. */
static double compare_scale(const struct compare_text *t, const struct compared_metric *m, const char **ret_unit)
{
    double greatest = 0;
    for (size_t g = 0; g < t->count; g++)
        if (m->sides[g].n && fabs(m->sides[g].median) > greatest)
            greatest = fabs(m->sides[g].median);
    *ret_unit = m->unit;
    return show_scale(greatest, ret_unit);
}

static void compare_add_value(struct listing *l, const struct compared_side *side, double scale, struct arena *a)
{
    if (side->n)
        listing_number(l, side->median, compare_value_text(side->median * scale, a));
    else
        listing_none(l);
}

/* Adds the cells of ratio and interval against the base. Where no ratio is known, that of the
 * medians is shown if both are positive. */
static void compare_add_change(struct listing *l, const struct compared_side *base, const struct compared_side *side)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 128);
    double ratio = side->change.known                                           ? side->change.ratio
                   : base->n && side->n && base->median > 0 && side->median > 0 ? side->median / base->median
                                                                                : 0;
    if (ratio > 0)
        show_change(&b, ratio);
    listing_text(l, b.p ? b.p : "");
    buf_clear(&b);
    if (side->change.known)
        show_change_interval(&b, side->change.ratio, side->change.low, side->change.high);
    listing_text(l, b.n ? b.p : "");
}

/* missing: a value that the row compares. */
static void add_outcome(struct listing *l, const struct compared_side *side, bool single, bool missing)
{
    enum compare_outcome outcome = side->outcome;
    static const struct {
        const char *word;
        enum style style;
    } words[] = {[OUTCOME_NONE] = {"", STYLE_PLAIN},
                 [OUTCOME_TOO_FEW] = {"too few", STYLE_DIM},
                 [OUTCOME_SAME] = {"no difference", STYLE_DIM},
                 [OUTCOME_UNCERTAIN] = {"uncertain", STYLE_DIM},
                 [OUTCOME_BETTER] = {"better", STYLE_GOOD},
                 [OUTCOME_WORSE] = {"worse", STYLE_BAD},
                 [OUTCOME_DIFFERENT] = {"different", STYLE_PLAIN}};
    if (missing) {
        listing_text(l, "missing");
        listing_style(l, STYLE_DIM);
        return;
    }
    if (side->other_inputs && outcome >= OUTCOME_SAME) {
        listing_text(l, compare_verdict(side));
        listing_style(l, STYLE_DIM);
        return;
    }
    listing_text(l, single && outcome == OUTCOME_TOO_FEW ? "" : compare_is_varied(side) ? "too varied" : words[outcome].word);
    listing_style(l, words[outcome].style);
}

/* Returns the unit as it is shown, in the arena; "" for none. */
static const char *compare_unit_text(const char *unit, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_unit(&b, unit);
    return b.n ? arena_dup(a, b.p, b.n) : "";
}

static bool is_metric_shown(const struct compare_text *t, const struct compared_metric *m, bool headlines)
{
    return !headlines || t->all || m->headline || strcmp(m->key, "run.wall_s") == 0;
}

/* Returns the row behind m (NULL: the first): the program's own metrics, then its wall time. What
 * is not shown is counted once. */
static const struct compared_metric *next_shown(const struct compare_text *t, const struct compared_metric *m, bool headlines,
                                                size_t *ret_more)
{
    bool wall = m && compare_is_wall(m);
    for (const struct compared_metric *next = m ? m->next : t->metrics; next && !wall; next = next->next) {
        if (!compare_is_wall(next) && is_metric_shown(t, next, headlines))
            return next;
        *ret_more += !compare_is_wall(next);
    }
    for (const struct compared_metric *next = t->metrics; next && !wall; next = next->next)
        if (compare_is_wall(next))
            return next;
    return NULL;
}

/* Writes A and B next to each other. */
static int put_pair(struct compare_text *t, bool headlines, size_t *ret_more, bool *ret_interval)
{
    static const struct listing_column columns[] = {{"key", "", false, 60, .whole = true},
                                                    {"unit", "", false, 0, .drop = 1, .whole = true, .no_empty = true},
                                                    {"a", "A", true, 0},
                                                    {"b", "B", true, 0},
                                                    {"change", "change", true, 0},
                                                    {"interval", "95 %", true, 0, .drop = 2, .no_empty = true},
                                                    {"outcome", "", false, 0, .whole = true, .no_empty = true}};
    struct listing l;
    struct arena *a = t->arena;
    bool single = compare_repetitions(t, 0) == 1 && compare_repetitions(t, 1) == 1 && t->groups[0].count == 1 && t->groups[1].count == 1;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    for (const struct compared_metric *m = next_shown(t, NULL, headlines, ret_more); m; m = next_shown(t, m, headlines, ret_more)) {
        const char *unit;
        double scale = compare_scale(t, m, &unit);
        listing_text(&l, compare_metric_name(m, a));
        listing_text(&l, compare_unit_text(unit, a));
        compare_add_value(&l, &m->sides[0], scale, a);
        compare_add_value(&l, &m->sides[1], scale, a);
        compare_add_change(&l, &m->sides[0], &m->sides[1]);
        add_outcome(&l, &m->sides[1], single, !m->sides[0].n || !m->sides[1].n);
    }
    int status = listing_render(&l, &t->screen, t->to);
    *ret_interval = listing_shows(&l, &t->screen, "interval");
    listing_deinit(&l);
    return status;
}

/* Appends the metrics of three groups or more: a row for each group below the metric's name.
 * *ret_more: metrics that are not shown. -1: out of memory. */
static int put_groups_metrics(struct compare_text *t, bool headlines, size_t *ret_more, bool *ret_interval)
{
    static const struct listing_column columns[] = {{"key", "", false, 60, .whole = true},
                                                    {"unit", "", false, 0, .drop = 1, .whole = true, .no_empty = true},
                                                    {"group", "", false, 0},
                                                    {"median", "median", true, 0},
                                                    {"change", "change", true, 0},
                                                    {"interval", "95 %", true, 0, .drop = 2, .no_empty = true},
                                                    {"outcome", "", false, 0, .whole = true, .no_empty = true}};
    struct listing l;
    struct arena *a = t->arena;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    for (const struct compared_metric *m = next_shown(t, NULL, headlines, ret_more); m; m = next_shown(t, m, headlines, ret_more)) {
        const char *unit;
        double scale = compare_scale(t, m, &unit);
        for (size_t g = 0; g < t->count; g++) {
            listing_text(&l, g ? "" : compare_metric_name(m, a));
            listing_text(&l, g ? "" : compare_unit_text(unit, a));
            listing_text(&l, group_letter(g, a));
            compare_add_value(&l, &m->sides[g], scale, a);
            if (g)
                compare_add_change(&l, &m->sides[0], &m->sides[g]);
            else
                listing_text(&l, ""), listing_text(&l, "");
            add_outcome(&l, &m->sides[g], false, !m->sides[g].n);
        }
    }
    int status = listing_render(&l, &t->screen, t->to);
    *ret_interval = listing_shows(&l, &t->screen, "interval");
    listing_deinit(&l);
    return status;
}

/* Returns "--by size -e fio" of the first sweep among the groups: its points can be compared so.
 * NULL: none is a sweep. */
static const char *sweep_options(const struct compare_text *t)
{
    for (size_t g = 0; g < t->count; g++) {
        const struct tree_run *run = t->groups[g].members[0].run;
        for (const struct tree_entry *e = run->params; e; e = e->next)
            if (strncmp(e->key, "sweep.", 6) == 0 && entry_stats_points(run))
                return arena_printf(t->arena, "--by %s -e %s", e->key + 6, run->experiment);
    }
    return NULL;
}

/* Appends the explanation of the words that the table uses, and of no others. more: metrics that
 * are not shown; interval: the table has a column with it. */
static void put_footer(struct compare_text *t, size_t more, bool headlines, bool interval)
{
    size_t ignored = 0;
    CLEANUP_BUF struct buf b;
    bool intervals = false, single = true, shared = false;
    const char *points = sweep_options(t);
    bool uncertain = false, varied = false;
    buf_init(&b, 1024);
    for (const struct compared_metric *m = next_shown(t, NULL, headlines, &ignored); m; m = next_shown(t, m, headlines, &ignored))
        for (size_t g = 1; g < t->count; g++) {
            const struct compared_side *side = &m->sides[g];
            intervals = intervals || side->change.known;
            varied = varied || (!side->other_inputs && compare_is_varied(side));
            uncertain = uncertain || (!side->other_inputs && side->outcome == OUTCOME_UNCERTAIN);
        }
    for (size_t g = 0; g < t->count; g++) {
        single = single && t->groups[g].count == 1 && compare_repetitions(t, g) == 1;
        shared = shared || (g && compare_shares_metric(t, g));
    }
    if (more)
        buf_printf(&b, "%zu more metric%s: --all. ", more, str_plural(more));
    if (intervals)
        buf_puts(&b, interval ? "Medians; 95 % interval of their ratio." : "Medians; verdicts by the 95 % interval of their ratio.");
    if (uncertain)
        buf_puts(&b, " \"uncertain\": the change may be chance, by a second test or among so many metrics.");
    if (varied)
        buf_puts(&b, " \"too varied\": the interval contains 0 % and reaches below -20 % or above +25 %.");
    if (uncertain || varied)
        buf_puts(&b, " More runs can decide.");
    compare_keys_hint(t->keys, t->metrics, t->count, t->arena, &b);
    if (!intervals && points)
        buf_printf(&b, "hint: benchwrap compare %s compares the points", points);
    else if (!intervals && single && shared)
        buf_puts(&b, "hint: benchwrap --repeat 5 -- COMMAND for each side, then compare again");
    if (!b.n)
        return;
    buf_putc(t->to, '\n');
    screen_style_begin(&t->screen, STYLE_DIM, t->to);
    compare_put_wrapped(t, 0, str_trim(buf_text(&b)));
    screen_style_end(&t->screen, STYLE_DIM, t->to);
}

/* Returns the text up to its first comma or semicolon that is in no brackets. */
static struct str first_clause(struct str text)
{
    int depth = 0;
    for (size_t i = 0; i < text.n; i++) {
        depth += (text.p[i] == '(') - (text.p[i] == ')');
        if (depth <= 0 && (text.p[i] == ',' || text.p[i] == ';'))
            return str_sub(text, 0, i);
    }
    return text;
}

/* Writes that only wall times are compared, and why the runs have no results, by the first that has
 * a reason: one clause, and where the rest is. */
static void put_no_metrics(struct compare_text *t)
{
    CLEANUP_BUF struct buf b;
    const char *why = NULL, *of = "";
    buf_init(&b, 4096);
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (!compare_is_wall(m))
            return;
    for (size_t g = 0; g < t->count; g++)
        for (size_t i = 0; i < t->groups[g].count && !why; i++) {
            why = no_metrics_of(t->groups[g].members[i].detail);
            of = t->groups[g].members[i].run->id;
        }
    if (!why)
        return;
    struct str clause = first_clause(str_of(why));
    buf_printf(&b, "! " NO_METRICS STR_FMT, STR_ARG(clause));
    if (why[clause.n])
        buf_printf(&b, "; why: benchwrap show %.8s --all", of);
    compare_put_wrapped(t, 2, buf_text(&b));
}

int compare_print_text(const struct compare_group *groups, size_t count, const struct compared_metric *metrics,
                       const struct compared_keys *keys, const char *by, bool arguments_known, bool all, FILE *out, struct arena *a)
{
    CLEANUP_BUF struct buf to;
    struct compare_text t = {.arena = a,
                             .all = all,
                             .groups = groups,
                             .count = count,
                             .metrics = metrics,
                             .keys = keys,
                             .by = by,
                             .arguments_known = arguments_known,
                             .differing = compare_params(groups, count, a),
                             .screen = screen_of_file(out),
                             .to = &to};
    bool headlines = compare_has_headlines(&t), interval = false;
    size_t more = 0;
    buf_init(&to, 1u << 30);
    int status = compare_put_groups(&t);
    buf_putc(&to, '\n');
    for (size_t g = 1; g < count && metrics; g++)
        compare_put_answer(&t, g);
    compare_put_failed(&t);
    compare_put_disturbed(&t);
    compare_put_partial(&t);
    compare_put_missing(&t);
    compare_put_units(&t);
    compare_put_disputed(&t);
    put_no_metrics(&t);
    compare_put_mixed(&t);
    size_t inputs = compare_put_inputs(&t);
    bool named = by && inputs == 1; /* the groups' names have the values */
    if (all || (inputs && !named))
        status |= put_params(&t, all);
    put_program(&t);
    put_hidden_arguments(&t);
    put_environment_difference(&t);
    put_compared_keys(&t);
    compare_put_machine(&t);
    buf_putc(&to, '\n');
    if (!metrics)
        buf_puts(&to, "None of the runs has a metric of its own.\n");
    status |=
        count == GROUPS_SIDE_BY_SIDE ? put_pair(&t, headlines, &more, &interval) : put_groups_metrics(&t, headlines, &more, &interval);
    put_footer(&t, more, headlines, interval);
    fwrite(to.p ? to.p : "", 1, to.n, out);
    return to.failed ? -1 : status;
}
