/* repeat_child.h: one run of a series as a process: started, waited for, signals passed on to it once. */
#ifndef REPEAT_REPEAT_CHILD_H
#define REPEAT_REPEAT_CHILD_H
#include "base/err.h"
#include "launch/signals.h"
#include "launch/spawn.h"

struct repeat_child {
    struct spawn_state state;
    struct signals signals; /* signals.finish_signal: somebody wants the series to end */
    void (*beat)(void *context); /* called about once a minute while a run goes on */
    void *context;
};

/* Opens the file that is each repetition's standard input: a regular file or a device. The descriptor, the caller's to close; -1 with err. */
int repeat_input_open(const char *input, struct err *err);
/* Blocks the signals from here on; what comes is for the run that goes on. 0; -1 with err. */
int repeat_child_open(struct repeat_child *c, struct err *err);
/* Starts line[0] with the process's environment and standard input from `input` (NULL: empty) and waits for its end. 0 with the wait status; -1. */
int repeat_child_run(struct repeat_child *c, char *const *line, const char *input, int *ret_status, struct err *err);
/* Has a signal come that ends the series? Its number, or 0. */
int repeat_child_ending(struct repeat_child *c);
void repeat_child_close(struct repeat_child *c);
#endif
