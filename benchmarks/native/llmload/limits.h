/* limits.h: what the machine allows (descriptors, ports), and how much of it the hypervisor
 * uses. */
#ifndef LLMLOAD_LIMITS_H
#define LLMLOAD_LIMITS_H
#include "base/err.h"

struct load;
struct load_run;

/* Raises the soft limit of descriptors to what the load needs. ERR_SYSTEM: the hard limit, or the
 * local ports, are too few; the text names the remedy. */
int limits_check(const struct load *load, const struct load_run *run, struct err *err);

/* Most streams at a time, of this agent; 0: no bound. */
double limits_streams(const struct load *load);

struct steal {
    double stolen, all;
}; /* ticks of all CPUs; all < 0: not known */
void steal_look(struct steal *ret);
/* Share of time that the hypervisor kept between two calls, in percent; -1: not known. */
double steal_percent(const struct steal *before, const struct steal *after);
#endif
