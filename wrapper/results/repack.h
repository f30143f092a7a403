/* repack.h: joins packs that commits have left when there are many. */
#ifndef RESULTS_REPACK_H
#define RESULTS_REPACK_H
#include "git/repo.h"

/* Runs the user's `git repack --geometric=2 -d` when objects/pack holds REPACK_FROM packs or more. Returns whether it has. Where there is no git, or it
 * fails, the packs stay as they are: nothing depends on it. */
enum { REPACK_FROM = 30 };
bool repack_when_due(struct repo *r);
#endif
