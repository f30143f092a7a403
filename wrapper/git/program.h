/* program.h: the user's own git (and gpg, ssh-keygen) as a program: what needs his keys, agents, proxies and credential helpers. No shell; bounded
 * in time and in what is read of it; stopped with everything it started when the time is over. Not base/query.h, since git may need the user's
 * terminal and its standard input is a file. */
#ifndef GIT_PROGRAM_H
#define GIT_PROGRAM_H
#include "base/buf.h"
#include "base/err.h"

struct program {
    const char *const *argv;   /* argv[0] is searched in PATH; NULL-terminated */
    const char *dir;           /* working directory; NULL: this process's */
    const char *const *set;    /* "NAME=value" to add to the environment, "NAME" to remove one; NULL-terminated, or NULL */
    struct str in;             /* its standard input; p NULL: /dev/null */
    bool prompt;               /* it may read from the terminal; else GIT_TERMINAL_PROMPT=0, and ssh in batch mode by default */
    bool credentials;          /* git that talks to a remote: its credential helper gets the variables of base/credentials.def. No other program has them */
    double limit_s;            /* 0: 60 */
    size_t out_max;            /* bytes kept of each of its outputs; 0: 1 MiB. What is beyond it is read and dropped */
    bool whole;                /* its standard output is a list: more than out_max is an error */
};
struct program_end {
    int status;                /* exit status; 128 + n: ended by signal n */
    bool timed_out;
    struct buf out, words;     /* standard output; standard error. program_end_deinit frees them */
};
/* Runs it to its end. 0, whatever its status; 1: there is no such program; -1: it could not be run, with `whole` printed
 * more than out_max, or the time was over (timed_out). The caller frees *ret in all cases. err names the cause. */
int program_run(const struct program *p, struct program_end *ret, struct err *err);
void program_end_deinit(struct program_end *e);
/* Sets err for a program that ended badly: "<text>: its last words" (the last line of standard error with a reason, made plain).
 * Where git does not trust a repository of another user on this machine: whose it is, and the command that allows it as a hint. Returns -1. */
int program_err(const struct program_end *e, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#endif
