/* guess.h: a first rule file for an output without rules: tables, CSV, JSON, and lines with named numbers. */
#ifndef BENCHMARKS_GUESS_H
#define BENCHMARKS_GUESS_H
#include "base/buf.h"
#include "base/err.h"

enum { GUESS_BYTES_MAX = 4 << 20 }; /* so much of an output is read */

struct guess_summary {
    size_t metrics, params, readers, dropped; /* dropped: found, but the rules did not read them as meant, so they were left out */
};
/* Appends a rule file that loads, and that reads from this same output every metric it names. output: any bytes. name: the benchmark's. argv:
 * the program and its arguments, may be NULL. `cut`: the output continues behind the text. */
int rules_guess(struct str output, const char *name, char *const *argv, bool cut, struct buf *ret, struct guess_summary *summary,
                struct err *err);
#endif
