/* compare.h: two results side by side. */
#ifndef TASKRATE_COMPARE_H
#define TASKRATE_COMPARE_H
#include "base/err.h"

#include <stdbool.h>

/* Prints the ratio B/A of what both files (documents of --json or --out) have measured, with its 95 % interval, and what else differs between them.
 * 0: no significant difference; 1: something differs; -1: a file cannot be used. */
int taskrate_compare(const char *a, const char *b, bool json, struct err *err);
#endif
