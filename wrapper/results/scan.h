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
/* Lists the runs of the tree on disk that no commit holds. only: the id of one run, which alone is
 * inspected; NULL: all. Ignores folders that are no run, and incomplete runs (without meta.yaml); the
 * folder of an experiment that cannot be read is an error. Returns 0, or -1 with err. The caller frees *ret by scan_deinit; its texts live in s->arena. */
int scan_tree(struct results *s, const char *only, struct scan *ret, struct err *err);
void scan_deinit(struct scan *scan);
/* Counts the runs that an experiment has in the tree of a commit. 0; -1 with err. */
int scan_count(struct results *s, const struct repo_id *commit, const char *experiment, size_t *ret, struct err *err);
#endif
