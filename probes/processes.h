/* processes.h: lists the program's processes for samplers that read more about them. */
#ifndef PROBES_PROCESSES_H
#define PROBES_PROCESSES_H
#include "probes/probe.h"

enum { PROCESSES_SEEN = 32 };
/* Writes the first of them, as the last sample found them. Returns how many; some may have ended
 * since. */
size_t processes_list(const struct host *h, pid_t ret[PROCESSES_SEEN]);
/* Calls `h->saw` with each process of the program that runs now; where /proc does not show them,
 * with none. */
void processes_visit(struct host *h);
/* Processor time in seconds of child processes that their parent did not wait for (SIGCHLD
 * ignored), as far as samples measured it. The kernel adds it to no process, so run.user_s and
 * run.system_s lack it. 0: there is none, or too little to be certain. */
double processes_unwaited_s(const struct host *h, const struct record *r);
#endif
