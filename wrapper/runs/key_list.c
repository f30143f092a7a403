/* key_list.c: the keys of metrics, params and tags that runs have, found without reading a value. */
#include "runs/run_columns.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_DEPTH_MAX = 16 };

struct key_visit {
    struct key_list *to;
    const struct folder *in;
    const char *pattern, *prefix; /* of the keys: the folders above */
    int depth;
};

static void key_list_put(struct key_list *to, const char *name)
{
    if (to->count == to->room) {
        size_t room = to->room ? to->room * 2 : 256;
        const char **names = realloc(to->names, room * sizeof *names);
        if (!names) {
            to->failed = true;
            return;
        }
        to->names = names;
        to->room = room;
    }
    to->names[to->count++] = name;
}

static int visit_key(void *context, const struct folder_entry *e)
{
    const struct key_visit *v = context;
    bool strange = !e->name.n || memchr(e->name.p, '/', e->name.n) || str_is(e->name, "..") || str_is(e->name, ".");
    const char *key = strange ? NULL : arena_printf(v->to->a, "%s%s", v->prefix, e->name.p);
    if (!key)
        return v->to->a->failed;
    if (e->kind == FOLDER_FILE || e->kind == FOLDER_PROGRAM) {
        if (!v->pattern || fnmatch(v->pattern, key, 0) == 0)
            key_list_put(v->to, key);
    } else if (e->kind == FOLDER_FOLDER && v->depth < KEY_DEPTH_MAX) {
        CLEANUP_FOLDER struct folder in = {0};
        struct key_visit deeper = {v->to, &in, v->pattern, arena_printf(v->to->a, "%s/", key), v->depth + 1};
        if (deeper.prefix && folder_enter(v->in, e->name.p, &in) == 0)
            folder_names(&in, visit_key, &deeper);
    }
    return v->to->failed || v->to->a->failed;
}

void key_list_add(struct key_list *to, const struct folder *tree, const struct tree_run *run, enum filter_kind kind, const char *pattern)
{
    static const char *const folders[] = {[FILTER_METRIC] = "metrics", [FILTER_PARAM] = "params", [FILTER_TAG] = "tags"};
    CLEANUP_FOLDER struct folder in = {0};
    const char *path = arena_printf(to->a, "%s/%s", tree_run_path(run), folders[kind]);
    if (path && folder_enter(tree, path, &in) == 0)
        folder_names(&in, visit_key, &(struct key_visit){to, &in, pattern, "", 0});
    if (to->count > RUN_COLUMNS_MAX)
        key_list_sort(to);
}

static int compare_key_names(const void *a, const void *b)
{
    return str_natural(*(const char *const *)a, *(const char *const *)b);
}

void key_list_sort(struct key_list *keys)
{
    size_t kept = 0;
    if (keys->count)
        qsort(keys->names, keys->count, sizeof *keys->names, compare_key_names);
    for (size_t i = 0; i < keys->count; i++)
        if (!kept || strcmp(keys->names[kept - 1], keys->names[i]) != 0)
            keys->names[kept++] = keys->names[i];
    keys->count = kept;
}
