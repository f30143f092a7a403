/* local.h: the local provider: this process starts the tasks. The floor that every other provider is measured against. */
#ifndef TASKRATE_LOCAL_H
#define TASKRATE_LOCAL_H
#include "benchmarks/native/taskrate/bench.h"

/* Runs one batch with batch->slots tasks at once: a thread for each processor at most. One task at a time in a thread is waited for
 * directly; several by epoll over their pidfds. Tasks that fail, hang (task_timeout) or cannot be started are in the book; stop is obeyed within
 * 50 ms, tasks that still run are killed. `payload` may differ from the settings' (the floor is always the stub).
 * -1: nothing could be measured. */
int local_run(struct bench *b, struct task_batch *batch, enum task_payload payload, struct err *err);
/* Processors this process may use. */
unsigned local_processors(void);
#endif
