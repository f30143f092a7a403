/* part.h: the process that makes an agent's share of a load, and what it has reported. It is
 * steered through its standard input while it works, which base/query.h does not do. */
#ifndef LLMLOAD_PART_H
#define LLMLOAD_PART_H
#include "benchmarks/native/llmload/engine.h"

struct agent_part;
enum part_state { PART_PREPARING, PART_READY, PART_RUNNING, PART_DONE, PART_FAILED, PART_STATES };
extern const char *const part_state_names[PART_STATES];

struct part_view {
    enum part_state state;
    struct live_counts live;
    char error[600], share[24];
};
/* Starts `llmload share` with these options (NULL-terminated, copied). */
int part_start(struct agent_part **ret, const char *const *args, unsigned share, unsigned shares, struct err *err);
/* Lets it begin at that time (ns of this machine's CLOCK_MONOTONIC; 0: now). ERR_INPUT: not ready,
 * or released before. */
int part_release(struct agent_part *c, int64_t at_ns, struct err *err);
/* The same as soon as it is ready. */
void part_release_when_ready(struct agent_part *c, int64_t at_ns);
/* Ends the load with what it has; the result can be fetched. */
void part_stop(struct agent_part *c);
/* Copies the present state. */
void part_look(struct agent_part *c, struct part_view *ret);
/* Appends the result's JSON; false: there is none. */
bool part_result(struct agent_part *c, struct buf *to);
/* Ends it (TERM, and KILL after 5 s) and waits. NULL is allowed. */
void part_free(struct agent_part *c);
#endif
