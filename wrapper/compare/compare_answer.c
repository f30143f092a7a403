/* compare_answer.c: the first lines of a comparison: what is higher or lower, and what makes the
 * answer doubtful. */
#include "compare/compare_parts.h"

#include "base/show.h"
#include "mlruns-format/missing.h"
#include "runs/inputs.h"

#include <string.h>

enum { NAMED_MAX = 4 /* metrics in the first sentence */, SILENT_MAX = 8 /* in each of the others */, OWN_MAX = 3 /* of a side alone */ };

void compare_put_wrapped(struct compare_text *t, size_t indent, struct str text)
{
    screen_wrap_plain(&t->screen, text, 0, indent, t->to);
}

size_t compare_repetitions(const struct compare_text *t, size_t g)
{
    size_t most = 1;
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (m->sides[g].repetitions && m->sides[g].n > most)
            most = m->sides[g].n;
    return most;
}

/* ---- the answer ---- */

/* Returns whether a compared metric other than the wall time is a headline metric. */
bool compare_has_headlines(const struct compare_text *t)
{
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (m->headline && strcmp(m->key, "run.wall_s") != 0)
            return true;
    return false;
}

/* Appends "3.4 % higher" or "24 times the base". */
static void put_change_words(struct buf *to, double ratio)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_change(&b, ratio); /* "+3.4 %", "24 x" */
    struct str change = buf_text(&b);
    bool factor = change.n > 2 && change.p[change.n - 1] == 'x';
    if (factor) /* not "times higher", which may mean the difference */
        buf_printf(to, "%.*s times the base", (int)change.n - 2, change.p);
    else {
        buf_str(to, change.n && strchr("+-", change.p[0]) ? str_sub(change, 1, change.n) : change);
        buf_puts(to, ratio >= 1 ? " higher" : " lower");
    }
}

/* Appends "write.bw is 24 times the base (95 %: 5.5 … 104 x)". first: it is the first clause of the
 * sentence. The others have no interval. */
static void put_clause(struct compare_text *t, const struct compared_metric *m, size_t g, bool first, struct buf *to)
{
    const struct compared_side *side = &m->sides[g];
    buf_printf(to, "%s is ", compare_metric_name(m, t->arena));
    put_change_words(to, side->change.ratio);
    if (first) {
        buf_puts(to, " (95 %: ");
        show_change_interval(to, side->change.ratio, side->change.low, side->change.high);
        buf_putc(to, ')');
    }
}

/* Appends a clause for each metric whose outcome in group `g` is `outcome`: `before`, then clauses
 * with ", " between them. `headlines`: only for headline metrics. `said`: clauses that the sentence
 * has already. Returns how many it appended. The sentence has NAMED_MAX at most: *ret_more grows by
 * the others. */
static size_t put_clauses(struct compare_text *t, size_t g, enum compare_outcome outcome, const char *before, size_t said, bool headlines,
                          size_t *ret_more, struct buf *to)
{
    size_t n = 0;
    for (const struct compared_metric *m = t->metrics; m; m = m->next) {
        bool named = !headlines || m->headline || (compare_is_wall(m) && !compare_shares_metric(t, g));
        if (m->sides[g].outcome != outcome || !named)
            continue;
        if (said + n == NAMED_MAX) {
            ++*ret_more;
            continue;
        }
        buf_puts(to, n ? ", " : before);
        put_clause(t, m, g, said + n == 0, to);
        n++;
    }
    return n;
}

bool compare_is_wall(const struct compared_metric *m)
{
    return strcmp(m->key, "run.wall_s") == 0;
}

/* Returns whether the metric is one of the program: neither its wall time, nor an observation of the
 * machine. */
static bool is_of_program(const struct compared_metric *m)
{
    return !compare_is_wall(m) && compare_is_judged(m->key);
}

/* True if both have a metric other than their wall time. */
bool compare_shares_metric(const struct compare_text *t, size_t g)
{
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (is_of_program(m) && m->sides[0].n && m->sides[g].n)
            return true;
    return false;
}

static const char *program_of(const struct compare_text *t, size_t g)
{
    const char *name = runs_text(t->groups[g].members[0].run->tags, "benchmark", t->arena);
    return name ? name : "";
}

/* Appends "; they are of different programs (fio, ior)". */
static void put_programs(const struct compare_text *t, size_t g, struct buf *to)
{
    const char *one = program_of(t, 0), *other = program_of(t, g);
    if (strcmp(one, other) != 0)
        buf_printf(to, "; they are of different programs (%s, %s)", *one ? one : "none", *other ? other : "none");
    buf_putc(to, '.');
}

/* Appends "The runs share no metric but their wall time; they are of different programs (sleep,
 * true)." behind the answer for their wall time. */
static void put_nothing_else(const struct compare_text *t, size_t g, struct buf *to)
{
    if (strcmp(program_of(t, 0), program_of(t, g)) == 0)
        return;
    buf_puts(to, " The runs share no metric but their wall time");
    put_programs(t, g, to);
}

static bool shares_wall(const struct compare_text *t, size_t g)
{
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (compare_is_wall(m) && m->sides[0].n && m->sides[g].n)
            return true;
    return false;
}

/* Returns whether the side has a metric other than its wall time; `headlines`:
 * only a headline metric counts. */
static bool has_own_metric(const struct compare_text *t, size_t g, bool headlines)
{
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (is_of_program(m) && m->sides[g].n && (!headlines || m->headline))
            return true;
    return false;
}

/* Appends "A has rate 1087 MB/s, wait 3 us and 2 more": the headline metrics, or all of a side that
 * has none. */
static void put_own_metrics(const struct compare_text *t, size_t g, struct buf *to)
{
    bool headlines = has_own_metric(t, g, true);
    size_t n = 0;
    buf_printf(to, "%c has ", (char)('A' + g));
    for (const struct compared_metric *m = t->metrics; m; m = m->next) {
        if (!is_of_program(m) || !m->sides[g].n || (headlines && !m->headline) || n++ >= OWN_MAX)
            continue;
        buf_printf(to, "%s%s ", n > 1 ? ", " : "", compare_metric_name(m, t->arena));
        show_quantity(to, m->sides[g].median, m->unit);
    }
    if (n > OWN_MAX)
        buf_printf(to, " and %zu more", n - OWN_MAX);
    buf_puts(to, n ? "" : "none");
}

/* Returns whether points of a sweep, or rows of a table, are compared one by one. */
static bool has_points(const struct compare_text *t, size_t g)
{
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (m->sides[g].n && m->step >= 0)
            return true;
    return false;
}

/* Appends "B against A: the runs share no metric; they are of different programs (fio, ior). A has
 * write.bw 1085 MiB/s, B has none." The wall times are in the table. */
static void put_nothing_shared(struct compare_text *t, size_t g)
{
    CLEANUP_BUF struct buf b;
    bool own = has_own_metric(t, 0, false), other = has_own_metric(t, g, false);
    bool renamed = own && other && strcmp(program_of(t, 0), program_of(t, g)) == 0;
    buf_init(&b, 1 << 16);
    buf_printf(&b, "%c against A: the runs share no metric", (char)('A' + g));
    if (renamed)
        buf_printf(&b, ": the names%s differ.", has_points(t, 0) || has_points(t, g) ? " and points" : "");
    else
        put_programs(t, g, &b);
    if (own || other) {
        buf_putc(&b, ' ');
        put_own_metrics(t, 0, &b);
        buf_puts(&b, ", ");
        put_own_metrics(t, g, &b);
        buf_putc(&b, '.');
    }
    compare_put_wrapped(t, 13, buf_text(&b));
}

/* ---- what did not change, or is not known ---- */

bool compare_is_varied(const struct compared_side *side)
{
    return side->outcome == OUTCOME_SAME && side->change.known && (side->change.low < 0.8 || side->change.high > 1.25);
}

/* Why the answer has no change of a metric. */
enum silence { SILENCE_NONE, SILENCE_SAME, SILENCE_VARIED, SILENCE_UNCERTAIN, SILENCE_FEW, SILENCES };

static enum silence silence_of(const struct compared_side *side)
{
    switch (side->outcome) {
    case OUTCOME_SAME: return compare_is_varied(side) ? SILENCE_VARIED : SILENCE_SAME;
    case OUTCOME_UNCERTAIN: return SILENCE_UNCERTAIN;
    case OUTCOME_TOO_FEW: return SILENCE_FEW;
    default: return SILENCE_NONE;
    }
}

/* Returns whether the answer must name the metric. Wall time is named where it is a headline
 * metric, or the only metric that both have. */
static bool is_answered(const struct compare_text *t, const struct compared_metric *m, size_t g, bool headlines)
{
    if (compare_is_wall(m))
        return m->headline || !compare_shares_metric(t, g);
    return is_of_program(m) && (!headlines || m->headline);
}

/* Appends "No difference found in write.bw, write.iops."; first: the answer has no sentence before
 * it. */
static void put_silent(struct compare_text *t, size_t g, enum silence silence, bool headlines, bool first, struct buf *to)
{
    static const struct {
        const char *first, *later, *one, *many;
    } words[SILENCES] = {[SILENCE_SAME] = {"no difference found in ", "No difference found in ", "", ""},
                         [SILENCE_VARIED] = {"", "", " varies too much to tell", " vary too much to tell"},
                         [SILENCE_UNCERTAIN] = {"it is uncertain whether ", "It is uncertain whether ", " changed", " changed"},
                         [SILENCE_FEW] = {"fewer than three values of ", "Fewer than three values of ", "", ""}};
    CLEANUP_BUF struct buf list;
    size_t n = 0;
    buf_init(&list, 1 << 16);
    for (const struct compared_metric *m = t->metrics; m; m = m->next) {
        if (!is_answered(t, m, g, headlines) || silence_of(&m->sides[g]) != silence)
            continue;
        if (n++ < SILENT_MAX)
            buf_printf(&list, "%s%s", n > 1 ? ", " : "", compare_metric_name(m, t->arena));
    }
    if (!n)
        return;
    if (n > SILENT_MAX)
        buf_printf(&list, " and %zu more", n - SILENT_MAX);
    buf_printf(to, "%s%s" STR_FMT "%s", first ? "" : " ", first ? words[silence].first : words[silence].later, STR_ARG(buf_text(&list)),
               n > 1 ? words[silence].many : words[silence].one);
    buf_putc(to, '.');
}

/* Appends "requests.failed is 5, compared with 0 in the base (no ratio)." for each metric whose
 * change has no ratio or no interval. */
static void put_without_ratio(struct compare_text *t, size_t g, bool headlines, bool first, struct buf *to)
{
    for (const struct compared_metric *m = t->metrics; m; m = m->next) {
        const struct compared_side *base = &m->sides[0], *side = &m->sides[g];
        if (!is_answered(t, m, g, headlines) || !base->n || !side->n || side->outcome != OUTCOME_NONE)
            continue;
        buf_printf(to, "%s%s is ", first ? "" : " ", compare_metric_name(m, t->arena));
        first = false;
        show_quantity(to, side->median, m->unit);
        buf_puts(to, ", compared with ");
        show_quantity(to, base->median, m->unit);
        buf_puts(to, " in the base");
        buf_puts(to, base->median > 0 && side->median > 0 ? " (no interval: not all values are positive)." : " (no ratio).");
    }
}

/* Writes that changes cannot be distinguished from chance, where no metric can be judged. */
static void put_too_few(struct compare_text *t, size_t g, bool shared)
{
    CLEANUP_BUF struct buf b;
    bool single = t->groups[0].count == 1 && t->groups[g].count == 1;
    bool plain = compare_repetitions(t, 0) == 1 && compare_repetitions(t, 1) == 1;
    buf_init(&b, 4096);
    if (!single)
        buf_printf(&b, "%c against A: fewer than three values on a side cannot tell a change from chance.", (char)('A' + g));
    else if (g == 1)
        buf_puts(&b, plain ? "One run on each side cannot tell a change from chance."
                           : "Fewer than three repetitions on a side cannot tell a change from chance.");
    if (!shared)
        put_nothing_else(t, g, &b);
    if (b.n)
        compare_put_wrapped(t, single ? 2 : 13, str_trim(buf_text(&b)));
}

/* Returns whether all answered metrics are too few. */
static bool is_all_few(const struct compare_text *t, size_t g, bool headlines)
{
    bool few = false;
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (is_answered(t, m, g, headlines) && m->sides[0].n && m->sides[g].n) {
            if (m->sides[g].outcome != OUTCOME_TOO_FEW)
                return false;
            few = true;
        }
    return few;
}

/* Appends "the runs share no headline metric. A has read.bw 3 MiB/s, B has write.bw 4 MiB/s." */
static void put_no_headline_shared(const struct compare_text *t, size_t g, struct buf *to)
{
    buf_puts(to, "the runs share no headline metric. ");
    put_own_metrics(t, 0, to);
    buf_puts(to, ", ");
    put_own_metrics(t, g, to);
    buf_putc(to, '.');
}

void compare_put_answer(struct compare_text *t, size_t g)
{
    bool shared = compare_shares_metric(t, g);
    bool own = has_own_metric(t, 0, false) || has_own_metric(t, g, false);
    if (!shared && (own || !shares_wall(t, g))) {
        put_nothing_shared(t, g);
        return;
    }
    bool headlines = compare_has_headlines(t);
    if (is_all_few(t, g, headlines)) {
        put_too_few(t, g, shared);
        return;
    }
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    buf_printf(&b, "%c against A: ", (char)('A' + g));
    size_t begin = b.n;
    size_t more = 0, better = put_clauses(t, g, OUTCOME_BETTER, "", 0, headlines, &more, &b);
    size_t worse = put_clauses(t, g, OUTCOME_WORSE, better ? ", but " : "", better, headlines, &more, &b);
    size_t said = better + worse + put_clauses(t, g, OUTCOME_DIFFERENT, better + worse ? "; " : "", better + worse, headlines, &more, &b);
    if (more)
        buf_printf(&b, "; %zu more metric%s changed", more, str_plural(more));
    if (said)
        buf_putc(&b, '.');
    put_without_ratio(t, g, headlines, b.n == begin, &b);
    for (enum silence i = SILENCE_NONE + 1; i < SILENCES; i++)
        put_silent(t, g, i, headlines, b.n == begin, &b);
    if (b.n == begin)
        put_no_headline_shared(t, g, &b);
    if (!shared)
        put_nothing_else(t, g, &b);
    compare_put_wrapped(t, 13, buf_text(&b));
}

/* ---- values that are missing, what is mixed ---- */

/* The median of those that have a value is another one than that of all: what failed, or was not a number, may be the slow ones. */
void compare_put_partial(struct compare_text *t)
{
    CLEANUP_BUF struct buf b;
    size_t said = 0;
    bool headlines = compare_has_headlines(t);
    buf_init(&b, 1 << 16);
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        for (size_t g = 0; g < t->count; g++) {
            size_t runs = t->groups[g].count, n = m->sides[g].n, other = m->sides[g].other_units; /* compare_put_units names these */
            if (!is_answered(t, m, g, headlines) || runs < 2 || !n || n + other >= runs || said++ >= SILENT_MAX)
                continue;
            buf_printf(&b, "%s%s in %zu of %zu runs of %c", said == 1 ? "! Not all runs have a value: " : ", ",
                       compare_metric_name(m, t->arena), n, runs, (char)('A' + g));
        }
    if (!said)
        return;
    if (said > SILENT_MAX)
        buf_printf(&b, " and %zu more", said - SILENT_MAX);
    buf_putc(&b, '.');
    screen_style_begin(&t->screen, STYLE_WARN, t->to);
    compare_put_wrapped(t, 2, buf_text(&b));
    screen_style_end(&t->screen, STYLE_WARN, t->to);
}

/* Returns the first reason that a run of the group has; NULL: none of their programs has such a
 * metric. */
static const char *first_missing_reason(const struct compare_group *group, const char *key)
{
    const char *why = NULL;
    for (size_t i = 0; i < group->count && !why; i++)
        why = missing_reason(group->members[i].detail, key);
    return why;
}

/* Writes a warning about a value. Of more than SILENT_MAX, which `said` counts, only the number is written, by put_more_values. */
static void put_value_warning(struct compare_text *t, size_t *said, const char *line)
{
    if ((*said)++ >= SILENT_MAX)
        return;
    screen_style_begin(&t->screen, STYLE_WARN, t->to);
    compare_put_wrapped(t, 2, str_of(line));
    screen_style_end(&t->screen, STYLE_WARN, t->to);
}

static void put_more_values(struct compare_text *t, size_t said, const char *what)
{
    size_t first = 0, more = said > SILENT_MAX ? said - SILENT_MAX : 0;
    if (more)
        put_value_warning(t, &first,
                          arena_printf(t->arena, "! %zu more value%s %s %s.", more, str_plural(more), more == 1 ? "is" : "are", what));
}

void compare_put_missing(struct compare_text *t)
{
    size_t said = 0;
    bool headlines = compare_has_headlines(t);
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        for (size_t g = 0; g < t->count; g++) {
            const char *why = m->sides[g].n || (headlines && !m->headline) ? NULL : first_missing_reason(&t->groups[g], m->key);
            if (why)
                put_value_warning(
                    t, &said, arena_printf(t->arena, "! %s is missing in %c: %s.", compare_metric_name(m, t->arena), (char)('A' + g), why));
        }
    put_more_values(t, said, "missing");
}

void compare_put_units(struct compare_text *t)
{
    size_t said = 0;
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        for (size_t g = 0; g < t->count; g++) {
            const char *whose = arena_printf(t->arena, "runs of %c", (char)('A' + g));
            const char *line = compare_units_line(m, g, t->groups[g].count, whose, t->arena);
            if (line)
                put_value_warning(t, &said, line);
        }
    put_more_values(t, said, "in another unit");
}

void compare_put_disputed(struct compare_text *t)
{
    CLEANUP_BUF struct buf b;
    size_t n = 0;
    buf_init(&b, 1 << 16);
    for (const struct compared_metric *m = t->metrics; m; m = m->next)
        if (m->is_disputed && n++ < SILENT_MAX)
            buf_printf(&b, "%s%s", n > 1 ? ", " : "! The runs disagree on the better direction of ", compare_metric_name(m, t->arena));
    if (!n)
        return;
    if (n > SILENT_MAX)
        buf_printf(&b, " and %zu more", n - SILENT_MAX);
    buf_puts(&b, ": no side is better.");
    screen_style_begin(&t->screen, STYLE_WARN, t->to);
    compare_put_wrapped(t, 2, buf_text(&b));
    screen_style_end(&t->screen, STYLE_WARN, t->to);
}

bool compare_is_input(const struct compare_text *t, const char *key)
{
    for (size_t g = 0; g < t->count; g++)
        for (size_t i = 0; i < t->groups[g].count; i++) {
            const struct compare_member *m = &t->groups[g].members[i];
            const char *source = inputs_source(m->detail, key);
            bool is_of_rule = source && strncmp(source, "rule:", 5) == 0; /* load.seed of llmload is no fact of the machine */
            if (runs_entry(m->run->params, key))
                return strncmp(key, "series.", 7) != 0 && (is_of_rule || !inputs_of_machine(key)) && inputs_matter(key, source, NULL);
        }
    return false;
}

static bool differs_within(const struct compare_group *group, const char *key)
{
    const struct tree_entry *first = runs_entry(group->members[0].run->params, key);
    for (size_t i = 1; i < group->count; i++) {
        const struct tree_entry *e = runs_entry(group->members[i].run->params, key);
        if (!e != !first || (e && !str_eq(e->value, first->value)))
            return true;
    }
    return false;
}

/* "! The runs of A and B differ among themselves in m, n: the medians are over several situations." */
void compare_put_mixed(struct compare_text *t)
{
    CLEANUP_BUF struct buf b, keys;
    size_t n = 0, mixed = 0;
    buf_init(&b, 1 << 16);
    buf_init(&keys, 1 << 16);
    for (const char **key = t->differing; *key; key++) {
        bool differs = false;
        for (size_t g = 0; g < t->count; g++)
            differs = differs || differs_within(&t->groups[g], *key);
        if (differs && compare_is_input(t, *key))
            buf_printf(&keys, "%s%s", n++ ? ", " : "", *key);
    }
    for (size_t g = 0; g < t->count && n; g++) {
        bool differs = false;
        for (const char **key = t->differing; *key; key++)
            differs = differs || (compare_is_input(t, *key) && differs_within(&t->groups[g], *key));
        if (differs)
            buf_printf(&b, "%s%c", mixed++ ? ", " : "! The runs of ", (char)('A' + g));
    }
    if (!n)
        return;
    buf_printf(&b, " differ among themselves in " STR_FMT ": the medians are over several situations.", STR_ARG(buf_text(&keys)));
    screen_style_begin(&t->screen, STYLE_WARN, t->to);
    compare_put_wrapped(t, 2, buf_text(&b));
    screen_style_end(&t->screen, STYLE_WARN, t->to);
}
