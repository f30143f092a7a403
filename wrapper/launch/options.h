/* options.h: the rows of options.def as data, and what the launcher itself needs of them. */
#ifndef LAUNCH_OPTIONS_H
#define LAUNCH_OPTIONS_H
#include "base/opt.h"

enum { OPTIONS_COUNT = 0
#define OPTION(name, letter, kind, arg, env, value, group, help, flags) +1
#include "launch/options.def"
#undef OPTION
};
extern const struct opt_row options_rows[OPTIONS_COUNT];

enum capture { CAPTURE_AUTO, CAPTURE_PTY, CAPTURE_PIPE, CAPTURE_NONE };

struct options {
    enum capture capture;
    double timeout, kill_after; /* seconds; timeout 0: none */
    double probe_wait, finish_wait;
    int signal;
    bool per_rank, no_collect, counters, profile_code, share_run, gate, strict, help, version;
    bool accept_wait;   /* the command line has an option that only the recorder checks, and no --probe-wait is given */
    bool series, sweep; /* several runs are requested (--repeat …), with other arguments each (--sweep) */
};

/* Does opt_check, and checks what that cannot know: signals, URLs. Checks one value, not those
 * after it. 0; -1 with err. */
int options_check(const struct opt_row *row, const struct opt_value *value, struct err *err);
/* Turns the parsed set into numbers. A bad value of the environment is replaced in `set` by the default
 * (the recorder warns). 0; -1 with err, of kind ERR_USAGE: a bad value of the command line, under
 * --strict also of the environment, or an option for several runs without those. */
int options_read(struct opt_set *set, struct options *ret, struct err *err);
/* Returns whether this option is about several runs of the program. */
bool options_is_series(const struct opt_row *row);
#endif
