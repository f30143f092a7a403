/* library.h: libraries that are looked for when they are needed, by name: what a machine lacks is missing, not an error of the loader. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H
#include <stdbool.h>
#include <stddef.h>

/* The first of these that can be loaded; NULL: none. It stays loaded. */
void *library_open(const char *const *names, size_t count);

/* A function and the pointer that is to hold it (a pointer to any type of function pointer). */
struct library_function {
    const char *name;
    void *to;
};
/* Sets all of them, those that the library lacks to NULL. NULL, or the name of the first that it lacks. */
const char *library_take(void *library, const struct library_function *rows, size_t count);
#endif
