/* processes.h: lists the program's processes for samplers that read more about them. */
#ifndef PROBES_PROCESSES_H
#define PROBES_PROCESSES_H
#include "probes/probe.h"

enum { PROCESSES_SEEN = 32 };
/* Writes the first of them, as the last sample found them. Returns how many; some may have ended
 * since. */
size_t processes_list(const struct host *h, pid_t ret[PROCESSES_SEEN]);
/* Processor time in seconds, at least, that samples saw and that run.user_s and run.system_s do not have: of children that
 * nobody waited for (SIGCHLD ignored), which the kernel adds to no process. 0: none, or too little to be certain. */
double processes_unwaited_s(const struct host *h, const struct record *r);
#endif
