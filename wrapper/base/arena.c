/* arena.c: memory with one owner; nothing in it is freed alone. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 * 1024, ALIGN = 16 };

struct arena_block {
    struct arena_block *before;
    size_t size, used;
    _Alignas(ALIGN) unsigned char at[];
};

void arena_init(struct arena *a, size_t max)
{
    *a = (struct arena){.max = max};
}

void arena_deinit(struct arena *a)
{
    for (struct arena_block *b = a->last, *before; b; b = before) {
        before = b->before;
        free(b);
    }
    *a = (struct arena){.max = a->max};
}

void arena_adopt(struct arena *a, struct arena *from)
{
    struct arena_block *first = from->last;
    while (first && first->before)
        first = first->before;
    if (first) { /* behind the block in use, which has free bytes left */
        struct arena_block **at = a->last ? &a->last->before : &a->last;
        first->before = *at;
        *at = from->last;
    }
    a->used += from->used;
    a->failed = a->failed || from->failed;
    *from = (struct arena){.max = from->max};
}

void *arena_get(struct arena *a, size_t n)
{
    if (n > (size_t)-1 / 2 - ALIGN) {
        a->failed = true;
        return NULL;
    }
    n = (n + ALIGN - 1) / ALIGN * ALIGN;
    if (n == 0)
        n = ALIGN;
    if (a->max && (a->used > a->max || n > a->max - a->used)) { /* arena_adopt may pass the maximum */
        a->failed = true;
        return NULL;
    }
    struct arena_block *b = a->last;
    if (!b || b->size - b->used < n) {
        size_t size = n > BLOCK / 4 ? n : BLOCK;
        b = malloc(sizeof *b + size);
        if (!b) {
            a->failed = true;
            return NULL;
        }
        b->size = size;
        b->used = 0;
        if (a->last && size != BLOCK) { /* a large one goes behind the block in use */
            b->before = a->last->before;
            a->last->before = b;
        } else {
            b->before = a->last;
            a->last = b;
        }
    }
    void *p = b->at + b->used;
    b->used += n;
    a->used += n;
    return memset(p, 0, n);
}

char *arena_dup(struct arena *a, const char *p, size_t n)
{
    char *to = arena_get(a, n + 1);
    if (to && n)
        memcpy(to, p, n);
    return to;
}

struct str arena_str(struct arena *a, struct str s)
{
    const char *copy = arena_dup(a, s.p, s.n);
    return (struct str){copy, copy ? s.n : 0};
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    char text[256]; /* mostly enough: then it is formatted once */
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char *to = n < 0 ? NULL : arena_get(a, (size_t)n + 1);
    if (to && (size_t)n < sizeof text)
        memcpy(to, text, (size_t)n);
    else if (to)
        vsnprintf(to, (size_t)n + 1, fmt, again);
    va_end(again);
    return to;
}
