/* counters.h: the processors' counters of the program and its descendants, on request (--counters). They begin at its exec, and are of user mode:
 * that is what the kernel lets everybody see. Rows in counters.def. */
#ifndef LAUNCH_COUNTERS_H
#define LAUNCH_COUNTERS_H
#include <stdint.h>
#include <sys/types.h>

enum {
    COUNTERS_COUNT = 0
#define COUNTER(key, type, config) +1
#include "launch/counters.def"
#undef COUNTER
};

struct counter_value {
    uint64_t value, enabled_ns, running_ns; /* running less than enabled: it shared the processor's few counters with others */
    int32_t error; /* errno of its opening; 0: it has counted */
    uint32_t asked; /* 0: --counters was not given */
};

struct perf_counters {
    int fd[COUNTERS_COUNT]; /* number + 1; 0: not open */
    int error[COUNTERS_COUNT];
    int asked;
};

/* Opens the counters of a process that is held before its exec; counters_read closes them. What
 * cannot be opened has its errno in c->error. */
void counters_open(struct perf_counters *c, pid_t pid);
/* Writes what was counted, also in processes that have ended, into ret, and closes the counters.
 * Without counters_open it changes nothing. */
void counters_read(struct perf_counters *c, struct counter_value ret[COUNTERS_COUNT]);
#endif
