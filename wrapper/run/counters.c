/* counters.c: record the processors' performance counters of the program (--counters) as metrics. */
#include "run/counters.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const keys[] = {
#define COUNTER(key, type, config) key,
#include "launch/counters.def"
#undef COUNTER
};

/* Returns what an errno of perf_event_open means here, a static text or strerror's. */
static const char *counter_error_text(int error)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "the processor shows no such counter here (usual in virtual machines)";
    case EACCES:
    case EPERM:
        return "the kernel does not permit it: sysctl kernel.perf_event_paranoid is above 2, or a container's filter forbids perf_event_open";
    case ENOSYS: return "the kernel has no performance counters, or a container's filter forbids perf_event_open";
    default: return strerror(error);
    }
}

/* Returns the count, scaled to the full time where the event shared the processor's counters. NAN:
 * it has not counted. */
static double counter_count(const struct counter_value *v)
{
    if (v->error || v->running_ns == 0)
        return NAN;
    return v->running_ns >= v->enabled_ns ? (double)v->value : round((double)v->value * ((double)v->enabled_ns / (double)v->running_ns));
}

static void record_counter_share(struct record *r, const double count[COUNTERS_COUNT], const char *key, const char *part, const char *whole,
                                 double scale, enum direction direction, int64_t at_ms)
{
    double a = NAN, b = NAN;
    for (size_t i = 0; i < COUNTERS_COUNT; i++) {
        a = strcmp(keys[i], part) == 0 ? count[i] : a;
        b = strcmp(keys[i], whole) == 0 ? count[i] : b;
    }
    if (isfinite(a) && isfinite(b) && b > 0)
        record_metric(r, key, scale * a / b, scale == 100 ? "percent" : "", direction, 0, at_ms);
}

void counters_record(struct record *r, const struct counter_value value[COUNTERS_COUNT], int64_t at_ms)
{
    double count[COUNTERS_COUNT], least = 1;
    if (!value[0].asked)
        return;
    for (size_t i = 0; i < COUNTERS_COUNT; i++) {
        const struct counter_value *v = &value[i];
        count[i] = counter_count(v);
        if (isfinite(count[i])) {
            record_metric(r, keys[i], count[i], "", DIR_LOWER, 0, at_ms);
            if (v->running_ns < v->enabled_ns)
                least = fmin(least, (double)v->running_ns / (double)v->enabled_ns);
        } else
            record_missing(r, keys[i], "%s",
                           v->error ? counter_error_text(v->error)
                                    : "it was never counted: others held the processor's counters, or the program did not start");
    }
    record_counter_share(r, count, "counters.instructions_per_cycle", "counters.instructions", "counters.cycles", 1, DIR_HIGHER, at_ms);
    record_counter_share(r, count, "counters.cache_misses_percent", "counters.cache_misses", "counters.cache_references", 100, DIR_LOWER,
                         at_ms);
    record_counter_share(r, count, "counters.branch_misses_percent", "counters.branch_misses", "counters.branches", 100, DIR_LOWER, at_ms);
    if (least < 1)
        record_metric(r, "counters.counted_percent", 100 * least, "percent", DIR_HIGHER, 0, at_ms);
}
