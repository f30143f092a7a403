/* annotations.c: collect what annotations change, and apply them in one order everywhere. */
#include "runs/annotations.h"
#include "base/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *annotation_target(const struct folder *tree, const struct tree_run *run, struct arena *a)
{
    const char *target = correction_possible(run->id) ? tree_file(tree, run, "tags/" ANNOTATION_TAG, 64, a) : NULL;
    return target && record_is_id(str_of(target)) ? target : NULL;
}

const struct tree_entry *annotation_changes(const struct folder *tree, const struct tree_run *run, const char *target, struct arena *a,
                                            const char **ret_problem)
{
    CLEANUP_BUF struct buf b;
    char path[256], of[33];
    struct err err = {0};
    struct tree_entry *list = NULL;
    snprintf(path, sizeof path, "%s/artifacts/" ANNOTATION_FILE, tree_run_path(run));
    buf_init(&b, ANNOTATION_MAX + (1 << 17));
    *ret_problem = NULL;
    if (folder_read(tree, path, ANNOTATION_MAX, &b) < 0)
        *ret_problem = arena_printf(a, "artifacts/" ANNOTATION_FILE " cannot be read: %s", err_words(errno));
    else if (annotation_parse(buf_text(&b), a, of, &list, &err) < 0)
        *ret_problem = arena_printf(a, "artifacts/" ANNOTATION_FILE ": %s", err.text);
    else if (strcmp(of, target) != 0)
        *ret_problem = arena_printf(a, "artifacts/" ANNOTATION_FILE " names another run than the tag " ANNOTATION_TAG);
    else
        return list;
    return NULL;
}

void annotations_add(struct annotations *to, const struct tree_run *run, const char *target, const struct tree_entry *changes)
{
    if (!target || !changes)
        return;
    if (!ARRAY_FITS(to->list, to->room, to->count + 1)) {
        to->failed = true;
        return;
    }
    struct annotation *x = &to->list[to->count++];
    *x = (struct annotation){.start_ms = run->start_ms, .changes = changes};
    memcpy(x->id, run->id, 33);
    memcpy(x->target, target, 33);
}

static int by_annotated_root(const void *a, const void *b)
{
    const struct annotation *x = a, *y = b;
    int root = strcmp(x->root, y->root);
    if (root)
        return root;
    if (x->start_ms != y->start_ms)
        return x->start_ms < y->start_ms ? -1 : 1;
    return strcmp(x->id, y->id);
}

/* Returns the first run of a chain of corrections. */
static const char *root_of(const struct corrections *corrections, const char *id)
{
    const struct correction *k = corrections_of(corrections, id);
    return k ? k->root : id;
}

void annotations_sort(struct annotations *to, const struct corrections *corrections)
{
    size_t kept = 0;
    for (size_t i = 0; i < to->count; i++) {
        struct annotation *x = &to->list[i];
        if (!corrections_shown(corrections, x->id))
            continue;
        memcpy(x->root, root_of(corrections, x->target), 33);
        to->list[kept++] = *x;
    }
    to->count = kept;
    if (kept)
        qsort(to->list, kept, sizeof *to->list, by_annotated_root);
}

const struct tree_entry *annotations_of(const struct annotations *of, const struct corrections *corrections, const char *id,
                                        struct arena *a, const struct annotation **ret_newest)
{
    const char *root = of->count ? root_of(corrections, id) : id;
    size_t low = 0, high = of->count;
    struct tree_entry *list = NULL;
    if (ret_newest)
        *ret_newest = NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(of->list[middle].root, root) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < of->count && strcmp(of->list[low].root, root) == 0; low++) {
        list = annotation_merge(list, of->list[low].changes, a);
        if (ret_newest)
            *ret_newest = &of->list[low];
    }
    for (struct tree_entry **at = &list; *at; at = &(*at)->next)
        if (strcmp((*at)->key, ANNOTATION_NAME) == 0 && !(*at)->value.p) { /* a run without the annotated name has its own */
            *at = (*at)->next;
            break;
        }
    return list;
}

void annotations_deinit(struct annotations *a)
{
    free(a->list);
    *a = (struct annotations){0};
}
