/* partial.h: partial clones: which objects they lack, and how the user's git fetches them. libgit2 does neither. */
#ifndef GIT_PARTIAL_H
#define GIT_PARTIAL_H
#include "git/repo.h"

/* Returns the remote that has what a partial clone lacks, in a; NULL: the clone is not partial. */
const char *partial_remote(struct repo *r, struct arena *a);
/* Counts the objects of `to` and its trees that are not here, and with `from` those of the commits between, and lists their ids, a line each, in *ids (may be NULL).
 * 0; -1 with err. */
int partial_missing(struct repo *r, const struct repo_id *from, const struct repo_id *to, size_t *ret_count, struct buf *ids,
                    struct err *err);
/* Fetches all objects of the tree of `commit` that a partial clone lacks, and the trees of its history; nothing elsewhere. 0; -1 with err. */
int partial_complete(struct repo *r, const struct repo_id *commit, struct err *err);
#endif
