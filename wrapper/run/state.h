/* state.h: what the recorder knows of its run, shared by the chapters of its story: run.c, run/begin.c, run/watch.c, run/end.c. */
#ifndef WRAPPER_RUN_STATE_H
#define WRAPPER_RUN_STATE_H
#include "launch/wire.h"
#include "run/collectors.h"
#include "plan/plan.h"
#include "probes/probe.h"
#include "run/files.h"
#include "run/finish.h"
#include "run/job.h"
#include "run/log.h"
#include "run/redaction.h"
#include "run/server.h"
#include "run/step.h"
#include "run/stream.h"

struct run {
    struct plan plan;
    struct wire *wire;
    const char *data; /* the rings' bytes */
    int signals; /* signalfd */
    struct spool spool;
    struct files_look files; /* of the rules, as they were before the program */
    struct journal *journal;
    struct record record;
    struct spool_stream streams[WIRE_STREAMS];
    char **told_argv; /* the command line as it may be written */
    struct redaction redaction; /* what is left out of all that is written */
    struct redact_stream cleaned[WIRE_STREAMS]; /* on their way into streams */
    struct host host;
    uint64_t log_max, files_max, keep_left; /* of each stream; of all files; of files, how much the run may still keep */
    int64_t sample_ns, next_sample, next_flush, next_sync, next_beat;
    bool idle; /* no byte came lately: wake at the first */
    bool dirty; /* facts came that are not in the journal's file yet */
    int64_t program_mono_ns; /* when the program started */
    bool nested; /* a run inside a run */
    bool series; /* the run of a series: no program of its own */
    bool nests; /* and in its parent's experiment, as MLflow's UI wants of a child */
    struct run_server server;
    struct run_job job;
    struct run_collectors nodes;
    struct run_step step;
    struct log log;
    pid_t syncer; /* child that syncs the journal, 0: none yet */
    void (*tell)(uint32_t kind, const char *text); /* where there is no launcher (the run of a series); NULL: there is one */
    struct wire_msg end; /* kind 0 until the program has ended */
};

/* A message to the launcher, or to run->tell; text may be NULL. The launcher's death is no error. */
void run_report(const struct run *run, uint32_t kind, int status, const char *text);
/* A warning that is told at once and stands in the record with the source SUMMARY_TOLD, so that the summary does not tell it again. */
void run_warn(struct run *run, const char *text);
/* The same for what another process has printed already. */
void run_warn_silently(struct run *run, const char *text);
/* Maps the launcher's memory and becomes the witness of signals. */
int run_map(struct run *run, struct err *err);
/* All that must be there before the program may start: journal with its first line, quick facts. */
int run_begin(struct run *run, int argc, char **argv, char **env, struct err *err);
/* Until the program has ended, or the launcher: then run->end tells (kind 0: the launcher was killed). */
void run_watch(struct run *run);
/* Syncs the journal aside, or (all) whatever the spool holds. One at a time. */
void run_sync(struct run *run, bool all);
/* Lines that wait for their end go into the streams' files, but for what may be the beginning of something that is left out. */
void run_pass_words(struct run *run);
/* Does this signal mean that a run is to end: TERM INT HUP QUIT KILL XCPU? */
bool run_is_ending(int number);
/* Takes what the rings still hold and the signals that wait. */
void run_drain(struct run *run);
/* The last facts into the record and the journal: usage, status, kept files, what is looked at afterwards. */
void run_record_end(struct run *run);
#endif
