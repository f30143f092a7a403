/* message.h: the message of a commit of runs: benchmark, headline metric, node type, verdict. */
#ifndef RESULTS_MESSAGE_H
#define RESULTS_MESSAGE_H
#include "base/buf.h"
#include "results/scan.h"

/* Appends the message of a commit of these runs: a subject, and a line or two for each of the first
 * LINES_MAX runs. Names are read below root, the tree. */
void message_print(struct buf *to, int root, const struct scan_run *const *runs, size_t count);
#endif
