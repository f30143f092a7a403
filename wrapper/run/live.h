/* live.h: metrics of a run in progress: an HTTP endpoint for Prometheus (--serve), and groups of Pushgateways (key live).
 *
 * Each is a process of lowest priority that follows the run's journal. It ends with the recorder, whatever ends that. */
#ifndef WRAPPER_RUN_LIVE_H
#define WRAPPER_RUN_LIVE_H
#include "base/err.h"

struct run;
enum { RUN_LIVES_MAX = 8 };
struct run_live {
    int lines[RUN_LIVES_MAX]; /* a process ends when its line is closed */
    int count;
};

/* Checks the address of --serve. 0; -1 with ERR_USAGE. */
int run_live_check(const struct run *run, struct err *err);
/* Starts the processes once the program has started. What cannot be served is a warning. */
void run_live_begin(struct run *run);
/* Stops the processes after the program's end. */
void run_live_end(struct run *run);
#endif
