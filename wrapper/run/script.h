/* script.h: the starters in shell scripts that the program is or calls, whose programs are elsewhere or no processes of this run. */
#ifndef WRAPPER_RUN_SCRIPT_H
#define WRAPPER_RUN_SCRIPT_H
#include "base/arena.h"

#include <stdbool.h>

struct script_starter {
    const char *name; /* static text: "ssh"; NULL: none was found */
    const char *where; /* the script's path as it is called, or "a line of shell"; in the arena, or static */
    bool away; /* it may run programs on another machine; else a service of this one starts them */
};

/* Searches scripts for starters: `./run.sh` with "ssh node1 prog", or `bash a.sh` that calls b.sh
 * with "srun prog". Returns the first starter that leads to another machine, else the first one of
 * a service, with which a command of the scripts begins. Reads at most 16 regular files. Variables,
 * conditions and functions are not evaluated: the command may never run. */
struct script_starter script_find_starter(char *const *argv, char *const *env, struct arena *a);
#endif
