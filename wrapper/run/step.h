/* step.h: the step that the program's srun got: its nodes and tasks. srun's options name tasks and wishes; Slurm's record of the step says what came of them.
 *
 * The record exists only while the step runs, so scontrol is asked soon after the start, and again, less and less often, until the step is there. */
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
    int tries, component; /* questions that were asked; of a heterogeneous job, whose turn it is */
    int64_t look_ns; /* when to ask; INT64_MAX: no more */
    int64_t nodes, tasks; /* of the components that have answered */
    struct buf list;
};
#define RUN_STEP_NONE ((struct run_step){.ask = {.out = -1, .err = -1, .in = -1}, .look_ns = INT64_MAX})

/* Before the program: what its launcher's options tell, and whether Slurm must be asked. */
void step_record(struct run *run);
/* The program has been started. */
void step_begin(struct run *run);
int64_t step_next(const struct run *run);
void step_on_time(struct run *run, int64_t now_ns);
/* The program has ended: an answer that is under way is waited for until then (monotonic ns), and told. */
void step_end(struct run *run, int64_t until_ns);
void step_close(struct run *run);
#endif
