/* campaign_nodes.c: compare the nodes of --each-node: which of them differ from the others? */
#include "base/fs.h"
#include "base/show.h"
#include "base/stats.h"
#include "recipe/campaign.h"
#include "series/figures.h"

#include <math.h>
#include <stdlib.h>

#define FALSE_ALARMS 0.05 /* chance that one node or more is named although all are alike, for each metric */

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

/* How likely each value is among the others. false: out of memory, or too few. */
static bool compare_values(const struct node_result *list, size_t n, bool *ret_differs)
{
    double *others = calloc(n + 1, sizeof *others), *p = calloc(n + 1, sizeof *p);
    bool good = others && p && n > STATS_EXPECT_MIN;
    for (size_t i = 0; good && i < n; i++) {
        struct stats_expected e;
        size_t k = 0;
        for (size_t m = 0; m < n; m++)
            if (m != i)
                others[k++] = list[m].value;
        good = stats_expect(others, k, list[i].value, &e);
        p[i] = good ? e.p : 1;
    }
    good = good && stats_holm(p, n, FALSE_ALARMS, ret_differs);
    free(others);
    free(p);
    return good;
}

static bool is_worse(const struct node_result *v, double median)
{
    return v->direction == DIR_HIGHER ? v->value < median : v->direction == DIR_LOWER ? v->value > median : true;
}

static void compare_metric(struct campaign *c, const struct series_figure *figures, const char *key, struct buf *bad)
{
    struct node_result *list = arena_get(c->arena, (c->planned.count + 1) * sizeof *list);
    bool *differs = arena_get(c->arena, c->planned.count + 1);
    double *values = arena_get(c->arena, (c->planned.count + 1) * sizeof *values);
    struct stats s;
    size_t n = list && differs && values ? collect_values(c, figures, key, list) : 0;
    CLEANUP_BUF struct buf line;
    buf_init(&line, 4096);
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        values[i] = list[i].value;
    stats_of(values, n, &s);
    show_metric(&line, key, list[0].unit);
    buf_printf(&line, ": %zu nodes, median %.4g, from %.4g to %.4g", n, s.median, s.min, s.max);
    campaign_say(c, "%s", line.p);
    if (!compare_values(list, n, differs)) {
        campaign_say(c, "  %zu nodes are too few to name one that differs; %d are needed", n, STATS_EXPECT_MIN + 1);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (differs[i]) {
            bool worse = is_worse(&list[i], s.median);
            campaign_say(c, "  %s differs: %.4g, %+.1f %%%s (false alarm in at most %g %% of such comparisons)", list[i].node, list[i].value,
                         100 * (list[i].value / s.median - 1), worse ? "" : ", but is better", 100 * FALSE_ALARMS);
            if (worse && !str_has_word(bad->p, str_of(list[i].node)))
                buf_printf(bad, "%s%s", bad->n ? " " : "", list[i].node);
        }
}

/* Nodes whose point is not valid. */
static void add_failed_nodes(struct campaign *c, struct buf *bad)
{
    for (size_t i = 0; i < c->planned.count; i++) {
        const struct campaign_point *p = campaign_point_find(&c->state, c->planned.points[i].id);
        const char *node = recipe_value_of(&c->planned.points[i].values, STR("each_node"));
        if (!p || !node || p->outcome == OUTCOME_VALID || p->outcome == OUTCOME_CANCELLED || str_has_word(bad->p, str_of(node)))
            continue;
        campaign_say(c, "  %s: %s: %s", node, campaign_outcome_word(p->outcome), p->reason);
        buf_printf(bad, "%s%s", bad->n ? " " : "", node);
    }
}

void campaign_compare_nodes(struct campaign *c)
{
    const struct series_figure *figures = series_figures(&c->repeat.notes);
    CLEANUP_BUF struct buf bad, list;
    struct err err = {0};
    buf_init(&bad, 1 << 20);
    buf_init(&list, 1 << 20);
    buf_puts(&bad, "");
    for (const struct series_figure *f = figures; f; f = f->next) {
        const struct series_figure *before = figures;
        while (before != f && strcmp(before->key, f->key) != 0)
            before = before->next;
        if (f->headline && before == f && (strcmp(f->key, "run.wall_s") != 0 || !f->next))
            compare_metric(c, figures, f->key, &bad);
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
        campaign_say(c, "no node differs from the others");
}
