/* sync_ref.h: the tree of a git commit as files, run by run, without a checkout. */
#ifndef SYNC_SYNC_REF_H
#define SYNC_SYNC_REF_H
#include "runs/runs.h"

struct sync_ref; /* a commit that is read */

/* Opens the commit place->ref (runs_ref.h), and makes an own folder below `scratch` with every
 * experiment's and run's meta.yaml in it, and the links to parents. *ret_tree: the path of its mlruns
 * for messages, in the arena. sync_ref_close must follow, also after an error. */
int sync_ref_open(struct sync_ref **ret, const struct runs_place *place, const char *scratch, struct arena *a, const char **ret_tree,
                  struct err *err);
/* Opens that mlruns; the caller closes it. -1 with errno. */
int sync_ref_root(const struct sync_ref *r);
/* sync_ref_take writes the files of the run "mlruns/<exp>/<run>". sync_ref_drop removes them, except
 * those that sync_ref_open has written. */
int sync_ref_take(struct sync_ref *r, const char *path, struct err *err);
void sync_ref_drop(struct sync_ref *r, const char *path);
/* Removes the folder. NULL is allowed. */
void sync_ref_close(struct sync_ref *r);
#endif
