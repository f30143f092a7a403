/* site.c: the rule for names of sites. */
#include "base/site.h"

#include <string.h>

enum { SITE_MAX = 40 };

static bool is_site_end(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool site_is_legal(struct str name)
{
    if (!name.n || name.n > SITE_MAX || !is_site_end(name.p[0]) || !is_site_end(name.p[name.n - 1]))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!is_site_end(name.p[i]) && !memchr("._-", name.p[i], 3))
            return false;
    return str_find(name, STR("..")) < 0 && !str_ends(name, ".lock");
}
