/* pattern.h: regular expressions over single lines (PCRE2), bounded, and the literal texts that a match must contain. */
#ifndef BENCHMARKS_PATTERN_H
#define BENCHMARKS_PATTERN_H
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { PATTERN_GROUPS_MAX = 64, PATTERN_LITERALS_MAX = 16 };

struct pattern; /* compiled; freed by pattern_free */

/* What one match found. */
struct match {
    struct str whole;
    struct str group[PATTERN_GROUPS_MAX]; /* by number; p == NULL: no part of the match */
};

/* Compiles text in PCRE2's syntax without options: ^ and $ are the line's ends. 0 with *ret, which the
 * caller frees with pattern_free; -1: ERR_INPUT for a wrong pattern, one of over 4 KiB or with more than
 * 63 groups, else out of memory. */
int pattern_new(struct pattern **ret, struct str text, struct err *err);
void pattern_free(struct pattern *p); /* with its literals; NULL is allowed */
/* For tests: returns whether the pattern is compiled to machine code. It is interpreted, within the
 * same limits, where the kernel refuses or BENCHWRAP_PCRE_JIT=0 is set. */
bool pattern_jit(const struct pattern *p);
/* Matches the line. Returns 1: it matches, and *ret (may be NULL) has the groups, which point into
 * line; 0: it does not; -1: stopped at the limits (hostile text or pattern; more than 64 KiB of line
 * for one that may match anywhere). */
int pattern_match(const struct pattern *p, struct str line, struct match *ret);
/* Returns the number of a named group; -1: there is none. */
int pattern_group(const struct pattern *p, struct str name);
/* Sets *ret to the literal texts of which each matching line contains one or more, and returns how
 * many they are; 0: none is known. They live as long as p. */
size_t pattern_literals(const struct pattern *p, const struct str **ret);
#endif
