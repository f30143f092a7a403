/* inherit.h: facts that a parent run holds for its repetitions: machine, node and job are recorded once, for all of them. */
#ifndef RUNS_INHERIT_H
#define RUNS_INHERIT_H
#include "runs/runs.h"

/* Returns the params about machine and job that the parent run has and `run` (params and tags read)
 * lacks, in the arena; NULL: none, the run is no repetition, or its parent is not in the tree. */
struct tree_entry *inherit_facts(struct runs *runs, const struct tree_run *run, struct arena *a);
/* Appends these params to the run's own. */
void inherit_params(struct runs *runs, struct tree_run *run, struct arena *a);
/* Returns a file of the run as runs_file does; a param of the machine that the run lacks comes from
 * its parent run. NULL: neither has it. */
const char *inherit_file(const struct runs *runs, const struct tree_run *run, const char *name, size_t max, struct arena *a);
/* Returns whether the param is one of the axes of the sweep that the run is a point of. */
bool inherit_is_swept(const struct runs *runs, const struct tree_run *run, const char *key, struct arena *a);
#endif
