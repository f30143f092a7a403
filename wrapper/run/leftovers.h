/* leftovers.h: what others left in a spool folder: dead runs are closed, published ones released. */
#ifndef WRAPPER_RUN_LEFTOVERS_H
#define WRAPPER_RUN_LEFTOVERS_H
#include "base/err.h"

/* Finishes what others left in the spool folder `root`: dead runs are closed, published ones synced and removed. `note` gets one line per run that was
 * closed (may be NULL). Runs published less than settled_s seconds ago are left (counted in `young`). Counts what was done. */
struct leftovers_count { unsigned closed, released, young, alive, failed, elsewhere; };
/* The same in a folder that several trees share (the user's state folder): runs of other trees than `tree` are left to them (counted in `elsewhere`). Their
 * trees are not touched: one may be gone, read-only, or on a file system that hangs. One line says how many there are, and of which tree. */
void finish_leftovers_of(const char *tree, const char *root, void (*note)(void *context, const char *text), void *context, struct leftovers_count *ret);
void finish_leftovers(const char *root, const char *except, int settled_s, void (*note)(void *context, const char *text), void *context, struct leftovers_count *ret);
/* One of them; one that is published already is left as it is. 0; -1 where it could not be closed. */
int finish_leftover(const char *root, const char *name, struct leftovers_count *ret, struct err *err);
#endif
