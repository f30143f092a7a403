/* search_path.c: find the file of a program by its name. */
#include "base/search_path.h"

#include "base/str.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program_file(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

const char *search_path_find(const char *path, const char *name, bool absolute, struct arena *a)
{
    if (strchr(name, '/'))
        return is_program_file(name) ? name : NULL;
    for (struct str rest = str_of(path ? path : "/usr/bin:/bin"); *name && rest.p;) {
        struct str folder = str_cut(&rest, ':');
        if (absolute && !str_starts(folder, "/"))
            continue;
        const char *file = arena_printf(a, STR_FMT "/%s", STR_ARG(folder.n ? folder : STR(".")), name);
        if (is_program_file(file))
            return file;
    }
    return NULL;
}
