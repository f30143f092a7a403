/* proposal.h: references proposed from runs: groups of the same inputs, median and band of each metric. */
#ifndef COMPARE_PROPOSAL_H
#define COMPARE_PROPOSAL_H
#include "compare/compare.h"
#include "compare/comparison_key.h"

enum { PROPOSAL_RUNS_MIN = 5 };
#define PROPOSAL_BAND_MAX 0.5

struct proposed_value { /* of one metric in one run */
    double value;
    struct proposed_value *next;
};
struct proposed_metric {
    const char *key; /* with @STEP for a table */
    const char *unit, *direction; /* direction "": the runs know none, or disagree */
    unsigned ways; /* of the runs, as metric_way.h joins them */
    struct proposed_value *values;
    size_t n;
    size_t other_units; /* runs with the metric in another unit, whose values are left out */
    double median, mad, band; /* filled when it is printed; band: fraction, NaN: none */
    size_t outside; /* runs outside the band on the bad side */
    struct proposed_metric *next;
};
struct proposed_condition {
    const char *key; /* "benchmark", "site", "cluster", "job.partition", "node.type", or a param */
    const char *value;
    bool param;
};
struct proposed_group {
    const char *name; /* all conditions in one text: same text, same group, unless by_key */
    struct comparison_key key; /* of its first run with a known command line, or of its first run */
    struct proposed_condition *conditions;
    size_t condition_count;
    const char **runs; /* ids */
    size_t count, room;
    int64_t first_ms, last_ms;
    struct proposed_metric *metrics;
    /* arguments in which the command lines differ, and "program": no condition can distinguish these runs; NULL-terminated; NULL: none */
    const char **differs;
    struct proposed_group *next;
};
struct proposal {
    struct arena *arena;
    const struct opt_value *ignore;
    bool undirected; /* also metrics without a direction */
    bool all; /* also what is no headline metric of the rules */
    bool by_key; /* another command line makes another group, although no condition can distinguish them */
    double min_band;
    struct proposed_group *groups;
    size_t taken, skipped; /* runs; skipped: not FINISHED, or warm-up */
    size_t entries; /* printed */
};

void proposal_init(struct proposal *p, const struct opt_value *ignore, bool all, struct arena *a);
/* Copies what is needed of a run into its group: of the run of that name, or of one that runs_load has listed (name NULL). 0; 1: a listed one was deleted
 * since then; -1 with err, also for a run that is named twice. */
int proposal_add_run(struct proposal *p, struct runs *runs, const char *name, const struct tree_run *listed, struct err *err);
/* Appends the text as a quoted pattern of a reference file that fits this text alone. */
void proposal_quote(struct buf *to, const char *text);
/* Writes a reference file with remarks. */
void proposal_yaml(struct proposal *p, struct buf *to);
/* Appends the proposal as JSON: all groups and metrics, with the reason for those that are left
 * out. Adds the groups with an entry to p->entries. */
void proposal_json(struct proposal *p, struct buf *to);
#endif
