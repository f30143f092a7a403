/* fold.h: child runs below their parents: the lines of a listing of runs, and the depth of each. */
#ifndef RUNS_FOLD_H
#define RUNS_FOLD_H
#include "runs/runs.h"

struct fold_line {
    const struct tree_run *run;
    unsigned depth; /* 0: not a child, or its parent is not among the runs */
    size_t folded; /* runs below it, at any depth, that have no line of their own */
};

/* Lists the first `last` runs without a parent (tag mlflow.parentRunId), newest first. open: the
 * runs below each follow it, children oldest first; else they are counted. Lines are in the arena;
 * *ret_more: runs that have no line and are counted in none. 0; -1: out of memory. */
int fold_runs(const struct runs *runs, bool open, size_t last, struct arena *a, struct fold_line **ret, size_t *ret_count,
              size_t *ret_more);
#endif
