/* figures.h: statistics over the repetitions of a series, point by point, from its notes. */
#ifndef SERIES_FIGURES_H
#define SERIES_FIGURES_H
#include "base/stats.h"
#include "series/notes.h"

/* One metric at one point of the sweep, over the runs that count. */
struct series_figure {
    const char *key, *of, *unit;
    enum direction direction;
    bool headline;
    size_t point;
    struct stats stats;
    const double *values; /* stats.n of them, in the notes' arena */
    const struct series_repetition *const *runs; /* those that count at the point, in order, in the notes' arena */
    size_t runs_count;
    bool best;            /* of all points of a sweep (series_mark_best) */
    struct series_figure *next;
};

/* Returns why the metric has no 95 % interval of its mean. NULL: it has one. There is none for
 * fewer than three values. There is none either where no value is negative (a time, a size, a rate)
 * but the interval would reach below zero: the values are too few, or too different. */
const char *series_no_interval(const struct series_figure *f);
/* Marks the best point of each metric: the one that is better than every other by the test of a comparison (change.h), corrected for all points and
 * headline metrics. False: out of memory. */
bool series_mark_best(struct series_figure *figures);
/* Returns all statistics, point by point, in the notes' arena. NULL: there are none, or no memory
 * (arena.failed). */
struct series_figure *series_figures(struct series_notes *n);
/* Returns what the run measured of the metric; NULL: nothing. */
const struct series_run_value *series_value_of(const struct series_repetition *run, const char *key);
/* Returns the point in words ("n=4 mode=write"), in the notes' arena; "" when nothing is swept. */
const char *series_label(struct series_notes *n, size_t point);
/* Returns half the width of the 95 % interval over the mean's size; -1: too few samples, or the
 * mean is 0 and the samples differ. */
double series_relative(const struct stats *s);
/* Returns whether the headline metrics of a point are stable: `least` samples or more, the
 * interval's half width at most `wanted` of the mean. False also without a headline metric.
 * *ret_worst (may be NULL) then describes the widest interval, if there is one, in the notes'
 * arena. */
bool series_stable(struct series_notes *n, size_t point, size_t least, double wanted, const char **ret_worst);
#endif
