/* rules_from.h: the output that `rules new` starts from: a file, standard input, or the output that a recorded run kept. */
#ifndef REPLAY_RULES_FROM_H
#define REPLAY_RULES_FROM_H
#include "base/buf.h"
#include "runs/runs.h"

/* Appends at most GUESS_BYTES_MAX bytes of the output to b. from: a path, "-" for standard input,
 * or a run as `show` accepts it ("last", "last~2", a prefix of its id); a file of that name takes
 * precedence. *argv: the program and its arguments; if NULL, set from the run's record where that
 * has them, in the arena. 0; 1: the output is longer; -1 with err. */
int rules_from(const struct runs_place *place, const char *from, struct buf *b, char *const **argv, struct arena *a, struct err *err);
#endif
