/* run_facts.h: the facts of many runs in memory, read fast: one file of each run, by several threads. */
#ifndef HISTORY_RUN_FACTS_H
#define HISTORY_RUN_FACTS_H
#include "runs/runs.h"

#define FACT_COMMAND "argv" /* the key of the complete command line, as a param */

struct fact_key {
    enum fact_kind kind;
    const char *name;
    int64_t step; /* of a metric that is a table size -> value; else -1 */
    const char *unit; /* of a metric, whose values in another unit have another key; "": not known */
    uint64_t hash;
};
struct run_fact {
    uint32_t key; /* index in run_facts.keys */
    uint8_t way; /* of a metric: its direction by the run, as metric_way.h has it */
    union {
        uint64_t value; /* hash of a text: equal texts have equal ones */
        double number; /* of a metric, finite: the median of its repetitions */
    };
};
struct facts_run {
    const struct tree_run *run; /* only the meta is read */
    struct run_fact *facts; /* params and tags, if requested; those that a repetition inherits come last */
    size_t fact_count;
    struct run_fact *metrics;
    size_t metric_count;
    uint64_t inputs; /* equal: the runs have one comparison key. Different: they may have */
    uint64_t content; /* hash of times, host and metrics: equal for copies of a run */
    char parent[33]; /* id, or "" */
    bool is_repetition, is_warmup, is_annotation, is_sweep /* parent run of several points */,
        in_parent /* its values are those of a parent run that is among the runs */,
        is_gone /* while the runs are read: this one was deleted */;
};
struct run_facts {
    struct facts_run *runs; /* as runs->all: newest first */
    size_t count;
    struct fact_key *keys;
    size_t key_count;
};

/* Reads the runs that runs_load has found, and removes from runs->all those that were deleted
 * since. texts: params and tags, too; else only what the comparison key needs of them. In the
 * arena. -1: out of memory. */
int run_facts_read(struct runs *runs, bool texts, struct arena *a, struct run_facts *ret, struct err *err);
/* Returns the value of a metric; NaN: the run has none. */
double run_facts_number(const struct facts_run *run, uint32_t key);
/* Returns the hash of a fact's value; 0: the run lacks it. */
uint64_t run_facts_value(const struct facts_run *run, uint32_t key);
#endif
