/* verify.h: what the files share that read a run's output again; private to wrapper/check. */
#ifndef CHECK_VERIFY_H
#define CHECK_VERIFY_H
#include "benchmarks/rules.h"
#include "check/parts.h"

/* One comparison of a run's claims with a new reading, and where its findings go. */
struct verify_state {
    void (*tell)(void *context, enum check_id id, const char *file, const char *text);
    void *context;
    enum check_id differs;      /* the finding for a metric, param or tag that differs */
    bool common;                /* compare only metrics that the run has too, and no verdict */
    const struct rules *rules;  /* those that read the output; NULL: none did */
    bool series;                /* the claims follow from repetitions, not from rules */
};
/* verify.c: reports what differs between the run's claims and a new reading: metrics, params, tags,
 * verdict. */
void verify_compare(const struct verify_state *t, struct run_check *r, const struct record *record,
                    const struct rules_outcome *out);
/* verify.c: does the record list this as missing ("stdout.log")? */
bool verify_is_missing(const struct run_check *r, const char *key);
/* verify.c: returns true if the source of a fact ("rule:ior:results") shows that rules read it from
 * the output. */
bool verify_is_from_rules(const char *source);
/* verify.c: frees the rules that are cached from run to run. */
void verify_end(struct check_state *k);
/* reading.c: feeds the stored output to the rules. Initialises *record, which the caller
 * deinitialises also after -1. *ret_sure: each file that the rules read is stored and unambiguous.
 * 0; -1: the rules cannot be applied. */
int verify_reread(struct run_check *r, const struct rules *rules, struct record *record, struct rules_outcome *ret,
                  bool *ret_sure, struct err *err);
/* reading.c: did a build of benchwrap 0.1.0 withhold the arguments of this public run, so that its
 * argv holds only the program's name? verify_reread then uses the params that follow from the
 * arguments as recorded. */
bool verify_argv_is_withheld(const struct run_check *r);
/* reading.c: reports a stream that is recorded as cut and has no line for it. */
void verify_cuts(struct run_check *r);
/* sandbox.c: work for a child process of bounded time and memory. */
struct sandbox_work {
    void (*work)(const struct verify_state *t, struct run_check *r, const void *context);
    const void *context;
    enum check_id endless;      /* the finding when time or memory run out */
    const char *what, *file;    /* the work in words; where its findings belong */
};
/* Runs the work in a child process and reports its findings. Reports CHECK_LIMIT instead once all
 * sandboxed work of this check has been too slow. */
void sandbox_run(struct run_check *r, const struct sandbox_work *what);
/* parents.c: a run that is one test of a larger output has the values of its parent run. */
void check_block(struct run_check *r);
/* series.c: the metrics of repetitions follow from their runs. */
void check_series(struct run_check *r);
#endif
