/* leftovers.h: what others left in a spool folder: dead runs are closed, published ones released. */
#ifndef WRAPPER_RUN_LEFTOVERS_H
#define WRAPPER_RUN_LEFTOVERS_H
#include "base/err.h"

/* Finishes what others left in the spool folder `root`: dead runs are closed, published ones synced and removed. `note` gets one line per run that was
 * closed (may be NULL). Runs published less than settled_s seconds ago are left (counted in `young`). Counts what was done. */
struct swept { unsigned closed, released, young, alive, failed; };
void finish_leftovers(const char *root, const char *except, int settled_s, void (*note)(void *context, const char *text), void *context, struct swept *ret);
/* One of them; one that is published already is left as it is. 0; -1 where it could not be closed. */
int finish_leftover(const char *root, const char *name, struct swept *ret, struct err *err);
#endif
