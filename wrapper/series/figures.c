/* figures.c: statistics over the repetitions of a series, point by point, from its notes. */
#include "series/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct series_run_value *series_value_of(const struct series_repetition *run, const char *key)
{
    for (const struct series_run_value *v = run->values; v; v = v->next)
        if (strcmp(v->key, key) == 0)
            return v;
    return NULL;
}

/* Returns the first statistic of the list with this key; NULL: none. */
static struct series_figure *figure_of(struct series_figure *list, const char *key)
{
    for (; list; list = list->next)
        if (strcmp(list->key, key) == 0)
            return list;
    return NULL;
}

/* Calculates the statistics of one metric at one point from f->runs, and copies its values to
 * f->values in the arena. `room` has an element for each run. Out of memory sets stats.n to 0. */
static void series_calculate(struct series_figure *f, struct arena *a, double *room)
{
    size_t count = 0;
    for (size_t i = 0; i < f->runs_count; i++) {
        const struct series_run_value *v = series_value_of(f->runs[i], f->key);
        if (v)
            room[count++] = v->value;
    }
    stats_of(room, count, &f->stats);
    double *values = arena_get(a, count * sizeof *values);
    if (values)
        memcpy(values, room, count * sizeof *values);
    else
        f->stats.n = 0;
    f->values = values;
}

/* Returns the metrics of one point with their statistics, as a list in the arena. `runs`: those
 * that count there, in the arena. `room`: as for series_calculate. */
static struct series_figure *figures_at(const struct series_repetition *const *runs, size_t count, size_t point, double *room,
                                        struct arena *a)
{
    struct series_figure *first = NULL, **at = &first;
    for (size_t i = 0; i < count; i++)
        for (const struct series_run_value *v = runs[i]->values; v; v = v->next) {
            struct series_figure *f = figure_of(first, v->key);
            if (!f && (f = ARENA_NEW(a, struct series_figure))) {
                *f = (struct series_figure){.key = v->key,
                                            .of = v->of,
                                            .unit = v->unit,
                                            .direction = v->direction,
                                            .point = point,
                                            .runs = runs,
                                            .runs_count = count};
                *at = f;
                at = &f->next;
            }
            if (f)
                f->headline |= v->headline;
        }
    for (struct series_figure *f = first; f; f = f->next)
        series_calculate(f, a, room);
    return first;
}

/* Sorts the runs that count by point into `runs`, which has n->count elements; those of point i
 * are from begin[i] to begin[i + 1]. `begin` has one element more than points, all zero. */
static void sort_by_point(const struct series_notes *n, const struct series_repetition **runs, size_t *begin)
{
    for (const struct series_repetition *run = n->first; run; run = run->next)
        if (run->point < n->sweep.points && series_counts(run))
            begin[run->point + 1]++;
    for (size_t i = 0; i < n->sweep.points; i++)
        begin[i + 1] += begin[i];
    for (const struct series_repetition *run = n->first; run; run = run->next)
        if (run->point < n->sweep.points && series_counts(run))
            runs[begin[run->point]++] = run;
    for (size_t i = n->sweep.points; i > 0; i--) /* each has moved to where the next one begins */
        begin[i] = begin[i - 1];
    begin[0] = 0;
}

struct series_figure *series_figures(struct series_notes *n)
{
    struct series_figure *first = NULL, **at = &first;
    double *room = calloc(n->count + 1, sizeof *room);
    const struct series_repetition **runs = arena_get(&n->arena, n->count * sizeof *runs);
    size_t *begin = arena_get(&n->arena, (n->sweep.points + 1) * sizeof *begin);
    bool good = room && runs && begin;
    if (good)
        sort_by_point(n, runs, begin);
    for (size_t i = 0; good && i < n->sweep.points; i++) {
        *at = figures_at(runs + begin[i], begin[i + 1] - begin[i], i, room, &n->arena);
        while (*at)
            at = &(*at)->next;
    }
    if (!good || !series_mark_best(first))
        n->arena.failed = true;
    free(room);
    return first;
}

/* Returns whether the metric cannot be negative: by its unit, but not by percent, which may be a
 * difference, or by its direction, since rules believe no negative value of such a metric. */
static bool is_amount(const struct series_figure *f)
{
    return f->direction != DIR_NONE || (f->unit[0] && strcmp(f->unit, "percent") != 0);
}

const char *series_no_interval(const struct series_figure *f)
{
    const struct stats *s = &f->stats;
    if (s->n < 3)
        return "too few values";
    if (is_amount(f) && s->min >= 0 && s->ci_low < 0)
        return "the values are too few or too far apart: the interval would reach below zero";
    if (strcmp(f->unit, "percent") == 0 && s->min >= 0 && s->max <= 100 && (s->ci_low < 0 || s->ci_high > 100))
        return "the values are too few or too far apart: the interval would reach beyond 0 to 100 %";
    return NULL;
}

double series_relative(const struct stats *s)
{
    double half = (s->ci_high - s->ci_low) / 2;
    if (s->n < 3)
        return -1;
    return half == 0 ? 0 : s->mean != 0 ? half / fabs(s->mean) : -1;
}

bool series_stable(struct series_notes *n, size_t point, size_t least, double wanted, const char **ret_worst)
{
    struct arena a; /* not the notes': after each repetition the statistics are new ones */
    arena_init(&a, 0);
    double *room = arena_get(&a, n->count * sizeof *room), worst = 0;
    const struct series_repetition **runs = arena_get(&a, n->count * sizeof *runs);
    const struct series_figure *widest = NULL;
    size_t headlines = 0, count = 0;
    for (const struct series_repetition *run = runs ? n->first : NULL; run; run = run->next)
        if (run->point == point && series_counts(run))
            runs[count++] = run;
    for (const struct series_figure *f = room && runs ? figures_at(runs, count, point, room, &a) : NULL; f; f = f->next) {
        double relative = f->stats.n >= least ? series_relative(&f->stats) : -1;
        if (!f->headline)
            continue;
        headlines++;
        if (relative < 0 || relative > wanted) {
            if (!widest || relative < 0 || (worst >= 0 && relative > worst)) {
                widest = f;
                worst = relative;
            }
        }
    }
    if (ret_worst && widest)
        *ret_worst = worst < 0 ? arena_printf(&n->arena, "%s has %zu samples", widest->key, widest->stats.n)
                               : arena_printf(&n->arena, "%s is within +-%.2g %%", widest->key, worst * 100);
    bool stable = headlines && !widest && !a.failed;
    arena_deinit(&a);
    return stable;
}

const char *series_label(struct series_notes *n, size_t point)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, SWEEP_AXES_MAX * (SWEEP_VALUE_MAX + 256));
    sweep_label(&n->sweep, point, &b);
    return b.n ? arena_dup(&n->arena, b.p, b.n) : "";
}
