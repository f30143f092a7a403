/* record_index.c: the record's keys by name: open addressing, grown while it fills. */
#include "mlruns-format/record_index.h"

#include <stdlib.h>

static bool folds_case(enum space space)
{
    return space <= SPACE_ARTIFACT;
}

static uint32_t hash_of(enum space space, struct str s)
{
    uint32_t h = 2166136261u ^ (uint32_t)space; /* FNV-1a */
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)(folds_case(space) ? str_lower(s.p[i]) : s.p[i])) * 16777619u;
    return h;
}

static bool record_keys_equal(enum space space, struct str a, struct str b)
{
    if (a.n != b.n || !folds_case(space))
        return str_eq(a, b);
    for (size_t i = 0; i < a.n; i++)
        if (str_lower(a.p[i]) != str_lower(b.p[i]))
            return false;
    return true;
}

/* Returns the slot of the key, or the empty slot where it belongs. */
static struct record_entry **record_slot_of(const struct record_index *x, enum space space, struct str key, uint32_t hash)
{
    size_t i = hash & (x->size - 1);
    for (struct record_entry *e; (e = x->slots[i]); i = (i + 1) & (x->size - 1))
        if (e->hash == hash && e->space == space && record_keys_equal(space, e->key, key))
            break;
    return &x->slots[i];
}

struct record_entry *record_entry_find(const struct record *r, enum space space, struct str key)
{
    const struct record_index *x = r->index;
    return x && x->size ? *record_slot_of(x, space, key, hash_of(space, key)) : NULL;
}

/* Makes sure that one more entry fits. Returns false where the table is full and memory is used
 * up. */
static bool index_grow(struct record_index *x)
{
    if (x->size && x->used * 4 < x->size * 3)
        return true;
    struct record_index bigger = {.size = x->size ? x->size * 2 : 1024};
    bigger.slots = calloc(bigger.size, sizeof *bigger.slots);
    if (!bigger.slots)
        return x->used + 1 < x->size; /* slower, until it is full */
    for (size_t i = 0; i < x->size; i++)
        if (x->slots[i])
            *record_slot_of(&bigger, x->slots[i]->space, x->slots[i]->key, x->slots[i]->hash) = x->slots[i];
    free(x->slots);
    x->slots = bigger.slots;
    x->size = bigger.size;
    return true;
}

struct record_entry *record_entry_make(struct record *r, enum space space, struct str key)
{
    if (!r->index || !index_grow(r->index))
        return NULL;
    uint32_t hash = hash_of(space, key);
    struct record_entry **slot = record_slot_of(r->index, space, key, hash);
    if (*slot)
        return *slot;
    struct record_entry *e = ARENA_NEW(&r->arena, struct record_entry);
    char *copy = e ? arena_dup(&r->arena, key.p, key.n) : NULL;
    if (!copy)
        return NULL;
    *e = (struct record_entry){.space = space, .key = {copy, key.n}, .hash = hash};
    r->index->used++;
    return *slot = e;
}
