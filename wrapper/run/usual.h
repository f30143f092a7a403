/* usual.h: what earlier runs with the same inputs measured, for the summary of a run. */
#ifndef WRAPPER_RUN_USUAL_H
#define WRAPPER_RUN_USUAL_H
#include "base/arena.h"
#include "base/json.h"
#include "base/screen.h"
#include "run/finish.h"

/* The answer of `benchwrap compare =RUN --history --json` about a run that is in the tree, of ten earlier runs at most, from a child process that is
 * stopped after a second. env: its environment. NULL: its experiment has too few runs, or there is no answer. The caller frees it by json_free. */
struct json *usual_read(const struct finished *f, char *const *env);
/* "7 earlier runs: 1041 … 1190" with values times `scale`, "low, " or "high, " before it where compare says that the value has changed; the text is in the
 * arena. *ret_style: the meaning of such a change. NULL: too few of the earlier runs have the metric. usual NULL: NULL. */
const char *usual_range(const struct json *usual, const char *key, double scale, struct arena *a, enum style *ret_style);
#endif
