/* times.c: check for start, end, samples and durations that are impossible or contradict each other. */
#include "check/parts.h"

#include <math.h>
#include <stdio.h>

enum {
    AHEAD_MS = 5 * 60 * 1000, /* by which clocks of sites may differ */
    SAMPLE_MS = 24 * 3600 * 1000,
    STEP_S = 26 * 3600, /* by which a clock is set back at most: one that held another zone's time */
    BUSY_S = 5,
    ASIDE_S = 60 /* of a run in which its program did not run: probes, a slow file system */
};
static const int64_t EARLIEST_MS = INT64_C(631152000000); /* 1990, as for outputs that are imported */

/* Reports at most three metrics with samples from the future, or from more than a day before the
 * start or after the end of the run. */
static void check_samples(struct run_check *r)
{
    const struct tree_meta *m = &r->meta;
    size_t told = 0;
    for (size_t i = 0; i < r->entry_count && told < 3; i++) {
        const struct check_entry *e = &r->entries[i];
        if (e->kind != 'm' || !e->count)
            continue;
        if (e->samples[e->count - 1].time_ms > r->k->now_ms + AHEAD_MS) {
            char file[600];
            snprintf(file, sizeof file, "metrics/%s", e->key);
            run_found(r, CHECK_TIME, file, 0, "it was measured in the future, by %.0f s",
                      (double)(e->samples[e->count - 1].time_ms - r->k->now_ms) / 1e3);
            told++;
            continue;
        }
        if (e->samples[0].time_ms < m->start_ms - SAMPLE_MS || e->samples[e->count - 1].time_ms - SAMPLE_MS > m->end_ms) {
            char file[600];
            snprintf(file, sizeof file, "metrics/%s", e->key);
            run_found(r, CHECK_TIME_ODD, file, 0, "samples have times more than a day before the start or after the end of the run");
            told++;
        }
    }
}

/* Returns the maximum of seconds that a run may need besides its program: the recorded time of
 * its probes, and some seconds of a busy node. */
static double run_overhead_max(const struct run_check *r)
{
    double before = run_number(r, "probe.before_ms", NAN), after = run_number(r, "probe.after_ms", 0);
    if (isnan(before))
        return ASIDE_S;
    return fmin(ASIDE_S, (before + after) / 1e3) + BUSY_S;
}

void check_times(struct run_check *r)
{
    const struct tree_meta *m = &r->meta;
    int64_t by = r->k->committed_ms ? r->k->committed_ms : r->k->now_ms;
    if (m->start_ms < EARLIEST_MS)
        run_found(r, CHECK_TIME, "meta.yaml", 0, "it started before 1990");
    if (m->end_ms < m->start_ms)
        run_found(r, CHECK_TIME, "meta.yaml", 0, "it ended before it started");
    if (m->end_ms > r->k->now_ms + AHEAD_MS)
        run_found(r, CHECK_TIME, "meta.yaml", 0, "it ends in the future, by %.0f s", (double)(m->end_ms - r->k->now_ms) / 1e3);
    else if (m->end_ms > by + AHEAD_MS)
        run_found(r, CHECK_TIME_ODD, "meta.yaml", 0, "it ended %.0f s after the commit that brings it", (double)(m->end_ms - by) / 1e3);
    double wall = run_number(r, "run.wall_s", NAN), span = (double)(m->end_ms - m->start_ms) / 1e3;
    if (wall < 0)
        run_found(r, CHECK_TIME, "metrics/run.wall_s", 0, "a negative duration");
    else if (wall > span * 1.01 + STEP_S)
        run_found(r, CHECK_TIME, "metrics/run.wall_s", 0,
                  "the program ran for %.6g s, and the run from start to end lasts %.6g s: no clock is set back by more than %d h", wall,
                  span, STEP_S / 3600);
    else if (wall > span * 1.01 + 5)
        run_found(r, CHECK_TIME_ODD, "metrics/run.wall_s", 0, "the program ran for %.6g s, and the run from start to end lasts %.6g s",
                  wall, span);
    else if (span > wall * 1.1 + run_overhead_max(r) && !run_text(r, 't', "benchwrap.series"))
        run_found(r, CHECK_TIME_ODD, "metrics/run.wall_s", 0, "the program ran for %.6g s, and the run from start to end lasts %.6g s",
                  wall, span);
    check_samples(r);
}
