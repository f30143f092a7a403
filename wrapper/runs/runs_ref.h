/* runs_ref.h: runs in a commit of a git repository: read from its objects, nothing is checked out. */
#ifndef RUNS_RUNS_REF_H
#define RUNS_RUNS_REF_H
#include "runs/runs.h"
#include "git/tree.h"

/* Opens the tree of a commit: `ref` is anything that git accepts as one, or REF:PATH where mlruns
 * has another place in it. The repository is that of
 * --tree, else of the working directory, else of the tree that runs are recorded into. On success runs_close is to be called. */
int runs_open_ref(struct runs *ret, const char *ref, const struct runs_place *from, struct arena *a, struct err *err);
/* The same of a commit in a repository that is open and stays so; path: of mlruns in it. 1: it has no such folder. */
int runs_open_commit(struct runs *ret, struct repo *repo, const struct repo_id *commit, const char *path, struct err *err);
/* The runs of a commit that an operand names (REF:RUN), opened at its first use; closed with `runs`. NULL with err. */
struct runs *runs_of_ref(struct runs *runs, const char *ref, struct arena *a, struct err *err);
/* For runs_close. */
void runs_close_refs(struct runs *runs);
/* Returns the remote that has the missing files, where the runs are in a commit of a partial clone
 * (in a); NULL: they do not. */
const char *runs_partial_remote(const struct runs *runs, struct arena *a);
#endif
