/* children.h: the tests of one output as child runs, for rules with `blocks: {name: t, runs:
 * true}`. */
#ifndef WRAPPER_RUN_CHILDREN_H
#define WRAPPER_RUN_CHILDREN_H
#include "benchmarks/rules.h"
#include "run/finish.h"

/* Publishes a child run for each block of the outcome, before the parent, so that a published parent
 * has all its children. A child's id follows from the parent's and the block's name: repeating it
 * after a crash makes no duplicates. status: of the program itself. Appends to *places the place of
 * each child, behind a blank. 0; -1 with err. */
int children_publish(struct spool *s, const struct finished *parent, const struct finish_options *o, const struct rules_outcome *outcome,
                     enum run_status status, struct buf *places, struct err *err);
#endif
