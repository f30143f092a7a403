/* processes.h: which processes the program has, for samplers that look at them closer. */
#ifndef PROBES_PROCESSES_H
#define PROBES_PROCESSES_H
#include "probes/probe.h"

enum { PROCESSES_SEEN = 32 };
/* The first of them, as the last walk found them. How many; some may have gone meanwhile. */
size_t processes_list(const struct host *h, pid_t ret[PROCESSES_SEEN]);
#endif
