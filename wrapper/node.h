/* node.h: the collector on a node where nobody records: hardware once, then samples, told by lines (node_lines.h).
 *
 * Started by the node's first rank (launch/node.h), it writes into a file beside the spool, <spool's parent>/nodes/<launch>/<node>, and ends with that
 * rank; started by the recorder's one step of the scheduler, it writes to its standard output and ends with its standard input. */
#ifndef WRAPPER_NODE_H
#define WRAPPER_NODE_H
#include "base/buf.h"
#include "wrapper/node_lines.h"

#include <stdbool.h>

/* Everything behind NODE_WORD: "<pid> OPTIONS -- PROGRAM" or "step <profile> <ms between samples>". */
int node_main(int argc, char **argv, char **env);
/* What all ranks of one launch, and no others, have in common: a name for their folder. False: nothing tells. */
bool node_launch(char *const *env, char ret[33]);
/* Are the step's variables (SLURM_NODEID …) about this process? Not in a rank that another launcher started: its daemons' step has numbers of its own, and
 * MPICH's mpiexec gives all ranks the variables of the node where it was started itself. */
bool node_by_slurm(char *const *env);
/* The name of the node on which we are, as its scheduler knows it, else that of the host. */
void node_own_name(char *const *env, const char *host, char ret[NODE_NAME_MAX + 1]);
/* The folder of that launch. spool: as plan->spool. */
void node_folder(const char *spool, const char *launch, struct buf *to);
/* ns until the next sample: `base` at first, then less often: a week fits in some thousand samples. */
int64_t node_period(int64_t base_ns, int64_t since_start_ns);
#endif
