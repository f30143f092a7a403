/* check_report.h: what `check` has found, for people, programs, forges (SARIF) and the page of a pull request (Markdown). */
#ifndef CHECK_CHECK_REPORT_H
#define CHECK_CHECK_REPORT_H
#include "check/check.h"

#include <stdio.h>

struct check_subject {
    const char *what; /* "tree" or "range" */
    const char *name; /* as the user named it */
};
/* The run that a path below the tree `at` ("mlruns") belongs to; false: to none. *ret_file: the path below the run, "" for the run itself. */
bool check_report_run(const char *at, const char *path, struct str *ret_experiment, struct str *ret_id, const char **ret_file);
/* Sorts the findings by path, line and kind; once, before the others. -1: no memory. */
int check_report_sort(struct check_state *k);
/* 0; -1: it could not be written or memory is out. */
int check_report_table(const struct check_state *k, FILE *out, struct arena *a);
/* room: no more findings are shown once `to` has so many bytes; how many are left out is said. */
void check_report_markdown(const struct check_state *k, const struct check_subject *of, size_t room, struct buf *to);
void check_report_json(const struct check_state *k, const struct check_subject *of, struct buf *to);
/* SARIF 2.1.0 (OASIS), as GitHub's code scanning takes it. */
void check_report_sarif(const struct check_state *k, struct buf *to);
#endif
