/* disturbance.h: whether a record states that something disturbed the run, and whether that is known. */
#ifndef MLRUNS_FORMAT_DISTURBANCE_H
#define MLRUNS_FORMAT_DISTURBANCE_H
#include "base/json.h"

/* Returns why a run without the tag benchwrap.noisy may have been disturbed all the same: for
 * example, it was too short to be judged. Of a series: that some of its repetitions were not
 * judged. detail: benchwrap.json, NULL is allowed. NULL: nothing disturbed it. Borrowed. */
const char *disturbance_unjudged(const struct json *detail);
#endif
