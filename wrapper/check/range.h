/* range.h: what a range of commits brings: runs, and nothing else. */
#ifndef CHECK_RANGE_H
#define CHECK_RANGE_H
#include "check/check.h"
#include "git/repo.h"

/* Everything that commit `to` brings to `from` (git's from..to: what `from` has gained since they parted does not count). `at`: path of the tree in the
 * repository ("mlruns"). What the commits do on the way is looked at too: it stays in the history. 0; 1 ERR_INPUT: they have no common ancestor; -1. */
int check_range(struct check_state *k, struct repo *repo, const struct repo_id *from, const struct repo_id *to, const char *at, struct err *err);
#endif
