/* library.c: dlopen(3) of the libraries in library.def, and functions into a struct of pointers. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY(id, name, purpose, debian, elsewhere, ...)                                                                                 \
    [id] = {name, purpose, debian, elsewhere, (const char *const[]){__VA_ARGS__, NULL}},
static const struct library_about libraries[LIBRARY_IDS] = {
#include "base/library.def"
};
#undef LIBRARY

const struct library_about *library_describe(enum library_id id)
{
    return &libraries[id];
}

void *library_open(enum library_id id)
{
    void *library = NULL;
    for (const char *const *file = libraries[id].files; *file && !library; file++)
        if (**file == '/' || !strchr(*file, '/')) /* nothing from the working directory */
            library = dlopen(*file, RTLD_NOW | RTLD_LOCAL);
    return library;
}

int library_err(enum library_id id, struct err *err)
{
    const struct library_about *l = &libraries[id];
    return err_set(err, ERR_SYSTEM, "cannot %s: %s is not installed; install the package %s (Debian) or %s", l->purpose, l->name, l->debian,
                   l->elsewhere);
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
