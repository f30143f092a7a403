/* slurm_step.h: what `scontrol show step JOB` reports of the step that one srun has started.
 *
 * A step's name is its user's text and may hold complete lines in the form of scontrol's. The
 * fields
 * that count come before the name. The srun that started the step comes behind it; a reply that has
 * it twice, or for two steps, is refused. */
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
    struct str id; /* "7.0"; within the reply */
};

/* Returns whether this process of this host (a name without its domain) is the expected srun. */
typedef bool slurm_step_own(void *context, struct str host, pid_t pid);

/* Returns 1 with *ret; 0: the reply has no step of that srun; -1 with ERR_INPUT: it is refused. */
int slurm_step_parse(struct slurm_step *ret, struct str reply, slurm_step_own *own, void *context, struct err *err);
#endif
