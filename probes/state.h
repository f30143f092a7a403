/* state.h: what probes keep between their hooks (private to probes/; made by probes_run, freed by probes_end). */
#ifndef PROBES_STATE_H
#define PROBES_STATE_H
#include "base/buf.h"
#include "probes/probe_child.h"
#include "probes/probe.h"

/* What the cache's names are made of (cache.c). */
struct cache_key {
    bool known, good;
    uint64_t node, rest;
};

/* What view_is_partial has found (view.c). */
struct view_state {
    bool known, partial;
    char reason[256];
};

struct probes_state {
    struct cache_key cache;
    struct view_state view;
    struct buf mounts; /* look_read_mounts */
    struct probe_cost *costs; /* [probes_count] */
    struct probe_child *besides, *afters; /* [probes_count] each: what runs aside */
    void **kept; /* [probes_count], each NULL or probe->keeps bytes */
    int64_t *rest_until; /* [probes_count] ns: a costly sampler is not asked before */
    bool unsure; /* what was looked at since this was reset failed in a way that may be over the next time */
    bool ended; /* the program has: what was counted since the last sample counts, however short that was */
    int64_t round, now_ns; /* of the sample that is being taken: its number, and when */
};

/* The monotonic time in ns, of host->clock where there is one. */
int64_t probes_clock_ns(const struct host *h);
/* Takes the time by which what is counted is told. */
void probes_set_now(struct host *h);

/* What the probe keeps between its hooks; NULL: no memory. */
void *probe_data(const struct host *h, const struct probe *p);

/* probes/cache.c: facts that hold until the next boot. */
/* Replays the facts kept for this probe into the record. True if there were any. */
bool cache_replay(const struct host *h, const char *probe, struct record *r);
/* Keeps the facts of the record behind `after` (NULL: all). Silent on failure: a cache is a convenience. */
void cache_store(const struct host *h, const char *probe, const struct record *r, const struct fact *after);
#endif
