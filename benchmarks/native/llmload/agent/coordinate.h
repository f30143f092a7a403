/* coordinate.h: one load made by several agents: prepared, started at one time, watched, merged. */
#ifndef LLMLOAD_COORDINATE_H
#define LLMLOAD_COORDINATE_H
#include "base/json_out.h"
#include "base/screen.h"
#include "benchmarks/native/llmload/around.h"

struct coordination;

/* --agents: connects to them and estimates their clocks. ERR_REMOTE names the agent; ERR_USAGE: the
 * load is too small for so many. The arena must live longer. */
int coordinate_begin(struct coordination **ret, const struct opt_set *set, const struct load *load, struct arena *arena, struct err *err);
/* Lets the agents prepare the load. model: the one that the server lists, or NULL. ERR_REMOTE names
 * the agent. */
int coordinate_prepare(struct coordination *c, const char *model, struct err *err);
/* Starts them together and watches; hooks as of engine_run. The outcome is the sum. An agent that
 * is lost ends the others; what they have counts. -1 with err: they were not started together, none
 * has a result, one cannot be read, or out of memory. The caller frees *ret with outcome_deinit,
 * also after -1. */
int coordinate_run(struct coordination *c, struct outcome *ret, const struct engine_hooks *hooks, struct err *err);
/* `,"agents":[{"address":…,"clock_offset_ns":…,"round_trip_ns":…,…}]` */
void coordinate_json(const struct coordination *c, struct json_out *j);
/* A row for each agent, for a screen of that width. */
void coordinate_table(const struct coordination *c, const struct screen *screen, struct buf *to);
void coordinate_free(struct coordination *c); /* NULL is allowed */

/* --agents srun on another task than the first: does it serve as agent until its result has been
 * fetched? 1: yes, *ret_status is its exit status; 0: this is the leader (which has started an
 * agent of its own), or --agents is not srun. -1: err. */
int coordinate_srun(const struct opt_set *set, int *ret_status, struct err *err);
#endif
