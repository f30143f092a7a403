/* spawn.h: starts the program, which waits before its exec until it is released, and reports why
 * it could not start. */
#ifndef LAUNCH_SPAWN_H
#define LAUNCH_SPAWN_H
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>
#include <sys/types.h>

/* What the program must find as the caller left it. */
struct spawn_state {
    sigset_t mask;
    bool chld_ignored;
    struct itimerval alarm; /* a pending alarm(2) of the caller survives exec, but not fork */
};
/* Saves the caller's state, blocks all signals, makes SIGCHLD reach this process. False with errno. */
bool spawn_save(struct spawn_state *ret);
/* Calls fork(2), again for 50 ms while there are too many processes or too little memory; the
 * parent has all signals blocked as before: glibc 2.42 changes the mask around it and sets back
 * what it believes it was. */
pid_t spawn_fork(void);
/* Restores everything: before exec. */
void spawn_restore(const struct spawn_state *state);

struct spawn_failure {
    int in_exec; /* 0: descriptors could not be set */
    int error;   /* errno */
};

/* Forks a process that executes the program once spawn_release lets it go. out and err become its
 * descriptors 1 and 2 (-1: as inherited). Returns its pid, with *ret_line for spawn_release and
 * spawn_result, which closes it; -1 with errno. */
pid_t spawn_held(const struct spawn_state *state, char *const *argv, char *const *env, int out, int err, int *ret_line);
/* Lets the held process continue with its exec. */
void spawn_release(int line);
/* Reads how the start ended, after the release, once `line` is readable. 1: the program runs; 0:
 * not known yet; -1: it could not, *ret states why. Closes *line unless 0. */
int spawn_result(int *line, struct spawn_failure *ret);
/* Returns the exit status (125, 126, 127) for a failure, and writes the sentence for it into text, cut
 * to size. */
int spawn_explain(const char *program, const struct spawn_failure *failure, char *text, size_t size);
/* Becomes the program, nothing else loaded. Returns only on failure: prints the error and returns
 * the exit status. */
int spawn_exec(char *const *argv);
#endif
