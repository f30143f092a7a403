/* known_keys.h: the keys of metrics, params and tags that runs have, to name the nearest one where none has what a filter names. */
#ifndef RUNS_KNOWN_KEYS_H
#define RUNS_KNOWN_KEYS_H
#include "runs/runs.h"

/* Returns a sentence on the first key of the expression that none of the runs has, with the nearest
 * known key, in the arena. runs: loaded without that expression. NULL: all keys are known, or there
 * are no runs. */
const char *known_keys_explain(const struct runs *runs, const struct filter *query, struct arena *a);
#endif
