/* rules_check.h: check a rule file: mistakes, results of its samples, and remarks for its author. */
#ifndef REPLAY_RULES_CHECK_H
#define REPLAY_RULES_CHECK_H
#include "base/arena.h"
#include "replay/samples.h"

enum remark_kind { REMARK_MISTAKE, REMARK_UNUSED, REMARK_AMBIGUOUS, REMARK_PATTERN };
struct rules_remark {
    enum remark_kind kind;
    const char *text;
    struct rules_remark *next;
};
struct rules_report {
    const char *name, *path;
    struct rules_remark *remarks, **tail; /* mistakes first */
    size_t remark_count;
    struct sample_case *samples;
    size_t good, differing, skipped, broken, mistakes;
};

const char *remark_word(enum remark_kind kind); /* "mistake", "unused", "ambiguous", "pattern" */
/* Loads the file at the address, runs the samples next to it (a shipped one has none), remarks. All
 * in the arena. -1: memory only. */
int rules_check(const char *path, bool update, struct arena *a, struct rules_report *ret, struct err *err);
/* Returns whether there are neither mistakes nor samples that differ. */
bool rules_report_good(const struct rules_report *r);
#endif
