/* probe_child.h: runs a probe's hook in a child process with a deadline. A hook that hangs (a dead
 * file system, a driver, a server) delays no other work, and one that crashes (a vendor's library)
 * ends only its own process. */
#ifndef PROBES_PROBE_CHILD_H
#define PROBES_PROBE_CHILD_H
#include "base/child_work.h"
#include "probes/probe.h"

enum { PROBE_REAP_MS = 10 }; /* a killed child is waited for so long: it can hang in the kernel */

struct probe_child {
    struct child_work work; /* its answer: the facts so far, as fact_text.h writes them */
    /* The hook returned an error, which is recorded as missing, or could not read a file that may be
     * readable the next time: no fact of it is cached. Known after probe_child_emit. */
    bool failed;
    int64_t start_ns;
};

/* Starts the hook on copies of host and record; the child sends its facts one by one. low: at a low
 * priority, while a program is measured; false where a user waits. Returns 0, or -1 with errno. The
 * work is waited for, killed and freed by child_work.h. */
int probe_child_begin(struct probe_child *ret, struct host *h, struct record *r,
                      int (*hook)(struct host *, struct record *, struct err *), bool low);
/* Adds the facts received so far to the record. Returns the duration of the hook in ms, or -1 when
 * it has not finished. */
double probe_child_emit(struct probe_child *a, const struct host *h, struct record *r);
/* For a hook that runs as long as the program: removes the facts that the caller has read, up to the
 * `rest` of one that is incomplete, and frees the work once the child has sent all. */
void probe_child_forget(struct probe_child *a, struct str rest);
#endif
