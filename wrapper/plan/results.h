/* results.h: the results repository that a plan leads to. */
#ifndef WRAPPER_PLAN_RESULTS_H
#define WRAPPER_PLAN_RESULTS_H
#include "plan/plan.h"
#include "results/results.h"

/* results_open with the plan's tree, site and profile. `repository`: a path in the one that is
 * meant; NULL: that of the tree. */
int plan_results(const struct plan *p, const char *repository, bool set_up, struct arena *a, struct results *ret, struct err *err);
#endif
