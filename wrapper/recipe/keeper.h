/* keeper.h: a process that starts one program of a campaign, and lets nothing of it survive.
 *
 * The keeper is in a session of its own and adopts all descendants of the program. It ends them with
 * SIGTERM and, after the grace or a second request, SIGKILL: on request, when the program has ended, and when the
 * process that made it dies, also by SIGKILL. */
#ifndef RECIPE_KEEPER_H
#define RECIPE_KEEPER_H
#include "base/child_work.h"
#include "base/err.h"

struct keeper_plan {
    char *const *words; /* execvp searches words[0] in PATH */
    char *const *env;
    const char *out, *err; /* files that the output is appended to: raw streams of logs/logs.h, if their names are such */
    double grace_s;
    bool is_launcher; /* it is benchwrap's launcher: it passes signals on itself, and the core's processes
                       * (recorder, commit, delivery) are left to end on their own */
};

struct keeper {
    struct child_work work;
    int control; /* closing it ends the program; -1: none */
    bool ended; /* the program has ended */
    int status; /* wait status, once it has ended */
    bool killed; /* processes that it has started did not end within the grace */
    int errnum; /* not 0: it could not be started */
};
#define KEEPER_NONE ((struct keeper){.work = CHILD_WORK_NONE, .control = -1})

/* 0; -1 with err: no process could be made. */
int keeper_start(struct keeper *ret, const struct keeper_plan *plan, struct err *err);
/* Reads what the keeper reports, without waiting. keeper.work.fd becomes readable before that. True: the
 * keeper is gone, and everything that the program has started. */
bool keeper_poll(struct keeper *k);
/* Requests the end; does not wait. */
void keeper_stop(struct keeper *k);
/* After keeper_stop: the grace is over now. */
void keeper_hurry(struct keeper *k);
/* Frees a keeper that is gone; what is known of the program stays. Does not wait. False: it is still there. */
bool keeper_close(struct keeper *k);
#endif
