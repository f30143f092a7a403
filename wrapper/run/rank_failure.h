/* rank_failure.h: a launcher's own message that a rank failed, in the output of a program that ended with exit status 0. */
#ifndef WRAPPER_RUN_RANK_FAILURE_H
#define WRAPPER_RUN_RANK_FAILURE_H
#include "base/str.h"

struct run;

/* Records a warning with the first such line of the kept output; the program's status stays, for a script may expect the failure. */
void rank_failure_warn(struct run *run);
#endif
