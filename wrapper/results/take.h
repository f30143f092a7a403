/* take.h: a run's folder on disk as objects of the repository. */
#ifndef RESULTS_TAKE_H
#define RESULTS_TAKE_H
#include "results/results.h"

/* Writes every file below the run's folder as a blob, and the folders as trees; *ret: the tree of
 * the run. 0; 1: the run cannot be committed as it is (a link, a name that git refuses, too much):
 * *ret_why, in s->arena, has the reason; -1 with err. root: descriptor of the tree on disk. */
int take_run_objects(struct results *s, int root, const char *experiment, const char *id, struct repo_id *ret, const char **ret_why,
                     struct err *err);
enum { TAKE_EXPERIMENT_MAX = 64 };
struct tree_edit;
/* Adds edits for the experiment's own files (meta.yaml, tags/) that the tree `base` (NULL: none)
 * lacks: path below the tree's parent, and blob. edits has a capacity of TAKE_EXPERIMENT_MAX: tags
 * beyond it, and unusual files, are left out. 0; -1 with err. */
int take_experiment(struct results *s, int root, const char *experiment, const struct repo_id *base, struct tree_edit *edits, size_t *count,
                    struct err *err);
#endif
