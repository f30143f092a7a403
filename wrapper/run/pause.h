/* pause.h: how long the program was stopped while it ran: a suspended job, SIGSTOP, a terminal's stop. */
#ifndef RUN_PAUSE_H
#define RUN_PAUSE_H
#include "mlruns-format/record.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct run_pause {
    int64_t due_ns; /* when the recorder's wait ends at the latest */
    bool continued; /* SIGCONT has reached the recorder during this wait */
    int64_t sample_ns; /* when the state of the program was read last; 0: not yet */
    bool was_stopped; /* then */
    int64_t stopped_ns; /* the sum of what was observed */
};

/* Begins a wait of the recorder, which ends at due_ns. */
void pause_wait_begin(struct run_pause *p, int64_t due_ns);
/* Ends it. Adds the time behind due_ns where the wait ended with a SIGCONT: then this process was stopped, and the program with it. A
 * late end without one is a busy machine's. */
void pause_wait_end(struct run_pause *p, int64_t now_ns);
/* Reads the state of the program, and adds the time since the last reading where it was stopped at both. */
void pause_sample(struct run_pause *p, pid_t program, int64_t now_ns);
/* Records that the run was disturbed by a stop of half a second or more. */
void pause_record(const struct run_pause *p, struct record *r);
#endif
