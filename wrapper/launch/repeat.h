/* repeat.h: several runs of a program (--repeat, --sweep …): the launcher hands them to the core, which calls it again for each. */
#ifndef LAUNCH_REPEAT_H
#define LAUNCH_REPEAT_H

struct launch;

/* The first argument with which a series starts the launcher for one of its runs: "--run-of-series=<run id>". Private to the two programs. */
#define SERIES_CHILD "--run-of-series="
/* Returns the run id in such an argument; NULL: it has none. */
const char *series_child_id(const char *argument);
/* Becomes the core, which drives the series. Where the core cannot run, the program is run once, unrecorded; not in a sweep (its
 * arguments are not known then) and not under --strict. Returns the exit status. */
int series_start(struct launch *l);
#endif
