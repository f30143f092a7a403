/* stale.h: parent runs whose statistics ignore that a child run was amended, retracted or deleted. Readers see the tag benchwrap.stale with the reason, which no file has. */
#ifndef RUNS_STALE_H
#define RUNS_STALE_H
#include "mlruns-format/corrections.h"

#include <stdio.h>

#define STALE_TAG "benchwrap.stale"

/* Returns the list `annotated` with a tag before it where the run is a parent run whose statistics
 * are stale. corrections: of the run's experiment, sorted. The result is in the arena or is
 * `annotated`. */
const struct tree_entry *stale_marked(const struct folder *tree, const struct tree_run *run, const struct corrections *corrections,
                                      const struct tree_entry *annotated, struct arena *a);
/* Marks all such parent runs among `count` runs of a tree, in run->annotated. Reads the child runs that corrections name. */
void stale_mark_all(const struct folder *tree, struct tree_run *const *all, size_t count, const struct corrections *corrections,
                    struct arena *a);
/* Marks the parent runs of runs that are deleted in MLflow; all runs have their meta. Returns how many it has marked, and their places in `all`. */
size_t stale_mark_deleted(const struct folder *tree, struct tree_run *const *all, size_t count, const struct corrections *corrections,
                          struct arena *a, size_t *ret_places);
/* Makes run->annotated remove the mark from each run without one, since copies of runs elsewhere
 * may have had it. In the arena. */
void stale_unmark_others(struct tree_run *const *all, size_t count, struct arena *a);
/* Returns the reason of a marked run, which lives as long as run->annotated; NULL: it is not
 * marked. */
const char *stale_reason(const struct tree_run *run);
/* Prints the reason and what to do, if the run is marked. */
void stale_note(FILE *notes, const struct tree_run *run);
/* Prints the reasons of a list of runs: the first ones, and how many more there are. */
void stale_notes(FILE *notes, const struct tree_run *const *list, size_t n);
#endif
