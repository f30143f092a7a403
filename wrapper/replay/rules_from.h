/* rules_from.h: the output that `rules new` starts from: a file, standard input, or the output that a recorded run kept. */
#ifndef REPLAY_RULES_FROM_H
#define REPLAY_RULES_FROM_H
#include "base/buf.h"
#include "runs/runs.h"

/* Appends at most GUESS_BYTES_MAX bytes of the output to b. from: a path, "-" for standard input, or a run as `show` takes it ("last", "last~2", a
 * prefix of its id); a file of that name takes precedence. *argv: NULL, or the program and its arguments; of a run whose record has them they are set
 * if they were NULL (in c's arena). Returns 1 if the output is longer, 0, or -1 with c->err set. */
int rules_from(const struct runs_place *place, const char *from, struct buf *b, char *const **argv, struct arena *a, struct err *err);
#endif
