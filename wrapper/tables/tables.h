/* tables.h: runs as tables for analysis: one row for each run, or one for each sample, written while they are read.
 *
 * Memory is bounded by the names of the runs and columns and by what one run holds, not by the number of rows. */
#ifndef TABLES_TABLES_H
#define TABLES_TABLES_H
#include "runs/runs.h"

#include <stdio.h>

enum tables_type { TABLES_TEXT, TABLES_NUMBER, TABLES_INTEGER, TABLES_TIME /* milliseconds since the epoch */ };
struct tables_column {
    const char *name;
    enum tables_type type;
};

/* ---- forms ---- */

struct tables_writer;
struct tables_form {
    const char *name;
    bool to_path; /* it writes a file of its own, not a stream */
    /* The columns outlive the writer. -1: out of memory. */
    int (*begin)(struct tables_writer *w);
    int (*row)(struct tables_writer *w, const struct filter_value *values); /* one for each column, of its type or missing */
    int (*end)(struct tables_writer *w);
};
struct tables_writer {
    const struct tables_form *form;
    const struct tables_column *columns;
    size_t count;
    FILE *out; /* NULL: the form writes the file `path` itself */
    const char *path;
    struct err why; /* of the form: why a row could not be written; ERR_NONE: out of memory */
    struct buf line;
    bool failed; /* a row could not be written: end() frees what the form holds, and writes nothing */
    void *own; /* the form's */
};
extern const struct tables_form tables_csv, tables_jsonl, tables_parquet, tables_sqlite;
/* Returns the form of a name; NULL: none. */
const struct tables_form *tables_form_find(const char *name);

/* Copies the runs of a tree on disk into a new SQLite database of MLflow by MLflow's own migration, then compares what arrived with the tree. mlflow:
 * MLflow's program; env: NULL-terminated. Prints the counts to `out` and what is missing to `notes`. 0; 1: runs, params or samples are missing in the
 * database; -1 with err. */
int tables_mlflow_db(struct runs *runs, const char *mlflow, const char *path, char **env, FILE *out, FILE *notes, struct arena *a, struct err *err);

/* ---- tables ---- */

struct tables_request {
    struct runs *runs; /* loaded, in the order of the rows */
    const char *columns; /* --columns; NULL: every fact that one of the runs has */
    const struct tables_form *form;
    FILE *out;
    const char *path; /* for a form with to_path: written complete or not at all */
    struct arena *a;
};
/* Writes one row for each run: its attributes, then the latest value of each metric, then params and tags. *ret_rows: how many. Runs of which something cannot be
 * read get run->problem; the rest of them is written. */
int tables_runs(const struct tables_request *r, size_t *ret_rows, struct err *err);
/* Writes one row for each sample of each metric: run_id, experiment, metric, step, time, value,
 * unit, direction. */
int tables_samples(const struct tables_request *r, size_t *ret_rows, struct err *err);
#endif
