/* line_variables.h: what the starters in a command line change of the program's environment, folder and root. */
#ifndef WRAPPER_RUN_LINE_VARIABLES_H
#define WRAPPER_RUN_LINE_VARIABLES_H
#include "base/arena.h"
#include "probes/variables.h"

struct line_changes {
    struct variables variables;
    const char *cwd; /* in which the program starts */
    const char *other_root; /* why the program's path is one of another root than this one; NULL: it is one of this */
    const char *other_folder; /* the same of `cwd` */
};
/* Returns what the starters change, by the rows of line_variables.def, for `argv` in the
 * environment `env` and the folder `cwd`. elsewhere: the program may run on another machine. sweep:
 * the line is that of a parent run, in which {NAME} stands for the values of an axis. Everything is
 * in the arena, or borrowed from argv and env. Where memory is used up, the variables are not
 * known. */
struct line_changes line_changes_of(char *const *argv, char *const *env, const char *cwd, bool elsewhere, bool sweep, struct arena *a);
#endif
