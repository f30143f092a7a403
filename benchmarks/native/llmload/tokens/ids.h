/* ids.h: a growing row of token ids; running out of memory sticks in `failed`. */
#ifndef LLMLOAD_IDS_H
#define LLMLOAD_IDS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct ids {
    uint32_t *id;
    size_t n, size;
    bool failed;
};

static inline void ids_add(struct ids *l, uint32_t id)
{
    if (l->n == l->size) {
        size_t size = l->size ? l->size * 2 : 256;
        uint32_t *more = l->failed ? NULL : realloc(l->id, size * sizeof *more);
        if (!more) {
            l->failed = true;
            return;
        }
        l->id = more;
        l->size = size;
    }
    l->id[l->n++] = id;
}
static inline void ids_deinit(struct ids *l)
{
    free(l->id);
    *l = (struct ids){0};
}
#define CLEANUP_IDS __attribute__((cleanup(ids_deinit)))
#endif
