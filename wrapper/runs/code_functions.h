/* code_functions.h: the functions that a run's program was sampled in (--profile-code), for show and report. */
#ifndef RUNS_CODE_FUNCTIONS_H
#define RUNS_CODE_FUNCTIONS_H
#include "base/json_out.h"
#include "mlruns-format/code_profile.h"
#include "runs/runs.h"

/* Reads the run's artifact: a row for each function of a module, most samples first. Texts are in the arena.
 * count is 0 where the run has no profile. */
void code_functions_read(const struct runs *runs, const struct tree_run *run, struct arena *a, struct code_profile *ret);
/* Returns why the run has no profile although one was requested, of benchwrap.json; NULL: it has
 * one, or none was requested. */
const char *code_functions_missing(const struct json *detail);
/* Appends "58 % hot (ior), 12 % memcpy (libc.so.6)": at most `most` functions. Returns how many
 * more there are. */
size_t code_functions_words(const struct code_profile *p, size_t most, struct buf *to);
/* Writes a member "functions" with an object for each function; nothing where there is no
 * profile. */
void code_functions_json(const struct code_profile *p, struct json_out *j);
#endif
