/* sweep.h: the values of --sweep, their combinations, and their insertion into a command line.
 * Nothing is started or written here. */
#ifndef SERIES_SWEEP_H
#define SERIES_SWEEP_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { SWEEP_AXES_MAX = 16, SWEEP_POINTS_MAX = 10000, SWEEP_VALUE_MAX = 4096 };

struct sweep_axis {
    const char *name; /* [A-Za-z_][A-Za-z0-9_.-]* */
    const char *const *values;
    size_t count;
    bool integers; /* all of them: then they can be the steps of a series */
};

struct parameter_sweep {
    struct sweep_axis axes[SWEEP_AXES_MAX];
    size_t count;
    size_t points; /* product of the axes' counts; 1 without an axis; with a table its rows */
    const char *const *table; /* points that are no product: the values of each, axis by axis; NULL: the product */
};

/* Adds "NAME=VALUES". VALUES is a list parted by commas; an item A..B is the integers from A to B,
 * A..B+S (or -S) those in steps of S, A..B*F those that grow by the factor F; a backslash removes
 * the special meaning of the next character. No name and no value may come twice. ERR_USAGE. */
int sweep_add(struct parameter_sweep *s, const char *text, struct arena *a, struct err *err);
/* Reads "NAME=VALUES" as one axis, without adding it. repeats: a value may come twice. ERR_USAGE. */
int sweep_read_axis(struct sweep_axis *ret, const char *text, bool repeats, struct arena *a, struct err *err);
/* Returns the value of an axis at a point; the first axis changes slowest. */
const char *sweep_value(const struct parameter_sweep *s, size_t point, size_t axis);
/* Appends text with {NAME} replaced, once, by the values of the point; {{NAME}} becomes {NAME};
 * other braces stay as they are. */
void sweep_replace(const struct parameter_sweep *s, size_t point, const char *text, struct buf *to);
/* Returns whether the text has {NAME} for the axis, to be replaced. */
bool sweep_uses(const struct parameter_sweep *s, size_t axis, const char *text);
/* Appends the values of a point, "n=4 mode=write"; nothing without an axis. The values are the
 * user's and not escaped. */
void sweep_label(const struct parameter_sweep *s, size_t point, struct buf *to);
/* Returns texts for keys, one per point, each legal as the beginning of a metric's key and
 * different from the others: "n_4.mode_write"; in the arena. NULL: out of memory. */
const char *const *sweep_keys(const struct parameter_sweep *s, struct arena *a);
#endif
