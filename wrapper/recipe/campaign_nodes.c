/* campaign_nodes.c: compare the nodes of --each-node, or the pairs of --each-pair: which of them differ from the others? */
#include "base/fs.h"
#include "base/show.h"
#include "base/stats.h"
#include "recipe/campaign.h"
#include "series/figures.h"

#include <math.h>
#include <stdlib.h>

#define FALSE_ALARMS 0.05 /* chance that one node or more is named although all are alike and their values normal, for each metric */

/* Neighbours in a ring share a pair, so their values are not independent. With this level and number of nodes one is named in at most FALSE_ALARMS of the
 * comparisons, by simulation (tests/unit/recipe/campaign_nodes.c): of pairs with noise of their own, and of pairs as fast as their slower node. */
#define NEIGHBOUR_LEVEL 0.005
enum { NODES_MIN = STATS_EXPECT_MIN + 1, NEIGHBOURS_MIN = 8 };

struct node_result {
    const char *node;
    double value;
    enum direction direction;
    const char *unit;
};

/* The medians of a metric by node. */
static size_t collect_values(struct campaign *c, const struct series_figure *figures, const char *key, struct node_result *to)
{
    size_t n = 0, axis = 0;
    while (axis < c->recipe->sweep.count && strcmp(c->recipe->sweep.axes[axis].name, "each_node") != 0)
        axis++;
    for (const struct series_figure *f = figures; f; f = f->next)
        if (strcmp(f->key, key) == 0 && f->stats.n)
            to[n++] = (struct node_result){sweep_value(&c->recipe->sweep, f->point, axis), f->stats.median, f->direction, f->unit};
    return n;
}

bool campaign_values_differ(const double *v, size_t n, bool neighbours, bool *ret)
{
    double *others = calloc(n + 1, sizeof *others), *p = calloc(n + 1, sizeof *p);
    bool good = others && p && n >= (neighbours ? NEIGHBOURS_MIN : NODES_MIN);
    for (size_t i = 0; good && i < n; i++) {
        struct stats_expected e;
        size_t k = 0;
        for (size_t m = 0; m < n; m++)
            if (m != i)
                others[k++] = v[m];
        good = stats_expect(others, k, v[i], &e);
        p[i] = good ? e.p : 1;
    }
    good = good && stats_holm(p, n, neighbours ? NEIGHBOUR_LEVEL : FALSE_ALARMS, ret);
    free(others);
    free(p);
    return good;
}

static bool is_worse(const struct node_result *v, double median)
{
    return v->direction == DIR_HIGHER ? v->value < median : v->direction == DIR_LOWER ? v->value > median : true;
}

static bool are_pairs(const struct campaign *c)
{
    return strchr(c->recipe->each_node[0], RECIPE_PAIR) != NULL;
}

/* Prints what differs among n values of nodes or pairs. neighbours: each is the better pair of a node. bad: names of those that are worse; NULL: they
 * are not collected. Returns whether they were compared: there may be too few. */
static bool compare_list(struct campaign *c, const struct node_result *list, size_t n, const char *what, bool neighbours, struct buf *bad)
{
    bool *differs = arena_get(c->arena, n + 1);
    double *values = arena_get(c->arena, (n + 1) * sizeof *values);
    struct stats s;
    if (!differs || !values)
        return false;
    for (size_t i = 0; i < n; i++)
        values[i] = list[i].value;
    if (!campaign_values_differ(values, n, neighbours, differs)) {
        campaign_say(c, "  %zu %ss are too few to name one that differs; %d are needed", n, what, neighbours ? NEIGHBOURS_MIN : NODES_MIN);
        return false;
    }
    stats_of(values, n, &s); /* which sorts them */
    for (size_t i = 0; i < n; i++)
        if (differs[i]) {
            bool worse = is_worse(&list[i], s.median);
            campaign_say(c, "  %s differs: %.4g, %+.1f %%%s (false alarm in at most %g %% of such comparisons of normal values)",
                         list[i].node, list[i].value, 100 * (list[i].value / s.median - 1), worse ? "" : ", but is better",
                         100 * FALSE_ALARMS);
            if (bad && worse && !str_has_word(bad->p, str_of(list[i].node)))
                buf_printf(bad, "%s%s", bad->n ? " " : "", list[i].node);
        }
    return true;
}

/* Returns true if the node is one of the pair. */
static bool is_in_pair(const char *pair, const char *node)
{
    struct str second = str_of(pair), first = str_cut(&second, RECIPE_PAIR);
    return str_is(first, node) || (second.p && str_is(second, node));
}

/* The better pair of each node: a fault of a node slows both of its pairs, so that none of its neighbours is worse by it. */
static size_t best_of_pairs(struct campaign *c, const struct node_result *pairs, size_t n, double median, struct node_result *to)
{
    size_t count = 0;
    for (size_t i = 0; i < c->hosts.count; i++) {
        struct node_result best = {.node = NULL};
        for (size_t k = 0; k < n; k++) {
            if (!is_in_pair(pairs[k].node, c->hosts.nodes[i].name))
                continue;
            double off = fabs(pairs[k].value - median), best_off = fabs(best.value - median);
            bool better = pairs[k].direction == DIR_HIGHER  ? pairs[k].value > best.value
                          : pairs[k].direction == DIR_LOWER ? pairs[k].value < best.value
                                                            : off < best_off;
            if (!best.node || better)
                best = pairs[k];
        }
        if (!best.node)
            continue;
        best.node = c->hosts.nodes[i].name;
        to[count++] = best;
    }
    return count;
}

/* Prints the results of one metric on all nodes or pairs, and which of them differ. Appends to
 * `bad` the nodes that differ and are worse; with pairs, it judges a node by its better pair.
 * Returns whether nodes were compared. */
static bool compare_metric(struct campaign *c, const struct series_figure *figures, const char *key, struct buf *bad)
{
    struct node_result *list = arena_get(c->arena, (c->planned.count + 1) * sizeof *list),
                       *nodes = arena_get(c->arena, (c->hosts.count + 1) * sizeof *nodes);
    double *values = arena_get(c->arena, (c->planned.count + 1) * sizeof *values);
    struct stats s;
    size_t n = list && nodes && values ? collect_values(c, figures, key, list) : 0;
    CLEANUP_BUF struct buf line;
    buf_init(&line, 4096);
    if (!n)
        return false;
    for (size_t i = 0; i < n; i++)
        values[i] = list[i].value;
    stats_of(values, n, &s);
    show_metric(&line, key, list[0].unit);
    buf_printf(&line, ": %zu %ss, median %.4g, from %.4g to %.4g", n, are_pairs(c) ? "pair" : "node", s.median, s.min, s.max);
    campaign_say(c, "%s", line.p);
    if (!are_pairs(c))
        return compare_list(c, list, n, "node", false, bad);
    compare_list(c, list, n, "pair", false, NULL);
    n = best_of_pairs(c, list, n, s.median, nodes);
    campaign_say(c, "  the better pair of each node:");
    return compare_list(c, nodes, n, "node", true, bad);
}

static bool is_unit_bad(const struct campaign_point *p)
{
    return p && p->outcome != OUTCOME_VALID && p->outcome != OUTCOME_CANCELLED;
}

/* Nodes all of whose points are not valid. */
static void add_failed_nodes(struct campaign *c, struct buf *bad)
{
    for (size_t k = 0; k < c->hosts.count; k++) {
        const char *name = c->hosts.nodes[k].name;
        const struct campaign_point *last = NULL;
        bool all = true;
        for (size_t i = 0; i < c->planned.count; i++) {
            const struct campaign_point *p = campaign_point_find(&c->state, c->planned.points[i].id);
            const char *unit = recipe_value_of(&c->planned.points[i].values, STR("each_node"));
            if (!unit || !is_in_pair(unit, name))
                continue;
            all &= is_unit_bad(p);
            last = p;
        }
        if (!all || !last || str_has_word(bad->p, str_of(name)))
            continue;
        campaign_say(c, "  %s: %s: %s", name, campaign_outcome_word(last->outcome), last->reason);
        buf_printf(bad, "%s%s", bad->n ? " " : "", name);
    }
}

void campaign_compare_nodes(struct campaign *c)
{
    const struct series_figure *figures = series_figures(&c->repeat.notes);
    CLEANUP_BUF struct buf bad, list;
    struct err err = {0};
    bool compared = false;
    buf_init(&bad, 1 << 20);
    buf_init(&list, 1 << 20);
    buf_puts(&bad, "");
    for (const struct series_figure *f = figures; f; f = f->next) {
        const struct series_figure *before = figures;
        while (before != f && strcmp(before->key, f->key) != 0)
            before = before->next;
        if (f->headline && before == f && (strcmp(f->key, "run.wall_s") != 0 || !f->next))
            compared |= compare_metric(c, figures, f->key, &bad);
    }
    add_failed_nodes(c, &bad);
    for (struct str rest = buf_text(&bad), word; (word = str_word(&rest)).n > 0;)
        buf_printf(&list, "%s" STR_FMT, list.n ? "," : "", STR_ARG(word));
    buf_putc(&list, '\n');
    if (fs_write(c->state.dir, "exclude", buf_text(&list), 0600, false, &err)) {
        campaign_say(c, "%s", err.text);
        return;
    }
    if (list.n > 1)
        campaign_say(c, "leave these nodes out: sbatch --exclude=%.*s (also in %s/exclude)", (int)list.n - 1, list.p, c->state.folder);
    else
        campaign_say(c, compared ? "no node is worse than the others" : "the nodes were not compared: no metric has enough results");
}
