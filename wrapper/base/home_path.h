/* home_path.h: paths that begin in the user's home folder. */
#ifndef BASE_HOME_PATH_H
#define BASE_HOME_PATH_H
#include "base/arena.h"

#include <stdlib.h>

/* Returns the path with the value of HOME in place of a leading "~". In the arena; NULL: out of
 * memory. A path that does not begin with "~/", or NULL, is returned as it is, as is any path where
 * HOME is not set. */
static inline const char *home_path(const char *path, struct arena *a)
{
    const char *home = getenv("HOME");
    return path && path[0] == '~' && path[1] == '/' && home ? arena_printf(a, "%s%s", home, path + 1) : path;
}
#endif
