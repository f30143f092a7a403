/* missing.c: finds the reason of a record for a value that it does not have. */
#include "mlruns-format/missing.h"

#include <string.h>

const char *missing_words(const char *reason)
{
    return reason && strcmp(reason, "printed \"null\"") == 0 ? "the program reports no value for it (null)" : reason;
}

const char *missing_reason(const struct json *detail, const char *key)
{
    for (const struct json *m = json_first(json_get(detail, "missing")); m; m = json_next(m))
        if (strcmp(json_string(json_get(m, "key"), ""), key) == 0)
            return missing_words(json_string(json_get(m, "reason"), "its record states no reason"));
    return NULL;
}
