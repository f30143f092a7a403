/* ui_view.h: the columns with which MLflow's table of runs opens: headline metrics, params that differ,
 * tags and source. */
#ifndef UI_UI_VIEW_H
#define UI_UI_VIEW_H
#include "runs/runs.h"
#include "mlflow/mlflow.h"

#define UI_VIEW "benchwrap" /* key of the view: …/runs?viewStateShareKey=benchwrap */
/* Makes the state of the page as MLflow keeps it in the experiment's tag mlflow.sharedViewState.<key>: the columns are those that the newest runs of this
 * experiment have, and some of the older ones. medians: appends the headline metrics whose column is KEY.median for all runs, a line each. */
void ui_view_state(const struct runs *runs, const char *experiment, struct arena *a, struct buf *to, struct buf *medians);
/* Sets the state on the (local) server, and the tag by which the page opens on the runs. */
enum mlflow_answer ui_view_set(struct mlflow *m, const char *experiment_id, struct str state, struct err *err);
#endif
