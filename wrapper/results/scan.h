/* scan.h: which runs of the tree on disk are in none of the commits that count. */
#ifndef RESULTS_SCAN_H
#define RESULTS_SCAN_H
#include "results/results.h"

struct scan_run {
    char id[33];
    const char *experiment; /* its folder's name; one text for all runs of an experiment */
    int64_t made_ns;        /* when its meta.yaml was written */
    struct repo_id tree;    /* the caller's */
    bool done;              /* the caller's */
};
struct scan {
    struct scan_run *runs;  /* by experiment, then by time, then by id */
    size_t count, room;
};
/* `only` (32 digits): that run alone. What is no run's folder, or not whole (no meta.yaml), is passed over. Texts live in s->arena. */
int scan_tree(struct results *s, const char *only, struct scan *ret, struct err *err);
void scan_deinit(struct scan *scan);
/* How many runs an experiment has in the tree of a commit. */
int scan_count(struct results *s, const struct repo_id *commit, const char *experiment, size_t *ret, struct err *err);
#endif
