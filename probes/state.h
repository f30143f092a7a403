/* state.h: what all probes share between their hooks. Private to probes/: probes_run makes it,
 * probes_end frees it. */
#ifndef PROBES_STATE_H
#define PROBES_STATE_H
#include "base/buf.h"
#include "probes/probe.h"
#include "probes/probe_child.h"

/* The parts of the cache's file names (cache.c). */
struct cache_key {
    bool known, good;
    uint64_t node, rest;
};

/* The result of view_is_partial (view.c). */
struct view_state {
    bool known, partial;
    char reason[256];
};

struct probes_state {
    struct cache_key cache;
    struct view_state view;
    struct buf mounts; /* look_read_mounts */
    struct probe_cost *costs; /* [probes_count] */
    struct probe_child *besides, *afters; /* [probes_count] each: hooks in child processes */
    void **kept; /* [probes_count], each NULL or probe->keeps bytes: probe_data */
    int64_t *rest_until; /* [probes_count] ns: a costly sampler does not run before */
    bool unsure; /* since the last reset a read failed that may succeed the next time */
    char failure[160]; /* the first file of the hardware or its settings that could not be read, and why; "" */
    bool ended; /* the program has ended: what was counted since the last sample counts, however
                 * short that was */
    int64_t round, now_ns; /* of the present sample: its number, and its time */
};

/* Returns the monotonic time in ns, by host->clock where there is one. */
int64_t probes_clock_ns(const struct host *h);
/* Sets h->state->now_ns, the time of the values that are read next. h->state exists. */
void probes_set_now(struct host *h);

/* Returns the probe's data, p->keeps bytes, zeroed at first; NULL: out of memory, or no state. The
 * host's state owns it. */
void *probe_data(const struct host *h, const struct probe *p);

/* Adds the facts cached for this probe until the next boot to the record (cache.c). Returns true
 * if there were any. */
bool cache_replay(const struct host *h, const char *probe, struct record *r);
/* Caches the facts of the record behind `after` (NULL: all). Silent on failure: the cache only
 * saves time. */
void cache_store(const struct host *h, const char *probe, const struct record *r, const struct fact *after);
#endif
