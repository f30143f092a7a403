/* compare_text.c: a comparison as text: the answer in a sentence, what explains it, and a row for each metric. */
#include "cmd/compare_text.h"

#include "base/listing.h"
#include "base/show.h"
#include "cmd/compare_machine.h"
#include "cmd/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 8 /* metrics in the first sentence */, GROUPS_SIDE_BY_SIDE = 2 };

struct text {
    struct cmd_context *c;
    const struct group *groups;
    size_t count;
    const struct compared *metrics;
    const char *by;
    const char **differing; /* params */
    struct screen screen;
    struct buf *to;
};

static const char *letter(size_t g, struct arena *a)
{
    return arena_printf(a, "%c", (char)('A' + g));
}

static void put_wrapped(struct text *t, size_t indent, struct str text)
{
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, 1 << 20);
    buf_plain(&plain, text, 16000);
    screen_wrap(&t->screen, buf_text(&plain), 0, indent, t->to);
    buf_putc(t->to, '\n');
}

/* ---- the groups ---- */

static size_t most_repetitions(const struct text *t, size_t g)
{
    size_t most = 1;
    for (const struct compared *m = t->metrics; m; m = m->next)
        if (m->sides[g].repetitions && m->sides[g].n > most)
            most = m->sides[g].n;
    return most;
}

static int put_groups(struct text *t)
{
    static const struct listing_column columns[] = {{"group", "", false, 0, .whole = true},
                                                    {"name", "", false, 60, .whole = true},
                                                    {"first", "", false, 40, .drop = 1, .no_empty = true},
                                                    {"runs", "", false, 0, .whole = true},
                                                    {"base", "", false, 0, .no_empty = true}};
    struct listing l;
    struct arena *a = t->c->arena;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    l.bare = true;
    for (size_t g = 0; g < t->count; g++) {
        const struct group *group = &t->groups[g];
        const struct tree_run *run = group->members[0].run;
        size_t repetitions = most_repetitions(t, g);
        listing_text(&l, letter(g, a));
        if (t->by)
            listing_text(&l, arena_printf(a, "%s=%s", t->by, group->name));
        else
            listing_text(&l, group->count == 1 ? arena_printf(a, "%.8s", run->id) : group->name);
        listing_text(&l, group->count == 1 ? run->name : "");
        listing_text(&l, arena_printf(a, "%zu run%s of %s%s", group->count, group->count == 1 ? "" : "s", run->experiment,
                                      repetitions > 1 ? arena_printf(a, ", %zu repetitions", repetitions) : ""));
        listing_text(&l, g ? "" : "base");
    }
    int status = listing_render(&l, &t->screen, t->to);
    listing_deinit(&l);
    return status;
}

/* ---- the answer ---- */

static bool is_headline(const struct text *t, const char *key)
{
    for (size_t g = 0; g < t->count; g++) {
        struct str rest = str_of(runs_text(t->groups[g].members[0].run->tags, "benchwrap.headline", t->c->arena)), word;
        while ((word = str_word(&rest)).n > 0)
            if (str_is(word, key))
                return true;
    }
    return false;
}

/* Metrics that no rule puts first are shown with them where there are no such ones. */
static bool has_headlines(const struct text *t)
{
    for (const struct compared *m = t->metrics; m; m = m->next)
        if (is_headline(t, m->key) && strcmp(m->key, "run.wall_s") != 0)
            return true;
    return false;
}

static void put_change_words(struct buf *to, double ratio)
{
    if (ratio >= 2 || ratio <= 0.5) {
        double times = ratio >= 2 ? ratio : 1 / ratio;
        buf_printf(to, "%.*f times %s", times < 9.95 ? 1 : 0, times, ratio >= 2 ? "higher" : "lower");
    } else {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 64);
        show_change(&b, ratio); /* "+3.4 %" */
        struct str change = buf_text(&b);
        buf_str(to, change.n && strchr("+-", change.p[0]) ? str_sub(change, 1, change.n) : change);
        buf_puts(to, ratio >= 1 ? " higher" : " lower");
    }
}

/* "write.bw is 3.7 times higher (95 %: 2.6 … 5.3)"; the interval of the first one alone. */
static void put_clause(struct text *t, const struct compared *m, size_t g, bool first, struct buf *to)
{
    const struct compared_side *side = &m->sides[g];
    buf_printf(to, "%s is ", compare_metric_name(m, t->c->arena));
    put_change_words(to, side->ratio);
    if (first) {
        buf_puts(to, " (95 %: ");
        show_change_interval(to, side->ratio, side->low, side->high);
        buf_putc(to, ')');
    }
}

/* All clauses of one outcome, ", " between them; how many there are. */
static size_t put_clauses(struct text *t, size_t g, enum outcome outcome, const char *before, size_t said, bool headlines, struct buf *to)
{
    size_t n = 0;
    for (const struct compared *m = t->metrics; m && said + n < NAMED_MAX; m = m->next) {
        if (m->sides[g].outcome != outcome || (headlines ? !is_headline(t, m->key) : false))
            continue;
        buf_puts(to, n ? ", " : before);
        put_clause(t, m, g, said + n == 0, to);
        n++;
    }
    return n;
}

static void put_answer(struct text *t, size_t g)
{
    CLEANUP_BUF struct buf b;
    bool headlines = has_headlines(t), few = false, same = false, single = t->groups[0].count == 1 && t->groups[g].count == 1;
    buf_init(&b, 1 << 16);
    buf_printf(&b, "%c against A: ", (char)('A' + g));
    size_t better = put_clauses(t, g, OUTCOME_BETTER, "", 0, headlines, &b);
    size_t worse = put_clauses(t, g, OUTCOME_WORSE, better ? ", but " : "", better, headlines, &b);
    size_t said = better + worse + put_clauses(t, g, OUTCOME_DIFFERENT, better + worse ? "; " : "", better + worse, headlines, &b);
    for (const struct compared *m = t->metrics; m; m = m->next) {
        few = few || m->sides[g].outcome == OUTCOME_TOO_FEW;
        same = same || m->sides[g].outcome == OUTCOME_SAME;
    }
    if (!said && few) {
        buf_clear(&b);
        if (!single)
            buf_printf(&b, "%c against A: fewer than three values on a side cannot tell a change from chance.", (char)('A' + g));
        else if (g == 1)
            buf_printf(&b, "%s cannot tell a change from chance.",
                       most_repetitions(t, 0) == 1 && most_repetitions(t, 1) == 1 ? "One run on each side"
                                                                                  : "Fewer than three repetitions on a side");
    } else if (!said) {
        buf_puts(&b, same ? "no difference was found." : "the runs share no metric that can be compared.");
    } else
        buf_putc(&b, '.');
    if (b.n)
        put_wrapped(t, 13, buf_text(&b));
}

/* ---- what was disturbed ---- */

static size_t counted(const struct tree_run *run, const char *key)
{
    const struct tree_entry *e = runs_entry(run->metrics, key);
    double value = e && e->count ? e->samples[e->count - 1].value : 0;
    return value > 0 && value < 1e9 ? (size_t)value : 0;
}

/* A series stands for its repetitions without those for warm-up. */
static void count_disturbed(const struct group *group, size_t *ret_disturbed, size_t *ret_runs)
{
    *ret_disturbed = *ret_runs = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct tree_run *run = group->members[i].run;
        size_t runs = counted(run, "series.runs"), warmups = counted(run, "series.warmup"), noisy = counted(run, "series.noisy");
        bool series = runs > warmups;
        *ret_runs += series ? runs - warmups : 1;
        *ret_disturbed += series ? noisy : runs_entry(run->tags, "benchwrap.noisy") != NULL;
    }
}

/* "! A: 3 of 3, B: 2 of 3 runs were disturbed." */
static void put_disturbed(struct text *t)
{
    CLEANUP_BUF struct buf b;
    size_t said = 0;
    buf_init(&b, 4096);
    for (size_t g = 0; g < t->count; g++) {
        size_t disturbed, runs;
        count_disturbed(&t->groups[g], &disturbed, &runs);
        if (disturbed)
            buf_printf(&b, "%s%c: %zu of %zu", said++ ? ", " : "! ", (char)('A' + g), disturbed, runs);
    }
    if (!said)
        return;
    buf_puts(&b, " runs were disturbed.");
    screen_style_begin(&t->screen, STYLE_WARN, t->to);
    put_wrapped(t, 2, buf_text(&b));
    screen_style_end(&t->screen, STYLE_WARN, t->to);
}

/* ---- what explains it ---- */

static bool is_input(const struct text *t, const char *key)
{
    for (size_t g = 0; g < t->count; g++)
        for (size_t i = 0; i < t->groups[g].count; i++) {
            const struct member *m = &t->groups[g].members[i];
            if (runs_entry(m->run->params, key))
                return strncmp(key, "series.", 7) != 0 && !inputs_of_machine(key) &&
                       inputs_matter(key, inputs_source(m->detail, key), NULL);
        }
    return false;
}

static size_t put_keys(const char **keys, struct buf *to)
{
    size_t n = 0;
    for (; keys && *keys; keys++)
        buf_printf(to, "%s%s", n++ ? ", " : "", *keys);
    return n;
}

/* The values of what differs, one column for each group; all: not the inputs alone. */
static int put_params(struct text *t, bool all)
{
    struct arena *a = t->c->arena;
    struct listing_column *columns = arena_get(a, (t->count + 1) * sizeof *columns);
    struct listing l;
    if (!columns)
        return -1;
    columns[0] = (struct listing_column){.key = "key", .heading = "", .max = 60, .whole = true};
    for (size_t g = 0; g < t->count; g++)
        columns[g + 1] = (struct listing_column){.key = "", .heading = letter(g, a), .max = 40};
    listing_init(&l, columns, t->count + 1, a);
    l.indent = 2;
    for (const char **key = t->differing; *key; key++) {
        if (!all && !is_input(t, *key))
            continue;
        listing_text(&l, *key);
        for (size_t g = 0; g < t->count; g++)
            listing_text(&l, compare_param(&t->groups[g], *key, a));
    }
    int status = listing_render(&l, &t->screen, t->to);
    listing_deinit(&l);
    return status;
}

static size_t put_inputs(struct text *t)
{
    CLEANUP_BUF struct buf b;
    size_t n = 0;
    buf_init(&b, 1 << 16);
    for (const char **key = t->differing; *key; key++)
        if (is_input(t, *key))
            buf_printf(&b, "%s%s", n++ ? ", " : "Inputs that differ: ", *key);
    if (!n)
        buf_puts(&b, t->count == 2 ? "A and B have the same inputs" : "All groups have the same inputs");
    buf_putc(&b, '.');
    put_wrapped(t, 2, buf_text(&b));
    return n;
}

/* One sentence where nothing differs, else one for hardware and one for settings. */
static void put_machine(struct text *t)
{
    static const char *const names[] = {"Hardware", "Settings"};
    struct machine_difference parts[MACHINE_PARTS];
    machine_compare(t->groups, t->count, t->c->arena, parts);
    bool same = true;
    for (int i = 0; i < MACHINE_PARTS; i++)
        same = same && parts[i].state == MACHINE_SAME && (!parts[i].keys || !parts[i].keys[0]);
    if (same) {
        put_wrapped(t, 2, STR("Hardware and settings: the same."));
        return;
    }
    for (int i = 0; i < MACHINE_PARTS; i++) {
        CLEANUP_BUF struct buf b, keys;
        buf_init(&b, 1 << 16);
        buf_init(&keys, 1 << 16);
        size_t n = put_keys(parts[i].keys, &keys);
        buf_printf(&b, "%s: ", names[i]);
        if (parts[i].state == MACHINE_SAME && n)
            buf_puts(&b, "the same. Recorded for some runs only: ");
        else if (parts[i].state == MACHINE_SAME)
            buf_puts(&b, "the same");
        else if (parts[i].state == MACHINE_UNKNOWN)
            buf_printf(&b, "not recorded for all runs%s", n ? "; what differs: " : "");
        else
            buf_puts(&b, n ? "differs in " : "differs in something that no parameter names");
        buf_str(&b, buf_text(&keys));
        buf_putc(&b, '.');
        put_wrapped(t, 2, buf_text(&b));
    }
}

/* ---- metrics ---- */

static const char *value_text(double value, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_value(&b, value);
    return arena_dup(a, b.p, b.n);
}

static void add_value(struct listing *l, const struct compared_side *side, struct arena *a)
{
    if (side->n)
        listing_number(l, side->median, value_text(side->median, a));
    else
        listing_none(l);
}

static void add_change(struct listing *l, const struct compared_side *base, const struct compared_side *side)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 128);
    double ratio = side->has_ratio                                              ? side->ratio
                   : base->n && side->n && base->median > 0 && side->median > 0 ? side->median / base->median
                                                                                : 0;
    if (ratio > 0)
        show_change(&b, ratio);
    listing_text(l, b.p ? b.p : "");
    buf_clear(&b);
    if (side->has_ratio)
        show_change_interval(&b, side->ratio, side->low, side->high);
    listing_text(l, b.n ? b.p : "");
}

static void add_outcome(struct listing *l, enum outcome outcome, bool single)
{
    static const struct {
        const char *word;
        enum style style;
    } words[] = {[OUTCOME_NONE] = {"", STYLE_PLAIN},
                 [OUTCOME_TOO_FEW] = {"too few", STYLE_DIM},
                 [OUTCOME_SAME] = {"no difference", STYLE_DIM},
                 [OUTCOME_BETTER] = {"better", STYLE_GOOD},
                 [OUTCOME_WORSE] = {"worse", STYLE_BAD},
                 [OUTCOME_DIFFERENT] = {"different", STYLE_PLAIN}};
    listing_text(l, single && outcome == OUTCOME_TOO_FEW ? "" : words[outcome].word);
    listing_style(l, words[outcome].style);
}

static const char *unit_text(const struct compared *m, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_unit(&b, m->unit);
    return b.n ? arena_dup(a, b.p, b.n) : "";
}

static bool is_shown(const struct text *t, const struct compared *m, bool headlines)
{
    return !headlines || opt_on(&t->c->opts, "all") || is_headline(t, m->key) || strcmp(m->key, "run.wall_s") == 0;
}

static bool is_wall(const struct compared *m)
{
    return strcmp(m->key, "run.wall_s") == 0;
}

/* The row behind m (NULL: the first): the program's own metrics, then its wall time. What is not shown is counted once. */
static const struct compared *next_shown(const struct text *t, const struct compared *m, bool headlines, size_t *ret_more)
{
    bool wall = m && is_wall(m);
    for (const struct compared *next = m ? m->next : t->metrics; next && !wall; next = next->next) {
        if (!is_wall(next) && is_shown(t, next, headlines))
            return next;
        *ret_more += !is_wall(next);
    }
    for (const struct compared *next = t->metrics; next && !wall; next = next->next)
        if (is_wall(next))
            return next;
    return NULL;
}

/* A and B side by side. */
static int put_pair(struct text *t, bool headlines, size_t *ret_more)
{
    static const struct listing_column columns[] = {{"key", "", false, 60, .whole = true},
                                                    {"unit", "", false, 0, .drop = 1, .whole = true, .no_empty = true},
                                                    {"a", "A", true, 0},
                                                    {"b", "B", true, 0},
                                                    {"change", "change", true, 0},
                                                    {"interval", "95 %", true, 0, .drop = 2, .no_empty = true},
                                                    {"outcome", "", false, 0, .whole = true, .no_empty = true}};
    struct listing l;
    struct arena *a = t->c->arena;
    bool single = most_repetitions(t, 0) == 1 && most_repetitions(t, 1) == 1 && t->groups[0].count == 1 && t->groups[1].count == 1;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    for (const struct compared *m = next_shown(t, NULL, headlines, ret_more); m; m = next_shown(t, m, headlines, ret_more)) {
        listing_text(&l, compare_metric_name(m, a));
        listing_text(&l, unit_text(m, a));
        add_value(&l, &m->sides[0], a);
        add_value(&l, &m->sides[1], a);
        add_change(&l, &m->sides[0], &m->sides[1]);
        add_outcome(&l, m->sides[1].outcome, single);
    }
    int status = listing_render(&l, &t->screen, t->to);
    listing_deinit(&l);
    return status;
}

/* More groups: a row for each, below the metric's name. */
static int put_groups_metrics(struct text *t, bool headlines, size_t *ret_more)
{
    static const struct listing_column columns[] = {{"key", "", false, 60, .whole = true},
                                                    {"unit", "", false, 0, .drop = 1, .whole = true, .no_empty = true},
                                                    {"group", "", false, 0},
                                                    {"median", "median", true, 0},
                                                    {"change", "change", true, 0},
                                                    {"interval", "95 %", true, 0, .drop = 2, .no_empty = true},
                                                    {"outcome", "", false, 0, .whole = true, .no_empty = true}};
    struct listing l;
    struct arena *a = t->c->arena;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    for (const struct compared *m = next_shown(t, NULL, headlines, ret_more); m; m = next_shown(t, m, headlines, ret_more)) {
        for (size_t g = 0; g < t->count; g++) {
            listing_text(&l, g ? "" : compare_metric_name(m, a));
            listing_text(&l, g ? "" : unit_text(m, a));
            listing_text(&l, letter(g, a));
            add_value(&l, &m->sides[g], a);
            if (g)
                add_change(&l, &m->sides[0], &m->sides[g]);
            else
                listing_text(&l, ""), listing_text(&l, "");
            add_outcome(&l, m->sides[g].outcome, false);
        }
    }
    int status = listing_render(&l, &t->screen, t->to);
    listing_deinit(&l);
    return status;
}

static void put_footer(struct text *t, size_t more)
{
    CLEANUP_BUF struct buf b;
    bool intervals = false, single = true;
    buf_init(&b, 512);
    for (const struct compared *m = t->metrics; m; m = m->next)
        for (size_t g = 1; g < t->count; g++)
            intervals = intervals || m->sides[g].has_ratio;
    for (size_t g = 0; g < t->count; g++)
        single = single && t->groups[g].count == 1 && most_repetitions(t, g) == 1;
    if (more)
        buf_printf(&b, "%zu more metric%s: --all. ", more, more == 1 ? "" : "s");
    if (intervals)
        buf_puts(&b, "Medians; 95 % interval of their ratio.");
    else if (single)
        buf_puts(&b, "hint: benchwrap --repeat 5 -- COMMAND for each side, then compare again");
    if (!b.n)
        return;
    buf_putc(t->to, '\n');
    screen_style_begin(&t->screen, STYLE_DIM, t->to);
    put_wrapped(t, 0, str_trim(buf_text(&b)));
    screen_style_end(&t->screen, STYLE_DIM, t->to);
}

int compare_print_text(struct cmd_context *c, const struct group *groups, size_t count, const struct compared *metrics, const char *by)
{
    CLEANUP_BUF struct buf to;
    struct text t = {.c = c,
                     .groups = groups,
                     .count = count,
                     .metrics = metrics,
                     .by = by,
                     .differing = compare_params(groups, count, c->arena),
                     .screen = screen_of_file(c->out),
                     .to = &to};
    bool headlines = has_headlines(&t), all = opt_on(&c->opts, "all");
    size_t more = 0;
    buf_init(&to, 1u << 30);
    int status = put_groups(&t);
    buf_putc(&to, '\n');
    for (size_t g = 1; g < count && metrics; g++)
        put_answer(&t, g);
    put_disturbed(&t);
    size_t inputs = put_inputs(&t);
    bool named = by && inputs == 1; /* the groups' names have the values */
    if (all || (inputs && !named))
        status |= put_params(&t, all);
    put_machine(&t);
    buf_putc(&to, '\n');
    if (!metrics)
        buf_puts(&to, "None of the runs has a metric of its own.\n");
    status |= count == GROUPS_SIDE_BY_SIDE ? put_pair(&t, headlines, &more) : put_groups_metrics(&t, headlines, &more);
    put_footer(&t, more);
    fwrite(to.p ? to.p : "", 1, to.n, c->out);
    return to.failed ? -1 : status;
}
