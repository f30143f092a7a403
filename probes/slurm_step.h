/* slurm_step.h: what `scontrol show step JOB` reports of the step that one srun has started.
 *
 * A step's name is its user's text and may hold whole lines that look like scontrol's. What counts stands before the name; the srun
 * that started the step stands behind it, and where that is said twice, or by two steps, the reply is not believed. */
#ifndef PROBES_SLURM_STEP_H
#define PROBES_SLURM_STEP_H
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct slurm_step {
    int64_t nodes, tasks;
    struct str list; /* of nodes, Slurm's short form; within the reply */
};

/* Is this process of this host (a name without its domain) the srun that is meant? */
typedef bool slurm_step_own(void *context, struct str host, pid_t pid);

/* 1: found; 0: the reply holds no step of that srun; -1: it is not to be believed, ERR_INPUT with a sentence. */
int slurm_step_parse(struct slurm_step *ret, struct str reply, slurm_step_own *own, void *context, struct err *err);
#endif
