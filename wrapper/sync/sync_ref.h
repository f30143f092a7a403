/* sync_ref.h: the tree of a git commit as files, run by run, without a checkout. */
#ifndef SYNC_SYNC_REF_H
#define SYNC_SYNC_REF_H
#include "base/arena.h"
#include "base/err.h"

struct sync_ref; /* a running `git cat-file --batch` */

/* `folder`: somewhere in the repository (the parent of mlruns); `ref` any name of a commit. Makes an own folder below `scratch` with every experiment's and
 * run's meta.yaml in it, and the links to parents. *ret_tree: the path of its mlruns for messages, in
 * the arena. ERR_INPUT: git, the ref, or mlruns in it is missing. */
int sync_ref_open(struct sync_ref **ret, const char *folder, const char *ref, const char *scratch, struct arena *a, const char **ret_tree, struct err *err);
/* That mlruns, opened: the caller closes it. -1 with errno. */
int sync_ref_root(const struct sync_ref *r);
/* sync_ref_take writes the files of the run "mlruns/<exp>/<run>". sync_ref_drop removes them, except
 * those that sync_ref_open has written. */
int sync_ref_take(struct sync_ref *r, const char *path, struct err *err);
void sync_ref_drop(struct sync_ref *r, const char *path);
/* Ends git and removes the folder. NULL is allowed. */
void sync_ref_close(struct sync_ref *r);
#endif
