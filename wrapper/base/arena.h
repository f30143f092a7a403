/* arena.h: memory with one owner; nothing in it is freed alone.
 *
 * An arena with a maximum refuses to pass it (foreign input is endless).
 * All calls return NULL when memory or the maximum is used up; `failed` then
 * stays set, so that a long construction can be checked once at its end. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena {
    struct arena_block *last;
    size_t used, max; /* bytes handed out, and the most that may be (0: no maximum) */
    bool failed;
};

/* Begins an arena. max in bytes, 0 for none. Nothing is allocated until the first use. */
void arena_init(struct arena *a, size_t max);
void arena_deinit(struct arena *a);
/* Returns n zeroed bytes, aligned for any type; NULL on failure. */
void *arena_get(struct arena *a, size_t n);
/* Returns a NUL-terminated copy of n bytes; NULL on failure. */
char *arena_dup(struct arena *a, const char *p, size_t n);
/* Returns a copy of the text, which is NUL-terminated. On failure both p and n are 0, so that the
 * copy is an empty text. */
struct str arena_str(struct arena *a, struct str s);
/* Returns the formatted text in the arena; NULL on failure. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Moves all that `from` has handed out to `a` (it counts there); `from` is empty again. */
void arena_adopt(struct arena *a, struct arena *from);
#define ARENA_NEW(a, type) ((type *)arena_get((a), sizeof(type)))
#endif
