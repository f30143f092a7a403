/* ask.h: a question to another program: started aside, never waited for longer than its time, its answer bounded.
 *
 * The program runs in a session of its own with /dev/null as input and no descriptor of ours, with less
 * priority (a nice value of 10), and dies with us. No shell is involved. */
#ifndef BASE_ASK_H
#define BASE_ASK_H
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum ask_end {
    ASK_RUNS,
    ASK_DONE,
    ASK_LATE /* its time is over */,
    ASK_LONG /* more bytes than may be */,
    ASK_FAILED /* could not be started */
};

struct ask {
    pid_t pid; /* 0: none */
    int out, err; /* the ends that are read, -1: closed */
    int in; /* with ASK_INPUT: the end that is written */
    struct buf text; /* what it wrote to standard output */
    struct buf why; /* the beginning of what it wrote to standard error */
    int64_t until_ns; /* monotonic; INT64_MAX: no limit */
    enum ask_end end;
    int status; /* wait status once ASK_DONE */
};
#define ASK_NONE ((struct ask){.out = -1, .err = -1, .in = -1})

enum { ASK_LOOK_MS = 200 /* so often ask_hear looks whether it has ended, though something holds its pipe open */ };
enum { ASK_INPUT = 1 /* its standard input is a pipe from us instead of /dev/null */ };
/* argv[0] is looked for in PATH. env: its environment, NULL-terminated. max: bytes of the answer; limit_ms 0: none. 0; -1: no process (ret->end is ASK_FAILED). */
int ask_start(struct ask *ret, char *const *argv, char *const *env, size_t max, int64_t limit_ms, unsigned flags, struct err *err);
/* Takes what is there without waiting. The program's own end is the end: what a process that it left behind may write is not waited for. Returns ask->end; as soon as it is not ASK_RUNS the process is gone or killed. */
enum ask_end ask_hear(struct ask *a);
/* Waits until it has ended, at most so long (and never beyond its own limit). */
enum ask_end ask_wait(struct ask *a, int64_t wait_ms);
/* Ends it, if it still runs, and frees everything. */
void ask_close(struct ask *a);
#endif
