/* shell_values.h: what variables and functions of a shell text are, as far as the text itself states it. */
#ifndef WRAPPER_RUN_SHELL_VALUES_H
#define WRAPPER_RUN_SHELL_VALUES_H
#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

/* Returns the text with variables replaced by what the text assigns to them (`L="srun -n 4"`,
 * `L=(srun -n 4)`), else by env, else by their default (`${L:-srun}`), and `$(command -v srun)` by
 * its last word. Of several values the last one counts, before others one that starts a program
 * outside. Nothing else is evaluated: an unknown variable stays. The text is in the arena; the given
 * one: nothing was replaced, or out of memory. */
struct str shell_values_replace(struct str text, char *const *env, struct arena *a);

/* Returns whether the text defines a shell function of that name. */
bool shell_values_defines(struct str text, struct str name);
#endif
