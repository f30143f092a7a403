/* server_look.h: checks whether the MLflow server of a plan answers, for `plan` and `doctor`. */
#ifndef SYNC_SERVER_LOOK_H
#define SYNC_SERVER_LOOK_H
#include "plan/plan.h"

/* Returns one sentence in the plan's arena after at most three seconds. *ret_good: the server answers
 * and accepts the credentials. */
const char *server_look(struct plan *p, char *const *env, bool *ret_good);
#endif
