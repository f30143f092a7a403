/* message.h: what a commit of runs says: benchmark, headline, kind of node, verdict. */
#ifndef RESULTS_MESSAGE_H
#define RESULTS_MESSAGE_H
#include "base/buf.h"
#include "results/scan.h"

/* "ior: write.bw.max 1150.92 MiB_per_s, c5.large, pass", from the run's folder; valid UTF-8 in one line. */
void message_subject(struct buf *to, int root, const struct scan_run *run);
/* The whole message of a commit of these runs: one subject and what each was. */
void message_print(struct buf *to, int root, const struct scan_run *const *runs, size_t count);
#endif
