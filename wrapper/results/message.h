/* message.h: what a commit of runs says: benchmark, headline, node type, verdict. */
#ifndef RESULTS_MESSAGE_H
#define RESULTS_MESSAGE_H
#include "base/buf.h"
#include "results/scan.h"

/* The whole message of a commit of these runs: one subject and what each was. */
void message_print(struct buf *to, int root, const struct scan_run *const *runs, size_t count);
#endif
