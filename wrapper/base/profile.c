/* profile.c: the one decision on the profile of a repository. */
#include "base/profile.h"

#include <stddef.h>
#include <string.h>

bool profile_is_public(const char *said, bool has_remote)
{
    return said ? strcmp(said, "public") == 0 : has_remote;
}
