/* profile.h: which profile is in force where runs are recorded and where they are reviewed. */
#ifndef BASE_PROFILE_H
#define BASE_PROFILE_H
#include <stdbool.h>

/* Returns whether records are public. `said`: "public" or "private" from options or benchwrap.yaml;
 * NULL: not set. A repository with a remote is public unless it is set to private. */
bool profile_is_public(const char *said, bool has_remote);
#endif
