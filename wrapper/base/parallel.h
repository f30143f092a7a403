/* parallel.h: the same done for each of many, on several processors. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H
#include "base/arena.h"

enum { PARALLEL_MAX = 8 };
/* Returns how many threads are worth their cost for n items, each with `least` of them or more:
 * from 1 to PARALLEL_MAX, at most the number of processors that this process may use. */
unsigned parallel_workers(size_t n, size_t least);
/* Calls each(context, i, arena) once for every i below n, in no order, in `workers` threads, one
 * of which is the caller's. Memory of each arena belongs to `a` afterwards; out of memory:
 * a->failed. Only the caller's thread receives signals. If threads cannot be started, fewer do the
 * work. */
void parallel_each(unsigned workers, size_t n, void (*each)(void *context, size_t i, struct arena *arena), void *context, struct arena *a);
#endif
