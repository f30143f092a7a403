/* complete.h: an incomplete run (tag benchwrap.incomplete) is completed from the server that has the rest: a new run amends it. */
#ifndef SYNC_COMPLETE_H
#define SYNC_COMPLETE_H
#include "replay/reparse.h"
#include "plan/plan.h"
#include "mlflow/mlflow.h"

struct completion_job {
    struct arena *arena;
    char **env;
    struct runs *runs;
    const struct plan *plan;
    struct mlflow *server;
    struct reparse_parents *parents; /* of runs that were completed: for complete_parents */
};
/* Returns whether it is a run that lacks what the program's own MLflow client logged, and no other
 * run of the tree has that. */
bool complete_is_due(const struct completion_job *x, const struct tree_run *run);
/* Makes the run that amends it, of an id that follows from it and the server's run. *ret_place is
 * in the arena. 1: it is being made by another process.
 * -1: see err; the server's answer is *ret_answer, which is MLFLOW_FINE where the trouble is on this side. */
int complete_run(const struct completion_job *x, const struct tree_run *run, const char **ret_place, enum mlflow_answer *ret_answer,
                 struct err *err);
/* All are completed: computes the statistics of their parent runs (--repeat, --sweep) again, and makes runs that amend these. `note` gets a sentence for
 * each, also for one that failed. */
void complete_parents(const struct completion_job *x, void (*note)(void *context, const char *text), void *context);
#endif
