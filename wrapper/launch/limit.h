/* limit.h: the time limit: a signal to the program and all its descendants, then KILL. Never to the caller's group. */
#ifndef LAUNCH_LIMIT_H
#define LAUNCH_LIMIT_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct time_limit {
    int64_t due_ns;       /* monotonic; 0: none */
    int64_t grace_ns;     /* from the signal to KILL */
    int signal;
    bool reached, killed; /* the signal, KILL was sent */
};

/* Sends the signal that is due: first `signal`, then KILL after grace_ns, repeated every 0.1 s.
 * program: 0 if it has ended. except: pids of the launcher's helpers, 0-terminated. Returns
 * whether a signal was sent. */
bool limit_check(struct time_limit *limit, int64_t now_ns, pid_t program, const pid_t *except);
/* Sends KILL to all remaining descendants, once the program whose limit was reached has ended. */
void limit_kill_rest(const pid_t *except);
/* Returns how many milliseconds there are until limit_check has something to send, at most 1000 s; -1:
 * there is no limit. */
int limit_timeout(const struct time_limit *limit, int64_t now_ns);
#endif
