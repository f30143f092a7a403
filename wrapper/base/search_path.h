/* search_path.h: find the file of a program by its name. */
#ifndef BASE_SEARCH_PATH_H
#define BASE_SEARCH_PATH_H
#include "base/arena.h"

#include <stdbool.h>

/* Finds the regular, executable file that execvp starts for `name`: in the first folder of `path`
 * (the text of PATH; NULL: /usr/bin:/bin); a name with a slash is the file itself. absolute: skip
 * folders that depend on the current one. In the arena, or `name`. NULL: there is none. */
const char *search_path_find(const char *path, const char *name, bool absolute, struct arena *a);
#endif
