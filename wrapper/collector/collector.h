/* collector.h: the collector on a node where nobody records: hardware once, then samples, told by lines (node_lines.h).
 *
 * Started by the node's first rank (launch/collector.h), it writes into a file beside the spool, <spool's parent>/nodes/<launch>/<node>, and ends with that
 * rank; started by the recorder's one step of the scheduler, it writes to its standard output and ends with its standard input. */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H
#include <stdint.h>

/* Everything behind NODE_WORD: "<pid> OPTIONS -- PROGRAM" or "step <profile> <ms between samples>". */
int node_main(int argc, char **argv, char **env);
/* ns until the next sample: `base` at first, then less often: a week fits in some thousand samples. */
int64_t node_period(int64_t base_ns, int64_t since_start_ns);
#endif
