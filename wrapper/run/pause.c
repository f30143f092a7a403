/* pause.c: finds out that the program was stopped, so that its wall time is no measure of its work. */
#include "run/pause.h"

#include "launch/proc.h"
#include "probes/noise.h"

static const int64_t LEAST_NS = 500000000;

void pause_wait_begin(struct run_pause *p, int64_t due_ns)
{
    p->due_ns = due_ns;
    p->continued = false;
}

void pause_wait_end(struct run_pause *p, int64_t now_ns)
{
    if (!p->continued || now_ns - p->due_ns < LEAST_NS)
        return;
    p->stopped_ns += now_ns - p->due_ns;
    p->was_stopped = false; /* its state before the stop is no longer that since the last sample */
}

void pause_sample(struct run_pause *p, pid_t program, int64_t now_ns)
{
    struct proc_id id;
    bool stopped = program > 0 && proc_look(program, &id) && id.state == 'T';
    if (stopped && p->was_stopped)
        p->stopped_ns += now_ns - p->sample_ns;
    p->was_stopped = stopped;
    p->sample_ns = now_ns;
}

void pause_record(const struct run_pause *p, struct record *r)
{
    r->source = "recorder";
    if (p->stopped_ns >= LEAST_NS)
        noise_add_reason(r, "the program was stopped, as in a suspended job, for %.1f s or more, which run.wall_s and rates contain",
                         (double)p->stopped_ns / 1e9);
}
