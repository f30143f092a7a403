/* profiler.h: a sampled profile of the program by perf, on request (--profile-code).
 *
 * perf is attached to the held process before its exec, from outside: parent, signals, output and exit
 * status of the program are as without it. It follows the descendants on this machine, and ends with the
 * program. */
#ifndef WRAPPER_RUN_PROFILER_H
#define WRAPPER_RUN_PROFILER_H
#include "base/query.h"
#include "mlruns-format/code_profile.h"

enum { PROFILER_HZ = 99 /* samples a second and processor: no multiple of common timers */ };

struct run;
struct profiler {
    struct query perf; /* `perf record` */
    bool is_attached;
    const char *why; /* it is not: the reason; NULL: not requested, or the program was not held */
};
#define PROFILER_NONE ((struct profiler){.perf = QUERY_NONE})

/* Attaches perf to the program's process, which waits for its exec, and reports to the launcher
 * whether that worked. Returns within 15 seconds. */
void profiler_attach(struct run *run, pid_t pid);
/* Records samples, event and functions after the program's end, or the reason why they are missing.
 * Does nothing without --profile-code. */
void profiler_end(struct run *run);
/* Ends perf where the program was not started. */
void profiler_close(struct run *run);
#endif
