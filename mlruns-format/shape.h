/* shape.h: the shape of what ran. step.nodes and its like describe the launch of the program, job.nodes and its like the allocation that it ran in. Runs
 * recorded before step.* existed have the launch's shape in job.*, so comparisons read step.*, and job.* in a run that has none of step.*. A run that
 * has some of them was started by a launcher: what is missing there is not known, and is not that of the allocation. */
#ifndef MLRUNS_FORMAT_SHAPE_H
#define MLRUNS_FORMAT_SHAPE_H
#include "base/str.h"

#include <stddef.h>

struct shape_keys {
    const char *step, *job;
};

/* Returns the two keys of quantity number i; {NULL, NULL}: there is none. */
static inline struct shape_keys shape_keys_at(size_t i)
{
    static const struct shape_keys rows[] = {{"step.nodes", "job.nodes"},
                                             {"step.tasks", "job.tasks"},
                                             {"step.tasks_per_node", "job.tasks_per_node"},
                                             {"step.cpus_per_task", "job.cpus_per_task"},
                                             {"step.gpus_per_node", "job.gpus_per_node"}};
    return i < sizeof rows / sizeof *rows ? rows[i] : (struct shape_keys){NULL, NULL};
}

/* Returns the two keys of one quantity, either of which is `key`; {NULL, NULL}: it is none. */
static inline struct shape_keys shape_keys_of(struct str key)
{
    size_t i = 0;
    struct shape_keys row;
    while ((row = shape_keys_at(i++)).step && !str_is(key, row.step) && !str_is(key, row.job))
        continue;
    return row;
}
#endif
