/* probe_child.h: runs a probe's hook in a child process with a deadline. A hook that hangs (a dead
 * file system, a driver, a server) delays no other work, and one that crashes (a vendor's library)
 * ends only its own process. */
#ifndef PROBES_PROBE_CHILD_H
#define PROBES_PROBE_CHILD_H
#include "probes/probe.h"

struct probe_child {
    pid_t pid; /* 0: none */
    pid_t ended; /* killed, but not reaped yet; 0: none */
    int fd;
    /* The hook returned an error, which is recorded as missing, or could not read a file that may be
     * readable the next time: no fact of it is cached. Known after probe_child_emit. */
    bool failed;
    int64_t start_ns;
    struct buf text; /* the facts so far, as fact_text.h writes them */
};

/* Starts the hook on copies of host and record; the child sends its facts one by one. low: at a low
 * priority, while a program is measured; false where a user waits. Returns 0, or -1 with errno. */
int probe_child_begin(struct probe_child *ret, struct host *h, struct record *r,
                      int (*hook)(struct host *, struct record *, struct err *), bool low);
/* Receives facts until the child has sent all, or until this monotonic time in ns. */
void probe_child_wait(struct probe_child *a, int64_t until_ns);
/* Adds the facts received so far to the record. Returns the duration of the hook in ms, or -1 when
 * it has not finished. */
double probe_child_emit(struct probe_child *a, const struct host *h, struct record *r);
/* Kills the child, if it still runs, without waiting for its end, and frees. Also valid for a
 * struct with fd -1 and all else zero. */
void probe_child_end(struct probe_child *a);
/* Waits until the killed child has ended, at most 10 ms: it can hang in the kernel. */
void probe_child_reap(struct probe_child *a);
#endif
