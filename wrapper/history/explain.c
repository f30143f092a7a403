/* explain.c: rank what differs between two groups of runs by its effect in all other runs of the
 * tree.
 *
 * Facts of one class of causes.def that differ are one possible cause. Runs that differ only in this are those whose other lasting facts have equal
 * hashes: they are compared within such a stratum, and the strata are joined. A fact that has its own value in most runs, such as an id, is no lasting
 * one and no cause. */
#include "history/explain.h"

#include "base/array.h"
#include "base/stats.h"
#include "history/history.h"
#include "mlruns-format/key.h"
#include "runs/metric_way.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cause_state_name(enum cause_state state)
{
    static const char *const names[] = {"shown", "possible", "excluded"};
    return names[state];
}

static const struct condition_row {
    const char *key, *name;
    double least;
    int rank;
} condition_rows[] = {
#define CONDITION(key, name, least, rank) {key, name, least, rank},
#include "history/conditions.def"
#undef CONDITION
};
enum { CONDITION_ROWS = sizeof condition_rows / sizeof *condition_rows };

struct explain_work {
    const struct explain_request *asked;
    struct runs *runs;
    struct explanation *to;
    struct cause_class *classes; /* of each key */
    bool *lasting; /* of each key: a class with a rank, and the same value in many runs */
    uint64_t *whole; /* of each run: hash of all its lasting facts */
    bool *chosen; /* of each run: in A or B */
    uint32_t metric;
    struct possible_cause *list;
    size_t count, capacity;
    struct arena *a;
};

static uint64_t mix_fact(const struct run_fact *f)
{
    uint64_t h = (f->value + f->key * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 29) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 32;
}

/* ---- the two sides ---- */

static const struct facts_run *find_facts_run(const struct run_facts *facts, const char *id)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->runs[i].run->id, id) == 0)
            return &facts->runs[i];
    return NULL;
}

static bool is_child_of(const struct facts_run *r, const struct facts_run *parent)
{
    return r->in_parent && strcmp(r->parent, parent->run->id) == 0 && r->run->status == RUN_FINISHED && !r->is_warmup;
}

/* Returns why the run is not among those that runs_load has listed. */
static const char *why_not_listed(const struct explain_work *x, const char *id)
{
    struct tree_run *run = NULL;
    struct err ignored = {0};
    const char *name = arena_printf(x->a, "=%s", id);
    if (!name || runs_find(x->runs, name, TREE_META, x->a, &run, &ignored))
        return "it is in another tree, or was deleted";
    return strcmp(run->lifecycle, "deleted") == 0 ? "it is deleted" : "it is retracted or amended";
}

/* Fills a side with the runs that the user named; a parent run is replaced by its child runs. Marks
 * all of them as chosen. Returns -1 with err when a run is not listed, or out of memory. */
static int collect_side(struct explain_work *x, int side, struct err *err)
{
    const struct run_facts *facts = &x->to->facts;
    struct explained_side *to = &x->to->sides[side];
    to->runs = arena_get(x->a, (facts->count + 1) * sizeof *to->runs);
    for (size_t i = 0; to->runs && i < x->asked->n[side]; i++) {
        const struct facts_run *r = find_facts_run(facts, x->asked->ids[side][i]);
        size_t before = to->count;
        if (!r)
            return err_set(err, ERR_INPUT, "the run %.8s cannot be explained: %s", x->asked->ids[side][i],
                           why_not_listed(x, x->asked->ids[side][i]));
        for (size_t k = 0; k < facts->count && to->count < facts->count; k++)
            if (is_child_of(&facts->runs[k], r))
                to->runs[to->count++] = &facts->runs[k];
        if (to->count == before && to->count < facts->count)
            to->runs[to->count++] = r;
        x->chosen[r - facts->runs] = true;
    }
    for (size_t i = 0; to->runs && i < to->count; i++)
        x->chosen[to->runs[i] - facts->runs] = true;
    return to->runs ? 0 : err_memory(err, "the explanation");
}

static size_t side_values(const struct explained_side *side, uint32_t key, double *to)
{
    size_t n = 0;
    for (size_t i = 0; i < side->count; i++) {
        double value = run_facts_number(side->runs[i], key);
        if (isfinite(value))
            to[n++] = value;
    }
    return n;
}

/* Returns the direction of the metric in the runs of a side, as metric_way.h joins them. */
static unsigned side_ways(const struct explained_side *side, uint32_t key)
{
    unsigned ways = 0;
    for (size_t i = 0; i < side->count; i++)
        for (size_t k = 0; k < side->runs[i]->metric_count; k++)
            ways |= side->runs[i]->metrics[k].key == key ? side->runs[i]->metrics[k].way : 0;
    return ways;
}

static double explain_median(double *v, size_t n)
{
    struct stats of;
    if (!n)
        return NAN;
    stats_of(v, n, &of);
    return of.median;
}

/* ---- the metric ---- */

/* Compares the metric between both sides. ret->n has how many values each side has; where one has
 * none, medians are set and no change is computed. */
static void fill_metric(struct explain_work *x, uint32_t key, struct explained_metric *ret)
{
    double *v[EXPLAIN_SIDES];
    *ret = (struct explained_metric){.key = &x->to->facts.keys[key],
                                     .direction = ways_name(side_ways(&x->to->sides[0], key) | side_ways(&x->to->sides[1], key))};
    for (int s = 0; s < EXPLAIN_SIDES; s++) {
        v[s] = arena_get(x->a, (x->to->sides[s].count + 1) * sizeof *v[s]);
        ret->n[s] = v[s] ? side_values(&x->to->sides[s], key, v[s]) : 0;
        ret->median[s] = explain_median(v[s], ret->n[s]);
    }
    if (!ret->n[0] || !ret->n[1])
        return;
    change_of(v[0], ret->n[0], v[1], ret->n[1], &ret->change);
    if (!ret->change.known && ret->median[0] > 0 && ret->median[1] > 0)
        ret->change.ratio = ret->median[1] / ret->median[0];
    ret->differs = ret->change.known && change_is_outside(&ret->change) && ret->change.p < CHANGE_LEVEL &&
                   fabs(ret->change.ratio - 1) >= x->asked->min_effect;
}

/* Returns a weight: a metric that differs counts more than one that does not, a headline metric
 * more than others, wall time least. */
static double weight_of(const struct explained_metric *m)
{
    bool wall = strcmp(m->key->name, "run.wall_s") == 0;
    double size = m->change.ratio > 0 ? fabs(log(m->change.ratio)) : 0;
    return (m->differs ? 1000 : 0) + (m->headline ? 100 : 0) + (wall ? -50 : 0) + (*m->direction ? 20 : 0) + (size < 10 ? size : 10);
}

static bool names_metric(const struct explain_work *x, const struct fact_key *key)
{
    size_t stem = key_stem(x->asked->metric);
    return strcmp(key->name, x->asked->metric) == 0 || (strncmp(key->name, x->asked->metric, stem) == 0 && !key->name[stem]);
}

/* Sets x->to->metric to the metric that both sides have and that weighs most: among those that the
 * user named, else among results and the wall time. Without such a metric its key stays NULL. */
static void choose_metric(struct explain_work *x, const char *headlines)
{
    for (uint32_t key = 0; key < x->to->facts.key_count; key++) {
        const struct fact_key *k = &x->to->facts.keys[key];
        struct explained_metric m;
        if (k->kind != FACT_METRIC ||
            (x->asked->metric ? !names_metric(x, k) : !key_is_result(k->name) && strcmp(k->name, "run.wall_s") != 0))
            continue;
        fill_metric(x, key, &m);
        if (!m.n[0] || !m.n[1])
            continue;
        m.headline = headlines && history_names_headline(headlines, k->name);
        if (!x->to->metric.key || weight_of(&m) > weight_of(&x->to->metric)) {
            x->to->metric = m;
            x->metric = key;
        }
    }
}

/* ---- lasting facts ---- */

/* Counts the different values of each key by a bitmap, which is exact enough for "nearly as many as runs". */
static bool find_lasting(struct explain_work *x)
{
    enum { BITS = 4096, WORDS = BITS / 64 };
    const struct run_facts *f = &x->to->facts;
    uint64_t(*seen)[WORDS] = arena_get(x->a, (f->key_count + 1) * sizeof *seen);
    size_t *uses = arena_get(x->a, (f->key_count + 1) * sizeof *uses);
    x->classes = arena_get(x->a, (f->key_count + 1) * sizeof *x->classes);
    x->lasting = arena_get(x->a, f->key_count + 1);
    x->whole = arena_get(x->a, (f->count + 1) * sizeof *x->whole);
    if (!seen || !uses || !x->classes || !x->lasting || !x->whole)
        return false;
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->runs[i].fact_count; k++) {
            uint64_t h = mix_fact(&f->runs[i].facts[k]);
            seen[f->runs[i].facts[k].key][h / 64 % WORDS] |= UINT64_C(1) << h % 64;
            uses[f->runs[i].facts[k].key]++;
        }
    for (size_t k = 0; k < f->key_count; k++) {
        size_t different = 0;
        for (size_t w = 0; w < WORDS; w++)
            different += (size_t)__builtin_popcountll(seen[k][w]);
        if (f->keys[k].kind != FACT_METRIC)
            x->classes[k] = cause_class_of(f->keys[k].kind, f->keys[k].name, NULL);
        bool own = different > 5 && (different * 3 > uses[k] || different > BITS / 2);
        x->lasting[k] = x->classes[k].rank > 0 && !own;
    }
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->runs[i].fact_count; k++)
            if (x->lasting[f->runs[i].facts[k].key])
                x->whole[i] ^= mix_fact(&f->runs[i].facts[k]);
    return true;
}

/* ---- what differs ---- */

/* Returns the value that most runs of a side have (0: none), and their share. */
static uint64_t usual_value(const struct explained_side *side, uint32_t key, double *ret_share)
{
    uint64_t best = 0;
    size_t most = 0;
    for (size_t i = 0; i < side->count && most < side->count - i; i++) { /* a value that begins later has fewer runs */
        uint64_t value = run_facts_value(side->runs[i], key);
        size_t n = 0;
        for (size_t k = i; k < side->count; k++)
            n += run_facts_value(side->runs[k], key) == value;
        if (n > most) {
            most = n;
            best = value;
        }
    }
    *ret_share = side->count ? (double)most / (double)side->count : 0;
    return best;
}

/* Returns the cause of this name, appended where the list lacks it. The pointer is valid until the
 * next call. NULL: out of memory. */
static struct possible_cause *cause_of_name(struct explain_work *x, const char *name)
{
    for (size_t i = 0; i < x->count; i++)
        if (strcmp(x->list[i].name, name) == 0)
            return &x->list[i];
    if (!name || !ARRAY_FITS_IN(x->a, x->list, x->capacity, x->count + 1))
        return NULL;
    x->list[x->count] = (struct possible_cause){.name = name};
    return &x->list[x->count++];
}

static void add_cause_key(struct explain_work *x, struct possible_cause *to, uint32_t key)
{
    uint32_t *keys = arena_get(x->a, (to->key_count + 1) * sizeof *keys);
    if (!keys)
        return;
    for (size_t i = 0; i < to->key_count; i++)
        keys[i] = to->keys[i];
    keys[to->key_count++] = key;
    to->keys = keys;
}

/* Adds, as possible causes, lasting params and tags whose most frequent values differ between the
 * sides, where each is the value of 60 % of its side's runs or more. Ends early when out of
 * memory. */
static void find_differing_facts(struct explain_work *x)
{
    const double least = 0.6; /* of the runs of a side have its value */
    const struct run_facts *f = &x->to->facts;
    for (uint32_t key = 0; key < f->key_count; key++) {
        double share[EXPLAIN_SIDES];
        if (f->keys[key].kind == FACT_METRIC || !x->lasting[key])
            continue;
        uint64_t a = usual_value(&x->to->sides[0], key, &share[0]), b = usual_value(&x->to->sides[1], key, &share[1]);
        if (a == b || share[0] < least || share[1] < least)
            continue;
        const struct cause_class *is = &x->classes[key];
        struct possible_cause *to = cause_of_name(x, is->own ? arena_printf(x->a, "%s %s", is->name, f->keys[key].name) : is->name);
        if (!to)
            return;
        add_cause_key(x, to, key);
        to->score = fmax(to->score, is->rank);
    }
}

/* Returns whether b is larger than a. With few values chance separates them often: then by three
 * times as much, in all pairs. */
static bool is_mostly_larger(const double *a, size_t n, const double *b, size_t m, double difference, double least)
{
    enum { ENOUGH = 16 };
    double larger = 0, pairs = (double)n * (double)m;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            larger += b[k] > a[i] ? 1 : 0;
    return n * m >= ENOUGH ? difference >= least && larger >= 0.9 * pairs : difference >= 3 * least && larger >= pairs;
}

/* Returns which side is worse: 0, 1; -1: not known. */
static int worse_side(const struct explained_metric *m)
{
    bool wall = strcmp(m->key->name, "run.wall_s") == 0;
    if (!wall && !*m->direction)
        return -1;
    bool higher = !wall && strcmp(m->direction, "higher") == 0;
    return (m->median[1] > m->median[0]) == higher ? 0 : 1;
}

/* Adds, as possible causes, conditions of the machine (condition_rows) that are mostly larger on
 * one side. Where one side is worse in the metric, only conditions that are larger there count.
 * Ends early when out of memory. */
static void find_differing_conditions(struct explain_work *x)
{
    const struct run_facts *f = &x->to->facts;
    int worse = worse_side(&x->to->metric);
    for (uint32_t key = 0; key < f->key_count; key++)
        for (size_t r = 0; r < CONDITION_ROWS; r++) {
            double *v[EXPLAIN_SIDES], median[EXPLAIN_SIDES];
            size_t n[EXPLAIN_SIDES];
            if (f->keys[key].kind != FACT_METRIC || strcmp(f->keys[key].name, condition_rows[r].key) != 0)
                continue;
            for (int s = 0; s < EXPLAIN_SIDES; s++) {
                v[s] = arena_get(x->a, (x->to->sides[s].count + 1) * sizeof *v[s]);
                if (!v[s])
                    return;
                n[s] = side_values(&x->to->sides[s], key, v[s]);
                median[s] = explain_median(v[s], n[s]);
            }
            int more = median[1] > median[0];
            if (!n[0] || !n[1] || (worse >= 0 && more != worse) ||
                !is_mostly_larger(v[!more], n[!more], v[more], n[more], fabs(median[1] - median[0]), condition_rows[r].least))
                continue;
            struct possible_cause *to = cause_of_name(x, condition_rows[r].name);
            if (!to)
                return;
            if (!to->key_count) {
                to->is_condition = true;
                to->median[0] = median[0];
                to->median[1] = median[1];
            }
            add_cause_key(x, to, key);
            to->score = fmax(to->score, condition_rows[r].rank);
        }
}

/* ---- the effect in all other runs ---- */

struct other_run {
    uint64_t stratum;
    double value;
    int side;
};

static int by_stratum(const void *a, const void *b)
{
    const struct other_run *x = a, *y = b;
    return x->stratum != y->stratum ? (x->stratum < y->stratum ? -1 : 1) : x->side - y->side;
}

/* Returns the value of the cause in a run: one hash over its facts. */
static uint64_t cause_value(const struct explain_work *x, const struct possible_cause *c, const struct facts_run *r)
{
    uint64_t h = 0;
    for (size_t k = 0; k < c->key_count; k++)
        if (x->to->facts.keys[c->keys[k]].kind != FACT_METRIC) {
            struct run_fact f = {.key = c->keys[k], .value = run_facts_value(r, c->keys[k])};
            h ^= f.value ? mix_fact(&f) : 0;
        }
    return h;
}

/* Returns the side that the run is like; -1: neither. Of a condition: -1 in the middle third
 * between both medians, else the side of the nearer median. */
static int side_like(const struct possible_cause *c, const struct facts_run *r, uint64_t is, const uint64_t usual[EXPLAIN_SIDES])
{
    if (!c->is_condition)
        return is == usual[0] ? 0 : is == usual[1] ? 1 : -1;
    double value = run_facts_number(r, c->keys[0]), part = (value - c->median[0]) / (c->median[1] - c->median[0]);
    return isfinite(part) ? (part < 1.0 / 3 ? 0 : part > 2.0 / 3 ? 1 : -1) : -1;
}

/* Appends the values of one stratum to both sides, around its own middle where there are several strata. */
static void join_stratum(const struct other_run *list, size_t n, bool only, double *const to[EXPLAIN_SIDES], size_t count[EXPLAIN_SIDES],
                         double *work)
{
    double median[EXPLAIN_SIDES];
    for (int s = 0; s < EXPLAIN_SIDES; s++) {
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (list[i].side == s)
                work[k++] = list[i].value;
        if (!k)
            return;
        median[s] = explain_median(work, k);
    }
    double middle = only ? 1 : sqrt(median[0] * median[1]);
    for (size_t i = 0; i < n; i++)
        to[list[i].side][count[list[i].side]++] = list[i].value / middle;
}

/* Estimates the effect of the cause from runs that are not compared. Runs that differ only in the
 * cause form a stratum; c->others has how many runs each side got, c->effect their change. Returns
 * false when out of memory. */
static bool compare_others(struct explain_work *x, struct possible_cause *c)
{
    const struct run_facts *f = &x->to->facts;
    struct other_run *list = malloc((f->count + 1) * sizeof *list);
    double *work = malloc(3 * (f->count + 1) * sizeof *work);
    size_t n = 0, strata = 0;
    if (!list || !work) {
        free(list);
        free(work);
        return false;
    }
    uint64_t usual[EXPLAIN_SIDES] = {0};
    for (int s = 0; s < EXPLAIN_SIDES; s++)
        for (size_t k = 0; k < c->key_count; k++) {
            double share;
            struct run_fact fact = {.key = c->keys[k]};
            if (f->keys[c->keys[k]].kind != FACT_METRIC && (fact.value = usual_value(&x->to->sides[s], c->keys[k], &share)) != 0)
                usual[s] ^= mix_fact(&fact);
        }
    for (size_t i = 0; i < f->count; i++) {
        const struct facts_run *r = &f->runs[i];
        double value =
            x->chosen[i] || r->in_parent || r->is_warmup || r->run->status != RUN_FINISHED ? NAN : run_facts_number(r, x->metric);
        if (!(value > 0) || !isfinite(value))
            continue;
        uint64_t is = cause_value(x, c, r);
        int side = side_like(c, r, is, usual);
        if (side >= 0)
            list[n++] = (struct other_run){x->whole[i] ^ is, value, side};
    }
    qsort(list, n, sizeof *list, by_stratum);
    double *to[EXPLAIN_SIDES] = {work, work + f->count + 1}, *scratch = work + 2 * (f->count + 1);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && list[end].stratum == list[i].stratum;)
            end++;
        strata += list[i].side != list[end - 1].side;
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && list[end].stratum == list[i].stratum;)
            end++;
        join_stratum(list + i, end - i, strata == 1, to, c->others, scratch);
    }
    change_of(to[0], c->others[0], to[1], c->others[1], &c->effect);
    free(list);
    free(work);
    return true;
}

/* Judges the cause by other runs: they show it by the same direction and a good part of the
 * difference, and exclude it where their change is certainly less than half of it. */
static void judge_cause(const struct explained_metric *m, struct possible_cause *c)
{
    double target = m->change.ratio > 0 ? log(m->change.ratio) : 0;
    c->state = CAUSE_POSSIBLE;
    if (!c->effect.known || target == 0)
        return;
    double effect = log(c->effect.ratio) / target, most = fmax(log(c->effect.low) / target, log(c->effect.high) / target);
    if (change_is_outside(&c->effect) && c->effect.p < CHANGE_LEVEL && effect >= 0.3) {
        c->state = CAUSE_SHOWN;
        c->score += 20 + 5 * fmin(effect, 1 / effect);
    } else if (most < 0.5) {
        c->state = CAUSE_EXCLUDED;
        c->score -= 100;
    }
}

static int by_score(const void *a, const void *b)
{
    const struct possible_cause *x = a, *y = b;
    return x->score != y->score ? (x->score > y->score ? -1 : 1) : strcmp(x->name, y->name);
}

/* Finds the possible causes, judges each by other runs, and sorts them by score. to->named counts
 * those that are not excluded. Returns false when out of memory. */
static bool rank_causes(struct explain_work *x)
{
    find_differing_facts(x);
    find_differing_conditions(x);
    for (size_t i = 0; i < x->count; i++) {
        if (!compare_others(x, &x->list[i]))
            return false;
        judge_cause(&x->to->metric, &x->list[i]);
        x->to->named += x->list[i].state != CAUSE_EXCLUDED;
    }
    if (x->count)
        qsort(x->list, x->count, sizeof *x->list, by_score);
    x->to->causes = x->list;
    x->to->cause_count = x->count;
    return !x->a->failed;
}

/* Decides by runs like A whether the value of B differs, where a side has one or two runs: those
 * show the usual range. */
static void judge_by_others(struct explain_work *x)
{
    struct explained_metric *m = &x->to->metric;
    const struct run_facts *f = &x->to->facts;
    double *v = malloc((f->count + 1) * sizeof *v);
    size_t n = 0, like = (size_t)(x->to->sides[0].runs[0] - f->runs);
    struct stats_expected expected;
    for (size_t i = 0; v && i < f->count; i++) {
        double value = f->runs[i].in_parent || f->runs[i].is_warmup || f->runs[i].run->status != RUN_FINISHED || (x->chosen[i] && i != like)
                           ? NAN
                           : run_facts_number(&f->runs[i], x->metric);
        if (isfinite(value) && x->whole[i] == x->whole[like])
            v[n++] = value;
    }
    if (v && stats_expect(v, n, m->median[1], &expected)) {
        x->to->certain = true;
        m->differs = expected.p < STATS_EXPECT_P && fabs(m->change.ratio - 1) >= x->asked->min_effect;
    }
    free(v);
}

/* Returns whether the interval contains large changes: together with no change, it shows
 * nothing. */
static bool is_too_wide(const struct change *c)
{
    return c->low < 0.8 || c->high > 1.25;
}

static bool has_side_value(const struct explained_side *side, uint32_t key)
{
    for (size_t i = 0; i < side->count; i++)
        if (isfinite(run_facts_number(side->runs[i], key)))
            return true;
    return false;
}

/* Sets err to why no metric can be explained: A and B have it in different units, or none is in
 * both. Returns -1. */
static int refuse_metric(const struct explain_work *x, struct err *err)
{
    const struct run_facts *f = &x->to->facts;
    const struct explained_side *sides = x->to->sides;
    for (uint32_t a = 0; a < f->key_count; a++)
        for (uint32_t b = 0; b < f->key_count; b++) {
            const struct fact_key *one = &f->keys[a], *other = &f->keys[b];
            if (a != b && one->kind == FACT_METRIC && one->hash == other->hash && (!x->asked->metric || names_metric(x, one)) &&
                key_is_result(one->name) && has_side_value(&sides[0], a) && has_side_value(&sides[1], b))
                return err_set(err, ERR_INPUT, "the runs have the metric \"%.80s\" in different units: A in %.40s, B in %.40s", one->name,
                               *one->unit ? one->unit : "none", *other->unit ? other->unit : "none");
        }
    return x->asked->metric ? err_set(err, ERR_INPUT, "the runs have no metric \"%.80s\" in common", x->asked->metric)
                            : err_set(err, ERR_INPUT, "the runs have no metric in common");
}

int explain_runs(const struct explain_request *asked, struct runs *runs, struct explanation *ret, struct err *err)
{
    static const struct runs_filter everything;
    struct explain_work x = {.asked = asked, .runs = runs, .to = ret, .a = asked->arena};
    *ret = (struct explanation){0};
    free(runs->all);
    runs->all = NULL;
    runs->count = 0;
    if (runs_load(runs, &everything, asked->arena, err) < 0 || run_facts_read(runs, true, asked->arena, &ret->facts, err) < 0)
        return -1;
    x.chosen = arena_get(asked->arena, ret->facts.count + 1);
    if (!x.chosen)
        return err_memory(err, "the explanation");
    for (int s = 0; s < EXPLAIN_SIDES; s++)
        if (collect_side(&x, s, err) < 0)
            return -1;
    if (!find_lasting(&x))
        return err_memory(err, "the explanation");
    choose_metric(&x, runs_file(runs, ret->sides[0].runs[0]->run, "tags/benchwrap.headline", 8192, asked->arena));
    if (!ret->metric.key)
        return refuse_metric(&x, err);
    ret->certain = ret->metric.change.known && (ret->metric.differs || !is_too_wide(&ret->metric.change));
    if (!ret->metric.change.known && ret->metric.change.ratio > 0)
        judge_by_others(&x);
    if (ret->certain && !ret->metric.differs)
        return 0;
    return rank_causes(&x) ? 0 : err_memory(err, "the explanation");
}
