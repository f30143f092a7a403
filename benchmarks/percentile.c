/* percentile.c: the fewest values for each percentile. p99 of 16 values is their maximum, and says nothing about one request in a hundred. */
#include "benchmarks/percentile.h"

#include <stddef.h>
#include <string.h>

unsigned percentile_needs(const char *stat)
{
    /* The least n with p^n + n p^(n-1) (1-p) <= 0.01. */
    static const struct {
        const char *stat;
        unsigned values;
    } rows[] = {{"p50", 11}, {"p90", 64}, {"p95", 130}, {"p99", 662}, {"p999", 6636}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(stat, rows[i].stat) == 0)
            return rows[i].values;
    return 0;
}
