/* proc.h: the few facts of /proc that the launcher needs while a program runs: who descends from whom, what is pending. */
#ifndef LAUNCH_PROC_H
#define LAUNCH_PROC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_id {
    pid_t pid, parent;
    uint64_t start; /* ticks since boot: distinguishes a reused pid from its former owner */
    char state;
    char comm[17];
};

/* In a new PID namespace without a /proc of its own the numbers in /proc belong to other processes:
 * then every function of this file reports failure. */
/* Reads the state, parent, start and name of a process. False, with *ret not to be used: there is no
 * such process, or its stat file cannot be read. */
bool proc_look(pid_t pid, struct proc_id *ret);
/* Reads which signals are pending for the process: bit n-1 for signal n. False, with *ret unchanged:
 * that cannot be read. */
bool proc_pending(pid_t pid, uint64_t *ret);
/* Returns whether the process ignores the signal. False also where that cannot be read. */
bool proc_ignores(pid_t pid, int number);
/* Returns whether the process is an ancestor of this one. One above 64 levels is none, nor is any where
 * /proc cannot be read. */
bool proc_is_ancestor(pid_t pid);
/* Returns whether the process is `top`, or a descendant of it, at most 64 levels below. */
bool proc_is_below(pid_t pid, pid_t top);
/* Returns whether one of its threads runs, or waits for a processor or a disk. A thread that only
 * sleeps does no work until it is woken. */
bool proc_is_busy(pid_t pid);
/* Lists the living descendants of this process without those below `except` (0-terminated pids).
 * Returns the number of entries, with *ret, which the caller frees (it may be NULL);
 * -1 with errno: *ret is unchanged. */
ptrdiff_t proc_descendants(const pid_t *except, struct proc_id **ret);
/* Sends a signal to exactly that process: through a pidfd, or, where the kernel has none, after a
 * second check of its start time. */
void proc_kill(const struct proc_id *id, int signal);
#endif
