/* verify.h: what the files share that read a run's output again; private to wrapper/check. */
#ifndef CHECK_VERIFY_H
#define CHECK_VERIFY_H
#include "benchmarks/rules.h"
#include "check/parts.h"

/* One reading, and who is told of what differs. */
struct verify_state {
    void (*tell)(void *context, enum check_id id, const char *file, const char *text);
    void *context;
    enum check_id differs;      /* what a difference in the figures is */
    bool common;                /* only keys that the run has too; no verdict */
    const struct rules *rules;  /* those that read the output; NULL: none did */
    bool series;                /* the claims are those of a series, not of rules */
};
/* Reads the output with these rules and tells what differs from the run's claims. */
void verify_by_rules(const struct verify_state *t, struct run_check *r, const struct rules *rules);
/* reading.c: the reading itself. 0; *ret_sure: every file that the rules want was there; -1: they cannot be applied. */
int verify_reread(struct run_check *r, const struct rules *rules, struct record *record, struct rules_outcome *ret, bool *ret_sure, struct err *err);
/* Builds of benchwrap 0.1.0 recorded only the program's name in the argv of a public run: is this one of them, and had the program arguments? Then
 * verify_reread takes the params that follow from them as the record has them. */
bool verify_argv_is_withheld(const struct run_check *r);
/* Tells of a stream that is said to be cut and is not. */
void verify_cuts(struct run_check *r);
/* Tells what differs between the run's claims and what was worked out anew: metrics, params, tags, verdict. */
void verify_compare(const struct verify_state *t, struct run_check *r, const struct record *record, const struct rules_outcome *out);
/* apart.c: some work in a process of its own, of bounded time and memory. */
struct sandbox_work {
    void (*work)(const struct verify_state *t, struct run_check *r, const void *context);
    const void *context;
    enum check_id endless;      /* what it is when time or memory are over */
    const char *what, *file;    /* … in words, and where */
};
void sandbox_run(struct run_check *r, const struct sandbox_work *what);
/* Does the record say that this is missing ("stdout.log")? */
bool verify_is_missing(const struct run_check *r, const char *key);
/* Lets go of the rules that are kept from run to run. */
void verify_end(struct check_state *k);
/* Does the source of a fact ("rule:ior:results") say that it was read from the output? */
bool verify_is_from_rules(const char *source);
/* kin.c: a run that is one test of a larger output: its figures are its parent's. */
void check_block(struct run_check *r);
/* series.c: a program run several times: the figures are its runs'. */
void check_series(struct run_check *r);
#endif
