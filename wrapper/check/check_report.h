/* check_report.h: what `check` has found, for people, programs, forges (SARIF) and the page of a pull request (Markdown). */
#ifndef CHECK_CHECK_REPORT_H
#define CHECK_CHECK_REPORT_H
#include "check/check.h"

#include <stdio.h>

struct check_subject {
    const char *what; /* "tree" or "range" */
    const char *name; /* as the user named it */
};
/* Finds the run that a path below the tree `at` ("mlruns") belongs to. False: it belongs to none.
 * *ret_file: the path below the run, "" for the run itself. The texts point into `path`. */
bool check_report_run(const char *at, const char *path, struct str *ret_experiment, struct str *ret_id, const char **ret_file);
/* Sorts the findings by path, line and kind. The caller does so once, after the last finding
 * (k->last is no longer valid) and before it prints a report. -1: out of memory; the order is
 * unchanged, err is not set. */
int check_report_sort(struct check_state *k);
/* Prints the findings as a table for people. 0; -1: out of memory, or `out` has an error. */
int check_report_table(const struct check_state *k, FILE *out, struct arena *a);
/* Appends the findings as Markdown. `room`: once `to` has so many bytes, findings are only
 * counted. */
void check_report_markdown(const struct check_state *k, const struct check_subject *of, size_t room, struct buf *to);
void check_report_json(const struct check_state *k, const struct check_subject *of, struct buf *to);
/* Appends the findings as SARIF 2.1.0 (OASIS), which GitHub's code scanning reads. */
void check_report_sarif(const struct check_state *k, struct buf *to);
#endif
