/* disturbance.c: finds out whether a record can state that nothing disturbed the run. */
#include "mlruns-format/disturbance.h"

#include "mlruns-format/missing.h"

#define MEASURE "noise.other_processors" /* most disturbances are other programs' */

const char *disturbance_unjudged(const struct json *detail)
{
    const struct json *metrics = json_get(detail, "metrics");
    if (json_get(json_get(detail, "tags"), "benchwrap.series"))
        return json_get(metrics, "series.unjudged") ? "not all of its repetitions could be judged" : NULL;
    if (json_get(metrics, MEASURE))
        return NULL;
    const char *why = missing_reason(detail, MEASURE);
    return why ? why : MEASURE " was not recorded";
}
