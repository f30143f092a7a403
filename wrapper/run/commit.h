/* commit.h: commit a run recorded in a results repository, after the launcher has ended. */
#ifndef WRAPPER_RUN_COMMIT_H
#define WRAPPER_RUN_COMMIT_H
#include "run/finish.h"
#include "run/state.h"

#include <stdio.h>

/* Prints with the summary: that runs before could not be committed and why, and, once, that an
 * experiment has become so large that its runs are committed in batches from now on. */
void run_commit_report(const struct run *run, const struct finished *f);
/* Commits what is new in the tree, by the policy (--commit). Nothing, where there is no results
 * repository, this clone is not set up for it, or the run is part of a larger one, which will. A
 * failure is stored for the next run's run_commit_report; the run stays for the next commit. */
void run_commit(const struct run *run);
/* Runs that a command has made (import, pull, reparse, retract) in the plan's tree, by the same policy, at once; failures are reported. */
void run_commit_made(const struct plan *p, const char *verb, FILE *notes);
/* Does what run_commit does in a process of its own, for callers that a user waits for. */
void run_commit_in_background(const struct run *run);
#endif
