/* range_text.h: what a range of commits brings, for the page of a pull request and the summary of
 * its job: programs, values next to the published history, machines. */
#ifndef SHARE_RANGE_TEXT_H
#define SHARE_RANGE_TEXT_H
#include "check/check_report.h"
#include "git/tree.h"

/* Appends Markdown on the runs that commit `to` brings to `from`, both of `repo`, in the folder
 * `at` ("mlruns"). Runs with errors among the findings of `k` are left out. `room`: no more rows
 * once the text has so many bytes; what is left out is counted. 0, also where there is no run; -1 with
 * err. */
int range_text(struct repo *repo, const struct repo_id *from, const struct repo_id *to, const char *at, const struct check_state *k, size_t room,
               struct buf *text, struct arena *a, struct err *err);
#endif
