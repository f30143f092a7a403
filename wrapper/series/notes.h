/* notes.h: what a series has done so far, in its spool as repetitions.jsonl: one line when it begins, one for each run, one at its end. The
 * statistics are made from this file, at the normal end as after a crash; it is an artifact of the series' run. */
#ifndef SERIES_NOTES_H
#define SERIES_NOTES_H
#include "base/folder.h"
#include "mlruns-format/corrections.h"
#include "series/sweep.h"

#define SERIES_NOTES "repetitions.jsonl"
#define SERIES_RETRACTED "RETRACTED" /* status of a run that was retracted later: it has no values here */

/* What one run of the program measured: for each metric the one value that stands for the run. */
struct series_run_value {
    const char *key; /* without statistic: "write.bw_MiB_per_s" */
    const char *of; /* the statistic of the run that the value is: "max"; "" the metric has one value */
    const char *unit;
    enum direction direction;
    double value;
    bool headline;
    struct series_run_value *next;
};

/* A param of one run that its rules made of the command line or the output. */
struct series_input {
    const char *key, *value;
    struct series_input *next;
};

struct series_repetition {
    size_t order; /* from 1, over all runs of the series */
    size_t point; /* of the sweep, from 0 */
    size_t repetition; /* from 1; of warm-up runs counted separately */
    bool warmup;
    char id[33];
    int exit; /* as a shell reports it: 128 + signal */
    const char *status; /* "FINISHED", "FAILED", "KILLED", SERIES_RETRACTED, "" not known */
    const char *verdict, *reason;
    const char *noisy; /* what disturbed it, in words; "" nothing */
    bool unjudged; /* it may have been disturbed all the same (mlruns-format/disturbance.h) */
    const char *no_metrics; /* why nothing of its output is a result, in words; "" or NULL: it has results, or it was not checked */
    const char *left_out; /* which results of its output are left out, and why; "" or NULL: none */
    double throttled; /* how often its node slowed down for heat; -1: not known */
    int64_t start_ms, end_ms;
    struct series_run_value *values;
    struct series_input *inputs;
    struct series_repetition *next;
};

struct series_notes {
    struct arena arena;
    struct parameter_sweep sweep;
    const char *const *keys; /* of the points; "" when nothing is swept */
    struct series_repetition *first, *last;
    size_t count;
    const char *end; /* why no more were run, in words; "" it was cut off */
    size_t damaged; /* lines before the last one that cannot be read */
};

/* Returns whether this run counts in statistics. */
bool series_counts(const struct series_repetition *run);
/* Returns why no run that counts has a result, by the first of them; NULL: one has, or none has a
 * reason. Borrowed. */
const char *series_no_metrics(const struct series_notes *n);
/* Returns what was left out of the first run that counts and has left something out; NULL: none has.
 * Borrowed. */
const char *series_left_out(const struct series_notes *n);
/* Returns whether the notes have what readers see in place of the run. id: of the run that they
 * see; NULL or "": it is retracted. */
bool series_is_current(const struct series_repetition *run, const char *id);
/* Returns how many runs of the notes readers no longer see as they are there; *ret_first: the id of
 * the first one. corrections: sorted. */
size_t series_count_stale(const struct series_notes *n, const struct corrections *corrections, const char **ret_first);
/* Returns a run of the notes' arena without id, values and outcome, which series_add_run adds when
 * they are known. NULL: out of memory. */
struct series_repetition *series_run_new(struct series_notes *n, size_t order, size_t point, bool warmup, size_t repetition);
/* Adds a run (allocated in the arena) at the end. */
void series_add_run(struct series_notes *n, struct series_repetition *run);
/* Append the line at the begin of a series, of a run, and at its end, with line end. */
void series_head_print(const struct series_notes *n, struct buf *to);
void series_run_print(const struct series_repetition *run, struct buf *to);
void series_end_print(const char *why, struct buf *to);
/* Reads repetitions.jsonl in the folder. Leaves out later lines that are no JSON, and counts
 * them but for the last one in ret->damaged. Initialises *ret in any case (series_notes_deinit).
 * 0; -1 with err. */
int series_notes_read(const struct folder *in, struct series_notes *ret, struct err *err);
void series_notes_deinit(struct series_notes *n);
#endif
