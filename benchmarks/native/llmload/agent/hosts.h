/* hosts.h: where agents are: a list, or srun's environment variables. */
#ifndef LLMLOAD_HOSTS_H
#define LLMLOAD_HOSTS_H
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { HOSTS_MAX = 4096, HOSTS_PORT = 6000 };
struct hosts {
    const char *address[HOSTS_MAX]; /* "host:port" */
    size_t count;
};

/* "node1:7890,node2" (6000 where there is no port; IPv6 in brackets). */
int hosts_read(struct hosts *ret, const char *list, struct arena *arena, struct err *err);
/* The tasks of this srun, in the order of their ranks, from SLURM_STEP_NODELIST and
 * SLURM_STEP_TASKS_PER_NODE; ports from `port` on, one per task of a node (block distribution,
 * srun's default). suffix: behind each node's name ("-ib0", ".cluster"); "" for none. ERR_USAGE:
 * not within srun. */
int hosts_srun(struct hosts *ret, const char *suffix, unsigned port, char *(*env)(const char *name), struct arena *arena, struct err *err);
/* Slurm's "node[1-3,07],login" as names, each added to ret; for tests. */
int hosts_expand(struct hosts *ret, struct str list, struct arena *arena, struct err *err);
#endif
