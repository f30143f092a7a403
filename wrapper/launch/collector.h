/* collector.h: on a node without a recorder the first rank starts a detached collector before it
 * becomes the program. */
#ifndef LAUNCH_COLLECTOR_H
#define LAUNCH_COLLECTOR_H

#define NODE_WORD "--node" /* the core's first argument; then the rank's pid, or "step", then what follows */

/* Starts a collector. argv: the launcher's own. The collector is no child of this process, holds
 * none of its descriptors, and ends with it. Failure is silent: the node is then missing in the
 * record. */
void node_collect(char **argv);
#endif
