/* rules.h: which rule file reads the output of a run. Of plan.c. */
#ifndef WRAPPER_PLAN_RULES_H
#define WRAPPER_PLAN_RULES_H
#include "plan/plan.h"

/* Fills the rules' part of the plan. -1 with ERR_USAGE or ERR_INPUT where the rule file that was typed cannot be read. */
int plan_rules(struct plan *p, struct err *err);
#endif
