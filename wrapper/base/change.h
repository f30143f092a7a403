/* change.h: whether two groups of values show a change, decided in one place for every command. */
#ifndef BASE_CHANGE_H
#define BASE_CHANGE_H
#include <stdbool.h>
#include <stddef.h>

/* Chance of one false claim or more among all changes that are corrected together. */
#define CHANGE_LEVEL 0.05

struct change {
    bool known; /* there is a ratio: three values or more on both sides, with positive medians */
    double ratio, low, high; /* of the medians, with its 95 % interval */
    double p; /* chance of such a change, or a larger one, if nothing has changed; NaN: the interval alone decides */
    bool sure; /* set by changes_correct */
};

/* Computes the change from the values a to the values b; `sure` is left false for
 * changes_correct. */
void change_of(const double *a, size_t na, const double *b, size_t nb, struct change *ret);
/* Returns whether the change is known, and its interval does not contain 1, "no change". */
bool change_is_outside(const struct change *c);
/* Sets `sure` in all n changes: in those whose interval is outside "no change" and whose p, if
 * known, is significant at CHANGE_LEVEL after Holm's correction over all. False: out of memory,
 * `sure` is not set. */
bool changes_correct(struct change *const *changes, size_t n);
#endif
