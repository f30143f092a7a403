/* complete.h: an incomplete run (tag benchwrap.incomplete) is completed from the server that has the rest: a new run amends it. */
#ifndef SYNC_COMPLETE_H
#define SYNC_COMPLETE_H
#include "runs/runs.h"
#include "plan/plan.h"
#include "mlflow/mlflow.h"

struct completion_job {
    struct arena *arena;
    char **env;
    struct runs *runs;
    const struct plan *plan;
    struct mlflow *server;
};
/* Is it a run that lacks what the program's own MLflow client logged, and does no other run of the tree have that? */
bool complete_is_due(const struct completion_job *x, const struct tree_run *run);
/* Makes the run that amends it, of an id that follows from it and the server's run. *ret_place lies in the arena. 1: it is being made by another process.
 * -1: see err; the server's answer is *ret_answer, which is MLFLOW_FINE where the trouble is on this side. */
int complete_run(const struct completion_job *x, const struct tree_run *run, const char **ret_place, enum mlflow_answer *ret_answer,
                 struct err *err);
#endif
