/* charts_sweep.c: values over swept params: curves, heat map, Pareto front; see charts.h. */
#include "base/stats.h"
#include "report/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 2500, FRONT_NAMED = 24 };

struct charted_point charts_point(const struct plotted_rows *p, const char *x, const char *group, const char *y)
{
    struct charted_point point = {NAN, NAN, NAN, 0};
    struct stats stats;
    double *v = malloc((p->count + 1) * sizeof *v);
    const char *const wanted[] = {x, group, y};
    for (size_t i = 0; v && i < p->count; i++) {
        const struct plotted_row *row = &p->list[i];
        bool fits = isfinite(row->value[0]);
        for (size_t k = 0; k < 3; k++)
            fits = fits && (!wanted[k] || (row->fields[k] && strcmp(row->fields[k], wanted[k]) == 0));
        if (fits)
            v[point.n++] = row->value[0];
    }
    if (v && point.n) {
        stats_of(v, point.n, &stats);
        point.median = stats.median, point.low = stats.min, point.high = stats.max;
    }
    free(v);
    return point;
}

size_t charts_without(const struct plotted_rows *p, size_t field)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        n += isfinite(p->list[i].value[0]) && !p->list[i].fields[field];
    return n;
}

/* A curve through the medians, with the range of each, for one group. */
struct sweep_curve {
    double *x, *y, *low, *high;
    const char **labels;
    bool has_range;
};

/* Fills *ret with one point for each text in `values`, in the arena. x is the number of the text,
 * or its index where not all texts are numbers. Returns false when out of memory. */
static bool curve_of(const struct plotted_rows *p, const char *const *values, size_t n, bool numeric, const char *group,
                     struct sweep_curve *ret)
{
    double *room = arena_get(p->a, 4 * (n + 1) * sizeof *room);
    *ret = (struct sweep_curve){room, room + n, room + 2 * n, room + 3 * n, arena_get(p->a, (n + 1) * sizeof *ret->labels), false};
    for (size_t i = 0; room && ret->labels && i < n; i++) {
        struct charted_point point = charts_point(p, values[i], group, NULL);
        if (!numeric || !plotted_number(values[i], &ret->x[i]))
            ret->x[i] = (double)i;
        ret->y[i] = point.median;
        ret->low[i] = point.n > 1 && point.low < point.high ? point.low : NAN;
        ret->high[i] = point.n > 1 && point.low < point.high ? point.high : NAN;
        ret->labels[i] = arena_printf(p->a, "%s, median of %zu", values[i], point.n);
        ret->has_range = ret->has_range || isfinite(ret->low[i]);
    }
    return room && ret->labels;
}

int charts_sweep(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err)
{
    size_t n, groups = 0, used = 0;
    const char **values = charts_values(p, 0, &n), **names = p->fields[1] ? charts_values(p, 1, &groups) : NULL;
    bool is_log = false, two = false, numeric = charts_numeric(values, n, &is_log, &two);
    struct chart *c = charts_add(to, p->a);
    struct chart_series *series = arena_get(p->a, 2 * (groups + 1) * sizeof *series);
    for (size_t g = 0; c && series && values && g < (names ? groups : 1); g++) {
        struct sweep_curve curve;
        if (!curve_of(p, values, n, numeric, names ? names[g] : NULL, &curve))
            return err_memory(err, "the points of a sweep");
        int like = (int)g + 1;
        series[used++] = (struct chart_series){
            .name = names ? names[g] : NULL, .mark = CHART_CURVE, .x = curve.x, .y = curve.y, .n = n, .labels = curve.labels, .like = like};
        if (curve.has_range)
            series[used++] =
                (struct chart_series){.mark = CHART_WHISKERS, .x = curve.x, .y = curve.low, .y2 = curve.high, .n = n, .like = like};
    }
    if (!c || !series || !values)
        return err_memory(err, "the points of a sweep");
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < p->count; i++)
        if (isfinite(p->list[i].value[0])) {
            low = fmin(low, p->list[i].value[0]);
            high = fmax(high, p->list[i].value[0]);
        }
    *c = (struct chart){.title = arena_printf(p->a, "%s over %s%s%s", charts_axis(&p->metric[0]).label, p->fields[0], names ? " by " : "",
                                              names ? p->fields[1] : ""),
                        .note = note,
                        .y = charts_axis(&p->metric[0]),
                        .series = series,
                        .count = used};
    c->x = (struct chart_axis){.label = p->fields[0], .log = is_log, .two = two};
    c->y.log = low > 0 && high / low >= 20;
    c->y.zero = !c->y.log && low >= 0;
    if (!numeric) {
        c->x.names = values;
        c->x.count = n;
    }
    charts_left(p, charts_without(p, 0), p->fields[0], c);
    return 0;
}

/* ---- heat map ---- */

int charts_heatmap(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err)
{
    size_t columns, rows, used = 0;
    const char **across = charts_values(p, 0, &columns), **up = charts_values(p, 2, &rows);
    struct chart *c = charts_add(to, p->a);
    if (!across || !up || !c)
        return err_memory(err, "the cells of a heat map");
    if (columns * rows > CELLS_MAX)
        return err_set(err, ERR_INPUT, "a heat map of %zu x %zu cells has more than %d; choose fewer values by --filter", columns, rows,
                       CELLS_MAX);
    double *room = arena_get(p->a, 3 * (columns * rows + 1) * sizeof *room);
    struct chart_series *cells = ARENA_NEW(p->a, struct chart_series);
    if (!room || !cells)
        return err_memory(err, "the cells of a heat map");
    double *x = room, *y = room + columns * rows, *v = room + 2 * columns * rows;
    const char **labels = arena_get(p->a, (columns * rows + 1) * sizeof *labels);
    for (size_t r = 0; labels && r < rows; r++)
        for (size_t k = 0; k < columns; k++, used++) {
            x[used] = (double)k;
            y[used] = (double)r;
            v[used] = charts_point(p, across[k], NULL, up[r]).median;
            labels[used] = arena_printf(p->a, "%s=%s %s=%s", p->fields[0], across[k], p->fields[2], up[r]);
        }
    *cells = (struct chart_series){.mark = CHART_CELLS, .x = x, .y = y, .y2 = v, .n = used, .labels = labels};
    *c = (struct chart){.title = arena_printf(p->a, "%s over %s and %s", charts_axis(&p->metric[0]).label, p->fields[0], p->fields[2]),
                        .note = note,
                        .x = {.label = p->fields[0], .names = across, .count = columns},
                        .y = {.label = p->fields[2], .names = up, .count = rows},
                        .shade = charts_axis(&p->metric[0]),
                        .series = cells,
                        .count = 1};
    charts_left(p, charts_without(p, 0) + charts_without(p, 2), "both params", c);
    return p->a->failed ? err_memory(err, "the cells of a heat map") : 0;
}

/* ---- Pareto front ---- */

static bool is_on_better_side(enum chart_better way, double a, double b)
{
    return way == CHART_HIGHER ? a > b : a < b;
}

static int by_first(const void *x, const void *y)
{
    const struct plotted_row *const *a = x, *const *b = y;
    return ((*a)->value[0] > (*b)->value[0]) - ((*a)->value[0] < (*b)->value[0]);
}

/* Returns whether another row is better in one metric, and not worse in the other. */
static bool is_dominated(const struct plotted_rows *p, const struct plotted_row *row)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct plotted_row *o = &p->list[i];
        if (!isfinite(o->value[0]) || !isfinite(o->value[1]))
            continue;
        bool first = is_on_better_side(p->metric[0].better, o->value[0], row->value[0]),
             second = is_on_better_side(p->metric[1].better, o->value[1], row->value[1]);
        if ((first && (second || o->value[1] == row->value[1])) || (second && o->value[0] == row->value[0]))
            return true;
    }
    return false;
}

/* Returns whether the values are positive and the largest is 20 times the smallest, or more. */
static bool wide_range(const double *v, size_t n)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        low = fmin(low, v[i]), high = fmax(high, v[i]);
    return low > 0 && high / low >= 20;
}

int charts_pareto(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err)
{
    const struct plotted_row **front = arena_get(p->a, (p->count + 1) * sizeof *front),
                             **rest = arena_get(p->a, (p->count + 1) * sizeof *rest);
    size_t n = 0, others = 0, lacking = 0;
    for (size_t i = 0; i < 2; i++)
        if (p->metric[i].better == CHART_NEITHER)
            return err_set(err, ERR_INPUT, "%.60s has no direction: no value of it is better than another",
                           charts_axis(&p->metric[i]).label);
    for (size_t i = 0; front && rest && i < p->count; i++) {
        const struct plotted_row *row = &p->list[i];
        if (!isfinite(row->value[0]) || !isfinite(row->value[1]))
            lacking += isfinite(row->value[0]);
        else if (is_dominated(p, row))
            rest[others++] = row;
        else
            front[n++] = row;
    }
    if (n)
        qsort(front, n, sizeof *front, by_first);
    double *room = arena_get(p->a, 2 * (n + others + 1) * sizeof *room);
    const char **labels = arena_get(p->a, (n + others + 1) * sizeof *labels);
    struct chart_series *series = arena_get(p->a, 2 * sizeof *series);
    struct chart *c = charts_add(to, p->a);
    if (!front || !rest || !room || !labels || !series || !c)
        return err_memory(err, "the points of a front");
    double *x = room, *y = room + n + others;
    for (size_t i = 0; i < n + others; i++) {
        const struct plotted_row *row = i < n ? front[i] : rest[i - n];
        x[i] = row->value[0];
        y[i] = row->value[1];
        labels[i] = p->fields[1] && row->fields[1] ? row->fields[1] : row->label;
    }
    series[0] = (struct chart_series){.name = "best in one without loss in the other",
                                      .mark = CHART_CURVE,
                                      .x = x,
                                      .y = y,
                                      .n = n,
                                      .labels = labels,
                                      .named = n <= FRONT_NAMED};
    series[1] = (struct chart_series){
        .name = "others", .mark = CHART_POINTS, .x = x + n, .y = y + n, .n = others, .labels = labels + n, .muted = true};
    *c = (struct chart){.title = arena_printf(p->a, "%s against %s", charts_axis(&p->metric[1]).label, charts_axis(&p->metric[0]).label),
                        .note = note,
                        .x = charts_axis(&p->metric[0]),
                        .y = charts_axis(&p->metric[1]),
                        .series = series,
                        .count = others ? 2 : 1};
    c->x.log = wide_range(x, n + others);
    c->y.log = wide_range(y, n + others);
    charts_left(p, lacking, p->metric[1].name, c);
    return 0;
}
