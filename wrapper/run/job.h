/* job.h: the recorder's side of its Slurm job: it requests the job's facts once per job, in a child
 * process, makes the record safe before the allocation ends, and records who ended the run. */
#ifndef WRAPPER_RUN_JOB_H
#define WRAPPER_RUN_JOB_H
#include "run/job_reason.h"

enum {
    JOB_LIMIT_MS = 5000, /* usual time limit of scontrol */
    JOB_END_MS = 300,    /* usual maximum that the end of a run waits for it */
    JOB_SAFE_S = 60      /* before the allocation's end, when the record is made safe */
};

struct run;
/* Returns what shows that this process is in a job, without regard to its environment: the name of
 * a process of a scheduler above it, or its control group. Static text; NULL: nothing. */
const char *job_above(void);

struct run_job {
    enum { JOB_IDLE, JOB_JSON, JOB_TEXT, JOB_OTHER /* another run of this job makes the request */ } stage;
    struct query ask;
    char kept[40]; /* name of the answer's file in the cache; "": there is no cache */
    int64_t look_ns; /* JOB_OTHER: when to read the cache again */
    int64_t give_up_ns; /* JOB_OTHER: when to stop waiting */
    int64_t ends_ms; /* end of the allocation, 0: not known */
    int64_t safe_ns; /* when the record is to be made safe; INT64_MAX: no more */
    int signal; /* the first of TERM INT HUP QUIT … that came from outside */
    bool ignored; /* by the program, when it came */
    bool by_scheduler; /* its sender was the scheduler's */
    int notice; /* the last other signal of the scheduler that the program does not ignore, as of sbatch --signal=USR1; 0: none */
    struct job_reason reason;
    int64_t limit_ms; /* time limit of scontrol */
    bool late; /* the record is closed: an answer is kept for the job's other runs alone */
};
#define RUN_JOB_NONE ((struct run_job){.ask = {.out = -1, .err = -1, .in = -1}, .safe_ns = INT64_MAX, .reason = JOB_REASON_NONE})

/* Reads the cached answer or starts scontrol; does not wait. */
void job_begin(struct run *run);
/* Returns when job_on_time is due, monotonic ns; INT64_MAX: never. */
int64_t job_next(const struct run *run);
void job_on_time(struct run *run, int64_t now_ns);
/* Returns the descriptor to poll for an answer, -1: none; job_receive reads it. */
int job_fd(const struct run *run);
/* Reads scontrol's answer without waiting, and records it once it is complete, or why there is
 * none. */
void job_receive(struct run *run);
/* Writes the journal after a signal from `sender` has reached the recorder, since KILL may
 * follow. */
void job_signalled(struct run *run, int number, pid_t sender);
/* Waits for the answer after the program's end, and records it or why there is none. answer_ms: the
 * maximum that the end of the run waits for scontrol; waited_ms: what step_end has used of it. */
void job_end(struct run *run, int64_t answer_ms, int64_t waited_ms);
/* Waits for an outstanding answer after the launcher's end, within its limit, and caches it for the
 * job's other runs. */
void job_end_late(struct run *run);
/* Returns the text, which may name hosts; in the public profile a static sentence instead. */
const char *job_words(const struct run *run, const char *said);
/* Returns whether the scheduler has sent a signal. KILL will follow: there is no time to wait for
 * others. */
bool job_hurries(const struct run *run);
/* Warns, of a program that ended with status 0, where the scheduler had sent it a signal. */
void job_warn_of_early_end(struct run *run);
/* Appends to `why` (size bytes), the words for the end of a program that failed, which other signal
 * the scheduler had sent. Returns whether the program ended by that signal. */
bool job_explain_notice(const struct run *run, char *why, size_t size);
/* Returns whether the program failed and its output holds Slurm's own message that it ended a step
 * of the program. Then appends that to `why` (size bytes), the words for the program's end. */
bool job_ended_steps(struct run *run, char *why, size_t size);
/* Appends to `why` (size bytes), the words for a killed run, whether the allocation's end or the
 * scheduler was the cause. */
void job_explain(struct run *run, char *why, size_t size);
void job_close(struct run *run);
/* Returns the environment for a client of Slurm: times in seconds, without the user's format
 * settings. The caller frees the list, not its texts; NULL: out of memory. */
char **job_environment(const struct run *run);
/* Reads what a run of this job has stored in the cache; `what`: end of the file's name. False: nothing,
 * or it is too long. */
bool job_cache_read(const struct run *run, const char *what, struct buf *ret, int64_t *ret_age_ms);
/* Stores a text in the cache for the job's other runs. */
void job_cache_store(const struct run *run, const char *what, struct str text);
/* Records, with --sacct, what Slurm's accounting has of the steps that ran while the program did.
 * Needs five seconds at most (run/sacct.c). */
void sacct_end(struct run *run);
#endif
