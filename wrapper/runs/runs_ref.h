/* runs_ref.h: runs in a commit of a git repository: read from its objects, nothing is checked out. */
#ifndef RUNS_RUNS_REF_H
#define RUNS_RUNS_REF_H
#include "runs/runs.h"
#include "git/tree.h"

/* Opens the tree of a commit: `ref` is anything that git accepts as one, or REF:PATH where mlruns
 * has another place in it. The repository is that of
 * --tree, else of the working directory, else of the tree that runs are recorded into. 0, and runs_close is to be called; -1 with err. */
int runs_open_ref(struct runs *ret, const char *ref, const struct runs_place *from, struct arena *a, struct err *err);
/* Opens the tree of a commit in a repository that is open and stays so; path: of mlruns in it. 0,
 * and runs_close is to be called; 1: it has no such folder; -1 with err. */
int runs_open_commit(struct runs *ret, struct repo *repo, const struct repo_id *commit, const char *path, struct err *err);
/* Returns the runs of a commit that an operand names (REF:RUN), which its first use opens and the
 * end of `runs` closes. NULL with err. */
struct runs *runs_of_ref(struct runs *runs, const char *ref, struct arena *a, struct err *err);
/* Closes the commits that operands have named; for runs_close. */
void runs_close_refs(struct runs *runs);
/* Returns the remote that has the missing files, where the runs are in a commit of a partial clone
 * (in a); NULL: they do not. */
const char *runs_partial_remote(const struct runs *runs, struct arena *a);
#endif
