/* job_reason.h: why the scheduler ended a run, in its own words: what its daemons wrote into the output, and what scontrol says of the job. */
#ifndef WRAPPER_RUN_JOB_REASON_H
#define WRAPPER_RUN_JOB_REASON_H
#include "base/query.h"

struct run;
struct job_reason {
    struct query ask;
    bool asked; /* scontrol was started */
    char text[120]; /* "preempted"; "": not known */
};
#define JOB_REASON_NONE ((struct job_reason){.ask = {.out = -1, .err = -1, .in = -1}})

/* Asks scontrol for the job's state; nothing is waited for. Does nothing outside of Slurm, with --no-scontrol, or the second time. */
void job_reason_ask(struct run *run);
/* Takes the answer if it is there, as run->job.reason.text and tag job.end. wait_ms: so long it is waited for. */
void job_reason_receive(struct run *run, int64_t wait_ms);
/* Searches the kept output for Slurm's own line on a step or job of ours that it ended ("slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT … DUE TO … ***").
 * True: there is one; its cause, if it names one, is run->job.reason.text. */
bool job_reason_in_output(struct run *run);
void job_reason_close(struct run *run);
#endif
