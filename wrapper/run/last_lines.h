/* last_lines.h: the end of what a program printed, which often states why it failed. */
#ifndef WRAPPER_RUN_LAST_LINES_H
#define WRAPPER_RUN_LAST_LINES_H
#include "base/folder.h"

enum { LAST_LINES_MAX = 3 };

/* Finds the last lines that have more than blanks, oldest first, of the kept standard error in a
 * folder of streams (stderr.log), or where that has none of standard output (stdout.log).
 * *ret_label: "stderr" or "output". The lines point into `kept`, which the caller initialises. They
 * are the program's bytes, of what it wrote over or coloured what a terminal shows: buf_plain them.
 * Returns how many; 0: there are none. */
size_t last_lines(const struct folder *in, struct buf *kept, const char **ret_label, struct str ret[LAST_LINES_MAX]);
/* Appends a verdict's reason, for a program that failed without the results that are missing
 * because of it. */
void failure_reason(struct str reason, bool has_failed, struct buf *to);
#endif
