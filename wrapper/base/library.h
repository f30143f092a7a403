/* library.h: libraries that are loaded when they are needed, by name: one that is not installed is a missing feature, not an error of
 * the dynamic linker. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define LIBRARY(id, ...) id,
enum library_id {
#include "base/library.def"
    LIBRARY_IDS
};
#undef LIBRARY

struct library_about {
    const char *name, *purpose, *debian, *elsewhere;
    const char *const *files; /* ends with NULL */
};
/* Returns what is known of the library, valid until the program ends. */
const struct library_about *library_describe(enum library_id id);
/* Loads the library, which stays loaded. NULL: not installed. */
void *library_open(enum library_id id);
/* Sets "cannot <purpose>: <name> is not installed …" with the packages, ERR_SYSTEM. Returns -1. */
int library_err(enum library_id id, struct err *err);

/* A function and the pointer that is to hold it (a pointer to any type of function pointer). */
struct library_function {
    const char *name;
    void *to;
};
/* Sets all pointers; those that the library lacks become NULL. Returns NULL, or the name of the
 * first function that it lacks. */
const char *library_take(void *library, const struct library_function *rows, size_t count);
#endif
