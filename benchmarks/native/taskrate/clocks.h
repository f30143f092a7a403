/* clocks.h: the clocks of the machines that tasks ran on, against the client's, by causality alone.
 *
 * On one kernel CLOCK_MONOTONIC is the same for all: exact. Between machines only CLOCK_REALTIME can be compared, and it is off by an unknown
 * amount. No task starts before it was submitted, and none ends after its end was known: with start s and end e on the node's clock, submission
 * a and known end o on this host's, the node is ahead by something between max(e - o) and min(s -
 * a). Where that interval contains 0 times stay as they
 * are; where it does not, the node's clock is wrong by at least the nearer bound, and times are shifted by the interval's middle. Durations on a node
 * are of its own CLOCK_MONOTONIC. */
#ifndef TASKRATE_CLOCKS_H
#define TASKRATE_CLOCKS_H
#include "benchmarks/native/taskrate/tasks.h"

enum { CLOCKS_MAX = 4096, CLOCKS_NAME = WIRE_HOST };

struct clocks_node {
    char name[CLOCKS_NAME];
    bool same; /* as this host's CLOCK_MONOTONIC: times are exact */
    size_t tasks;
    int64_t low, high; /* of the node's clock less this host's, ns; INT64_MIN, INT64_MAX: no bound yet */
    int64_t shift; /* subtracted from its times by clocks_settle */
};

struct clocks_table {
    struct clocks_node *node; /* [count]; 0 is this machine */
    size_t count;
    int64_t wall_less_mono; /* of this host, when the batch began */
    int64_t stepped; /* by how much it has changed until clocks_settle, ns: the clock was set */
    bool overflow; /* more than CLOCKS_MAX machines */
};

/* Empties the table of nodes, with this machine as the first. Allocates it once for all batches. -1
 * with err: out of memory. */
int clocks_begin(struct clocks_table *c, struct err *err);
/* Frees the table. */
void clocks_deinit(struct clocks_table *c);
/* Are these times that a machine can have (31 years of uptime, the year 2060), and is the name
 * ended? Anything else would falsify the results. */
bool clocks_sensible(const struct wire_record *r);
/* The node that a sensible record came from; index into node[]. Its times come back on this host's
 * CLOCK_MONOTONIC (same machine), or as if its CLOCK_REALTIME were this host's. */
uint16_t clocks_take(struct clocks_table *c, const struct wire_record *r, struct wire_stamps *ret);
/* At a batch's end: bounds of all nodes; where needed the times in t->self are shifted. */
void clocks_settle(struct clocks_table *c, struct tasks *t);
/* CLOCK_REALTIME less CLOCK_MONOTONIC, ns. */
int64_t clocks_difference(void);
#endif
