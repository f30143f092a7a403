/* range.h: check a range of commits: it adds runs, and changes nothing else. */
#ifndef CHECK_RANGE_H
#define CHECK_RANGE_H
#include "check/check.h"
#include "git/repo.h"

/* Checks what commit `to` adds to `from` (as git diff from...to: commits that only `from` has do not
 * count), and each commit on the way, since it stays in the history. `at`: path of the tree in the
 * repository ("mlruns"). 0; 1, ERR_INPUT: the two have no common ancestor; -1 with err. */
int check_range(struct check_state *k, struct repo *repo, const struct repo_id *from, const struct repo_id *to,
                const char *at, struct err *err);
#endif
