/* compare.c: groups of runs side by side. */
#include "compare/compare.h"

#include "base/array.h"
#include "base/show.h"
#include "base/stats.h"
#include "compare/argument_list.h"
#include "compare/metric_places.h"
#include "mlruns-format/key.h"
#include "runs/entry_stats.h"
#include "runs/metric_way.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *compare_outcome_name(enum compare_outcome outcome)
{
    static const char *const names[] = {"", "too few", "same", "uncertain", "better", "worse", "different"};
    return names[outcome];
}

const char *compare_verdict(const struct compared_side *side)
{
    return side->other_inputs && side->outcome >= OUTCOME_SAME ? "other inputs" : compare_outcome_name(side->outcome);
}

bool compare_is_judged(const char *key)
{
    return key_is_result(key) || strcmp(key, "run.wall_s") == 0;
}

/* ---- keys ---- */

struct keys {
    const char **list;
    size_t n, room;
    struct arena *a;
};

static void add_key(struct keys *k, const char *key)
{
    if (!ARRAY_FITS_IN(k->a, k->list, k->room, k->n + 2))
        return;
    k->list[k->n++] = key;
    k->list[k->n] = NULL;
}

static void sort_unique(struct keys *k)
{
    size_t n = 0;
    if (!k->n)
        return;
    qsort(k->list, k->n, sizeof *k->list, str_natural_order);
    for (size_t i = 0; i < k->n; i++)
        if (!n || strcmp(k->list[n - 1], k->list[i]) != 0)
            k->list[n++] = k->list[i];
    k->n = n;
    k->list[n] = NULL;
}

/* ---- params ---- */

/* Returns the different values of the key in the group, "-" for runs without it, separated by ", ",
 * in the arena. is_tag: only tags count, else params first. */
static const char *values_in_group(const struct compare_group *group, const char *key, bool is_tag, struct arena *a)
{
    struct keys values = {.a = a};
    for (size_t i = 0; i < group->count; i++) {
        const struct tree_run *run = group->members[i].run;
        const char *text = runs_text(!is_tag && runs_entry(run->params, key) ? run->params : run->tags, key, a);
        add_key(&values, text ? text : "-");
    }
    sort_unique(&values);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    for (size_t i = 0; i < values.n; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", values.list[i]);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

const char *compare_param(const struct compare_group *group, const char *key, struct arena *a)
{
    return values_in_group(group, key, false, a);
}

const char *compare_tag(const struct compare_group *group, const char *key, struct arena *a)
{
    return values_in_group(group, key, true, a);
}

static const struct tree_entry *facts_of(const struct tree_run *run, bool tags)
{
    return tags ? run->tags : run->params;
}

static bool fact_differs(const struct compare_group *groups, size_t count, const char *key, bool tags)
{
    const struct tree_entry *first = runs_entry(facts_of(groups[0].members[0].run, tags), key);
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++) {
            const struct tree_entry *e = runs_entry(facts_of(groups[g].members[i].run, tags), key);
            if (!e != !first || (e && !str_eq(e->value, first->value)))
                return true;
        }
    return false;
}

/* Returns whether the tag is one of a single run or of MLflow, or one that benchwrap writes for
 * itself. */
static bool is_tag_of_run(const char *key)
{
    static const char *const shown[] = {"benchwrap.version", "benchwrap.profile", "benchwrap.verdict", "benchwrap.recipe"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (strcmp(key, shown[i]) == 0)
            return false;
    return strncmp(key, "benchwrap.", 10) == 0 || strncmp(key, "mlflow.", 7) == 0 || strcmp(key, "job.id") == 0;
}

/* Returns the keys of params, or of tags, that differ between or within groups: sorted,
 * NULL-terminated, in the arena. Out of memory: the arena has failed. */
static const char **differing_facts(const struct compare_group *groups, size_t count, bool tags, struct arena *a)
{
    static const char *none[] = {NULL};
    struct keys every = {.a = a}, differ = {.a = a};
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            for (const struct tree_entry *e = facts_of(groups[g].members[i].run, tags); e; e = e->next)
                if (!tags || !is_tag_of_run(e->key))
                    add_key(&every, e->key);
    sort_unique(&every);
    for (size_t i = 0; i < every.n; i++)
        if (fact_differs(groups, count, every.list[i], tags))
            add_key(&differ, every.list[i]);
    return differ.n ? differ.list : none;
}

const char **compare_params(const struct compare_group *groups, size_t count, struct arena *a)
{
    const char **keys = differing_facts(groups, count, false, a);
    argument_drop_order(keys);
    return keys;
}

const char **compare_tags(const struct compare_group *groups, size_t count, struct arena *a)
{
    return differing_facts(groups, count, true, a);
}

/* ---- metrics ---- */

bool compare_are_repetitions(const struct tree_run *run, const struct tree_entry *e)
{
    if (runs_entry(run->tags, "benchwrap.series"))
        return !entry_stats_is_over_points(run, e);
    for (size_t i = 0; i < e->count; i++)
        if (e->samples[i].step != e->samples[0].step + (int64_t)i)
            return false;
    return e->count == 0 || e->count == 1 || e->samples[0].step == 0 || e->samples[0].step == 1;
}

/* What compares the metrics of groups. */
struct metric_work {
    const struct compare_group *groups;
    size_t count;
    struct metric_places places;
    bool several; /* a group has several runs: each counts once */
    struct arena *a;
};

/* Copies the finite values of one run's metric that belong to `step` (-1: all) to to[]. Returns how
 * many. */
static size_t values_of(const struct tree_run *run, const struct tree_entry *e, int64_t step, double *to)
{
    size_t n = 0;
    if (e && strcmp(e->key, "run.wall_s") == 0 && entry_stats_is_over_points(run, e))
        return 0;
    for (size_t i = 0; e && i < e->count; i++)
        if ((step < 0 || e->samples[i].step == step) && isfinite(e->samples[i].value))
            to[n++] = e->samples[i].value;
    return n;
}

/* Returns whether the run's record states another unit for the metric, and counts the run in
 * side->other_units where it has a value at that step. */
static bool has_other_unit(const struct metric_place *place, const char *unit, int64_t step, struct compared_side *side, struct arena *a)
{
    const char *own = json_string(json_get(place->about, "unit"), "");
    bool has = false;
    if (!*own || strcmp(own, unit) == 0)
        return false;
    for (size_t i = 0; place->entry && i < place->entry->count; i++)
        has = has || step < 0 || place->entry->samples[i].step == step;
    if (has && side->other_units++ == 0)
        side->other_unit = arena_printf(a, "%s", own);
    return true;
}

/* Fills values and median of group `g` for the metric, in the arena. several: one value for each
 * run, its median; else all values of the run. Values in another unit are counted and left out. */
static void fill_side(const struct metric_work *w, size_t key, size_t g, const struct compared_metric *m, bool several)
{
    struct compared_side *side = &m->sides[g];
    const struct compare_group *group = &w->groups[g];
    const struct metric_place *places = metric_places_group(&w->places, key, g);
    size_t most = group->count;
    for (size_t i = 0; i < group->count; i++)
        most = places[i].entry && places[i].entry->count > most ? places[i].entry->count : most;
    double *one = arena_get(w->a, (most + 1) * sizeof *one);
    side->values = arena_get(w->a, (most + 1) * sizeof *side->values);
    side->other_unit = "";
    if (!one || !side->values)
        return;
    for (size_t i = 0; i < group->count; i++) {
        struct stats s;
        const struct tree_run *run = group->members[i].run;
        size_t n = has_other_unit(&places[i], m->unit, m->step, side, w->a) ? 0 : values_of(run, places[i].entry, m->step, one);
        if (n && several) {
            stats_of(one, n, &s);
            side->values[side->n++] = s.median;
        } else if (n) {
            memcpy(side->values, one, n * sizeof *one);
            side->n = n;
            side->repetitions = n > 1 && runs_entry(run->tags, "benchwrap.series");
        }
    }
    if (side->n) {
        struct stats s;
        stats_of(side->values, side->n, &s);
        side->median = s.median;
    }
}

/* Returns whether all values of both sides are the same one. */
static bool are_equal(const struct compared_side *base, const struct compared_side *side)
{
    for (size_t i = 0; i < base->n; i++)
        if (base->values[i] != base->values[0])
            return false;
    for (size_t i = 0; i < side->n; i++)
        if (side->values[i] != base->values[0])
            return false;
    return true;
}

/* Reads the interval that a single run reports of its value, as KEY.ci_low and KEY.ci_high; both
 * are positive, so that the interval of a ratio can be made of them. */
static bool reported_interval(const struct metric_work *w, size_t g, const char *key, double *low, double *high)
{
    static const char *const ends[] = {"ci_low", "ci_high"};
    double *const to[] = {low, high};
    for (int i = 0; i < 2; i++) {
        char name[KEY_MAX + 10];
        snprintf(name, sizeof name, "%s.%s", key, ends[i]);
        size_t at = w->groups[g].count == 1 ? metric_places_find(&w->places, name) : w->places.count;
        const struct tree_entry *e = at < w->places.count ? metric_places_group(&w->places, at, g)->entry : NULL;
        if (!e || e->count != 1 || !(e->samples[0].value > 0))
            return false;
        *to[i] = e->samples[0].value;
    }
    return *low <= *high;
}

/* Sets the change of two runs with one value each from the intervals that they report: they differ
 * where these do not overlap. Returns false where there is no such pair. */
static bool change_of_intervals(const struct metric_work *w, const struct compared_metric *m, size_t g)
{
    struct compared_side *side = &m->sides[g];
    double low, high, base_low, base_high;
    if (m->step >= 0 || m->sides[0].n != 1 || side->n != 1 || !(m->sides[0].median > 0) || !(side->median > 0) ||
        !reported_interval(w, 0, m->key, &base_low, &base_high) || !reported_interval(w, g, m->key, &low, &high))
        return false;
    side->change = (struct change){
        .known = true, .ratio = side->median / m->sides[0].median, .low = low / base_high, .high = high / base_low, .p = NAN};
    return true;
}

/* Sets the outcome of each group against the first one: OUTCOME_NONE for observations of the machine
 * (--all), which are no results. OUTCOME_UNCERTAIN marks a change outside
 * its interval, which correct_outcomes then decides on. Fewer than 3 values are too few, unless the
 * runs report intervals. */
static void judge_sides(const struct metric_work *w, struct compared_metric *m)
{
    const struct compared_side *base = &m->sides[0];
    for (size_t g = 1; g < w->count && compare_is_judged(m->key); g++) {
        struct compared_side *side = &m->sides[g];
        if (!base->n || !side->n)
            continue;
        bool few = base->n < 3 || side->n < 3;
        if (few && !change_of_intervals(w, m, g)) {
            side->outcome = OUTCOME_TOO_FEW;
            continue;
        }
        if (!few)
            change_of(base->values, base->n, side->values, side->n, &side->change);
        if (!side->change.known) { /* zero or negative medians have no ratio */
            side->outcome = are_equal(base, side) ? OUTCOME_SAME : OUTCOME_NONE;
            continue;
        }
        side->outcome = change_is_outside(&side->change) ? OUTCOME_UNCERTAIN : OUTCOME_SAME;
    }
}

static enum compare_outcome outcome_of(const struct compared_metric *m, const struct compared_side *side)
{
    if (!*m->direction)
        return OUTCOME_DIFFERENT;
    return (side->change.ratio > 1) == (strcmp(m->direction, "higher") == 0) ? OUTCOME_BETTER : OUTCOME_WORSE;
}

/* Applies Holm's correction over the headline metrics of every group, or over all others: many of
 * those shall not hide a change of the few that matter. */
static int correct_outcomes(struct compared_metric *metrics, size_t count, bool headline, struct arena *a, struct err *err)
{
    size_t n = 0;
    for (const struct compared_metric *m = metrics; m; m = m->next)
        n += count;
    struct change **list = arena_get(a, (n + 1) * sizeof *list);
    n = 0;
    for (struct compared_metric *m = metrics; list && m; m = m->next)
        for (size_t g = 1; g < count; g++)
            if (m->headline == headline)
                list[n++] = &m->sides[g].change;
    if (!list || !changes_correct(list, n))
        return err_memory(err, "the comparison");
    for (struct compared_metric *m = metrics; m; m = m->next)
        for (size_t g = 1; g < count; g++) {
            struct compared_side *side = &m->sides[g];
            if (m->headline == headline && side->change.sure)
                side->outcome = outcome_of(m, side);
        }
    return 0;
}

/* Returns whether the word is a statistic of the key: a run names "bw_MiB_per_s.max", a comparison
 * the metric that it is of. */
static bool is_statistic_of(struct str word, const char *key)
{
    static const char *const statistics[] = {".max", ".min", ".mean", ".median"};
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++)
        if (str_ends(word, statistics[i]) && str_is(str_sub(word, 0, word.n - strlen(statistics[i])), key))
            return true;
    return false;
}

/* Returns whether the key is a headline metric of the first run of a group. */
static bool names_headline_metric(const struct compare_group *groups, size_t count, const char *key, struct arena *a)
{
    for (size_t g = 0; g < count; g++) {
        struct str rest = str_of(groups[g].count ? runs_text(groups[g].members[0].run->tags, "benchwrap.headline", a) : ""), word;
        while ((word = str_word(&rest)).n > 0)
            if (str_is(word, key) || is_statistic_of(word, key))
                return true;
    }
    return false;
}

/* Sets the unit, which is that of the first run that knows one, and the direction; one that runs
 * disagree on is none. */
static void describe_metric(const struct metric_work *w, size_t key, struct compared_metric *m)
{
    const struct metric_place *places = metric_places_group(&w->places, key, 0); /* of all groups */
    unsigned ways = 0;
    m->unit = NULL;
    for (size_t i = 0; i < w->places.runs; i++) {
        const char *unit = json_string(json_get(places[i].about, "unit"), "");
        ways |= way_of(str_of(json_string(json_get(places[i].about, "direction"), "")));
        if (!m->unit && *unit)
            m->unit = arena_printf(w->a, "%s", unit);
    }
    m->direction = ways_name(ways);
    m->is_disputed = ways == WAYS_DISPUTED;
    if (!m->unit)
        m->unit = key_unit(m->key, w->a);
    if (!m->unit)
        m->unit = "";
}

/* Compares one metric, of one step where step >= 0, in all groups. Returns the result in the arena.
 * NULL: out of memory. */
static struct compared_metric *compare_one(const struct metric_work *w, size_t key, int64_t step, bool several)
{
    struct compared_metric *m = ARENA_NEW(w->a, struct compared_metric);
    if (!m || !(m->sides = arena_get(w->a, w->count * sizeof *m->sides)))
        return NULL;
    m->key = w->places.keys[key];
    m->step = step;
    m->headline = names_headline_metric(w->groups, w->count, m->key, w->a);
    describe_metric(w, key, m);
    for (size_t g = 0; g < w->count; g++)
        fill_side(w, key, g, m, several);
    judge_sides(w, m);
    return m;
}

static int compare_step_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Collects all steps of a key in *ret, in the arena, if it is a table in any run. Returns how many;
 * 0 if it holds repetitions everywhere, or out of memory. */
static size_t table_steps(const struct metric_work *w, size_t key, int64_t **ret)
{
    bool table = false;
    size_t n = 0, unique = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && (!table || !(*ret = arena_get(w->a, n * sizeof **ret))))
            return 0;
        n = 0;
        for (size_t g = 0; g < w->count; g++)
            for (size_t i = 0; i < w->groups[g].count; i++) {
                const struct tree_entry *e = metric_places_group(&w->places, key, g)[i].entry;
                table = table || (e && !compare_are_repetitions(w->groups[g].members[i].run, e));
                for (size_t s = 0; e && s < e->count; s++, n++)
                    if (pass)
                        (*ret)[n] = e->samples[s].step;
            }
    }
    qsort(*ret, n, sizeof **ret, compare_step_numbers);
    for (size_t i = 0; i < n; i++)
        if (!unique || (*ret)[unique - 1] != (*ret)[i])
            (*ret)[unique++] = (*ret)[i];
    return unique;
}

/* Returns whether the key is compared. Statistics next to their samples add nothing; observations
 * of the machine are no results. */
static bool is_compared_key(const struct metric_places *places, const char *key, struct arena *a)
{
    size_t stem = key_stem(key);
    if (!compare_is_judged(key))
        return false;
    const char *series = key[stem] ? arena_dup(a, key, stem) : NULL;
    return !series || metric_places_find(places, series) == places->count;
}

static bool has_values(const struct compared_metric *m, size_t count)
{
    for (size_t g = 0; g < count; g++)
        if (m->sides[g].n)
            return true;
    return false;
}

int compare_metrics(const struct compare_group *groups, size_t count, bool all, struct arena *a, struct compared_metric **ret,
                    struct err *err)
{
    struct metric_work w = {.groups = groups, .count = count, .a = a};
    *ret = NULL;
    for (size_t g = 0; g < count; g++)
        w.several = w.several || groups[g].count > 1;
    if (!metric_places_read(groups, count, a, &w.places))
        return err_memory(err, "the comparison");
    struct compared_metric **tail = ret;
    for (size_t k = 0; k < w.places.count; k++) {
        const char *key = w.places.keys[k];
        if (!all && !is_compared_key(&w.places, key, a))
            continue;
        bool series = strncmp(key, "system/", 7) == 0; /* samples over time: the run's median, never its repetitions */
        int64_t *steps = NULL, whole = -1;
        size_t n = series ? 0 : table_steps(&w, k, &steps);
        for (size_t i = 0; i < (n ? n : 1); i++) {
            if (!(*tail = compare_one(&w, k, n ? steps[i] : whole, w.several || series)))
                break;
            if (has_values(*tail, count))
                tail = &(*tail)->next;
            else
                *tail = NULL;
        }
    }
    if (a->failed)
        return err_memory(err, "the comparison");
    return correct_outcomes(*ret, count, true, a, err) < 0 ? -1 : correct_outcomes(*ret, count, false, a, err);
}

const char *compare_metric_name(const struct compared_metric *m, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1024);
    show_metric(&b, m->key, m->unit);
    if (m->step >= 0)
        buf_printf(&b, " @%lld", (long long)m->step);
    return arena_dup(a, b.p, b.n);
}

const char *compare_units_line(const struct compared_metric *m, size_t side, size_t runs, const char *whose, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    if (!m->sides[side].other_units)
        return NULL;
    buf_printf(&b, "! %s is in ", compare_metric_name(m, a));
    show_unit(&b, m->sides[side].other_unit);
    buf_printf(&b, " in %zu of %zu %s, not in ", m->sides[side].other_units, runs, whose);
    show_unit(&b, m->unit);
    buf_puts(&b, ": nothing is converted, and these values are left out.");
    return b.failed ? NULL : arena_dup(a, b.p, b.n);
}
