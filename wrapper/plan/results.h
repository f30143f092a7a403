/* results.h: the results repository that a plan leads to. */
#ifndef WRAPPER_PLAN_RESULTS_H
#define WRAPPER_PLAN_RESULTS_H
#include "plan/plan.h"
#include "results/results.h"

/* Opens the results repository of the plan's tree, site and profile, as results_open does: 0
 * with *ret, which results_close frees; 1 with err: there is none, or (without set_up) this clone is
 * not set up for it; -1 with err. `repository`: a path in the one that is meant; NULL:
 * that of the tree. */
int plan_results(const struct plan *p, const char *repository, bool set_up, struct arena *a, struct results *ret, struct err *err);
#endif
