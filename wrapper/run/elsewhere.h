/* elsewhere.h: whether the program runs on this machine, so that facts about the machine are facts about the run. */
#ifndef WRAPPER_RUN_ELSEWHERE_H
#define WRAPPER_RUN_ELSEWHERE_H
#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

/* NULL: the program in argv runs on this machine, as far as the rows of starters.def, the options and variables of the starters, the files of hosts that they
 * name and /etc/hosts say. Else why it may run elsewhere, as a sentence in the arena. Reads small regular files and asks no name server. */
const char *elsewhere_reason(char *const *argv, char *const *env, struct arena *a);

/* Why the program in argv is no descendant of what starts it, and why its control groups are others than ours: sentences in the
 * arena; NULL: it is one, they are ours. */
struct elsewhere_ways {
    const char *served, *regrouped;
    const char *binder; /* the starter that binds the program to processors of its choice; NULL: none */
};
struct elsewhere_ways elsewhere_find_ways(char *const *argv, char *const *env, struct arena *a);
#endif
