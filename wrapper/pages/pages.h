/* pages.h: static web pages of a tree: start page, experiments, measurements with leaderboards, machines, runs. */
#ifndef PAGES_PAGES_H
#define PAGES_PAGES_H
#include "runs/runs.h"

struct pages_request {
    struct runs *runs; /* open */
    const struct runs_filter *filter;
    const char *out; /* the folder, made where it is not there */
    const char *title;
    const char *url; /* where the pages are published, for the feed's links; NULL: not known */
    bool rebuild; /* write every page again, without regard to the folder's index */
    FILE *notes;
    struct arena *arena;
};
struct pages_result {
    size_t runs, read, damaged; /* runs with a page; those of them that were read because they are new or have changed; damaged ones */
    size_t written, removed; /* files */
};
/* Writes the pages of the runs that pass the filter. Files whose content stays are not touched, files of runs that are gone are removed. What the folder
 * has besides is left alone. -1 with err. */
int pages_write(const struct pages_request *request, struct pages_result *ret, struct err *err);
#endif
