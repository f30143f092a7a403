/* repeat_plan.h: read from the options which runs to make, and build the command line of each. */
#ifndef REPEAT_REPEAT_PLAN_H
#define REPEAT_REPEAT_PLAN_H
#include "plan/plan.h"
#include "series/notes.h"

enum { SERIES_RUNS_MAX = 100000, SERIES_LEAST_STABLE = 5 };

struct repeat_plan {
    struct parameter_sweep sweep;
    size_t repeat, warmup; /* of each point; with until > 0 repeat is the minimum */
    double until; /* relative half-width, 0.02; 0: a fixed number */
    size_t most; /* maximum of repetitions of a point; without until equal to repeat */
    double max_time; /* seconds, 0: no limit */
    bool interleave, shuffle, keep_going, steps, quiet, gate;
    uint64_t seed;
    const char *input; /* file, NULL: empty */
};

/* Reads the plan. 0; -1: ERR_USAGE if the options contradict each other or the command. Texts are in
 * p's arena. */
int repeat_plan_make(struct repeat_plan *ret, struct plan *p, struct err *err);
/* Returns true if the options request several runs. */
bool repeat_is_requested(const struct plan *p);
/* Returns the program and its arguments at a point. In the arena; NULL: out of memory. */
char **repeat_program_words(const struct repeat_plan *s, const struct plan *p, size_t point, struct arena *a);
/* Returns the order of the points in words. */
const char *repeat_order_words(const struct repeat_plan *s);
/* Returns the command line of one run: launcher, id, the caller's options without those for
 * repetitions, parameters of the point, program. scratch: the tree for runs with --as steps, else
 * NULL. program: its words; NULL: those of the plan, with the values of the point. In the arena;
 * NULL: out of memory. */
char **repeat_launcher_line(const struct repeat_plan *s, const struct plan *p, const struct series_repetition *run, const char *scratch,
                            char *const *program, struct arena *a);
#endif
