/* fold.c: child runs below their parents: the lines of a listing of runs, and the depth of each. */
#include "runs/fold.h"

#include "runs/row.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8 };

struct fold_node {
    const struct tree_run *run;
    const char *key; /* what its child runs name as their parent: the id of the run, or of the one that it amends */
    struct fold_node *parent, *child, *next; /* children from the oldest to the newest */
};

struct folding {
    const struct runs *runs;
    struct fold_node *nodes; /* in the order of runs->all */
    struct fold_node **by_key;
    struct fold_line *lines;
    size_t count;
    bool open;
};

/* Orders runs by their key. With --all a run and those that amend it have one key: the run itself
 * comes first. */
static int by_fold_key(const void *a, const void *b)
{
    const struct fold_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->key, (*y)->key);
    return order ? order : (strcmp((*x)->key, (*x)->run->id) != 0) - (strcmp((*y)->key, (*y)->run->id) != 0);
}

/* Returns the node of the run with this id, by bisection; NULL: none. */
static struct fold_node *fold_find(const struct folding *f, const char *id)
{
    size_t low = 0, high = f->runs->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(f->by_key[mid]->key, id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->runs->count && strcmp(f->by_key[low]->key, id) == 0 ? f->by_key[low] : NULL;
}

/* True if `n` is `of` or an ancestor of it. Tags of a foreign tree may contain anything, also that
 * two runs are each other's children. */
static bool is_above(const struct fold_node *n, const struct fold_node *of)
{
    unsigned depth = 0;
    for (; of; of = of->parent)
        if (of == n || ++depth > DEPTH_MAX)
            return true;
    return false;
}

/* Appends the line of a run. With f->open the lines of all runs below it follow, each above its own
 * child runs, else line->folded counts them. Without recursion: a foreign tree may have a chain of
 * any length. */
static void fold_add(struct folding *f, const struct fold_node *top)
{
    struct fold_line *line = NULL;
    unsigned depth = 0;
    for (const struct fold_node *n = top; n;) {
        if (n == top || f->open) {
            line = &f->lines[f->count++];
            *line = (struct fold_line){.run = n->run, .depth = depth};
        } else
            line->folded++;
        if (n->child) {
            n = n->child;
            depth++;
            continue;
        }
        for (; n != top && !n->next; depth--)
            n = n->parent;
        n = n == top ? NULL : n->next;
    }
}

/* Adds the run to its parent's children. A child is younger than its parent: going from the newest
 * on, all children of a run are linked when it is met itself. */
static void link_one(struct folding *f, struct fold_node *n, struct arena *a)
{
    const char *id = n->run->row ? n->run->row->parent : runs_file(f->runs, n->run, "tags/mlflow.parentRunId", 64, a);
    struct fold_node *parent = id ? fold_find(f, id) : NULL;
    if (!parent || is_above(n, parent))
        return;
    n->parent = parent;
    n->next = parent->child;
    parent->child = n;
}

int fold_runs(const struct runs *runs, bool open, size_t last, struct arena *a, struct fold_line **ret, size_t *ret_count, size_t *ret_more)
{
    size_t n = runs->count, top = 0, met = 0;
    struct folding f = {.runs = runs, .open = open};
    f.nodes = arena_get(a, (n + 1) * sizeof *f.nodes);
    f.by_key = arena_get(a, (n + 1) * sizeof(struct fold_node *));
    f.lines = arena_get(a, (n + 1) * sizeof *f.lines);
    *ret = f.lines;
    *ret_count = *ret_more = 0;
    if (!f.nodes || !f.by_key || !f.lines)
        return -1;
    for (size_t i = 0; i < n; i++) {
        f.nodes[i].run = runs->all[i];
        f.nodes[i].key = runs_root_id(runs, runs->all[i], a);
        f.by_key[i] = &f.nodes[i];
    }
    qsort(f.by_key, n, sizeof(struct fold_node *), by_fold_key);
    for (; met < n && top < last; met++) {
        link_one(&f, &f.nodes[met], a);
        top += !f.nodes[met].parent;
    }
    for (size_t i = 0; i < met; i++)
        if (!f.nodes[i].parent)
            fold_add(&f, &f.nodes[i]);
    *ret_count = f.count;
    *ret_more = n - met;
    return 0;
}
