/* compare.h: groups of runs side by side: which params differ, and by how much the metrics do. */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H
#include "base/change.h"
#include "runs/runs.h"

struct compare_member {
    struct tree_run *run;        /* params, metrics and tags read */
    struct json *detail;         /* benchwrap.json, or NULL */
};
struct compare_group {
    const char *name;
    struct compare_member *members;
    size_t count;
};

enum { COMPARE_STATUS_GATE = 3 }; /* exit status of a comparison with --gate that found a regression */

enum compare_outcome { OUTCOME_NONE, OUTCOME_TOO_FEW, OUTCOME_SAME, OUTCOME_UNCERTAIN /* the interval holds a change alone, which is not certain: by Welch's test, or among so many metrics */, OUTCOME_BETTER, OUTCOME_WORSE, OUTCOME_DIFFERENT };

struct compared_side {           /* one metric of one group */
    double *values;              /* what the statistics are over */
    size_t n;
    double median;
    bool repetitions;            /* values are the repetitions of one series, not one value of each run or the samples within one */
    struct change change;        /* against the first group */
    enum compare_outcome outcome;
    size_t other_units;          /* runs that have the metric in another unit than ->unit: their values are left out */
    const char *other_unit;      /* the first of these; "": none */
    bool other_inputs;           /* what was measured differs in something that the user did not name: values are shown, but no verdict */
};
struct compared_metric {
    const char *key;
    int64_t step;                /* of a table size -> value; else -1 */
    const char *unit, *direction; /* direction "": the runs know none, or disagree */
    bool is_disputed;            /* they disagree */
    bool headline;               /* a run of one of the groups names it as such */
    struct compared_side *sides; /* one for each group */
    struct compared_metric *next;
};

/* Metrics that at least one group has, in order of their keys. With several runs in any group, each
 * run counts once (the median of its repetitions); with one run in each, its repetitions are the
 * samples. Steps that are not 0,1,2… or 1,2,3… make a table: each step is compared for itself. Of a
 * sweep's parent each point is compared for itself, and its wall times, which are those of all
 * points, are left out. `all`: also observations of the machine, and the statistics next to their
 * samples. NULL and err: out of memory. */
int compare_metrics(const struct compare_group *groups, size_t count, bool all, struct arena *a, struct compared_metric **ret, struct err *err);
/* Returns whether the steps of the run's metric are repetitions, and mean nothing else (a table
 * over sizes). Those of a parent run are repetitions, also where one failed or is retracted, unless
 * the key is over the points of a sweep. In other runs 0,1,2… or 1,2,3… are. The run's tags are
 * read. */
bool compare_are_repetitions(const struct tree_run *run, const struct tree_entry *e);
/* Returns the values that a param, else a tag, has in a group: one text, several with ", " between
 * them, "-" where a run lacks it. In the arena. */
const char *compare_param(const struct compare_group *group, const char *key, struct arena *a);
/* The same of a tag alone: a param may have its key. */
const char *compare_tag(const struct compare_group *group, const char *key, struct arena *a);
/* Returns the keys of the params that differ between groups or within one; NULL-terminated,
 * sorted. */
const char **compare_params(const struct compare_group *groups, size_t count, struct arena *a);
/* The same of tags, without those that every run has for itself: ids, MLflow's, most of benchwrap's. */
const char **compare_tags(const struct compare_group *groups, size_t count, struct arena *a);
/* Returns the metric as it is printed, without its unit; behind it " @STEP" where the step is part
 * of it. The text is in the arena; NULL: out of memory. */
const char *compare_metric_name(const struct compared_metric *m, struct arena *a);
/* Returns "! rate is in GB/s in 2 of 7 runs of B, not in MB/s: …", in the arena; NULL: no run of
 * the side has it in another unit. runs: of the side; whose: "runs of B". */
const char *compare_units_line(const struct compared_metric *m, size_t side, size_t runs, const char *whose, struct arena *a);
/* Returns the text of a side in the verdict column: "too few", "better" … or "other inputs". */
const char *compare_verdict(const struct compared_side *side);
/* Returns whether the metric gets a verdict: results and the wall time do. Observations of the
 * machine do not. */
bool compare_is_judged(const char *key);
#endif
