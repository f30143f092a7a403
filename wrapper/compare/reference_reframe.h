/* reference_reframe.h: the references that ReFrame applied, as a reference file. */
#ifndef COMPARE_REFERENCE_REFRAME_H
#define COMPARE_REFERENCE_REFRAME_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"

/* Reads ReFrame's run reports, performance logs or posted records, and appends a reference file: an entry for each test, system, partition and
 * environment, of the last record that has it. *ret_n: how many references it holds. */
int reference_from_reframe(const struct opt_value *files, struct arena *arena, struct buf *to, size_t *ret_n, struct err *err);
#endif
