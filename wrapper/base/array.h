/* array.h: arrays that grow, on the heap or in an arena.
 *
 * The caller has the pointer, the number of elements in use and the capacity (size_t, at first 0).
 * Before it writes element n it calls ARRAY_FITS(list, capacity, n + 1), and stops where that is
 * false. Capacities at least double, so that n elements cost O(n) copies. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H
#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* True when the array has a capacity of `need` elements or more, which may have moved it: the
 * elements are kept, further ones are not initialised. False: out of memory (errno ENOMEM), and
 * nothing has changed. The caller frees the array. */
#define ARRAY_FITS(list, capacity, need) ((need) <= (capacity) || array_grow(&(list), &(capacity), (need), sizeof *(list)))
/* The same in an arena, where further elements are zero. */
#define ARRAY_FITS_IN(arena, list, capacity, need) \
    ((need) <= (capacity) || array_grow_in((arena), &(list), &(capacity), (need), sizeof *(list)))

/* For the macros. `list` is the address of the array's pointer; `size`: bytes of an element. */
bool array_grow(void *list, size_t *capacity, size_t need, size_t size);
bool array_grow_in(struct arena *a, void *list, size_t *capacity, size_t need, size_t size);
#endif
