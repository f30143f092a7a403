/* program.h: finds the file of the measured program. */
#ifndef PROBES_PROGRAM_H
#define PROBES_PROGRAM_H
#include "probes/look.h"

/* The absolute path of host->argv[0], found as the shell does (PATH of host->env, cwd). False: there is none. */
bool program_find_path(const struct host *h, char *ret, size_t size);
/* The script that an interpreter among the programs was given ("python3 -u train.py"): its absolute path. False: none. */
bool program_find_script(const struct host *h, char *ret, size_t size);
#endif
