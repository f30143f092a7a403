/* variables.h: the environment that the measured program gets, as far as its command line shows it. */
#ifndef PROBES_VARIABLES_H
#define PROBES_VARIABLES_H
#include "base/str.h"

#include <stdbool.h>

/* What a starter before the program changes: `env NAME=VALUE`, `mpirun -x NAME=VALUE`. */
struct variable_change {
    struct str name; /* "OMP_*": all that begin so */
    struct str value; /* p NULL: it is not set, or not known */
    const char *why; /* why it is not known; NULL: it is known */
};
struct variables {
    char *const *env; /* benchwrap's own, NULL-terminated */
    const struct variable_change *changes; /* of several that fit the last one counts */
    size_t count;
    bool cleared; /* the program gets no variable of env but those among the changes */
    const char *unknown; /* why it is not known which variables of env it gets; NULL: all of them, unless `cleared` */
    const char *unknown_inside; /* why it is not known what the program's own children get; NULL: what the program gets */
    char *const *settings; /* words of starters that may set variables in another way, NULL-terminated; may be NULL */
    char *const *arguments; /* words of the program that may set variables for what it starts, NULL-terminated; may be NULL */
};

/* The change that counts for the variable; NULL: there is none. */
const struct variable_change *variables_change_of(const struct variables *v, struct str name);
/* Is it set in env? */
bool variables_is_of_job(const struct variables *v, struct str name);

enum variable_state { VARIABLE_SET, VARIABLE_UNSET, VARIABLE_UNKNOWN };
/* The variable at the start of the program. *ret_value: its value, if it is set; *ret_why: why it is not known. */
enum variable_state variables_at_start(const struct variables *v, struct str name, struct str *ret_value, const char **ret_why);
/* Finds the value of a variable in the program, as variables_at_start does for its start. An
 * argument of the program such as `sh -c "NAME=VALUE …"` may set it, too: then VARIABLE_UNKNOWN
 * with the reason in *ret_why. */
enum variable_state variables_find(const struct variables *v, struct str name, struct str *ret_value, const char **ret_why);
/* Returns the next name that a word of `settings` or `arguments` sets ("NAME=…"), and moves *word and *at behind it, which are 0 at
 * first. p NULL: there is no further one. */
struct str variables_next_assigned(const struct variables *v, size_t *word, size_t *at);
#endif
