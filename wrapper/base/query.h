/* query.h: a question to another program: started aside, never waited for longer than its time, its answer bounded.
 *
 * The program runs in a session of its own with /dev/null as input and no descriptor of ours, with less
 * priority (a nice value of 10), and dies with us. No shell is involved. */
#ifndef BASE_QUERY_H
#define BASE_QUERY_H
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum query_end {
    QUERY_RUNS,
    QUERY_DONE,
    QUERY_LATE /* its time is over */,
    QUERY_LONG /* more bytes than may be */,
    QUERY_FAILED /* could not be started */
};

struct query {
    pid_t pid; /* 0: none */
    int out, err; /* the ends that are read, -1: closed */
    int in; /* with QUERY_INPUT: the end that is written */
    struct buf text; /* what it wrote to standard output */
    struct buf why; /* the beginning of what it wrote to standard error */
    int64_t until_ns; /* monotonic; INT64_MAX: no limit */
    enum query_end end;
    int status; /* wait status once QUERY_DONE */
};
#define QUERY_NONE ((struct query){.out = -1, .err = -1, .in = -1})

enum { QUERY_POLL_MS = 200 /* so often query_poll looks whether it has ended, though something holds its pipe open */ };
enum { QUERY_INPUT = 1 /* its standard input is a pipe from us instead of /dev/null */ };
/* argv[0] is looked for in PATH. env: its environment, NULL-terminated. max: bytes of the answer; limit_ms 0: none. 0; -1: no process (ret->end is QUERY_FAILED). */
int query_start(struct query *ret, char *const *argv, char *const *env, size_t max, int64_t limit_ms, unsigned flags, struct err *err);
/* Takes what is there without waiting. The program's own end is the end: what a process that it left behind may write is not waited for. Returns ask->end; as soon as it is not QUERY_RUNS the process is gone or killed. */
enum query_end query_poll(struct query *a);
/* Waits until it has ended, at most so long (and never beyond its own limit). */
enum query_end query_wait(struct query *a, int64_t wait_ms);
/* Ends it, if it still runs, and frees everything. */
void query_close(struct query *a);
#endif
