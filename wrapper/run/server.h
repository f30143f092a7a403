/* server.h: the recorder's side of sending a run to an MLflow server: it starts the sender (send.h),
 * receives its messages and waits for it a bounded time. It never connects to a server itself. The
 * sender talks in both directions while the program runs, so it is no work of base/child_work.h. Without
 * a server in the plan every call does nothing. */
#ifndef WRAPPER_RUN_SERVER_H
#define WRAPPER_RUN_SERVER_H
#include "base/screen.h"
#include "launch/wire.h"
#include "plan/plan.h"
#include "run/send.h"

struct run;
struct run_server {
    pid_t pid;              /* the sender; 0: none */
    int line;               /* to it; -1: none */
    int64_t start_ns;       /* the live one is started then; INT64_MAX: not any more */
    int64_t deadline_ns;    /* of making the run (--share-run) */
    unsigned starts;
    pid_t dying;            /* a former sender that was killed and is not reaped yet; 0: none */
    bool asking;            /* --share-run: the program waits for the run */
    bool shared;            /* the program knows the run */
    bool live;              /* a live one had the run on the server at its last message */
    bool told;              /* a failure has been reported */
    bool done;              /* the server has all */
    struct send_msg place;  /* kind 0: not known */
    char trouble[SEND_TEXT_MAX]; /* why sending fails now; "": it does not */
    int64_t asked_ns;       /* since when the server owes a reply; 0: it does not */
    int64_t silence_ns;     /* how long it may stay silent while something waits for it */
};

/* Starts, with --share-run, a sender that creates the run on the server; does not wait. */
void run_server_begin(struct run *run);
/* Waits for that, at most 2 s since run_server_begin and 0.3 s for a silent server, and reports to the launcher what the program finds in its environment. */
void run_server_share(struct run *run);
/* Plans the start of the live sender in a second. It must not delay the program's start, and very
 * short runs need none. */
void run_server_started(struct run *run);
/* Returns when run_server_on_time is due (monotonic ns; INT64_MAX: never). */
int64_t run_server_next(const struct run *run);
void run_server_on_time(struct run *run, int64_t now_ns);
/* Reads the sender's messages, when `line` is readable. */
void run_server_receive(struct run *run);
/* Ends the live sender after the program's end. */
void run_server_ended(struct run *run);
/* Deletes the run that --share-run created on the server, where the program could not start. */
void run_server_discard(struct run *run);
/* Fetches, with --share-run, what the program's own client logged on the server. The program has
 * ended and the journal is flushed. Waits until `until_ns`, or as long as for a silent server. What
 * is not there then makes the run an incomplete one (run/shared.h). */
void run_server_fetch(struct run *run, int64_t until_ns);
/* Completes the run on the server, once it is in the tree. Waits until `until_ns`, or until the
 * server has been silent for 0.3 s in this run (then a process continues without anything waiting
 * for it). Appends to `to` where the run is, or why not. False: the server has not all of it.
 * Without a server in the plan, true and nothing is appended. */
bool run_server_finish(struct run *run, int64_t until_ns, const struct screen *screen, struct buf *to);
/* Reaps the last sender after the launcher's end, so that no zombie remains. */
void run_server_close(struct run *run);
#endif
