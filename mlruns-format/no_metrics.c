/* no_metrics.c: finds the warning that states why a record has no results. */
#include "mlruns-format/no_metrics.h"

#include <string.h>

struct str no_metrics_in(struct str warning)
{
    return str_starts(warning, NO_METRICS) ? str_sub(warning, sizeof NO_METRICS - 1, warning.n) : (struct str){NULL, 0};
}

/* Returns the text behind `prefix` in the first warning that begins so; NULL: none does. */
static const char *find_warning(const struct json *detail, const char *prefix)
{
    for (const struct json *w = json_first(json_get(detail, "warnings")); w; w = json_next(w)) {
        const char *text = json_string(json_get(w, "text"), "");
        if (strncmp(text, prefix, strlen(prefix)) == 0)
            return text + strlen(prefix);
    }
    return NULL;
}

const char *no_metrics_of(const struct json *detail)
{
    return find_warning(detail, NO_METRICS);
}

const char *left_out_of(const struct json *detail)
{
    return find_warning(detail, LEFT_OUT);
}
