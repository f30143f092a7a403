/* charts_scaling.c: scaling as two charts: the metric with the ideal line, and the efficiency; see charts.h. */
#include "report/charts.h"
#include "report/scaling.h"

#include <math.h>

/* The points of a line as columns. */
struct scaling_columns {
    double *x, *y, *low, *high, *ideal, *share;
    const char **labels;
};

/* Fills *ret with one value for each point of the line, in the arena; a range that is not known is
 * NaN. share: the efficiency in percent. Returns false when out of memory. */
static bool scaling_columns_of(const struct plotted_rows *p, const struct scaling *s, const struct scaling_line *line,
                               struct scaling_columns *ret)
{
    size_t n = s->points;
    double *room = arena_get(p->a, 6 * (n + 1) * sizeof *room);
    *ret = (struct scaling_columns){
        room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 5 * n, arena_get(p->a, (n + 1) * sizeof *ret->labels)};
    for (size_t i = 0; room && ret->labels && i < n; i++) {
        const struct scaling_point *at = &line->points[i];
        bool has_range = at->n > 1 && at->low < at->high;
        ret->x[i] = at->x;
        ret->y[i] = at->median;
        ret->low[i] = has_range ? at->low : NAN;
        ret->high[i] = has_range ? at->high : NAN;
        ret->ideal[i] = at->ideal;
        ret->share[i] = 100 * at->efficiency;
        ret->labels[i] = arena_printf(p->a, "%s, median of %zu", at->text, at->n);
    }
    return room && ret->labels;
}

int charts_scaling(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err)
{
    struct scaling s;
    size_t n, used = 0;
    bool is_log, two;
    if (scaling_read(p, &s, err) < 0)
        return -1;
    const char **values = charts_values(p, 0, &n), *kind = scaling_kind_name(s.kind);
    struct chart_series *series = arena_get(p->a, (4 * s.count + 2) * sizeof *series), *efficiency = series ? series + 3 * s.count : NULL;
    struct chart_guide *full = ARENA_NEW(p->a, struct chart_guide);
    for (size_t g = 0; series && g < s.count; g++) {
        struct scaling_columns c;
        const char *name = s.lines[g].name;
        if (!scaling_columns_of(p, &s, &s.lines[g], &c))
            return err_memory(err, "the points of a scaling plot");
        int like = (int)g + 1;
        efficiency[g] =
            (struct chart_series){.name = name, .mark = CHART_CURVE, .x = c.x, .y = c.share, .n = n, .labels = c.labels, .like = like};
        series[used++] = (struct chart_series){
            .name = name ? name : "measured", .mark = CHART_CURVE, .x = c.x, .y = c.y, .n = n, .labels = c.labels, .like = like};
        series[used++] = (struct chart_series){.mark = CHART_WHISKERS, .x = c.x, .y = c.low, .y2 = c.high, .n = n, .like = like};
        series[used++] = (struct chart_series){.name = g == 0 ? "ideal" : NULL, .mark = CHART_IDEAL, .x = c.x, .y = c.ideal, .n = n};
    }
    size_t first = to->count;
    if (!values || !series || !full || !charts_add(to, p->a) || !charts_add(to, p->a))
        return err_memory(err, "the points of a scaling plot");
    *full = (struct chart_guide){CHART_REFERENCE, 100, NAN, "ideal"};
    charts_numeric(values, n, &is_log, &two);
    const struct chart_axis x = {.label = p->fields[0], .log = is_log, .two = two};
    struct chart *c = &to->list[first];
    *c = (struct chart){.title = arena_printf(p->a, "%s scaling of %s over %s", s.kind == SCALING_STRONG ? "Strong" : "Weak",
                                              charts_axis(&p->metric[0]).label, p->fields[0]),
                        .note = arena_printf(p->a, "%s%s%s", s.formula, note && *note ? ".  " : "", note ? note : ""),
                        .x = x,
                        .y = charts_axis(&p->metric[0]),
                        .series = series,
                        .count = used};
    c->y.log = s.kind == SCALING_STRONG || s.is_rate;
    c->y.zero = !c->y.log;
    charts_left(p, charts_without(p, 0), p->fields[0], c);
    to->list[first + 1] = (struct chart){.title = arena_printf(p->a, "Efficiency of %s scaling", kind),
                                         .x = x,
                                         .y = {.label = "efficiency", .unit = "%", .better = CHART_HIGHER, .zero = true},
                                         .series = efficiency,
                                         .count = s.count,
                                         .guides = full,
                                         .guide_count = 1};
    return p->a->failed ? err_memory(err, "the points of a scaling plot") : 0;
}
