/* pages_group.c: runs in groups. */
#include "pages/pages_group.h"

#include "base/array.h"
#include "base/change.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *page_by_experiment(const struct page_run *run)
{
    return run->experiment;
}

const char *page_by_measurement(const struct page_run *run)
{
    return page_run_counts(run) ? run->measurement : NULL;
}

const char *page_by_machine(const struct page_run *run)
{
    return *run->machine ? run->machine : NULL;
}

const char *page_by_site(const struct page_run *run)
{
    return run->site;
}

const char *page_by_system(const struct page_run *run)
{
    return run->system;
}

const char *page_by_version(const struct page_run *run)
{
    return run->version;
}

struct grouped_run {
    const char *text;
    size_t at;
};

static int by_group_text(const void *a, const void *b)
{
    const struct grouped_run *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_newest_run(const void *a, const void *b)
{
    const struct page_group *x = a, *y = b;
    return page_run_order(x->runs[0], y->runs[0]);
}

int page_groups_by(const struct page_run *const *runs, size_t n, const char *(*text)(const struct page_run *run), struct arena *a,
                   struct page_groups *ret, struct err *err)
{
    struct grouped_run *list = malloc((n + 1) * sizeof *list);
    size_t count = 0, groups = 0;
    const struct page_run **all = arena_get(a, (n + 1) * sizeof(struct page_run *));
    *ret = (struct page_groups){0};
    for (size_t i = 0; list && i < n; i++) {
        const char *of = text(runs[i]);
        if (of)
            list[count++] = (struct grouped_run){of, i};
    }
    if (list && count)
        qsort(list, count, sizeof *list, by_group_text);
    for (size_t i = 0; list && i < count; i++)
        groups += i == 0 || strcmp(list[i].text, list[i - 1].text) != 0;
    ret->list = arena_get(a, (groups + 1) * sizeof *ret->list);
    for (size_t i = 0; list && all && ret->list && i < count; i++) {
        all[i] = runs[list[i].at];
        if (i == 0 || strcmp(list[i].text, list[i - 1].text) != 0)
            ret->list[ret->count++] = (struct page_group){.id = list[i].text, .runs = all + i};
        ret->list[ret->count - 1].count++;
    }
    bool failed = !list || !all || !ret->list;
    free(list);
    if (failed)
        return err_memory(err, "groups of %zu runs", n);
    if (ret->count)
        qsort(ret->list, ret->count, sizeof *ret->list, by_newest_run);
    return 0;
}

/* ---- metrics and inputs ---- */

size_t page_metrics_of(const struct page_group *group, size_t most, struct page_value *ret)
{
    enum { KNOWN = 64 };
    struct page_value known[KNOWN];
    size_t uses[KNOWN] = {0}, n = 0, kept = 0;
    bool disputed[KNOWN] = {false}; /* the runs disagree on the direction: it is none */
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = 0; k < group->runs[i]->value_count; k++) {
            const struct page_value *v = &group->runs[i]->values[k];
            size_t at = 0;
            while (at < n && (strcmp(known[at].key, v->key) != 0 || strcmp(known[at].unit, v->unit) != 0))
                at++;
            if (at == KNOWN)
                continue;
            if (at == n)
                known[n++] = *v;
            disputed[at] = disputed[at] || (*known[at].better && *v->better && strcmp(known[at].better, v->better) != 0);
            if (!*known[at].better)
                known[at].better = v->better;
            uses[at]++;
        }
    for (; kept < most && kept < n; kept++) {
        size_t best = KNOWN;
        for (size_t i = 0; i < n; i++)
            if (uses[i] && (best == KNOWN || uses[i] > uses[best]))
                best = i;
        if (best == KNOWN)
            break;
        ret[kept] = known[best];
        if (disputed[best])
            ret[kept].better = "";
        uses[best] = 0;
    }
    return kept;
}

size_t page_values_of(const struct page_run *const *runs, size_t n, const struct page_value *metric, struct arena *a, double **ret)
{
    size_t count = 0;
    *ret = arena_get(a, (n + 1) * sizeof **ret);
    for (size_t i = 0; *ret && i < n; i++) {
        const struct page_value *v = page_run_value(runs[i], metric);
        if (v && isfinite(v->value))
            (*ret)[count++] = v->value;
    }
    return count;
}

size_t page_differing_inputs(const struct page_groups *groups, size_t most, const char **ret)
{
    size_t n = 0;
    for (size_t g = 0; g < groups->count; g++) {
        const struct page_facts *facts = groups->list[g].runs[0]->inputs;
        for (size_t i = 0; i < facts->count && n < most; i++) {
            bool differs = false, known = g > 0 && page_fact_value(groups->list[0].runs[0]->inputs, facts->list[i].name);
            for (size_t k = 0; k < n; k++)
                known = known || strcmp(ret[k], facts->list[i].name) == 0;
            for (size_t k = 0; k < groups->count && !known && !differs; k++) {
                const char *other = page_fact_value(groups->list[k].runs[0]->inputs, facts->list[i].name);
                differs = !other || strcmp(other, facts->list[i].value) != 0;
            }
            if (differs)
                ret[n++] = facts->list[i].name;
        }
        if (g >= 200) /* a sweep of many points differs in what its first ones differ in */
            break;
    }
    return n;
}

void page_measurement_name(const struct page_facts *inputs, const char *const *differing, size_t n, struct buf *to)
{
    size_t before = to->n, shown = 0;
    for (size_t i = 0; i < n; i++) {
        const char *value = page_fact_value(inputs, differing[i]), *name = differing[i];
        if (!value)
            continue;
        if (strncmp(name, "argument.", 9) == 0)
            name += 9;
        buf_printf(to, "%s%s %.60s", shown++ ? ", " : "", name, value);
    }
    const char *benchmark = page_fact_value(inputs, "benchmark");
    if (to->n == before)
        buf_puts(to, benchmark ? benchmark : "all runs");
}

/* ---- leaderboards ---- */

static bool is_better_value(double x, double than, const char *better)
{
    return strcmp(better, "lower") == 0 ? x < than : x > than;
}

/* True if the test of compare cannot distinguish them. Equal medians are a tie, too. */
static bool is_tie(const struct page_place *x, const struct page_place *y)
{
    struct change change;
    if (x->median == y->median)
        return true;
    change_of(x->values, x->count, y->values, y->count, &change);
    return change.known && !change_is_outside(&change);
}

/* Counts the runs with a value of this metric whose results may be worth less. */
static void count_marks(struct page_place *p, const struct page_value *metric)
{
    p->disturbed = p->warned = p->unjudged = 0;
    p->noisy = p->warning = p->unjudged_why = "";
    for (size_t i = 0; i < p->system->count; i++) {
        const struct page_run *run = p->system->runs[i];
        const struct page_value *v = page_run_value(run, metric);
        if (!v || !isfinite(v->value))
            continue;
        if (*run->noisy && p->disturbed++ == 0)
            p->noisy = run->noisy;
        if (*run->warning && p->warned++ == 0)
            p->warning = run->warning;
        if (!*run->noisy && *run->unjudged && p->unjudged++ == 0)
            p->unjudged_why = run->unjudged;
    }
}

/* Adds the results of one system to a place of the leaderboard; the better system stays in *p.
 * False: it has no value, or out of memory. */
static bool fill_place(struct page_place *p, const struct page_group *system, const struct page_value *metric, struct arena *a)
{
    struct page_place got = *p;
    struct stats stats;
    double *values;
    got.count = page_values_of(system->runs, system->count, metric, a, &values);
    if (!got.count)
        return false;
    double *sorted = arena_get(a, got.count * sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, values, got.count * sizeof *sorted);
    stats_of(sorted, got.count, &stats);
    got.values = values;
    got.median = stats.median;
    got.best = strcmp(metric->better, "lower") == 0 ? stats.min : stats.max;
    got.system = system;
    got.newest = system->runs[0];
    count_marks(&got, metric);
    got.systems++;
    p->systems = got.systems;
    if (!p->system || (*metric->better && is_better_value(got.median, p->median, metric->better)))
        *p = got;
    return true;
}

static const char *board_direction; /* for the order below; boards are made by one thread */

static int by_board_place(const void *a, const void *b)
{
    const struct page_place *x = a, *y = b;
    if (!x->system != !y->system)
        return x->system ? -1 : 1;
    if (*board_direction && x->system && x->median != y->median)
        return is_better_value(x->median, y->median, board_direction) ? -1 : 1;
    return strcmp(x->site, y->site);
}

/* Sets the ranks of places that have a value. Places that cannot be distinguished from the first of
 * a rank share it. */
static void rank_places(struct page_board *b)
{
    size_t leader = 0;
    for (size_t i = 0; i < b->count && b->places[i].system; i++) {
        if (i > 0 && is_tie(&b->places[leader], &b->places[i])) {
            b->places[i].rank = b->places[leader].rank;
            continue;
        }
        leader = i;
        b->places[i].rank = i + 1;
    }
}

int page_board_of(const struct page_group *group, const struct page_run *const *all, size_t all_count, const struct page_value *metric,
                  struct arena *a, struct page_board *ret, struct err *err)
{
    struct page_groups sites, systems, counted;
    *ret = (struct page_board){.metric = metric, .is_ranked = *metric->better != 0};
    if (page_groups_by(all, all_count, page_by_site, a, &sites, err) < 0 ||
        page_groups_by(group->runs, group->count, page_by_site, a, &counted, err) < 0)
        return -1;
    ret->places = arena_get(a, (sites.count + 1) * sizeof *ret->places);
    if (!ret->places)
        return err_memory(err, "a leaderboard");
    for (size_t s = 0; s < sites.count; s++) {
        struct page_place *p = &ret->places[ret->count++];
        *p = (struct page_place){.site = sites.list[s].id, .newest = sites.list[s].runs[0], .noisy = "", .warning = "", .unjudged_why = ""};
        for (size_t i = 0; i < sites.list[s].count; i++)
            p->failed += !page_run_counts(sites.list[s].runs[i]) && !sites.list[s].runs[i]->is_parent && !sites.list[s].runs[i]->is_warmup;
        for (size_t c = 0; c < counted.count; c++) {
            if (strcmp(counted.list[c].id, p->site) != 0)
                continue;
            if (page_groups_by(counted.list[c].runs, counted.list[c].count, page_by_system, a, &systems, err) < 0)
                return -1;
            for (size_t k = 0; k < systems.count; k++)
                fill_place(p, &systems.list[k], metric, a);
        }
    }
    board_direction = metric->better;
    if (ret->count)
        qsort(ret->places, ret->count, sizeof *ret->places, by_board_place);
    if (ret->is_ranked)
        rank_places(ret);
    return a->failed ? err_memory(err, "a leaderboard") : 0;
}

/* ---- news ---- */

struct page_news page_news_of(const double *values, size_t n, const char *better)
{
    const double min_effect = 0.02; /* as compare --history */
    struct page_news news = {.change = PAGE_CHANGE_FEW, .value = n ? values[0] : NAN, .median = NAN, .earlier = n ? n - 1 : 0};
    enum { EARLIER_MAX = 50 };
    double sorted[EARLIER_MAX];
    struct stats_expected expected;
    struct stats stats;
    if (news.earlier > EARLIER_MAX)
        news.earlier = EARLIER_MAX;
    if (news.earlier < STATS_EXPECT_MIN || !*better || !stats_expect(values + 1, news.earlier, news.value, &expected))
        return news;
    memcpy(sorted, values + 1, news.earlier * sizeof *sorted);
    stats_of(sorted, news.earlier, &stats);
    news.median = stats.median;
    news.low = expected.low;
    news.high = expected.high;
    bool sure = expected.p <= STATS_EXPECT_P && fabs(news.value - news.median) >= min_effect * fabs(news.median);
    news.change = !sure ? PAGE_CHANGE_NONE : is_better_value(news.value, news.median, better) ? PAGE_CHANGE_BETTER : PAGE_CHANGE_WORSE;
    return news;
}
