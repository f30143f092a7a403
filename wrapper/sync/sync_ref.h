/* sync_ref.h: the tree of a git commit as files, run by run, without a checkout. */
#ifndef SYNC_SYNC_REF_H
#define SYNC_SYNC_REF_H
#include "base/arena.h"
#include "base/err.h"

struct sync_ref; /* a `git cat-file --batch` that is asked */

/* `folder`: somewhere in the repository (the parent of mlruns); `ref` any name of a commit. Makes an own folder below `scratch` with every experiment's and
 * run's meta.yaml in it, and the links to parents. *ret_tree: the path of its mlruns for messages, in the arena. ERR_INPUT: git, the ref or mlruns in it is not there. */
int sync_ref_open(struct sync_ref **ret, const char *folder, const char *ref, const char *scratch, struct arena *a, const char **ret_tree, struct err *err);
/* That mlruns, opened: the caller closes it. -1 with errno. */
int sync_ref_root(const struct sync_ref *r);
/* Writes the run's files ("mlruns/<exp>/<run>"), and takes them away again but for what open had written. */
int sync_ref_take(struct sync_ref *r, const char *path, struct err *err);
void sync_ref_drop(struct sync_ref *r, const char *path);
/* The folder is removed; NULL is allowed. */
void sync_ref_close(struct sync_ref *r);
#endif
