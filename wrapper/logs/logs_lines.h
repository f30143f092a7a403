/* logs_lines.h: reads a text file line by line in bounded memory. */
#ifndef LOGS_LOGS_LINES_H
#define LOGS_LOGS_LINES_H
#include "base/err.h"
#include "base/str.h"

enum { LOGS_LINES_MAX = 8 << 20 /* bytes of a line */ };

/* Calls each for every line that has an end, without it. Non-zero ends it and is returned. A file that does not exist has no
 * lines. -1 with err: it cannot be read, or a line is too long. */
int logs_each_line(int folder, const char *name, int (*each)(void *context, struct str line, struct err *err), void *context, struct err *err);
#endif
