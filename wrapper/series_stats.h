/* series_stats.h: statistics over the repetitions of a series: from its notes to metrics, a table and a verdict. */
#ifndef WRAPPER_SERIES_STATS_H
#define WRAPPER_SERIES_STATS_H
#include "base/stats.h"
#include "benchmarks/rules.h"
#include "wrapper/series_notes.h"

/* One metric at one point of the sweep, over the runs that count. */
struct series_figure {
    const char *key, *of, *unit;
    enum direction direction;
    bool headline;
    size_t point;
    struct stats stats;
    struct series_figure *next;
};

/* All figures, point by point, in the notes' arena. NULL: there are none, or no memory (arena.failed). */
struct series_figure *series_figures(struct series_notes *n);
/* Half the width of the 95 % interval over the mean's size; -1: too few samples, or the mean is 0 and the samples differ. */
double series_relative(const struct stats *s);
/* Are the headline metrics of a point stable: least samples or more, the interval's half width at most `wanted` of the mean? Else *ret_worst (may be
 * NULL) tells of the widest, in words, in the notes' arena. */
bool series_stable(struct series_notes *n, size_t point, size_t least, double wanted, const char **ret_worst);
/* A table for people: point, metric, n, median, mean, interval. all: not only the headlines; at most `most`
 * lines (0: any number), then how many more there are. With line ends. */
void series_table(struct series_notes *n, const struct series_figure *figures, bool all, size_t most, struct buf *to);
/* The same for programs: the member "repetitions" of the open object, an array of all figures; what so few samples do not tell is null. */
struct json_out;
void series_json(struct series_notes *n, const struct series_figure *figures, struct json_out *j);

/* Reads the notes in the spool; metrics, missing values, warnings and the artifacts (notes, points.csv) go into the record, and into *ret the verdict:
 * fail when a repetition failed or one's verdict is fail, pass when all pass. */
int series_finish(struct record *r, int spool, struct rules_outcome *ret, struct err *err);
#endif
