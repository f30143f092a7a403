/* key_list.c: the keys of metrics, params and tags that runs have, found without reading a value. */
#include "runs/run_columns.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_DEPTH_MAX = 16, KEY_MAX = 1024 };

struct key_visit {
    struct key_list *to;
    const struct folder *in;
    const char *pattern, *prefix; /* of the keys: the folders above */
    int depth;
};

/* Returns the FNV-1a hash of the name. */
static size_t key_hash(const char *name)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32);
}

/* Returns the slot of a name, or the empty one where it belongs. */
static uint32_t *key_slot(const struct key_list *keys, const char *name)
{
    size_t i = key_hash(name) & (keys->slot_count - 1);
    while (keys->slots[i] && strcmp(keys->names[keys->slots[i] - 1], name) != 0)
        i = (i + 1) & (keys->slot_count - 1);
    return &keys->slots[i];
}

/* Grows the table for one name more; half of the slots stay empty. */
static bool key_list_grow(struct key_list *keys)
{
    if (keys->count * 2 < keys->slot_count)
        return true;
    size_t room = keys->room ? keys->room * 2 : 256;
    const char **names = realloc(keys->names, room * sizeof *names);
    uint32_t *slots = calloc(room * 2, sizeof *slots);
    if (names)
        keys->names = names;
    if (!names || !slots) {
        free(slots);
        return false;
    }
    free(keys->slots);
    keys->slots = slots;
    keys->slot_count = room * 2;
    keys->room = room;
    for (size_t i = 0; i < keys->count; i++)
        *key_slot(keys, keys->names[i]) = (uint32_t)(i + 1);
    return true;
}

void key_list_put(struct key_list *keys, const char *name)
{
    if (!key_list_grow(keys)) {
        keys->failed = true;
        return;
    }
    uint32_t *slot = key_slot(keys, name);
    if (*slot)
        return;
    const char *copy = arena_dup(keys->a, name, strlen(name));
    if (!copy) {
        keys->failed = true;
        return;
    }
    keys->names[keys->count++] = copy;
    *slot = (uint32_t)keys->count;
}

void key_list_deinit(struct key_list *keys)
{
    free(keys->names);
    free(keys->slots);
    *keys = (struct key_list){0};
}

/* Adds the key of a file, and those of the files below a folder, where they match the pattern.
 * Names that are no keys, and folders that cannot be read, are ignored. Returns true, which stops
 * the listing, when out of memory. */
static int visit_key(void *context, const struct folder_entry *e)
{
    const struct key_visit *v = context;
    char key[KEY_MAX];
    bool strange = !e->name.n || memchr(e->name.p, '/', e->name.n) || str_is(e->name, "..") || str_is(e->name, ".");
    if (strange || (size_t)snprintf(key, sizeof key - 1, "%s%s", v->prefix, e->name.p) >= sizeof key - 1)
        return 0;
    if (e->kind == FOLDER_FILE || e->kind == FOLDER_PROGRAM) {
        if (!v->pattern || fnmatch(v->pattern, key, 0) == 0)
            key_list_put(v->to, key);
    } else if (e->kind == FOLDER_FOLDER && v->depth < KEY_DEPTH_MAX) {
        CLEANUP_FOLDER struct folder in = {0};
        size_t n = strlen(key);
        key[n] = '/';
        key[n + 1] = 0;
        struct key_visit deeper = {v->to, &in, v->pattern, key, v->depth + 1};
        if (folder_enter(v->in, e->name.p, &in) == 0)
            folder_names(&in, visit_key, &deeper);
    }
    return v->to->failed || v->to->a->failed;
}

void key_list_add(struct key_list *to, const struct folder *tree, const struct tree_run *run, enum filter_kind kind, const char *pattern)
{
    static const char *const folders[] = {[FILTER_METRIC] = "metrics", [FILTER_PARAM] = "params", [FILTER_TAG] = "tags"};
    CLEANUP_FOLDER struct folder in = {0};
    char path[300];
    snprintf(path, sizeof path, "%s/%s", tree_run_path(run), folders[kind]);
    if (folder_enter(tree, path, &in) == 0)
        folder_names(&in, visit_key, &(struct key_visit){to, &in, pattern, "", 0});
    for (const struct tree_entry *e = kind == FILTER_TAG ? run->annotated : NULL; e; e = e->next)
        if (e->value.p && (!pattern || fnmatch(pattern, e->key, 0) == 0))
            key_list_put(to, e->key);
}

static int compare_key_names(const void *a, const void *b)
{
    return str_natural(*(const char *const *)a, *(const char *const *)b);
}

void key_list_sort(struct key_list *keys)
{
    if (keys->count)
        qsort(keys->names, keys->count, sizeof *keys->names, compare_key_names);
}
