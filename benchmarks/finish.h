/* finish.h: what the parts of a reading's end share: params, metrics, checks, and the reasons why a
 * run is not good. */
#ifndef BENCHMARKS_FINISH_H
#define BENCHMARKS_FINISH_H
#include "benchmarks/engine.h"
#include "benchmarks/headlines.h"
#include "base/buf.h"

struct ending {
    struct rules_run *run;
    struct record *record;
    int exit_code, signal;
    int64_t base_ms;
    size_t derive_limit, metrics; /* metrics: series that have a value in the record */
    char (*prefix)[64]; /* per block: "", "t0.", "seqwrite." */
    struct buf reasons, disagree; /* disagree: params with different values from two sources */
    struct fails {
        struct buf reasons;
        size_t n;
    } fails, *of_block; /* of_block: by block, what is wrong with it alone; NULL: not requested */
    struct headlines headlines;
};

/* finish.c */
/* Returns how many tests the output has; at least one. */
unsigned blocks_of(const struct rules_run *run);
/* Returns the version of the program that printed the block; "": not known. */
const char *version_of_block(const struct rules_run *run, unsigned block);
/* Makes this reader the source of the facts that follow. */
void ending_source(struct ending *e, const char *who);
/* Records that the run is not good, and why: `join` is between the name of the test and the text.
 * block -1: it is of all of the output. */
void ending_fail(struct ending *e, int block, const char *join, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* finish_params.c */
/* Returns the value in force in a block: that of the output, unless the rules prefer the arguments,
 * then that of the environment. NULL: none. */
const struct value_seen *value_in(const struct rules_run *run, struct str key, int block);
/* Records each param once, and frees e->disagree. -1 with err: out of memory. */
int params_out(struct ending *e, struct err *err);
/* finish_names.c */
/* Returns names and calls of expressions, in the scope of block run->block_now. */
struct expr_names ending_names(struct ending *e);
/* Returns whether the condition is true in that scope; NULL always is. */
bool ending_holds(struct ending *e, const struct expr *when);
/* Returns how many values the metric has in the block, by the reader that has most. */
size_t samples_of(const struct rules_run *run, struct str name, unsigned block);
/* Returns the matches of a check in a block, or with block -1 in all; *ret_line, if not NULL, becomes
 * the first line of them. */
size_t matches_of(const struct rules_run *run, const struct check *check, int block, const char **ret_line);
/* finish_left_out.c: for rules that guess, records a warning of what they have read but left out, and
 * why. Returns the reason why the record has no result; NULL: it has one, there was nothing to read,
 * the rules do not guess, or out of memory. */
const char *explain_left_out(struct ending *e);
/* finish_checks.c */
/* Evaluates a check, or a required metric, in each test: what does not hold becomes a reason or a
 * warning. */
void check_one(struct ending *e, const struct check *c);
void required_one(struct ending *e, const struct required *q);
/* finish_metrics.c, in this order */
/* Drops series that are no values of their metric, or percentiles of too few values. */
void series_drop(struct ending *e);
/* Computes the metrics that no line prints. */
void computed_take(struct ending *e);
/* Records all metrics, or why they are missing. -1 with err: out of memory. */
int metrics_out(struct ending *e, struct err *err);
/* Returns why the series has no result; NULL if it has one. */
const char *series_trouble(const struct rules_run *run, struct series *s);
bool series_same_metric(const struct rules_run *run, const struct series *a, const struct series *b);
/* Returns the value of "write.bw" or "write.bw.max" in a block; undefined if it is missing, or has
 * several values and no statistic is named. */
struct value metric_value_in(struct rules_run *run, struct str name, unsigned block);
#endif
