/* no_metrics.h: the warning of a record that states why nothing of the program's output is a
 * result. */
#ifndef MLRUNS_FORMAT_NO_METRICS_H
#define MLRUNS_FORMAT_NO_METRICS_H
#include "base/json.h"
#include "base/str.h"

/* How that warning begins; the reason follows. */
#define NO_METRICS "no metrics: "
/* Returns the reason in a warning's text; p NULL: it is another warning. Refers to the text. */
struct str no_metrics_in(struct str warning);
/* Returns the reason why the record (benchwrap.json; NULL is allowed) has no metrics; NULL: it has
 * no such warning. The JSON owns the text. */
const char *no_metrics_of(const struct json *detail);

/* How the warning begins that names results of the output that are left out while others are
 * recorded; names and reasons follow. */
#define LEFT_OUT "left out: "
/* Returns what follows in the record's first such warning; NULL: it has none. The JSON owns it. */
const char *left_out_of(const struct json *detail);
#endif
