/* changed_runs.h: the list of runs that a command has retracted or annotated, one row each. */
#ifndef CMD_CHANGED_RUNS_H
#define CMD_CHANGED_RUNS_H
#include "base/listing.h"
#include "mlruns-format/tree.h"

void changed_runs_begin(struct listing *ret, struct arena *a);
/* result: what the command did, or why nothing. by: id of the new run; place: its folder; "": there is none. */
void changed_runs_add(struct listing *l, const struct tree_run *run, const char *result, const char *by, const char *place);
#endif
