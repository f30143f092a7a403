/* local.h: the local provider: this process starts the tasks. The floor that every other provider is measured against. */
#ifndef TASKRATE_LOCAL_H
#define TASKRATE_LOCAL_H
#include "benchmarks/native/taskrate/bench.h"

/* Runs one batch with batch->slots tasks at once, in a thread for each processor at most. Tasks
 * that fail, exceed --task-timeout or cannot be started are recorded as such; a stop kills the
 * others within 50 ms. payload: may differ from the settings. -1 with err: nothing was measured. */
int local_run(struct bench *b, struct task_batch *batch, enum task_payload payload, struct err *err);
/* Processors this process may use. */
unsigned local_processors(void);
#endif
