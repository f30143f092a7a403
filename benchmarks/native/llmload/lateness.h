/* lateness.h: how late the client may have been: since when the bytes of a read may have been
 * waiting for it.
 *
 * A kernel receive stamp is that of the last segment of a read. Where a read brings more than the
 * event that is timed, the event may have arrived earlier: after the moment at which all sockets
 * were last known to be empty, or, where the thread slept until then, after it was woken. The time
 * between waking and running is the thread's delay on the run queue, which the kernel counts. */
#ifndef LLMLOAD_LATENESS_H
#define LLMLOAD_LATENESS_H
#include <stdbool.h>
#include <stdint.h>

enum {
    LATENESS_NEAR_NS = 100000, /* an arrival known to 0.1 ms, or to 1 % of the time that it ends, is exact enough to be a sample */
    LATENESS_LATE_NS = 10000000, /* a read or a send more than 10 ms behind is late */
};

/* One thread's; times are CLOCK_MONOTONIC, ns. */
struct lateness {
    int fd; /* of this thread's schedstat; -1: the kernel counts no delays */
    int64_t delay_ns, looked_ns; /* on the run queue so far, and when that was read */
    struct lateness_bound {
        int64_t at_ns; /* all sockets were empty then; 0: not known */
        int64_t called_ns; /* an earlier such time, which holds even if the process was stopped in that wait */
        uint64_t stops; /* lateness_stops() before the wait that showed it */
    } empty, from; /* now; before the wait whose events are being handled */
    int64_t called_ns, until_ns, returned_ns; /* of that wait: its begin, latest end, and end */
    uint64_t stops; /* lateness_stops() before it */
    int64_t since_ns; /* when it was woken, as far as that is known; 0: not queried yet */
};

/* Returns how often the process was continued after a stop (SIGSTOP). Several stops between two
 * calls count once. All threads must block SIGCONT: then a thread that was stopped finds a higher
 * count afterwards than before. */
uint64_t lateness_stops(void);
/* Begins for the calling thread, before its first request. The caller ends it with lateness_deinit. */
void lateness_init(struct lateness *l, int64_t now_ns);
void lateness_deinit(struct lateness *l);
/* Returns how long the thread has waited for a processor since its start, in ns; 0: not known. */
int64_t lateness_queued_ns(const struct lateness *l);
/* Notes that the thread is about to wait for events, until until_ns at most; both in ns. */
void lateness_wait_begin(struct lateness *l, int64_t now_ns, int64_t until_ns);
/* Notes the end of that wait. all: epoll reported every socket with bytes, so the others are empty. */
void lateness_wait_end(struct lateness *l, int64_t now_ns, bool all);
/* Notes that a socket was left with bytes in it: nothing is known of it at the next wait. */
void lateness_left(struct lateness *l);
/* Returns the time, in ns, after which the bytes came that were just read: sent_ns, or a later
 * bound. latest_ns: the last of them came then or before. A bound after latest_ns does not count:
 * the thread was stopped or did not run while it read. Costs one system call, and one more after
 * each wait. */
int64_t lateness_after(struct lateness *l, int64_t sent_ns, int64_t latest_ns);
/* Is an arrival known well enough that may be early_ns earlier, at the end of a time of
 * length_ns? */
static inline bool lateness_known(int64_t early_ns, int64_t length_ns)
{
    return early_ns <= LATENESS_NEAR_NS || early_ns * 100 <= length_ns;
}

/* Returns the latest time at which the last data of this socket can have come, ns; now_ns where the
 * kernel does not report it. Exact to 10 ms. */
int64_t lateness_last_data(int fd, int64_t now_ns);

/* Returns how many segments with data this TCP socket has received; -1: the kernel does not count
 * them. *ret_unread: some are not read yet; read_bytes: those that were. */
int64_t lateness_segments(int fd, uint64_t read_bytes, bool *ret_unread);
#endif
