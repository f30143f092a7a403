/* collector.h: the process that collects facts and samples on a node without a recorder.
 *
 * It reports the hardware once, then samples, as lines (collector_lines.h). Started by the node's
 * first rank (launch/collector.h), it appends to the file <spool's parent>/nodes/<launch>/<node> and
 * ends with that rank. Started by the recorder through one step of the scheduler, it writes to its
 * standard output and ends with its standard input. */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H
#include <stdint.h>

/* Runs a collector. Its arguments are everything after NODE_WORD: "<pid> OPTIONS -- PROGRAM" or
 * "step <profile> <ms between samples>". */
int node_main(int argc, char **argv, char **env);
/* Returns the ns until the next sample: `base_ns` at first, later more. A week has some thousand
 * samples. */
int64_t node_period(int64_t base_ns, int64_t since_start_ns);
#endif
