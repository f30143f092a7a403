/* corrections.c: find the run that counts, where others amend or retract one. */
#include "mlruns-format/corrections.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 100 };

bool correction_possible(const char *id)
{
    return strlen(id) == 32 && id[12] == '5';
}

const char *correction_target(const struct folder *tree, const struct tree_run *run, struct arena *a, bool *ret_retracts)
{
    *ret_retracts = false;
    if (!correction_possible(run->id))
        return NULL;
    const char *amends = tree_file(tree, run, "tags/benchwrap.amends", 64, a);
    if (amends)
        return amends;
    *ret_retracts = true;
    return tree_file(tree, run, "tags/benchwrap.retracts", 64, a);
}

void corrections_add(struct corrections *c, const struct tree_run *run, const char *target, bool retracts)
{
    if (!target || !record_is_id(str_of(target)))
        return;
    if (!ARRAY_FITS(c->list, c->room, c->count + 1)) {
        c->failed = true;
        return;
    }
    struct correction *k = &c->list[c->count++];
    *k = (struct correction){.start_ms = run->start_ms, .retracts = retracts};
    memcpy(k->id, run->id, 33);
    memcpy(k->target, target, 33);
}

static int by_correction_id(const void *a, const void *b)
{
    return strcmp(((const struct correction *)a)->id, ((const struct correction *)b)->id);
}

static int by_root(const void *a, const void *b)
{
    return strcmp(((const struct correction *)a)->root, ((const struct correction *)b)->root);
}

/* Sorts by the corrected run, and for one run by precedence: the correction that counts is first. */
static int by_weight(const void *a, const void *b)
{
    const struct correction *x = a, *y = b;
    int root = strcmp(x->root, y->root);
    if (root)
        return root;
    if (x->start_ms != y->start_ms)
        return x->start_ms < y->start_ms ? 1 : -1;
    return strcmp(y->id, x->id);
}

/* Returns the correction of the run `id` in the list, which is sorted by `order`; NULL: none. */
static const struct correction *find_correction(const struct correction *list, size_t n, const char *id,
                                                int (*order)(const void *, const void *))
{
    struct correction key;
    if (!n || strlen(id) > 32)
        return NULL;
    memcpy(key.id, id, strlen(id) + 1);
    memcpy(key.root, id, strlen(id) + 1);
    return bsearch(&key, list, n, sizeof *list, order);
}

void corrections_read(struct corrections *c, const struct folder *tree, const struct tree_run *run, struct arena *a)
{
    bool retracts;
    const char *target = correction_target(tree, run, a, &retracts);
    corrections_add(c, run, target, retracts);
}

void corrections_sort(struct corrections *c)
{
    if (!c->count)
        return;
    qsort(c->list, c->count, sizeof *c->list, by_correction_id);
    for (size_t i = 0; i < c->count; i++) {
        const struct correction *at = &c->list[i], *next;
        for (int hops = 0; hops < CHAIN_MAX && (next = find_correction(c->list, c->count, at->target, by_correction_id)); hops++)
            at = next;
        memcpy(c->list[i].root, at->target, 33);
    }
    c->chosen = malloc(c->count * sizeof *c->chosen);
    if (!c->chosen) {
        c->failed = true;
        return;
    }
    memcpy(c->chosen, c->list, c->count * sizeof *c->chosen);
    qsort(c->chosen, c->count, sizeof *c->chosen, by_weight);
    for (size_t i = 0; i < c->count; i++)
        if (!c->chosen_count || strcmp(c->chosen[c->chosen_count - 1].root, c->chosen[i].root) != 0)
            c->chosen[c->chosen_count++] = c->chosen[i];
}

const struct correction *corrections_of(const struct corrections *c, const char *id)
{
    const struct correction *own = find_correction(c->list, c->count, id, by_correction_id);
    return find_correction(c->chosen, c->chosen_count, own ? own->root : id, by_root);
}

const char *corrections_shown(const struct corrections *c, const char *id)
{
    const struct correction *chosen = corrections_of(c, id);
    if (!chosen)
        return id;
    return chosen->retracts ? NULL : strcmp(chosen->id, id) == 0 ? id : chosen->id;
}

void corrections_deinit(struct corrections *c)
{
    free(c->list);
    free(c->chosen);
    *c = (struct corrections){0};
}
