/* repeat_plan.h: what a series is to do, from the options, and the command line of each of its runs. */
#ifndef REPEAT_REPEAT_PLAN_H
#define REPEAT_REPEAT_PLAN_H
#include "plan/plan.h"
#include "series/notes.h"

enum { SERIES_RUNS_MAX = 100000, SERIES_LEAST_STABLE = 5 };

struct repeat_plan {
    struct parameter_sweep sweep;
    size_t repeat, warmup; /* of each point; with until > 0 repeat is the least */
    double until; /* relative half-width, 0.02; 0: a fixed number */
    size_t most; /* repetitions of a point, with until */
    double max_time; /* seconds, 0: no limit */
    bool interleave, shuffle, keep_going, steps, quiet, gate;
    uint64_t seed;
    const char *input; /* file, NULL: empty */
};

/* ERR_USAGE where the options do not fit each other or the command. Texts in p's arena. */
int repeat_plan_make(struct repeat_plan *ret, struct plan *p, struct err *err);
/* Do the options ask for several runs? */
bool repeat_is_requested(const struct plan *p);
/* The program and its arguments at a point. In the arena; NULL without memory. */
char **repeat_program_words(const struct repeat_plan *s, const struct plan *p, size_t point, struct arena *a);
/* How the points follow each other, in words. */
const char *repeat_order_words(const struct repeat_plan *s);
/* The line of one run: launcher, id, the caller's options without those of the series, parameters of the point, program. scratch: the tree for
 * the runs of a series that has steps, else NULL. In the arena; NULL without memory. */
char **repeat_launcher_line(const struct repeat_plan *s, const struct plan *p, const struct series_repetition *run, const char *scratch, struct arena *a);
#endif
