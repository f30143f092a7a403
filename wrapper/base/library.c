/* library.c: dlopen(3) of one of several names, and functions into a struct of pointers. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *library_open(const char *const *names, size_t count)
{
    void *library = NULL;
    for (size_t i = 0; i < count && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

const char *library_take(void *library, const struct library_function *rows, size_t count)
{
    const char *lacks = NULL;
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, rows[i].name);
        memcpy(rows[i].to, &found, sizeof found);
        if (!found && !lacks)
            lacks = rows[i].name;
    }
    return lacks;
}
