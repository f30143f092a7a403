/* parallel.h: the same done for each of many, on several processors. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H
#include "base/arena.h"

enum { PARALLEL_MAX = 8 };
/* How many workers are worth their while for n things, each with `least` of them or more: 1 up to PARALLEL_MAX, not more than processors that may be used. */
unsigned parallel_workers(size_t n, size_t least);
/* Calls each(context, i, arena) once for every i below n, in no order, by so many threads of which the caller's is one. What a call takes from its arena
 * belongs to `a` once all is done; out of memory: a->failed. Signals reach the caller's thread alone. Threads that cannot be had are done without. */
void parallel_each(unsigned workers, size_t n, void (*each)(void *context, size_t i, struct arena *arena), void *context, struct arena *a);
#endif
