/* repeat_child.h: run one repetition as a child process, and pass each signal on to it once. */
#ifndef REPEAT_REPEAT_CHILD_H
#define REPEAT_REPEAT_CHILD_H
#include "base/err.h"
#include "launch/signals.h"
#include "launch/spawn.h"

struct repeat_child {
    struct spawn_state state;
    struct signals signals; /* signals.finish_signal: the signal that ends the repetitions; 0: none */
    void (*beat)(void *context); /* called about once a minute during a run; may be NULL */
    void *context;
};

/* Opens the file that is each repetition's standard input: a regular file or a device. Returns the
 * descriptor, the caller's to close; -1 with err. */
int repeat_input_open(const char *input, struct err *err);
/* Blocks signals from now on, and reads them for the current run. 0; -1 with err. */
int repeat_child_open(struct repeat_child *c, struct err *err);
/* Starts line[0] with the process's environment and standard input from `input` (NULL: empty) and
 * waits for its end. 0 with the wait status; -1 with err: it could not start. */
int repeat_child_run(struct repeat_child *c, char *const *line, const char *input, int *ret_status, struct err *err);
/* Returns the number of a signal that ends the repetitions; 0: none has arrived. */
int repeat_child_ending(struct repeat_child *c);
void repeat_child_close(struct repeat_child *c);
#endif
