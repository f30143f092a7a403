/* report.h: runs as one document: what a reader needs of them, in the order of interest.
 *
 * Verdict and headline metrics come first, then plots, conditions, differences, noise and warnings, nodes, and output. Documents are filled in the
 * arena of the document. Results: 0; 1: a run is damaged, which the document reports; -1 with err. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H
#include "compare/compare.h"
#include "report/doc.h"
#include "runs/runs.h"

/* What the user names. */
struct report_options {
    const char *by;                 /* the param or tag that makes groups; NULL: none */
    const char *over, *work;        /* of scaling: the number of units, the total work; NULL: found in the runs */
    const struct opt_value *ignore; /* patterns of what else may differ */
    const struct opt_value *sort;   /* of the table of runs */
    const char *columns;            /* of the table of runs, in place of the usual ones; NULL: none */
};

/* One run (params, metrics and tags read), which may be the parent run of repetitions or of a sweep. */
int report_run(struct doc *d, struct runs *runs, struct tree_run *run, const struct report_options *o, struct err *err);
/* Two groups or more, which are compared: the first one is the base. Their members' details are read here and freed. o->by: what made them; NULL: the
 * user named runs. */
int report_groups(struct doc *d, struct runs *runs, struct compare_group *groups, size_t count, const struct report_options *o, struct err *err);
/* Runs of an experiment, newest first (params, metrics and tags read). */
int report_experiment(struct doc *d, struct runs *runs, struct tree_run *const *list, size_t n, const struct report_options *o, struct err *err);

/* Parts of these documents. The section on scaling: speed-up and efficiency of each metric, where
 * runs have the fact "scaling" or o names what they are placed by. Runs that show none get a
 * sentence with the reason; -1 with err where o requests it. metrics: keys, [n_metrics]. */
int report_scaling(struct doc *d, struct runs *runs, struct tree_run *const *list, size_t n, const char *const *metrics, size_t n_metrics,
                   const struct report_options *o, struct err *err);
/* Adds the table of runs with the columns that o names. letters: the group of each run, or NULL. -1
 * with err. */
int report_runs_table(struct doc *d, struct runs *runs, struct tree_run *const *list, const char *const *letters, size_t n,
                      const struct report_options *o, struct err *err);
/* Returns the runs in the order of o->sort, in the arena; the list itself without it. NULL with
 * err. */
struct tree_run *const *report_order(const struct runs *runs, struct tree_run *const *list, size_t n, const struct report_options *o, struct arena *a,
                                     struct err *err);

/* For the parts: "1085" of a value as people read it, and its unit, in the arena; ret_unit may be NULL. */
const char *report_value(double value, const char *unit, const char **ret_unit, struct arena *a);
/* "2026-11-22 17:03:12 UTC", which stays on one line */
const char *report_time(int64_t ms, struct arena *a);
/* Its name, without the time that benchwrap adds to those it makes. */
const char *report_name(const struct tree_run *run, struct arena *a);
/* Returns the line at the foot. */
const char *report_foot(const struct runs *runs, struct arena *a);
#endif
