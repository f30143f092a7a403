/* child.h: the process that makes an agent's share of a load, and what it has told. */
#ifndef LLMLOAD_CHILD_H
#define LLMLOAD_CHILD_H
#include "benchmarks/native/llmload/engine.h"

struct child;
enum child_state { CHILD_PREPARING, CHILD_READY, CHILD_RUNNING, CHILD_DONE, CHILD_FAILED, CHILD_STATES };
extern const char *const child_state_names[CHILD_STATES];

struct child_view {
    enum child_state state;
    struct live live;
    char error[600], share[24];
};
/* Starts `llmload share` with these options (NULL-terminated, copied). */
int child_start(struct child **ret, const char *const *args, unsigned share, unsigned shares, struct err *err);
/* Tells it to begin at that time (CLOCK_MONOTONIC of this machine; 0: now). Only once, when it is ready. */
int child_release(struct child *c, int64_t at_ns, struct err *err);
void child_release_when_ready(struct child *c, int64_t at_ns);
void child_stop(struct child *c);
void child_look(struct child *c, struct child_view *ret);
/* Appends the result's JSON; false: there is none. */
bool child_result(struct child *c, struct buf *to);
/* Ends it (TERM, and KILL after 5 s) and waits. NULL is allowed. */
void child_free(struct child *c);
#endif
