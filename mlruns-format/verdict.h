/* verdict.h: the words for a run's verdict. */
#ifndef MLRUNS_FORMAT_VERDICT_H
#define MLRUNS_FORMAT_VERDICT_H
#include "base/json.h"
#include "mlruns-format/tree.h"

/* Returns how many metrics of a run (benchwrap.json, may be NULL) were compared with a
 * reference. */
size_t verdict_judged(const struct json *detail);
/* Returns the run's verdict, in the arena; NULL: none, or it passed without a reference to judge
 * its values by. */
const char *verdict_shown(const struct folder *tree, const struct tree_run *run, struct arena *a);
#endif
