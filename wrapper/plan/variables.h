/* variables.h: misspelt settings in the environment. */
#ifndef PLAN_VARIABLES_H
#define PLAN_VARIABLES_H
#include "plan/plan.h"

/* Adds a warning for each variable BENCHWRAP_X that nothing reads and whose X resembles an option
 * with a value: BENCHWRAP_TIMOUT, BENCHWRAP_TAG. All other names are the user's own. p->opts must
 * have its rows. */
void plan_check_variables(struct plan *p, char **env);
#endif
