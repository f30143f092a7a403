/* charts_runs.c: values of runs over time and by group; see charts.h. */
#include "base/array.h"
#include "base/show.h"
#include "base/stats.h"
#include "history/change_points.h"
#include "report/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANGE_EFFECT 0.02 /* smaller changes of the level are not marked, as in `benchwrap history` */
enum { HISTORY_BEFORE = 50 /* values before one that define what is expected */, CHANGES_MOST = 50 };

struct chart *charts_add(struct chart_list *to, struct arena *a)
{
    if (!ARRAY_FITS_IN(a, to->list, to->room, to->count + 1))
        return NULL;
    to->list[to->count] = (struct chart){.title = ""};
    return &to->list[to->count++];
}

struct chart_axis charts_axis(const struct plotted_metric *m)
{
    return (struct chart_axis){.label = m->name ? m->name : m->wanted ? m->wanted : "value", .unit = m->shown_unit, .better = m->better};
}

void charts_left(const struct plotted_rows *p, size_t lacking, const char *fact, struct chart *c)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4000);
    if (p->failed)
        buf_printf(&b, "%zu run%s that did not finish", p->failed, str_plural(p->failed));
    if (p->lacking)
        buf_printf(&b, "%s%zu without %s", b.n ? ", " : "", p->lacking, charts_axis(&p->metric[0]).label);
    if (p->other_units)
        buf_printf(&b, "%s%zu with %s in another unit (%s)", b.n ? ", " : "", p->other_units, charts_axis(&p->metric[0]).label,
                   p->other_unit);
    if (lacking)
        buf_printf(&b, "%s%zu without %s", b.n ? ", " : "", lacking, fact ? fact : "a group");
    if (p->other_keys)
        buf_printf(&b, "%s%zu of another key (%s)", b.n ? ", " : "", p->other_keys, p->other_why);
    c->left_out = p->failed + p->lacking + p->other_units + lacking + p->other_keys;
    c->left_why = b.n ? arena_dup(p->a, b.p, b.n) : NULL;
}

const char **charts_values(const struct plotted_rows *p, size_t field, size_t *ret_n)
{
    const char **all = arena_get(p->a, (p->count + 1) * sizeof *all);
    size_t n = 0, used = 0;
    for (size_t i = 0; all && i < p->count; i++)
        if (p->list[i].fields[field])
            all[n++] = p->list[i].fields[field];
    if (n)
        qsort(all, n, sizeof *all, str_natural_order);
    for (size_t i = 0; i < n; i++)
        if (!used || strcmp(all[used - 1], all[i]) != 0)
            all[used++] = all[i];
    if (all)
        all[used] = NULL;
    *ret_n = used;
    return all;
}

bool charts_numeric(const char *const *values, size_t n, bool *ret_log, bool *ret_two)
{
    double low = INFINITY, high = -INFINITY, v;
    bool two = n > 0;
    for (size_t i = 0; i < n; i++) {
        if (!plotted_number(values[i], &v))
            return false;
        int exponent;
        low = fmin(low, v);
        high = fmax(high, v);
        two = two && v > 0 && frexp(v, &exponent) == 0.5;
    }
    *ret_log = n > 2 && low > 0 && high / low >= 8;
    *ret_two = *ret_log && two;
    return n > 0;
}

/* Orders rows by the start of their runs. */
static int by_start(const void *x, const void *y)
{
    const struct plotted_row *a = x, *b = y;
    return (a->start_ms > b->start_ms) - (a->start_ms < b->start_ms);
}

/* ---- history ---- */

struct history_line {
    double *x, *y, *low, *high, *from, *till; /* low, high: repetitions; from, till: what was expected */
    const char **labels;
    size_t n;
    bool has_range, has_expected;
};

/* Fills *ret with the rows of one group (NULL: all rows), in the arena: values, recorded ranges,
 * and the range that the up to HISTORY_BEFORE values before each one let expect. Returns false when
 * out of memory. */
static bool history_line_of(struct plotted_rows *p, const char *group, struct history_line *ret)
{
    double *room = arena_get(p->a, 6 * (p->count + 1) * sizeof *room), *before = malloc((p->count + 1) * sizeof *before);
    size_t step = p->count + 1, known = 0;
    *ret = (struct history_line){room, room + step, room + 2 * step, room + 3 * step, room + 4 * step, room + 5 * step, .n = 0};
    ret->labels = arena_get(p->a, step * sizeof *ret->labels);
    for (size_t i = 0; room && before && ret->labels && i < p->count; i++) {
        const struct plotted_row *row = &p->list[i];
        struct stats_expected expected;
        if (group && (!row->fields[1] || strcmp(row->fields[1], group) != 0))
            continue;
        size_t n = ret->n++, last = known > HISTORY_BEFORE ? HISTORY_BEFORE : known;
        bool has_range = isfinite(row->low) && row->high > row->low;
        ret->x[n] = (double)row->start_ms;
        ret->y[n] = row->value[0];
        ret->low[n] = has_range ? row->low : NAN;
        ret->high[n] = has_range ? row->high : NAN;
        ret->from[n] = ret->till[n] = NAN;
        ret->labels[n] = row->label;
        ret->has_range = ret->has_range || has_range;
        if (isnan(row->value[0]))
            continue;
        if (stats_expect(before + known - last, last, row->value[0], &expected)) {
            ret->from[n] = expected.low;
            ret->till[n] = expected.high;
            ret->has_expected = true;
        }
        before[known++] = row->value[0];
    }
    bool good = room && before && ret->labels;
    free(before);
    return good;
}

/* Adds a guide for each change of the level. False: out of memory. */
static bool find_changes(struct plotted_rows *p, struct chart_guide *guide, size_t *guides)
{
    struct change_points found = {0};
    double *v = malloc((p->count + 1) * sizeof *v);
    const struct plotted_row **rows = malloc((p->count + 1) * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; v && rows && i < p->count; i++)
        if (isfinite(p->list[i].value[0])) {
            rows[n] = &p->list[i];
            v[n++] = p->list[i].value[0];
        }
    bool good = v && rows && change_points_find(v, n, CHANGE_EFFECT, &found);
    for (size_t i = 0; good && i < found.count && i < CHANGES_MOST; i++) {
        const struct change_point *c = &found.list[i];
        CLEANUP_BUF struct buf label;
        buf_init(&label, 200);
        if (c->before > 0 && c->after > 0)
            show_change(&label, c->after / c->before);
        else
            buf_puts(&label, "change");
        buf_printf(&label, ", run %.8s", rows[c->at]->run->id);
        guide[(*guides)++] = (struct chart_guide){CHART_CHANGE, (double)rows[c->at]->start_ms, NAN, arena_dup(p->a, label.p, label.n)};
    }
    change_points_deinit(&found);
    free(v);
    free(rows);
    return good;
}

int charts_history(struct plotted_rows *p, const double reference[2], const char *note, struct chart_list *to, struct err *err)
{
    size_t groups = 0, n = 0, guides = 0;
    const char **names = p->fields[1] ? charts_values(p, 1, &groups) : NULL;
    struct chart *c = charts_add(to, p->a);
    struct chart_series *series = arena_get(p->a, 3 * (groups + 1) * sizeof *series);
    struct chart_guide *guide = arena_get(p->a, (CHANGES_MOST + 1) * sizeof *guide);
    if (p->count)
        qsort(p->list, p->count, sizeof *p->list, by_start);
    for (size_t g = 0; c && series && g < (names ? groups : 1); g++) {
        struct history_line line;
        if (!history_line_of(p, names ? names[g] : NULL, &line))
            return err_memory(err, "the history of %zu runs", p->count);
        int like = (int)g + 1;
        struct chart_series *at = &series[n++];
        *at = (struct chart_series){.name = names ? names[g] : NULL,
                                    .mark = CHART_CURVE,
                                    .x = line.x,
                                    .y = line.y,
                                    .n = line.n,
                                    .labels = line.labels,
                                    .like = like};
        if (line.has_range) {
            at = &series[n++];
            *at = (struct chart_series){.mark = CHART_WHISKERS, .x = line.x, .y = line.low, .y2 = line.high, .n = line.n, .like = like};
        }
        if (line.has_expected && groups < 2) {
            at = &series[n++];
            *at = (struct chart_series){.name = "expected after the values before",
                                        .mark = CHART_BAND,
                                        .x = line.x,
                                        .y = line.from,
                                        .y2 = line.till,
                                        .n = line.n,
                                        .like = like};
        }
    }
    if (!c || !series || !guide)
        return err_memory(err, "the history of %zu runs", p->count);
    if (reference && isfinite(reference[0]) && isfinite(reference[1]))
        guide[guides++] = (struct chart_guide){CHART_RANGE, reference[0], reference[1], "reference"};
    else if (reference && (isfinite(reference[0]) || isfinite(reference[1])))
        guide[guides++] = (struct chart_guide){CHART_REFERENCE, isfinite(reference[0]) ? reference[0] : reference[1], NAN, "reference"};
    if (groups < 2 && !find_changes(p, guide, &guides))
        return err_memory(err, "the change points of %zu runs", p->count);
    *c = (struct chart){.title = arena_printf(p->a, "%s over time", charts_axis(&p->metric[0]).label),
                        .note = note,
                        .y = charts_axis(&p->metric[0]),
                        .x = {.label = "start of the run, UTC", .time = true},
                        .series = series,
                        .count = n,
                        .guides = guide,
                        .guide_count = guides};
    charts_left(p, 0, NULL, c);
    return p->a->failed ? err_memory(err, "the history of %zu runs", p->count) : 0;
}

void charts_reference(const struct plotted_rows *p, double ret[2])
{
    const struct plotted_row *newest = NULL;
    const char *problem = NULL;
    ret[0] = ret[1] = NAN;
    for (size_t i = 0; i < p->count; i++)
        if (!newest || p->list[i].start_ms > newest->start_ms)
            newest = &p->list[i];
    struct json *detail = newest && p->metric[0].key ? runs_detail(p->runs, newest->run, &problem, p->a) : NULL;
    for (const struct json *m = json_first(json_get(detail, "references")); m; m = json_next(m))
        if (strcmp(json_string(json_get(m, "metric"), ""), p->metric[0].key) == 0) {
            ret[0] = json_number(json_get(m, "low"), NAN);
            ret[1] = json_number(json_get(m, "high"), NAN);
        }
    json_free(detail);
}

/* ---- groups ---- */

static const char *row_group(const struct plotted_rows *p, const struct plotted_row *row)
{
    return p->fields[1] ? row->fields[1] : row->group;
}

int charts_groups(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err)
{
    const char **names = arena_get(p->a, (p->count + 1) * sizeof *names);
    size_t groups = 0, n = 0, without = 0;
    if (p->fields[1])
        names = charts_values(p, 1, &groups);
    for (size_t i = 0; names && !p->fields[1] && i < p->count; i++) { /* operands in their order */
        size_t g = 0;
        while (g < groups && strcmp(names[g], p->list[i].group) != 0)
            g++;
        if (g == groups)
            names[groups++] = p->list[i].group;
    }
    struct chart *c = charts_add(to, p->a);
    struct chart_series *series = arena_get(p->a, (groups + 1) * sizeof *series);
    const char **lanes = arena_get(p->a, (groups + 1) * sizeof *lanes);
    for (size_t g = 0; c && series && lanes && names && g < groups; g++) {
        double *x = arena_get(p->a, (p->count + 1) * sizeof *x), *lane = arena_get(p->a, (p->count + 1) * sizeof *lane);
        const char **labels = arena_get(p->a, (p->count + 1) * sizeof *labels);
        size_t k = 0;
        for (size_t i = 0; x && lane && labels && i < p->count; i++) {
            const char *own = row_group(p, &p->list[i]);
            if (!own || strcmp(own, names[g]) != 0)
                continue;
            x[k] = p->list[i].value[0];
            lane[k] = (double)(groups - 1 - g);
            labels[k++] = p->list[i].label;
        }
        lanes[groups - 1 - g] = names[g];
        struct chart_series *at = &series[n++];
        *at = (struct chart_series){.name = names[g], .mark = CHART_BOX, .x = x, .y = lane, .n = k, .labels = labels};
    }
    if (!c || !series || !lanes || !names || p->a->failed)
        return err_memory(err, "the groups of %zu runs", p->count);
    for (size_t i = 0; i < p->count; i++)
        without += !row_group(p, &p->list[i]);
    *c = (struct chart){.title = arena_printf(p->a, "%s%s%s", charts_axis(&p->metric[0]).label, p->fields[1] ? " by " : "",
                                              p->fields[1] ? p->fields[1] : ""),
                        .note = note,
                        .x = charts_axis(&p->metric[0]),
                        .y = {.names = lanes, .count = groups},
                        .series = series,
                        .count = n};
    charts_left(p, without, p->fields[1], c);
    return 0;
}
