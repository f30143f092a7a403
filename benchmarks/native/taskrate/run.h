/* run.h: one measurement: floor, warm-up, batches, chain. */
#ifndef TASKRATE_RUN_H
#define TASKRATE_RUN_H
#include "benchmarks/native/taskrate/bench.h"

/* Measures by b->set and prints the result. 0: complete; 1: a result with losses, or a partial one;
 * 2: nothing, err states why. */
int taskrate_run(struct bench *b, struct err *err);
#endif
