/* entry_stats.c: statistics over the samples that one run has of a metric. */
#include "runs/entry_stats.h"

#include <math.h>
#include <stdlib.h>

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

double entry_stats_median(const struct tree_entry *e)
{
    struct stats stats;
    return entry_stats_of(e, &stats) ? stats.median : NAN;
}
