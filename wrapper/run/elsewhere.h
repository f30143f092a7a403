/* elsewhere.h: whether the program runs on this machine, so that facts about the machine are facts about the run. */
#ifndef WRAPPER_RUN_ELSEWHERE_H
#define WRAPPER_RUN_ELSEWHERE_H
#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

/* Returns why the program in argv may run on another machine, as a sentence in the arena. NULL: it
 * runs on this one, as far as the rows of starters.def, the options and variables of the starters,
 * the files of hosts that they name and /etc/hosts show. Reads small regular files and queries no
 * name server. */
const char *elsewhere_reason(char *const *argv, char *const *env, struct arena *a);

/* Returns the environment with the variables that the line itself sets (`env DOCKER_HOST=… docker`) before the others. The list is in the arena; the given
 * one: out of memory. */
char *const *elsewhere_variables(char *const *argv, char *const *env, struct arena *a);

/* Returns the first starter before the program in argv that may run it on another machine; NULL: none. *ret_program: the word of
 * argv behind all starters. Static text. */
const char *elsewhere_starter(char *const *argv, char *const *env, struct arena *a, char *const **ret_program);

/* Why the program in argv is no descendant of what starts it, and why its control groups differ
 * from this process's: sentences in the arena; NULL: it is one, they are the same. */
struct elsewhere_ways {
    const char *served, *regrouped;
    const char *server; /* the name of the first starter that has a service start its program; NULL: none */
    const char *submits; /* the first starter that makes a job where there is none (srun, salloc); NULL: none */
    const char *own_job; /* the first starter that runs the program in another job than the one around it (salloc, sbatch --wait); NULL: none */
    const char *binder; /* the starter that binds the program to processors of its choice; NULL: none */
};
/* Returns how the starters of the line start the program. Texts are static, or in the arena. */
struct elsewhere_ways elsewhere_find_ways(char *const *argv, char *const *env, struct arena *a);
#endif
