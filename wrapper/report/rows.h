/* rows.h: values of runs for plots and reports: one row for each run or repetition, with what places it on the axes.
 *
 * Rows that share an axis must have one comparison key, but for what the user names. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H
#include "compare/comparison_key.h"
#include "plot/chart.h"
#include "runs/runs.h"

struct plotted_metric {
    const char *wanted; /* as the user types it: the key, or without unit; NULL: the first headline metric of the newest run */
    const char *key; /* of the rows, set by plotted_add */
    const char *name, *unit, *shown_unit; /* name: without unit; shown_unit: as people write it */
    enum chart_better better; /* CHART_NEITHER: the runs know none, or disagree */
    unsigned ways; /* the directions of the runs, as metric_way.h joins them */
};
enum { PLOTTED_METRICS = 2 };
struct plotted_row {
    const struct tree_run *run; /* the run, or the parent run of a repetition */
    const char *label; /* "3f2a9c01 name" */
    const char *fields[3]; /* values of the requested facts; NULL: the run lacks it */
    const char *group; /* of an operand */
    int64_t start_ms;
    double value[PLOTTED_METRICS], low, high; /* NaN: not known; low, high: of the first metric's repetitions */
    const struct comparison_key *key;
    uint8_t ways[PLOTTED_METRICS]; /* the directions of the values, as metric_way.h has them */
    bool is_other_unit; /* the first value is missing because it is in another unit */
    bool unjudged; /* it may have been disturbed although no tag marks it (mlruns-format/disturbance.h) */
};
struct plotted_rows {
    struct runs *runs;
    struct arena *a;
    const struct opt_value *ignore;
    struct plotted_metric metric[PLOTTED_METRICS];
    size_t metrics; /* their number */
    const char *fields[3]; /* facts that place a row: across, of its group, second; NULL: none */
    bool expand; /* the repetitions of a series become rows of their own */
    struct plotted_row *list;
    size_t count, room;
    size_t failed, lacking, unread; /* runs that did not finish; rows without the first metric; damaged runs */
    size_t other_units; /* rows with the first metric in another unit, which has no place on its axis */
    const char *other_unit; /* the first of these, as people write it */
    size_t other_keys; /* rows that plotted_restrict has left out */
    const char *other_why; /* what differs in them */
    const char *axes[16]; /* names of the swept values of expanded series */
    size_t axis_count;
    struct comparison_reader reader;
    bool reads; /* reader is open */
};

/* Adds a run (params, metrics and tags read), or its repetitions. -1: out of memory. */
int plotted_add(struct plotted_rows *p, struct tree_run *run, const char *group, struct err *err);
void plotted_deinit(struct plotted_rows *p);
/* Checks whether all rows may share an axis. named: facts that may differ (NULL-terminated).
 * ERR_INPUT names those that differ and how to name them. *ret_note: what they share, for the
 * chart. system: the other part must be equal, too. */
int plotted_check(struct plotted_rows *p, const char *const *named, bool system, const char **ret_note, struct err *err);
/* Checks that every swept value has a place in the plot, by its name or by --ignore. -1 with err,
 * which names the first that has none. */
int plotted_check_axes(const struct plotted_rows *p, const char *const *named, struct err *err);
/* Leaves out the rows whose key is not that of the newest one, but for the named facts: p->other_keys. */
int plotted_restrict(struct plotted_rows *p, const char *const *named, struct err *err);
/* Returns the value of a fact of a run: param, tag, experiment, name, status, program or
 * argument.NAME; NULL: it has none. */
const char *plotted_fact(const struct tree_run *run, const struct comparison_key *key, const char *name, struct arena *a);
/* Reads a field as a number: 4, 0.5, 4k, 1m. Returns false where it is none. */
bool plotted_number(const char *text, double *ret);
/* Returns the metric of a run that the user means; NULL: it has none. */
const struct tree_entry *plotted_metric_of(const struct tree_run *run, const struct json *detail, const char *wanted, struct arena *a);
/* Joins the unit and direction in a further run to a described metric. False: it is in another unit, and nothing is joined. A run that knows no unit does not contradict. */
bool plotted_join(struct plotted_metric *m, const char *unit, unsigned way, struct arena *a);
/* Sets name ("write.bw"), unit and direction of a metric from its key and from benchwrap.json
 * (`detail`). Texts are in the arena. */
void plotted_describe(struct plotted_metric *m, const char *key, const struct json *detail, struct arena *a);
/* Returns the metric of one of the runs whose name, without unit, is nearest to what the user
 * typed; NULL: there is none. */
const char *plotted_nearest_metric(struct tree_run *const *list, size_t n, const char *wanted, struct arena *a);
/* "MiB/s" of MiB_per_s, in the arena. */
const char *plotted_unit(const char *unit, struct arena *a);
/* The notes of a series; NULL: the run is none. series_notes_deinit frees them. */
struct series_notes;
struct series_notes *plotted_notes(const struct runs *runs, const struct tree_run *run, struct arena *a);
/* The names of the first two axes of the sweep whose parent the run is, in the arena; what there is none of stays as it is. */
void plotted_sweep_axes(const struct runs *runs, const struct tree_run *run, struct arena *a, const char *axes[2]);
#endif
