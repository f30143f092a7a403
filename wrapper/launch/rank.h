/* rank.h: which rank of a parallel program this process is, from what its launcher put into the environment. */
#ifndef LAUNCH_RANK_H
#define LAUNCH_RANK_H
#include <stdbool.h>
#include <stdint.h>

struct rank {
    bool known;
    uint32_t rank, ranks; /* ranks: 0 if it is not told */
    const char *source;   /* name of the variable, "" if none */
};

/* env: an environment, NAME=value texts, NULL-terminated. */
struct rank rank_find(char *const *env);
/* Is this the first rank on its node, and not rank 0, so that this is a node on which nobody records? False where the launcher tells no local rank. */
bool rank_leads_node(const struct rank *rank, char *const *env);
/* Are the variables of Slurm's step (SLURM_NODEID …) about this process? Not in a rank that another launcher started: its daemons' step has numbers of its
 * own, and MPICH's mpiexec gives all ranks the variables of the node where it was started itself. True where no launcher tells a rank. */
bool rank_is_slurms(char *const *env);
#endif
