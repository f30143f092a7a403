/* paths.h: the paths in a program's arguments. */
#ifndef PROBES_PATHS_H
#define PROBES_PATHS_H
#include "base/str.h"

enum { PATHS_MAX = 24, PATH_SIZE = 4096 };

struct paths {
    char list[PATHS_MAX][PATH_SIZE]; /* absolute, as text; no file was read */
    size_t count;
};

/* Finds words with a slash among the arguments, values of "--dir=/x", "of=/x", "-o/x", and lists of
 * them with commas or colons. The working directory comes last. Leaves out scripts (sh -c "…"),
 * URLs, /dev, /proc and /sys, and argv[0]; argv may be NULL. */
void paths_of_arguments(struct paths *ret, char *const *argv, const char *cwd);
#endif
