/* probe_child.h: a probe's hook in a process of its own: what hangs there (a dead file system, a driver, a server) delays nobody, what crashes there
 * (a vendor's library) takes nothing along, and it has a deadline. */
#ifndef PROBES_PROBE_CHILD_H
#define PROBES_PROBE_CHILD_H
#include "probes/probe.h"

struct probe_child {
    pid_t pid; /* 0: none */
    pid_t ended; /* it was told to end and has not been seen to, 0: none */
    int fd;
    bool failed; /* the hook returned an error, which was told as missing, or could not look at what may be there the next time: nothing of it lasts */
    int64_t start_ns;
    struct buf text; /* what it has told, fact_text.h */
};

/* Starts the hook on copies of host and record; its facts come back one by one. low: at a low priority, while a program is measured; not where somebody
 * waits for it. 0, or -1 with errno. */
int probe_child_begin(struct probe_child *ret, struct host *h, struct record *r, int (*hook)(struct host *, struct record *, struct err *), bool low);
/* Waits until it has told all, but not longer than until this monotonic time. */
void probe_child_wait(struct probe_child *a, int64_t until_ns);
/* Tells the record what came. Returns how long the hook took in ms, or -1 when it did not come to its end. */
double probe_child_emit(struct probe_child *a, const struct host *h, struct record *r);
/* Ends the process, if it still runs, and does not wait for it. Frees. Fine for one that never began. */
void probe_child_end(struct probe_child *a);
/* Waits for its end, 10 ms at most: one can hang in the kernel. */
void probe_child_reap(struct probe_child *a);
#endif
