/* throttle.c: how often the processors were slowed down for heat while the program ran (counters of Intel processors). */
#include "probes/look.h"
#include "probes/noise.h"
#include "probes/state.h"

#include <errno.h>
#include <stdio.h>

enum { LOOKED_AT = 16 /* processors: two small files each, some microseconds */ };

extern const struct probe probe_throttle;

/* Kept between the hooks: the count at the start. */
struct throttle_start {
    bool known;
    int64_t count;
};

struct throttle_counting {
    const struct host *h;
    int64_t every, at, sum, found;
};

/* Adds the counts of one processor; of many processors only each `every`th is read. */
static void throttle_count_one(void *context, int64_t cpu)
{
    static const char *const files[] = {"core_throttle_count", "package_throttle_count"};
    struct throttle_counting *c = context;
    if (c->at++ % c->every)
        return;
    for (int i = 0; i < 2; i++) {
        int64_t n;
        if (!look_read_int(c->h, &n, "sys/devices/system/cpu/cpu%lld/thermal_throttle/%s", (long long)cpu, files[i]))
            return;
        c->sum += n;
        c->found++;
    }
}

/* Sums the counters of up to 16 processors, spread over the node. False: there are none. */
static bool throttle_read_counts(const struct host *h, int64_t *ret)
{
    struct look_text online;
    struct throttle_counting c = {.h = h, .every = 1};
    if (!look_read(h, &online, "sys/devices/system/cpu/online") || !look_exists(h, "sys/devices/system/cpu/cpu0/thermal_throttle"))
        return false;
    int64_t n = look_count_numbers((struct str){online.p, online.n});
    c.every = n > LOOKED_AT ? (n + LOOKED_AT - 1) / LOOKED_AT : 1;
    if (n < 1 || !look_each_number((struct str){online.p, online.n}, 1 << 16, throttle_count_one, &c) || c.found == 0)
        return false;
    *ret = c.sum;
    return true;
}

static int throttle_before(struct host *h, struct record *r, struct err *err)
{
    struct throttle_start *t = probe_data(h, &probe_throttle);
    (void)r;
    if (!t)
        return err_memory(err, "the throttle sampler");
    if (h->real)
        t->known = throttle_read_counts(h, &t->count);
    return 0;
}

static int throttle_after(struct host *h, struct record *r, struct err *err)
{
    const struct throttle_start *t = probe_data(h, &probe_throttle);
    int64_t now;
    if (!t)
        return err_memory(err, "the throttle sampler");
    if (!h->real || str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"))
        return 0;
    if (!t->known || !throttle_read_counts(h, &now)) {
        emit_absent(h, r, "noise.throttled",
                    "the kernel counts no thermal throttling here (Intel processors only; not in virtual machines)");
        return 0;
    }
    if (now < t->count)
        return 0; /* a processor went offline */
    record_metric(r, "noise.throttled", (double)(now - t->count), "", DIR_LOWER, 0, 0);
    if (now > t->count)
        noise_add_reason(r, "processors were slowed down for heat: the kernel's counters of at most %d of them rose by %lld", LOOKED_AT,
                         (long long)(now - t->count));
    return 0;
}

const struct probe probe_throttle = {
    .name = "throttle",
    .summary = "how often processors were slowed down for heat while the program ran",
    .before = throttle_before,
    .after = throttle_after,
    .nested = true,
    .keeps = sizeof(struct throttle_start),
};
