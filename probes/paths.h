/* paths.h: the paths in a program's arguments. */
#ifndef PROBES_PATHS_H
#define PROBES_PATHS_H
#include "base/str.h"

enum { PATHS_MAX = 24, PATH_SIZE = 4096 };

struct paths {
    char list[PATHS_MAX][PATH_SIZE]; /* absolute, as text: nothing is looked at */
    size_t count;
};

/* Words with a slash among the arguments, values of "--dir=/x", "of=/x", "-o/x", and lists of such with commas or colons between; at the end the working
 * directory. No scripts (sh -c "…"), no URLs, no devices of /dev, nothing of /proc and /sys. argv[0] does not count; argv may be NULL. */
void paths_of_arguments(struct paths *ret, char *const *argv, const char *cwd);
#endif
