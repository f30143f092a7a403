/* server.h: which MLflow server a run is sent to: --to, BENCHWRAP_TO, MLFLOW_TRACKING_URI, a configuration file. Of plan.c. */
#ifndef WRAPPER_PLAN_SERVER_H
#define WRAPPER_PLAN_SERVER_H
#include "plan/plan.h"

/* Fills the server's part of the plan. No network is used. -1 with ERR_USAGE where what was typed
 * is no server's address. */
int plan_server(struct plan *p, char **env, struct err *err);

/* ---- plan.c's, for this part ---- */

/* Adds a sentence to the plan's warnings; returns NULL. */
const char *plan_warn(struct plan *p, const char *text);
#endif
