/* child_work.h: a function of this program in a child process, with a pipe for its answer, a deadline,
 * limits, and no more descriptors than it needs. base/query.h does the same for another program.
 *
 * These start processes themselves:
 *   wrapper/launch         the measured program, which nothing may delay; libc only
 *   taskrate/spawn.c       the start of a task is what is measured
 *   recipe/keeper.c        in the keeper: the program, all of whose descendants it ends
 *   llmload/agent          shares and agents are steered through pipes of both directions
 *   run/server.c           the sender talks in both directions as long as the run lasts
 *   run/commit.c           the commit outlives the recorder
 *   ui/ui_front.c, ui_server.c  servers that last until a pipe closes; the guard adopts what MLflow leaves
 *   git/program.c          git may need the user's terminal
 *
 * A child that hangs in the kernel cannot be waited for, even killed: who may not wait, calls
 * child_work_kill and later child_work_reap. */
#ifndef BASE_CHILD_WORK_H
#define BASE_CHILD_WORK_H
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_WORK_FDS = 4 };

struct child_work_plan {
    int (*run)(void *context, int out); /* in the child, which ends with this status; its answer goes to out */
    void *context;
    const char *name; /* of the process; NULL: the parent's */
    /* The descriptors that stay open besides `out`; in the child these variables hold their new numbers.
     * NULL and -1 are ignored. Standard streams are /dev/null: libraries print. */
    int *keep[CHILD_WORK_FDS];
    bool keep_all;              /* instead, all descriptors stay as they are */
    bool outlives;              /* this process's death does not end it */
    int nice;
    size_t max;                 /* bytes of the answer */
    int pipe_bytes;             /* capacity of the pipe; with it, what comes does not wake child_work_wait; 0: as usual */
    unsigned cpu_s, memory_mib; /* limits; 0: none */
};

struct child_work {
    pid_t pid;       /* 0: none */
    pid_t dying;     /* killed, but it has not ended yet; 0: none */
    int fd;          /* the pipe; -1: closed: it has sent all */
    bool is_quiet;   /* what comes does not wake */
    struct buf text; /* the answer so far */
};
#define CHILD_WORK_NONE ((struct child_work){.fd = -1})

/* Returns 0, or -1 with errno. child_work_deinit frees what it holds, in both cases. */
int child_work_start(struct child_work *ret, const struct child_work_plan *plan);
/* Receives what the pipe holds now. True: the child has sent all. False with the answer's maximum
 * reached, too. */
bool child_work_read(struct child_work *w);
/* Receives until the child has sent all, the maximum is reached, or this monotonic time (ns) is
 * over. Returns as child_work_read does. */
bool child_work_wait(struct child_work *w, int64_t until_ns);
/* Kills the child, if there is one, without waiting for its end. */
void child_work_kill(struct child_work *w);
/* Waits at most so many milliseconds for the end of the child, also of a killed one; -1: without
 * limit. Returns its wait status, or -1: it has not ended, or there is none. */
int child_work_reap(struct child_work *w, int wait_ms);
/* Kills without waiting, and frees the answer; child_work_reap may follow. */
void child_work_deinit(struct child_work *w);
#endif
