/* children.h: the tests of one output as child runs, for rules that say `blocks: {name: t, runs: true}`. */
#ifndef WRAPPER_RUN_CHILDREN_H
#define WRAPPER_RUN_CHILDREN_H
#include "benchmarks/rules.h"
#include "run/finish.h"

/* Publishes a child run for each block of the outcome, before the parent: who sees the parent sees all of it. A child's id follows from the
 * parent's and the block's name, so doing it again (after a crash) makes no second ones. status: what became of the program itself. The
 * places of the children are appended to *places, each behind a blank. */
int children_publish(struct spool *s, const struct finished *parent, const struct finish_options *o, const struct rules_outcome *outcome,
                     enum run_status status, struct buf *places, struct err *err);
#endif
