/* scaling.h: speed-up and efficiency of runs that differ in their number of nodes or tasks alone. */
#ifndef REPORT_SCALING_H
#define REPORT_SCALING_H
#include "report/rows.h"

enum scaling_kind { SCALING_NONE, SCALING_STRONG /* fixed total work */, SCALING_WEAK /* fixed work for each unit */ };
struct scaling_point {
    const char *text; /* "4", as the runs have it */
    double x, median, low, high; /* NaN: no run of the line has a value there */
    size_t n; /* values */
    double ideal, speedup, efficiency; /* against the line's smallest x with a value; efficiency 1 is ideal */
};
struct scaling_line {
    const char *name; /* NULL: there is one line */
    struct scaling_point *points; /* [scaling.points], by x */
};
struct scaling {
    enum scaling_kind kind;
    bool is_rate; /* the metric grows with the speed; else it is a time */
    const char *formula; /* "Strong scaling: fixed total work. Efficiency E(n) = …" */
    size_t points;
    struct scaling_line *lines;
    size_t count;
};

/* Shapes of a launch and the fact "scaling": runs of one scaling differ in them. NULL-terminated. */
extern const char *const scaling_facts[];
/* Returns the first shape of the launch in which the runs differ; NULL: none. */
const char *scaling_axis(struct tree_run *const *list, size_t n, struct arena *a);
/* Reads the rows of the first metric: fields[0] is the number of units, fields[1] makes lines, fields[2] is the amount of work. In the arena of the rows.
 * ERR_INPUT: the kind is not known or not one, the runs differ in something else, or the metric is neither a time nor a rate. */
int scaling_read(struct plotted_rows *p, struct scaling *ret, struct err *err);
const char *scaling_kind_name(enum scaling_kind kind); /* "strong", "weak" */
#endif
