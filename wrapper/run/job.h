/* job.h: the recorder's side of the job it runs in: Slurm is asked once per job, aside; the end of the allocation is known and met; who ended it
 * is told. */
#ifndef WRAPPER_RUN_JOB_H
#define WRAPPER_RUN_JOB_H
#include "run/job_reason.h"

enum { JOB_LIMIT_MS = 5000 /* scontrol has so long */, JOB_END_MS = 300 /* the end of a run waits for it so long */, JOB_SAFE_S = 60 /* before the allocation's end the record is made safe */ };

struct run;
struct run_job {
    enum { JOB_IDLE, JOB_JSON, JOB_TEXT, JOB_OTHER /* another run of this job is asking */ } stage;
    struct query ask;
    char kept[40]; /* name of the answer's file in the cache; "": there is no cache */
    int64_t look_ns; /* JOB_OTHER: when to look again */
    int64_t give_up_ns; /* and when no more */
    int64_t ends_ms; /* end of the allocation, 0: not known */
    int64_t safe_ns; /* when the record is to be made safe; INT64_MAX: no more */
    int signal; /* the first of TERM INT HUP QUIT … that came from outside */
    bool by_scheduler; /* and its sender was the scheduler's */
    struct job_reason reason;
    bool late; /* the record is closed: an answer is kept for the job's other runs alone */
};
#define RUN_JOB_NONE ((struct run_job){.ask = {.out = -1, .err = -1, .in = -1}, .safe_ns = INT64_MAX, .reason = JOB_REASON_NONE})

/* Begins to ask; nothing is waited for. */
void job_begin(struct run *run);
/* When something is due, monotonic ns; INT64_MAX: nothing. */
int64_t job_next(const struct run *run);
void job_on_time(struct run *run, int64_t now_ns);
/* The descriptor to be polled for an answer, -1: none; and taking what is there. */
int job_fd(const struct run *run);
void job_receive(struct run *run);
/* A signal from `sender` has reached the recorder: what is known is written, for KILL may follow. */
void job_signalled(struct run *run, int number, pid_t sender);
/* The program has ended: the answer is waited for so long, JOB_END_MS less what others have waited for scontrol, and told. */
void job_end(struct run *run, int64_t wait_ms);
/* The launcher has gone: an answer that is still to come is waited for, within its limit, and kept for the job's other runs. */
void job_end_late(struct run *run);
/* The text, or in the public profile a sentence instead. */
const char *job_words(const struct run *run, const char *said);
/* The scheduler has sent a signal: KILL will follow, there is no time to wait for others. */
bool job_hurries(const struct run *run);
/* Did Slurm end what the program had started, by its own words in the output? Then they are added to the words for the program's end. */
bool job_ended_steps(struct run *run, char *why, size_t size);
/* Adds to the words for a killed run what is known of the allocation's part in it. */
void job_explain(struct run *run, char *why, size_t size);
void job_close(struct run *run);
/* The environment for a client of Slurm: times are seconds, nothing of the user's changes what is printed. To be freed; NULL: no memory. */
char **job_environment(const struct run *run);
/* What is kept in the cache for the other runs of this job, under a name of ours. False: nothing, or it is too long. */
bool job_cache_read(const struct run *run, const char *what, struct buf *ret, int64_t *ret_age_ms);
void job_cache_store(const struct run *run, const char *what, struct str text);
/* With --sacct: asks the accounting for the steps that ran while the program did, five seconds at most (run/sacct.c). */
void sacct_end(struct run *run);
#endif
