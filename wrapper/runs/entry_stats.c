/* entry_stats.c: statistics over the samples that one run has of a metric. */
#include "runs/entry_stats.h"

#include "mlruns-format/key.h"
#include "runs/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool entry_stats_of(const struct tree_entry *e, struct stats *ret)
{
    double *v = e ? malloc((e->count + 1) * sizeof *v) : NULL;
    size_t n = 0;
    for (size_t i = 0; v && i < e->count; i++)
        if (isfinite(e->samples[i].value))
            v[n++] = e->samples[i].value;
    if (n)
        stats_of(v, n, ret);
    free(v);
    return n > 0;
}

size_t entry_stats_points(const struct tree_run *run)
{
    const struct tree_entry *e = runs_entry(run->params, "series.points");
    int64_t points;
    return e && str_int(e->value, &points) && points > 1 ? (size_t)points : 0;
}

bool entry_stats_is_over_points(const struct tree_run *run, const struct tree_entry *e)
{
    return e->count > 1 && (e->key[key_stem(e->key)] || strcmp(e->key, "run.wall_s") == 0) && entry_stats_points(run);
}

double entry_stats_median(const struct tree_run *run, const struct tree_entry *e)
{
    struct stats stats;
    return e && !entry_stats_is_over_points(run, e) && entry_stats_of(e, &stats) ? stats.median : NAN;
}

int64_t entry_stats_span_ms(const struct tree_entry *e)
{
    int64_t first = e->count ? e->samples[0].time_ms : 0, last = first;
    for (size_t i = 1; i < e->count; i++) {
        first = e->samples[i].time_ms < first ? e->samples[i].time_ms : first;
        last = e->samples[i].time_ms > last ? e->samples[i].time_ms : last;
    }
    return (int64_t)((uint64_t)last - (uint64_t)first);
}
