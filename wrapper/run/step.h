/* step.h: record the nodes and tasks of the step that the program's srun started. srun's options are
 * requests; Slurm's record of the step has the result.
 *
 * That record exists only while the step runs. The recorder therefore starts scontrol soon after the
 * program, and again at growing intervals until the step is there. */
#ifndef WRAPPER_RUN_STEP_H
#define WRAPPER_RUN_STEP_H
#include "base/query.h"
#include "base/str.h"

struct run;
struct run_step {
    bool wanted; /* the program is started by srun in an allocation, whose step is not known from options and environment alone */
    bool known; /* which nodes it has */
    bool all; /* it has all nodes of the job; else list names them */
    struct query ask;
    int tries, component; /* requests so far; of a heterogeneous job, the next component */
    int64_t look_ns; /* when to start scontrol; INT64_MAX: no more */
    int64_t nodes, tasks; /* of the components that have answered */
    struct buf list;
    char id[32]; /* "7.0"; "": not known, or several components */
};
#define RUN_STEP_NONE ((struct run_step){.ask = {.out = -1, .err = -1, .in = -1}, .look_ns = INT64_MAX})

/* Records, before the program, what the launcher's options state, and decides whether to query
 * Slurm. */
void step_record(struct run *run);
/* Plans the first query of Slurm. Called once the program has been started. */
void step_begin(struct run *run);
int64_t step_next(const struct run *run);
void step_on_time(struct run *run, int64_t now_ns);
/* Waits, after the program's end, until until_ns (monotonic ns) for an outstanding answer, and
 * records the step or why it is missing. */
void step_end(struct run *run, int64_t until_ns);
void step_close(struct run *run);
#endif
