/* percentile.c: which metrics are percentiles. p99 of 16 values is their maximum, which is no
 * evidence about one request in a hundred. */
#include "benchmarks/percentile.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>

/* Returns the quantile that the word names, below 1: "p99", "p999", "p99_9", "percentile_75" have two
 * digits of percent, then those of its fraction. 0: it names none. */
static double percentile_value(struct str word)
{
    static const char *const heads[] = {"percentile_", "p"};
    char text[24] = "0.";
    size_t n = 2;
    double value;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (str_starts(word, heads[i])) {
            word = str_sub(word, strlen(heads[i]), word.n);
            break;
        } else if (i + 1 == sizeof heads / sizeof *heads)
            return 0;
    for (size_t i = 0; i < word.n && n + 1 < sizeof text; i++)
        if (word.p[i] >= '0' && word.p[i] <= '9')
            text[n++] = word.p[i];
        else if (word.p[i] != '_' || i != 2)
            return 0;
    text[n] = 0;
    return n >= 4 && !str_starts(word, "100") && str_double(str_of(text), &value) ? value : 0;
}

struct str percentile_in(struct str name)
{
    for (size_t i = name.n; i-- > 0;) {
        struct str word = str_sub(name, i, name.n);
        if ((!i || name.p[i - 1] == '.' || name.p[i - 1] == '_') && percentile_value(word) > 0)
            return word;
    }
    return (struct str){"", 0};
}

uint64_t percentile_needs(struct str name)
{
    double p = percentile_value(percentile_in(name));
    return p > 0 ? stats_quantile_needs(p > 0.5 ? p : 1 - p) : 0;
}

void percentile_reason(struct str name, double values, char *to, size_t size)
{
    struct str p = percentile_in(name);
    unsigned long long needs = percentile_needs(name);
    if (isnan(values))
        snprintf(to, size, STR_FMT " of an unknown number of values, %llu needed", STR_ARG(p), needs);
    else
        snprintf(to, size, STR_FMT " of %.0f value%s, %llu needed", STR_ARG(p), floor(values), floor(values) == 1 ? "" : "s", needs);
}
