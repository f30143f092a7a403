/* history.c: search the history of each metric of comparable runs for changes. */
#include "history/history.h"

#include "base/parallel.h"
#include "base/stats.h"
#include "mlruns-format/key.h"
#include "runs/metric_way.h"
#include "runs/stale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *level_verdict_name(enum level_verdict verdict)
{
    static const char *const names[] = {"different", "regression", "improvement"};
    return names[verdict];
}

/* Returns why no group has the run. */
static const char *history_refusal(const struct history *h, const struct runs *runs, const struct tree_run *run)
{
    const struct facts_run *r = NULL;
    for (size_t i = 0; i < h->facts.count && !r; i++)
        r = strcmp(h->facts.runs[i].run->id, run->id) == 0 ? &h->facts.runs[i] : NULL;
    return strcmp(run->lifecycle, "deleted") == 0 ? "it is deleted"
           : runs_is_gone(runs, run)              ? "it was deleted since the listing"
           : !r                                   ? "it is retracted or amended, or the options leave it out"
           : r->run->problem                      ? "it cannot be read"
           : r->run->status != RUN_FINISHED       ? "it did not finish"
           : r->is_warmup                         ? "it is a warm-up"
           : r->is_annotation                     ? "it annotates another run"
           : r->is_sweep                          ? "none of the runs of this sweep finished"
           : r->in_parent                         ? "its parent run did not finish"
           : history_is_ahead(r)                  ? "it starts in the future"
                                                  : "it is a copy of another run";
}

/* Moves the groups with the run, or with its series, to the front, and drops the others; of a
 * sweep, those with its points stay. */
static int keep_groups(struct history *h, const struct runs *runs, const struct tree_run *run, struct arena *a, struct err *err)
{
    const char *parent = runs_file(runs, run, "tags/mlflow.parentRunId", 64, a), *root = runs_root_id(runs, run, a);
    size_t kept = 0;
    for (size_t i = 0; i < h->group_count; i++) {
        struct history_group group = h->groups[i];
        bool has = false;
        for (size_t k = 0; k < group.member_count && !has; k++) {
            const struct facts_run *r = group.members[k];
            has = strcmp(r->run->id, run->id) == 0 || strcmp(r->parent, root) == 0 ||
                  (parent && strcmp(runs_root_id(runs, r->run, a), parent) == 0);
        }
        if (has) {
            h->groups[i] = h->groups[kept];
            h->groups[kept++] = group;
        }
    }
    if (!kept)
        return err_set(err, ERR_INPUT, "the run %.8s has no history: %s", run->id, history_refusal(h, runs, run));
    while (h->group_count > kept)
        free(h->groups[--h->group_count].members);
    return 0;
}

/* ---- the values of a group ---- */

static bool are_siblings(const struct facts_run *x, const struct facts_run *y)
{
    return *x->parent && x->is_repetition && y->is_repetition && strcmp(x->parent, y->parent) == 0;
}

/* Makes the points of the group. Repetitions of one series are one point: they are no evidence of a
 * change over time. Returns false when out of memory. */
static bool make_points(struct history_group *group, struct arena *a)
{
    group->points = arena_get(a, (group->member_count + 1) * sizeof *group->points);
    for (size_t i = 0; group->points && i < group->member_count; i++) {
        struct history_point *last = group->point_count ? &group->points[group->point_count - 1] : NULL;
        if (last && are_siblings(last->run, group->members[i]))
            last->count++;
        else
            group->points[group->point_count++] = (struct history_point){group->members[i], i, 1};
    }
    return group->points != NULL;
}

/* Returns the run's number for the key; NaN: it has none. place: where the run before had it, which
 * is where most runs have it. */
static double number_near(const struct facts_run *run, uint32_t key, size_t *place)
{
    if (*place < run->metric_count && run->metrics[*place].key == key)
        return run->metrics[*place].number;
    for (size_t i = 0; i < run->metric_count; i++)
        if (run->metrics[i].key == key) {
            *place = i;
            return run->metrics[i].number;
        }
    return NAN;
}

/* Returns the median of the values that the point's members have for the metric; NaN: none has
 * one. *place: where the previous search in a run's metrics ended. work: capacity for p->count
 * values. */
static double value_of_point(const struct history_group *group, const struct history_point *p, uint32_t key, size_t *place, double *work)
{
    struct stats of;
    size_t n = 0;
    for (size_t i = p->first; i < p->first + p->count; i++) {
        double value = number_near(group->members[i], key, place);
        if (isfinite(value))
            work[n++] = value;
    }
    if (n < 2)
        return n ? work[0] : NAN;
    stats_of(work, n, &of);
    return of.median;
}

/* Returns whether the group has the metric of which `name` is a statistic: then the statistic adds
 * nothing. uses: how often the group has each key of `facts`. */
static bool has_metric_of_statistic(const struct run_facts *facts, const size_t *uses, const char *name)
{
    size_t stem = key_stem(name);
    for (size_t i = 0; name[stem] && i < facts->key_count; i++)
        if (uses[i] && facts->keys[i].kind == FACT_METRIC && strncmp(facts->keys[i].name, name, stem) == 0 && !facts->keys[i].name[stem])
            return true;
    return false;
}

bool history_names_headline(const char *tag, const char *key)
{
    struct str rest = str_of(tag), word;
    while ((word = str_word(&rest)).n)
        if (str_starts(word, key) && (word.n == strlen(key) || word.p[strlen(key)] == '.'))
            return true;
    return false;
}

static int by_metric(const void *a, const void *b)
{
    const struct history_metric_series *x = a, *y = b;
    if (x->headline != y->headline)
        return x->headline ? -1 : 1;
    int name = str_natural(x->key->name, y->key->name);
    if (name || x->key->step != y->key->step)
        return name ? name : x->key->step < y->key->step ? -1 : 1;
    return strcmp(x->key->unit, y->key->unit);
}

/* Makes the series of a group: for each metric the value of each point, in the arena. -1 with err:
 * out of memory. */
static int collect_series(struct history *h, const struct history_request *asked, const struct runs *runs, struct history_group *group,
                          struct err *err)
{
    struct arena *a = asked->arena;
    size_t *uses = arena_get(a, (h->facts.key_count + 1) * sizeof *uses), n = 0, own = 0;
    double *work = arena_get(a, (group->member_count + 1) * sizeof *work);
    uint8_t *ways = arena_get(a, h->facts.key_count + 1);
    const struct tree_run *newest = group->members[group->member_count - 1]->run;
    const char *headlines = runs_file(runs, newest, "tags/benchwrap.headline", 8192, a);
    if (!uses || !work || !ways || !make_points(group, a))
        return err_memory(err, "the history of runs");
    for (size_t i = 0; i < group->member_count; i++)
        for (size_t k = 0; k < group->members[i]->metric_count; k++) {
            const struct run_fact *f = &group->members[i]->metrics[k];
            n += uses[f->key]++ == 0;
            ways[f->key] |= f->way;
        }
    group->metrics = arena_get(a, (n + 1) * sizeof *group->metrics);
    for (uint32_t key = 0; group->metrics && key < h->facts.key_count; key++) {
        const struct fact_key *is = &h->facts.keys[key];
        bool wall = strcmp(is->name, "run.wall_s") == 0;
        if (!uses[key] || (!asked->all && ((!key_is_result(is->name) && !wall) || has_metric_of_statistic(&h->facts, uses, is->name))))
            continue;
        struct history_metric_series *s = &group->metrics[group->metric_count++];
        size_t place = 0;
        *s = (struct history_metric_series){.key = is,
                                            .direction = ways_name(ways[key]),
                                            .is_disputed = ways[key] == WAYS_DISPUTED,
                                            .headline = headlines && history_names_headline(headlines, is->name)};
        s->values = arena_get(a, (group->point_count + 1) * sizeof *s->values);
        s->places = arena_get(a, (group->point_count + 1) * sizeof *s->places);
        for (size_t p = 0; s->places && s->values && p < group->point_count; p++) {
            double value = value_of_point(group, &group->points[p], key, &place, work);
            if (isfinite(value)) {
                s->places[s->n] = p;
                s->values[s->n++] = value;
            }
        }
        own += *s->direction && !wall && key_is_result(is->name);
    }
    for (size_t i = 0; i < group->metric_count;
         i++) { /* wall time has setting up and waiting in it: it counts where nothing else is known */
        struct history_metric_series *s = &group->metrics[i];
        s->counts = *s->direction && (strcmp(s->key->name, "run.wall_s") == 0 ? !own : key_is_result(s->key->name));
    }
    if (group->metric_count)
        qsort(group->metrics, group->metric_count, sizeof *group->metrics, by_metric);
    return a->failed ? err_memory(err, "the history of runs") : 0;
}

/* ---- the search ---- */

struct series_search {
    struct history_metric_series **list;
    double min_effect;
    bool failed;
};

static void search_one(void *context, size_t i, struct arena *a)
{
    struct series_search *s = context;
    struct history_metric_series *m = s->list[i];
    (void)a;
    if (!change_points_find(m->values, m->n, s->min_effect, &m->points))
        s->failed = true;
}

static enum level_verdict verdict_of(const struct history_metric_series *m, const struct change_point *c)
{
    if (!*m->direction)
        return LEVEL_DIFFERENT;
    return (c->after > c->before) == (strcmp(m->direction, "higher") == 0) ? LEVEL_IMPROVEMENT : LEVEL_REGRESSION;
}

static const struct tree_run *run_at(const struct history_group *group, const struct history_metric_series *m, size_t at)
{
    return group->points[m->places[at]].run->run;
}

/* Finds the facts that changed at the value `at`: one value in up to three runs before it, another in
 * up to three runs from it on. A fact that changes often is no cause. */
static int find_changed_at(struct runs *runs, const struct history_group *group, struct history_metric_series *m, size_t i, size_t at,
                           struct arena *a, struct err *err)
{
    enum { SIDE = 3 };
    const struct tree_run *before[SIDE], *after[SIDE];
    size_t begin = i ? m->points.list[i - 1].at : 0, end = i + 1 < m->points.count ? m->points.list[i + 1].at : m->n, x = 0, y = 0;
    for (size_t k = at; k-- > begin && x < SIDE;)
        before[x++] = run_at(group, m, k);
    for (size_t k = at; k < end && y < SIDE; k++)
        after[y++] = run_at(group, m, k);
    return x && y ? cause_changes(runs, before, x, after, y, a, &m->changes[i].changed, &m->changes[i].changed_count, err) : 0;
}

/* Finds the facts that changed at the change point or at a run next to it: noise may hide which of
 * two neighbouring runs is the first of a level. Returns -1 with err. */
static int find_changed(struct runs *runs, const struct history_group *group, struct history_metric_series *m, size_t i, struct arena *a,
                        struct err *err)
{
    static const int offsets[] = {0, 1, -1};
    struct level_change *c = &m->changes[i];
    for (size_t k = 0; k < sizeof offsets / sizeof *offsets && !c->changed_count; k++) {
        if (find_changed_at(runs, group, m, i, (size_t)((long)c->is.at + offsets[k]), a, err) < 0)
            return -1;
        c->changed_offset = c->changed_count ? offsets[k] : 0;
    }
    return 0;
}

/* Fills m->changes in the arena, one for each change point: verdict, the runs on both sides, and
 * which recorded facts changed. Returns -1 with err. */
static int describe_history_changes(struct runs *runs, const struct history_group *group, struct history_metric_series *m, struct arena *a,
                                    struct err *err)
{
    m->changes = arena_get(a, (m->points.count + 1) * sizeof *m->changes);
    if (!m->changes)
        return err_memory(err, "the history of runs");
    for (size_t i = 0; i < m->points.count; i++) {
        const struct change_point *c = &m->points.list[i];
        m->changes[i] = (struct level_change){.is = *c,
                                              .verdict = verdict_of(m, c),
                                              .run = run_at(group, m, c->at),
                                              .before = run_at(group, m, c->at - 1),
                                              .newest = i + 1 == m->points.count};
        if (find_changed(runs, group, m, i, a, err) < 0)
            return -1;
    }
    return 0;
}

/* Collects the series of all groups, searches them for change points in parallel, then describes
 * the changes. Returns -1 with err. */
static int search_all(struct history *h, const struct history_request *asked, struct runs *runs, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < h->group_count; i++) {
        if (collect_series(h, asked, runs, &h->groups[i], err) < 0)
            return -1;
        n += h->groups[i].metric_count;
    }
    struct series_search s = {.list = arena_get(asked->arena, (n + 1) * sizeof *s.list), .min_effect = asked->min_effect};
    if (!s.list)
        return err_memory(err, "the history of runs");
    n = 0;
    for (size_t i = 0; i < h->group_count; i++)
        for (size_t k = 0; k < h->groups[i].metric_count; k++)
            s.list[n++] = &h->groups[i].metrics[k];
    parallel_each(parallel_workers(n, 4), n, search_one, &s, asked->arena);
    if (s.failed)
        return err_memory(err, "the history of runs");
    for (size_t i = 0; i < h->group_count; i++)
        for (size_t k = 0; k < h->groups[i].metric_count; k++)
            if (describe_history_changes(runs, &h->groups[i], &h->groups[i].metrics[k], asked->arena, err) < 0)
                return -1;
    return 0;
}

int history_read(const struct history_request *asked, struct runs *runs, struct history *ret, struct err *err)
{
    struct tree_run *run = NULL;
    struct runs_filter filter = asked->filter;
    *ret = (struct history){0};
    if (asked->run && runs_find(runs, asked->run, TREE_META, asked->arena, &run, err))
        return -1;
    if (run && !filter.experiment)
        filter.experiment = run->experiment;
    if (run && !runs_is_of_experiment(run, filter.experiment))
        return err_set(err, ERR_INPUT, "the run %.8s is of the experiment %s, not of %s", run->id, run->experiment, filter.experiment);
    free(runs->all);
    runs->all = NULL;
    runs->count = 0;
    if (runs_load(runs, &filter, asked->arena, err) < 0)
        return -1;
    if (!runs->count)
        return err_set(err, ERR_INPUT, "%s", runs_explain_none(runs, &filter, asked->arena));
    stale_notes(asked->notes, (const struct tree_run *const *)runs->all, runs->count);
    if (history_group_runs(asked, runs, ret, err) < 0 || (run && keep_groups(ret, runs, run, asked->arena, err) < 0))
        return -1;
    return search_all(ret, asked, runs, err);
}

void history_close(struct history *h)
{
    for (size_t i = 0; i < h->group_count; i++) {
        for (size_t k = 0; k < h->groups[i].metric_count; k++)
            change_points_deinit(&h->groups[i].metrics[k].points);
        free(h->groups[i].members);
    }
    *h = (struct history){0};
}

bool history_has_regression(const struct history *h, size_t last)
{
    for (size_t i = 0; i < h->group_count; i++)
        for (size_t k = 0; k < h->groups[i].metric_count; k++) {
            const struct history_metric_series *m = &h->groups[i].metrics[k];
            const struct level_change *c = m->points.count ? &m->changes[m->points.count - 1] : NULL;
            if (c && m->counts && c->verdict == LEVEL_REGRESSION && c->is.at + last >= m->n)
                return true;
        }
    return false;
}
