/* usual.h: what earlier runs with the same inputs measured, for the summary of a run. */
#ifndef WRAPPER_RUN_USUAL_H
#define WRAPPER_RUN_USUAL_H
#include "base/arena.h"
#include "base/query.h"
#include "base/json.h"
#include "base/screen.h"
#include "run/finish.h"

enum { USUAL_LIMIT_MS = 300 /* usual maximum of limit_ms: earlier runs that cannot be read delay the end of a job by this */ };

/* Starts `benchwrap compare =RUN --history --json` about a run that is in the tree, with ten earlier
 * runs at most. The child process is stopped limit_ms milliseconds after its start. env: its
 * environment. An experiment with too few runs starts none. */
void usual_begin(struct query *ret, const struct finished *f, char *const *env, int64_t limit_ms);
/* Waits for its answer, as long as the child may run, and closes it. NULL: none. The caller frees the answer by json_free. */
struct json *usual_end(struct query *ask);
/* Returns "7 earlier runs: 1041 … 1190" with values times `scale`, "low, " or "high, " before it
 * where by compare the value has changed; the text is in the arena. *ret_style: the meaning of such
 * a change. NULL: too few of the earlier runs have the metric, or usual is NULL. */
const char *usual_range(const struct json *usual, const char *key, double scale, struct arena *a, enum style *ret_style);
#endif
