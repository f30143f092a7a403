/* processes.h: lists the program's processes for samplers that read more about them. */
#ifndef PROBES_PROCESSES_H
#define PROBES_PROCESSES_H
#include "probes/probe.h"

enum { PROCESSES_SEEN = 32 };
/* Writes the first of them, as the last sample found them. Returns how many; some may have ended
 * since. */
size_t processes_list(const struct host *h, pid_t ret[PROCESSES_SEEN]);
#endif
