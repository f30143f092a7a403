/* state.h: the recorder's state of its run, shared by run.c, begin.c, watch.c and end.c. */
#ifndef WRAPPER_RUN_STATE_H
#define WRAPPER_RUN_STATE_H
#include "launch/wire.h"
#include "run/collectors.h"
#include "plan/plan.h"
#include "probes/probe.h"
#include "run/files.h"
#include "run/finish.h"
#include "run/job.h"
#include "run/live.h"
#include "run/log.h"
#include "run/pause.h"
#include "run/profiler.h"
#include "run/redaction.h"
#include "run/script.h"
#include "run/server.h"
#include "run/starter_watch.h"
#include "run/step.h"
#include "run/stream.h"

enum { RUN_HIDDEN_MAX = 64 };
struct run {
    struct plan plan;
    char *hidden[RUN_HIDDEN_MAX]; /* NAME=VALUE of secrets of exporters, which are masked in the environment */
    size_t hidden_count;
    struct wire *wire;
    const char *data; /* the rings' bytes */
    int signals; /* signalfd */
    struct spool spool;
    struct child_work files; /* of the rules, as they were before the program */
    struct journal *journal;
    struct record record;
    struct spool_stream streams[WIRE_STREAMS];
    char **told_argv; /* the command line without secrets */
    struct redaction redaction; /* what the recorder leaves out of all that it writes */
    struct redact_stream cleaned[WIRE_STREAMS]; /* redact the output on its way into streams */
    struct host host;
    uint64_t log_max, files_max, keep_left; /* bytes: maximum of a stream; of all files; left for files */
    const char *node_hour_price; /* of --node-hour-price; NULL: none */
    int64_t sample_ns, next_sample, next_flush, next_sync, next_beat;
    bool idle; /* no recent output: wake at the first byte */
    int64_t gone_ns; /* monotonic: when memory was short for the last words of a launcher that is gone; 0: never */
    bool dirty; /* the journal's file lacks facts */
    int64_t program_mono_ns; /* when the program started */
    bool nested; /* a run inside a run */
    struct run_pause pause; /* stops of the program */
    struct starter_watch starters; /* starters among the processes of the program */
    bool series; /* the run of a series: no program of its own */
    bool nests; /* and in its parent's experiment, as MLflow's UI requires of a child */
    struct run_server server;
    struct run_live live;
    struct run_job job;
    struct run_collectors nodes;
    struct run_step step;
    struct profiler profiler;
    struct log log;
    struct child_work syncer; /* syncs the journal */
    void (*tell)(uint32_t kind, const char *text); /* where there is no launcher (the run of a series); NULL: there is one */
    struct wire_msg end; /* kind 0 until the program has ended */
};

/* Sends a message to the launcher, or to `run->tell`; text may be NULL. Ignores that the launcher
 * has died. */
void run_report(const struct run *run, uint32_t kind, int status, const char *text);
/* Prints a warning and records it with the source SUMMARY_TOLD, so that the summary leaves it out. */
void run_warn(struct run *run, const char *text);
/* Only records such a warning, which another process has printed. */
void run_warn_silently(struct run *run, const char *text);
/* Maps the launcher's memory and opens the signalfd: the recorder observes signals for the launcher.
 * 0; -1 with err. */
int run_map(struct run *run, struct err *err);
/* Prepares what must exist before the program starts: journal with its first line, quick facts.
 * 0; -1 with err. */
int run_begin(struct run *run, int argc, char **argv, char **env, struct err *err);
/* Records until the program or the launcher has ended, and sets run->end (kind 0: the launcher was
 * killed). */
void run_watch(struct run *run);
/* Syncs the journal, or (all) the run's spool folder, in a child process. Does nothing while one is
 * at work. */
void run_sync(struct run *run, bool all);
/* Writes incomplete lines into the streams' files, except for a possible beginning of redacted text.
 * Bytes that cannot be written are counted in the stream's ->lost. */
void run_pass_words(struct run *run);
/* Returns true if the user has set a limit for the end of the run by --finish-wait. */
bool run_is_patient(const struct run *run);
/* Milliseconds that the run may wait for the answer of another program: usual_ms, or half of what is
 * left of --finish-wait where the user has set that and it is more. After a signal of the scheduler,
 * which KILL follows, it is usual_ms. */
int64_t run_answer_ms(const struct run *run, int64_t usual_ms);
/* Returns whether the signal ends a run: TERM INT HUP QUIT KILL XCPU. */
bool run_is_ending(int number);
/* Reads, after the program's end, the rest of the rings, the pending signals and the log socket. */
void run_drain(struct run *run);
/* Records the last facts: usage, status, stored files, probes after the program, and closes the
 * journal's facts. */
void run_record_end(struct run *run);
#endif
