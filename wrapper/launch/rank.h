/* rank.h: which rank of a parallel program this process is, from the environment variables of its
 * launcher. */
#ifndef LAUNCH_RANK_H
#define LAUNCH_RANK_H
#include <stdbool.h>
#include <stdint.h>

struct rank {
    bool known;
    uint32_t rank, ranks; /* ranks: 0 if the launcher does not set it */
    const char *source;   /* name of the variable, "" if none */
};

/* Finds rank and ranks of the launch in an environment, NAME=value texts, NULL-terminated. */
struct rank rank_find(char *const *env);
/* Returns whether this is the first rank on its node, and not rank 0: then no recorder runs on
 * this node. False where the launcher sets no local rank. */
bool rank_leads_node(const struct rank *rank, char *const *env);
/* Returns whether the variables of Slurm's step (SLURM_NODEID …) describe this process. They do
 * not in a rank that another launcher started: its daemons' step has numbers of its own, and
 * MPICH's mpiexec sets for all ranks the variables of the node where it was started. True where no
 * launcher sets a rank. */
bool rank_is_slurms(char *const *env);
#endif
