/* no_metrics.c: finds the warning that states why a record has no results. */
#include "mlruns-format/no_metrics.h"

struct str no_metrics_in(struct str warning)
{
    return str_starts(warning, NO_METRICS) ? str_sub(warning, sizeof NO_METRICS - 1, warning.n) : (struct str){NULL, 0};
}

const char *no_metrics_of(const struct json *detail)
{
    for (const struct json *w = json_first(json_get(detail, "warnings")); w; w = json_next(w)) {
        const char *why = no_metrics_in(str_of(json_string(json_get(w, "text"), ""))).p;
        if (why)
            return why;
    }
    return NULL;
}
