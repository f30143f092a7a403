/* key.h: legal keys (the format's and MLflow's) and what is done with illegal ones. */
#ifndef MLRUNS_FORMAT_KEY_H
#define MLRUNS_FORMAT_KEY_H
#include "base/arena.h"
#include "base/buf.h"

enum { KEY_MAX = 250 };
/* Returns whether MLflow accepts the key unchanged and every file system can hold it: 1 to KEY_MAX
 * characters [A-Za-z0-9_.\- /]; no component is empty, or begins or ends in a dot or blank.
 * Conflicts of file and folder are not checked here. */
bool key_legal(struct str key);
/* Appends a legal key made from any text: illegal characters become _, and a key longer than
 * KEY_MAX is cut and ends in "-" and 8 hexadecimal digits of a hash. Returns 1 if anything was
 * changed, else 0. Never empty. */
int key_make(struct buf *to, struct str text);
/* Appends a name segment [a-z][a-z0-9_]* made from any text: in lower case, other characters as one
 * "_" ("Max(MiB)" becomes "max_mib"). It is never empty. */
void key_segment(struct buf *to, struct str text);
/* Returns whether the metric is a result of the program, not one of those that benchwrap records about
 * the run and the machine (own_metrics.def). */
bool key_is_result(const char *key);
/* Returns the length of the key without its statistic (".max", ".p99" …); the full length if it has
 * none. */
size_t key_stem(const char *key);
/* Returns the unit in a key ("…bandwidth_MiB_per_s.max" -> MiB_per_s), by mlruns-format/units.def;
 * "" none. Into the arena. */
const char *key_unit(const char *key, struct arena *a);
#endif
