/* profile.h: which profile holds where runs are recorded and where they are reviewed. */
#ifndef BASE_PROFILE_H
#define BASE_PROFILE_H
#include <stdbool.h>

/* said: "public" or "private" as options or benchwrap.yaml have it, NULL: nothing is said. A repository with a remote is public unless it says otherwise. */
bool profile_is_public(const char *said, bool has_remote);
#endif
