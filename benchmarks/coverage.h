/* coverage.h: what of a rule file was of use in readings of samples, for those who write rules. */
#ifndef BENCHMARKS_COVERAGE_H
#define BENCHMARKS_COVERAGE_H
#include "benchmarks/engine.h"

enum { COVERAGE_NOTES_MAX = 100 };

struct coverage_note {
    const char *text;
    struct coverage_note *next;
};
struct coverage_metric {
    unsigned seen; /* readings in which the rule had values */
    unsigned believed; /* … and no earlier reader had them too */
    const char *instead; /* name of a reader that was believed instead */
};
struct coverage {
    struct arena arena;
    const struct rules *rules;
    const char *sample; /* name of the reading, for the notes */
    unsigned readings, argued; /* argued: those with arguments */
    unsigned rows[READERS_MAX];
    unsigned failed[CHECKS_MAX];
    unsigned option[OPTIONS_MAX];
    unsigned *param[READERS_MAX]; /* by reader and its param */
    struct coverage_metric *metric; /* by metric_rule.index */
    struct coverage_note *notes, **tail; /* what was ambiguous, each once */
    size_t notes_n;
};

/* Begins to count for these rules, which must outlive it. The caller ends it with coverage_deinit, also
 * after -1: out of memory. */
int coverage_init(struct coverage *c, const struct rules *rules, struct err *err);
void coverage_deinit(struct coverage *c);
/* Counts this reading from now on; `sample` names it and must live until its end. */
void coverage_watch(struct coverage *c, struct rules_run *run, const char *sample);

/* Called by the engine, where run->coverage is set. */
void coverage_refused(struct rules_run *run, const struct reader *r, const struct str *cells); /* a row that is none */
void coverage_end(struct rules_run *run);
#endif
