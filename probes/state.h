/* state.h: what probes keep between their hooks (private to probes/; made by probes_run, freed by probes_end). */
#ifndef PROBES_STATE_H
#define PROBES_STATE_H
#include "probes/probe.h"

struct sampler; /* probes/system.c */

struct probes_state {
    struct probe_cost *costs; /* [probes_count] */
    struct sampler *sampler; /* NULL before the first sample */
};

void sampler_free(struct sampler *s); /* NULL is fine */

/* probes/cache.c: facts that hold until the next boot. */
/* Replays the facts kept for this probe into the record. True if there were any. */
bool cache_replay(const struct host *h, const char *probe, struct record *r);
/* Keeps the facts of the record behind `after` (NULL: all). Silent on failure: a cache is a convenience. */
void cache_keep(const struct host *h, const char *probe, const struct record *r, const struct fact *after);
#endif
