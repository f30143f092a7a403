/* change_points.h: find the places of a series of values at which their level changed, and single values that deviate. */
#ifndef HISTORY_CHANGE_POINTS_H
#define HISTORY_CHANGE_POINTS_H
#include <stdbool.h>
#include <stddef.h>

enum {
    CHANGE_BEFORE_MIN = 4, /* values of one level that must precede a change */
    CHANGE_AFTER_MIN = 3 /* consecutive values that confirm it: fewer are outliers, or not confirmed yet */
};

struct change_point {
    size_t at; /* index of the first value of the new level */
    size_t seen; /* number of values after which it was found: at + 3 or more */
    double before, after; /* medians of the neighbouring levels */
    bool ratio_known; /* else a median is not positive, or a side has too few values */
    double ratio, low, high; /* after / before with its 95 % interval */
    double p; /* chance of such a difference, or a larger one, between values of one level */
};

enum odd_value_kind { ODD_OUTLIER, ODD_UNCONFIRMED /* the newest one or two: the next ones decide */ };
struct odd_value {
    size_t at;
    enum odd_value_kind kind;
    double expected; /* the median of its level */
};

struct change_points {
    struct change_point *list; /* oldest first */
    size_t count;
    struct odd_value *odd;
    size_t odd_count;
};

/* v: finite values, oldest first. min_effect: smaller changes are ignored, as a fraction of the earlier level. The result depends on the values only. Free with
 * change_points_deinit, also after a failure. False: out of memory. Method: see change_points.c. */
bool change_points_find(const double *v, size_t n, double min_effect, struct change_points *ret);
void change_points_deinit(struct change_points *points);
#endif
