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

/* Sends what is due. except: our helpers' pids, 0-terminated. True when something was sent. */
bool limit_check(struct time_limit *limit, int64_t now_ns, pid_t program, const pid_t *except);
/* KILL to whatever is left of a program whose limit was reached. */
void limit_kill_rest(const pid_t *except);
int limit_timeout(const struct time_limit *limit, int64_t now_ns);
#endif
