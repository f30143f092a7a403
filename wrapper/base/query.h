/* query.h: runs another program concurrently and reads its output, with a time limit and a size
 * limit.
 *
 * The program runs in a session of its own with /dev/null as input, without descriptors of this
 * process, at a nice value of 10, and dies with this process. No shell is involved. */
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
    QUERY_LATE /* the time limit was reached */,
    QUERY_LONG /* it wrote more than max bytes */,
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

enum { QUERY_POLL_MS = 200 /* query_wait checks for the end this often */ };
enum {
    QUERY_INPUT = 1, /* its standard input is a pipe from this process instead of /dev/null */
    QUERY_NO_NICE = 2, /* it has this process's priority */
    QUERY_NO_OUTPUT = 4 /* its standard output is /dev/null */
};
/* Starts the program; execvp searches argv[0] in PATH. env: its environment, NULL-terminated. max:
 * bytes of the answer. limit_ms: 0 for none. Returns 0; -1: no process could be made (ret->end is
 * QUERY_FAILED). query_close frees what it holds. */
int query_start(struct query *ret, char *const *argv, char *const *env, size_t max, int64_t limit_ms, unsigned flags, struct err *err);
/* Reads the available output without waiting. Only the end of the program itself counts: output of
 * a process that it left behind is not awaited. Returns the state. Once that is not QUERY_RUNS,
 * the process has ended or was killed. */
enum query_end query_poll(struct query *a);
/* Writes the text to the program's input (QUERY_INPUT), and closes it. The program has at most wait_ms milliseconds to read it. False: it
 * did not. The caller ignores SIGPIPE. */
bool query_write_input(struct query *a, struct str text, int64_t wait_ms);
/* Waits until the program has ended, at most wait_ms milliseconds, and never beyond its own limit. */
enum query_end query_wait(struct query *a, int64_t wait_ms);
/* Returns the beginning of what it wrote to standard error as one line, "" where that is nothing.
 * Valid until query_close. */
const char *query_reason(struct query *a);
/* Kills the program if it still runs, and frees everything. */
void query_close(struct query *a);
#endif
