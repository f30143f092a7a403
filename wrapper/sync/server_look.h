/* server_look.h: does the MLflow server of a plan answer? For people who ask (`plan`, `doctor`); a run never does. */
#ifndef SYNC_SERVER_LOOK_H
#define SYNC_SERVER_LOOK_H
#include "plan/plan.h"

/* One sentence in the plan's arena, at most three seconds later; *ret_good: it answers and takes our credentials. */
const char *server_look(struct plan *p, char *const *env, bool *ret_good);
#endif
