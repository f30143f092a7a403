/* array.c: arrays that grow, on the heap or in an arena. */
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 512, FIRST_ELEMENTS = 8 };

/* Returns a capacity of `need` elements at least, about twice the old one. 0: an array of so many
 * elements of `size` bytes cannot exist. */
static size_t larger_capacity(size_t capacity, size_t need, size_t size)
{
    size_t most = (size_t)-1 / 4 / size;
    size_t first = FIRST_BYTES / size > FIRST_ELEMENTS ? FIRST_BYTES / size : FIRST_ELEMENTS;
    size_t larger = capacity < most ? 2 * capacity : need;
    larger = larger < first ? first : larger;
    larger = larger < need ? need : larger;
    return larger <= most ? larger : 0;
}

bool array_grow(void *list, size_t *capacity, size_t need, size_t size)
{
    size_t larger = larger_capacity(*capacity, need, size);
    void *was, *p;
    memcpy(&was, list, sizeof was);
    p = larger ? realloc(was, larger * size) : NULL;
    if (!p) {
        errno = ENOMEM;
        return false;
    }
    memcpy(list, &p, sizeof p);
    *capacity = larger;
    return true;
}

bool array_grow_in(struct arena *a, void *list, size_t *capacity, size_t need, size_t size)
{
    size_t larger = larger_capacity(*capacity, need, size);
    void *was, *p = arena_get(a, larger ? larger * size : (size_t)-1);
    if (!p) {
        errno = ENOMEM;
        return false;
    }
    memcpy(&was, list, sizeof was);
    if (*capacity)
        memcpy(p, was, *capacity * size);
    memcpy(list, &p, sizeof p);
    *capacity = larger;
    return true;
}
