/* queue.h: what the providers without a live system behind them share: commands by name, their words, what they print. */
#ifndef TASKRATE_QUEUE_H
#define TASKRATE_QUEUE_H
#include "benchmarks/native/taskrate/provider.h"

/* Runs NAME WORD… (NULL ends them) for at most 30 s, its output into out. */
int queue_ask(struct bench *b, struct buf *out, struct err *err, const char *name, ...) __attribute__((sentinel));
/* The same for what knows no bench: a sweep. */
int queue_order(struct buf *out, struct err *err, const char *name, ...) __attribute__((sentinel));
/* NAME's path and the words behind it, added to `to`. */
int queue_line(struct bench *b, struct words *to, struct err *err, const char *name, ...) __attribute__((sentinel));
size_t queue_lines(struct str text); /* lines that are not empty */
/* Says in the result that this provider has been tried with programs that behave as its documents say, and not on a live system. */
void queue_untried(struct bench *b);
#endif
