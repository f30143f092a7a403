/* job_reason.h: find why the scheduler ended a run: from its daemons' message in the output, and from
 * scontrol. */
#ifndef WRAPPER_RUN_JOB_REASON_H
#define WRAPPER_RUN_JOB_REASON_H
#include "base/query.h"
#include "base/str.h"

struct run;
struct job_reason {
    struct query ask;
    bool asked; /* scontrol was started, */
    int64_t asked_ms; /* at this wall time */
    bool goes_on; /* the job runs on: Slurm has not ended it */
    char text[120]; /* "preempted"; "": not known */
};
#define JOB_REASON_NONE ((struct job_reason){.ask = {.out = -1, .err = -1, .in = -1}})

/* Starts scontrol to read the job's state; does not wait. Does nothing outside of Slurm, with
 * --no-scontrol, or the second time. */
void job_reason_ask(struct run *run);
/* Waits at most wait_ms for the answer and stores it as run->job.reason.text and tag job.end, and the end of the allocation by the
 * present time limit as run->job.ends_ms. */
void job_reason_receive(struct run *run, int64_t wait_ms);
/* Searches the stored output for Slurm's message that it ended this job or the program's step ("slurmstepd: error:
 * *** STEP 1.0 ON n1 CANCELLED AT … DUE TO … ***") while this run lasted. True: there is one; run->job.reason.text
 * has its cause, if it names one. False also where srun itself ended its step because a task had failed or ended before
 * (srun --kill-on-bad-exit, --wait). */
bool job_reason_in_output(struct run *run);
/* Stores the words in small letters as run->job.reason.text and tag job.end, where there are none. */
void job_reason_set(struct run *run, struct str words);
void job_reason_close(struct run *run);
#endif
