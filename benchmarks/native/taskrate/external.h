/* external.h: batches that another launcher or a scheduler runs: commands submit them, the tasks report
 * their times. */
#ifndef TASKRATE_EXTERNAL_H
#define TASKRATE_EXTERNAL_H
#include "benchmarks/native/taskrate/provider.h"
#include "benchmarks/native/taskrate/report.h"

/* Runs one batch: submits at the pace allowed, takes reports, asks the queue when nothing is heard, backs off when submission is refused, and gives up
 * with a reason (in batch->reason) instead of waiting for ever. -1: nothing could be measured. */
int external_run(struct bench *b, struct task_batch *batch, struct report_channel *report, struct err *err);
#endif
