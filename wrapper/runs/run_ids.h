/* run_ids.h: ids of runs, sorted to be searched: those in the tree of a commit. */
#ifndef RUNS_RUN_IDS_H
#define RUNS_RUN_IDS_H
#include "git/tree.h"

struct run_ids {
    char (*id)[33];
    size_t count, room;
};
/* Returns whether a folder of the tree can be an experiment by its name: 1 to 23 digits. */
bool run_ids_is_experiment(struct str name);
int run_ids_add(struct run_ids *to, const char *id); /* -1: out of memory */
void run_ids_sort(struct run_ids *ids);
/* Lists the ids of runs below `prefix` ("mlruns") in a commit, sorted; none where there is no such
 * folder. 0; -1 with err. Free with run_ids_deinit in both cases. */
int run_ids_of(struct repo *repo, const char *prefix, const struct repo_id *commit, struct run_ids *ret, struct err *err);
bool run_ids_has(const struct run_ids *ids, const char *id); /* of sorted ones */
void run_ids_deinit(struct run_ids *ids);
#endif
