/* leftovers.h: clean up a spool folder: close runs whose recorder died, release published ones. */
#ifndef WRAPPER_RUN_LEFTOVERS_H
#define WRAPPER_RUN_LEFTOVERS_H
#include "base/err.h"

/* Runs by what happened to them. young: published less than settled_s seconds ago; elsewhere: of
 * another tree; both are left as they are. */
struct leftovers_count { unsigned closed, released, young, alive, failed, elsewhere; };
/* Finishes all runs of `tree` in the spool folder `root`, which several trees share (the user's state
 * folder), also young ones. Does not touch runs of other trees or their trees: one may be gone,
 * read-only, or on a file system that hangs. `note` as in finish_leftovers; one line names the other
 * tree and the number of its runs. */
void finish_leftovers_of(const char *tree, const char *root, void (*note)(void *context, const char *text), void *context, struct leftovers_count *ret);
/* Finishes the runs in the spool folder `root`, except for the one of that name (NULL: none): closes
 * those whose recorder died, syncs and removes published ones. `note` gets a line for each run that
 * was closed or failed; may be NULL. Sets *ret. */
void finish_leftovers(const char *root, const char *except, int settled_s, void (*note)(void *context, const char *text), void *context, struct leftovers_count *ret);
/* Finishes one run; leaves a published one as it is. 0, also if it is gone; -1 with err: it cannot be
 * closed, or belongs to another user. */
int finish_leftover(const char *root, const char *name, struct leftovers_count *ret, struct err *err);
#endif
