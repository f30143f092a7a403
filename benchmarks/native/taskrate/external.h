/* external.h: batches that another launcher or a scheduler runs: commands submit them, the tasks report
 * their times. */
#ifndef TASKRATE_EXTERNAL_H
#define TASKRATE_EXTERNAL_H
#include "benchmarks/native/taskrate/provider.h"
#include "benchmarks/native/taskrate/report.h"

/* Runs one batch: submits at the pace allowed, reads reports, queries the queue when no report
 * comes, backs off when submission is refused, and stops with a reason (in batch->reason) instead
 * of waiting without limit. -1: nothing could be measured. */
int external_run(struct bench *b, struct task_batch *batch, struct report_channel *report, struct err *err);
#endif
