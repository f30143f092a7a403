/* launcher.h: one wrapped run in the launcher: start, turns of the loop, end. */
#ifndef LAUNCH_LAUNCHER_H
#define LAUNCH_LAUNCHER_H
#include "launch/counters.h"
#include "launch/limit.h"
#include "launch/options.h"
#include "launch/pump.h"
#include "launch/rank.h"
#include "launch/recorder.h"
#include "launch/signals.h"
#include "launch/spawn.h"

struct launch {
    struct options options;
    struct rank rank;
    char **argv;             /* the launcher's own, for the recorder */
    char *const *program;    /* what is wrapped */
    const char *id;          /* of the run, where a series has chosen it; NULL: a new one */
    int64_t start_wall_ms, start_ns;

    struct spawn_state state;
    struct signals signals;
    struct recorder recorder;
    struct out out[2];       /* the caller's stdout, stderr */
    struct pump_stream stream[2];
    struct time_limit limit;
    struct perf_counters counters;

    bool recorded;           /* there is, or was, a recorder */
    bool helpless;           /* the recorder died too early, and another observer replaces it */
    bool reported;           /* its death has been reported */
    pid_t drainer;           /* passes on what background processes write; 0: none */
    pid_t pid;
    int line;                /* the held child's, until it is known to run */
    bool ended;
    bool reap_again;         /* waiting for children failed: try without SIGCHLD */
    int status;              /* wait status */
    struct rusage usage;
    uint32_t orphans, left;
    uint32_t open_streams;   /* bit i: stream i was handed to the drainer (drain.h) */
    int64_t ended_ns, ended_wall_ms; /* of the program */
    struct spawn_failure failure;
    int exit_status;         /* of a program that could not be started; 0: it could */
};

/* Returns the pid of the recorder's process that sends to a server; 0: none. It may outlive the
 * recorder and become the launcher's child. */
pid_t launcher_sender(const struct launch *l);
/* Runs the program of l->program as l->options and l->rank state; main.c has set these, and argv, id
 * and the times. Returns the exit status: the program's, 124 at the time limit, 3 for a closed
 * --gate, 125 to 127 where it could not be started. Where the program died of a signal, this process
 * dies of it too. What it has allocated lives as long as the process. */
int launcher_run(struct launch *l);
#endif
