/* share.h: one agent's share of a load: the lines that the process which makes it writes, and what
 * is read from them.
 *
 * The agent starts `llmload share` for each load: a fresh process, so that no state of one load
 * remains for the next, and a crash is reported. It writes JSON lines to descriptor 3: {"live":
 * {…}} each second, then {"final": {…}} or {"error": "…"}. */
#ifndef LLMLOAD_SHARE_H
#define LLMLOAD_SHARE_H
#include "base/json.h"
#include "base/json_out.h"
#include "benchmarks/native/llmload/engine.h"

enum { SHARE_FD = 3 };

void share_print_live(const struct live_counts *l, struct json_out *j); /* the member "live" */
void share_read_live(const struct json *j, struct live_counts *ret);
/* Adds an agent's outcome to o. offset_ns: the agent's CLOCK_MONOTONIC minus this process's. The
 * first one (o all zero) sets what is not added. */
int share_add_outcome(struct outcome *o, const struct json *j, int64_t offset_ns, bool first, struct err *err);
#endif
