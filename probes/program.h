/* program.h: finds the file of the measured program. */
#ifndef PROBES_PROGRAM_H
#define PROBES_PROGRAM_H
#include "probes/look.h"

/* Returns why the program's file cannot be found: it is in another root folder, or PATH is not known.
 * NULL: it can be searched. */
const char *program_is_hidden(const struct host *h);
/* Writes the absolute path of host->argv[0], found as a shell does (PATH of the program, cwd). Returns
 * false where there is none, it is hidden, or it does not fit. */
bool program_find_path(const struct host *h, char *ret, size_t size);
/* Writes the absolute path of the script that an interpreter runs ("python3 -u train.py"). Returns
 * false where there is none, or it does not fit. */
bool program_find_script(const struct host *h, char *ret, size_t size);
#endif
