/* earlier_runs.h: choose the runs that one run, or a group of runs with its comparison key, is compared with. */
#ifndef HISTORY_EARLIER_RUNS_H
#define HISTORY_EARLIER_RUNS_H
#include "compare/comparison_key.h"

struct earlier_request {
    const struct tree_run *run; /* with params and tags */
    const struct comparison_key *key; /* of the run */
    struct run_inputs *inputs; /* of the run; counts how many runs differ in each */
    const struct rules *rules; /* explain the arguments of every run; NULL: each run's own */
    const struct opt_value *ignore; /* patterns of facts that may differ */
    bool (*may_count)(void *context, const struct tree_run *other); /* of a finished run: may it be among the earlier runs? */
    void *context;
    size_t runs_max; /* choose at most so many, the newest */
    size_t searched_max; /* read at most so many; 0: no limit */
};
struct earlier_runs {
    const struct tree_run **list; /* newest first; only the meta is read */
    size_t count;
    size_t searched; /* runs that may count, whether they share the inputs or not */
    /* names of the arguments, and "program", that separate the nearest runs that share all other inputs; NULL: none */
    const char **other_arguments;
};

/* Chooses among the runs of the run's experiment, which runs_load has read. `compare --history` and `share` both use this selection, which
 * is that of history_group_runs. All in the arena. -1: out of memory, or a run that cannot be read. */
int earlier_runs_find(const struct earlier_request *asked, struct runs *runs, struct arena *a, struct earlier_runs *ret, struct err *err);
#endif
