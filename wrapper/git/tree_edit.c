/* tree_edit.c: a tree with some of its paths changed: raw entries are copied, the edits merged among them. */
#include "git/objects.h"

#include <stdlib.h>

enum { ENTRY_EXTRA = 8 + 20 /* mode, blank, NUL, id */ };

struct editing {
    struct repo *r;
    struct err *err;
};

/* Orders by path, where '/' sorts before everything else: a folder's content follows it without a
 * gap. */
static int compare_edit_paths(const void *a, const void *b)
{
    const unsigned char *p = (const unsigned char *)((const struct tree_edit *)a)->path,
                        *q = (const unsigned char *)((const struct tree_edit *)b)->path;
    for (; *p && *p == *q; p++, q++)
        ;
    int left = *p == '/' ? 1 : *p ? *p + 1 : 0, right = *q == '/' ? 1 : *q ? *q + 1 : 0;
    return left - right;
}

static int edit_folder(struct editing *e, const struct repo_id *base, const struct tree_edit *edits, size_t count, size_t skip,
                       struct repo_id *ret, bool *ret_empty);

static void tree_add_entry(struct buf *to, unsigned mode, const char *name, const struct repo_id *id)
{
    buf_printf(to, "%o %s", mode, name);
    buf_add(to, "", 1);
    buf_add(to, id->b, sizeof id->b);
}

/* One name of this folder: the edits that begin with it, and what it becomes. */
struct tree_change {
    char *name;
    unsigned mode; /* 0: it vanishes */
    struct repo_id id;
    const struct tree_edit *edits;
    size_t count;
    bool deeper; /* the edits are below it */
};

static size_t name_bytes(const struct tree_edit *t, size_t skip)
{
    return strcspn(t->path + skip, "/");
}

/* The edits of one folder by name, in git's order of the folder that comes out. */
static int compare_change_names(const void *a, const void *b)
{
    const struct tree_change *p = a, *q = b;
    return strcmp(p->name, q->name);
}

/* Groups the edits of one folder by its names into *ret, in the arena, sorted by name. Edits must
 * be sorted by path. Returns -1 with err, as for two edits of one path. */
static int group_edits(const struct tree_edit *edits, size_t count, size_t skip, struct arena *a, struct tree_change **ret,
                       size_t *ret_count, struct err *err)
{
    struct tree_change *list = arena_get(a, (count + 1) * sizeof *list);
    size_t n = 0;
    if (!list)
        return err_memory(err, "a folder of the repository");
    for (size_t i = 0; i < count;) {
        size_t bytes = name_bytes(&edits[i], skip), j = i + 1;
        bool deeper = edits[i].path[skip + bytes] == '/';
        while (j < count && name_bytes(&edits[j], skip) == bytes && memcmp(edits[j].path + skip, edits[i].path + skip, bytes) == 0)
            j++;
        for (size_t k = i; k < j; k++)
            if ((edits[k].path[skip + bytes] == '/') != deeper || (!deeper && j - i > 1) || bytes == 0)
                return err_set(err, ERR_BUG, "two changes of one path, %.200s", edits[k].path);
        list[n] =
            (struct tree_change){.name = arena_dup(a, edits[i].path + skip, bytes), .edits = edits + i, .count = j - i, .deeper = deeper};
        if (!deeper) {
            list[n].mode = edits[i].mode;
            list[n].id = edits[i].id;
        }
        n++;
        i = j;
    }
    if (a->failed)
        return err_memory(err, "a folder of the repository");
    qsort(list, n, sizeof *list, compare_change_names);
    *ret = list;
    *ret_count = n;
    return 0;
}

/* Returns the change of this name in the sorted list; NULL: none. */
static struct tree_change *find_change(struct tree_change *list, size_t count, const char *name)
{
    struct tree_change key = {.name = (char *)name};
    return count ? bsearch(&key, list, count, sizeof *list, compare_change_names) : NULL;
}

/* Makes the folder that the edits below this name produce; c->mode is 0 where it becomes empty.
 * `was`: the entry of that name, if it is a folder. Returns -1. */
static int go_deeper(struct editing *e, struct tree_change *c, const struct repo_id *was, size_t skip)
{
    bool empty = false;
    if (edit_folder(e, was, c->edits, c->count, skip + strlen(c->name) + 1, &c->id, &empty))
        return -1;
    c->mode = empty ? 0 : REPO_MODE_DIR;
    return 0;
}

static int git_order(const void *a, const void *b)
{
    const struct tree_change *p = a, *q = b;
    return repo_tree_compare(p->name, p->mode == REPO_MODE_DIR, q->name, q->mode == REPO_MODE_DIR);
}

/* First pass: makes the new objects of the folders below, for all changes that are deeper in the
 * tree; new folders, too. Reads the base only where there are such changes. -1 with e->err. */
static int edit_subfolders(struct editing *e, struct str base, struct tree_change *list, size_t count, size_t skip)
{
    struct repo_entry entry;
    int rc;
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        left += list[i].deeper;
    while (left && (rc = repo_tree_next(&base, &entry, e->err)) != 0) {
        if (rc < 0)
            return -1;
        struct tree_change *c = find_change(list, count, entry.name);
        if (!c || !c->deeper)
            continue;
        if (go_deeper(e, c, entry.mode == REPO_MODE_DIR ? &entry.id : NULL, skip))
            return -1;
        c->deeper = false;
        left--;
    }
    for (size_t i = 0; i < count; i++)
        if (list[i].deeper && go_deeper(e, &list[i], NULL, skip))
            return -1;
    return 0;
}

/* Appends the new tree object to `to`: the old entries that stay, and the new ones, in git's
 * order. names: the changes by name; order: the same in git's order; a mode of 0 removes. -1
 * with e->err. */
static int merge_entries(struct editing *e, struct str base, struct tree_change *names, struct tree_change *order, size_t count,
                         struct buf *to)
{
    struct repo_entry entry;
    size_t at = 0;
    const char *from = base.p;
    int rc;
    for (;;) {
        const char *begin = base.p;
        if ((rc = repo_tree_next(&base, &entry, e->err)) < 0)
            return -1;
        if (rc == 0)
            break;
        bool replaced = find_change(names, count, entry.name);
        bool before =
            at < count && repo_tree_compare(order[at].name, order[at].mode == REPO_MODE_DIR, entry.name, entry.mode == REPO_MODE_DIR) <= 0;
        if (!replaced && !before)
            continue;
        buf_add(to, from, (size_t)(begin - from)); /* all that was skipped, in one piece */
        while (at < count &&
               repo_tree_compare(order[at].name, order[at].mode == REPO_MODE_DIR, entry.name, entry.mode == REPO_MODE_DIR) <= 0) {
            if (order[at].mode)
                tree_add_entry(to, order[at].mode, order[at].name, &order[at].id);
            at++;
        }
        from = replaced ? base.p : begin;
    }
    buf_add(to, from, (size_t)(base.p - from));
    for (; at < count; at++)
        if (order[at].mode)
            tree_add_entry(to, order[at].mode, order[at].name, &order[at].id);
    return 0;
}

/* Writes the tree that `base` (NULL: empty) becomes by the edits; `skip` bytes of their paths name
 * this folder. *ret is set unless the folder is empty (*ret_empty) and not the root. Returns -1
 * with err. */
static int edit_folder(struct editing *e, const struct repo_id *base, const struct tree_edit *edits, size_t count, size_t skip,
                       struct repo_id *ret, bool *ret_empty)
{
    CLEANUP_BUF struct buf was;
    CLEANUP_BUF struct buf is;
    struct arena arena;
    struct tree_change *names = NULL, *order = NULL;
    size_t n = 0;
    buf_init(&was, REPO_TREE_MAX + 1);
    buf_init(&is, REPO_TREE_MAX + 1);
    arena_init(&arena, 0);
    int rc = base ? repo_read(e->r, base, REPO_TREE, REPO_TREE_MAX, &was, e->err) : 0;
    if (rc == 0)
        rc = group_edits(edits, count, skip, &arena, &names, &n, e->err);
    if (rc == 0)
        rc = edit_subfolders(e, buf_text(&was), names, n, skip);
    if (rc == 0 && (!(order = arena_get(&arena, (n + 1) * sizeof *order)) || !buf_room(&is, was.n + n * (256 + ENTRY_EXTRA))))
        rc = err_memory(e->err, "a folder of the repository");
    if (rc == 0) {
        memcpy(order, names, n * sizeof *order);
        qsort(order, n, sizeof *order, git_order);
        rc = merge_entries(e, buf_text(&was), names, order, n, &is);
    }
    if (rc == 0 && is.failed)
        rc = err_set(e->err, ERR_INPUT, "a folder of the repository has more than %d bytes of names", REPO_TREE_MAX);
    *ret_empty = is.n == 0;
    if (rc == 0 && (is.n || skip == 0))
        rc = objects_write(e->r, REPO_TREE, buf_text(&is), edits->path, ret, e->err);
    arena_deinit(&arena);
    return rc ? -1 : 0;
}

int objects_edit_tree(struct repo *r, const struct repo_id *base, struct tree_edit *edits, size_t count, struct repo_id *ret,
                      struct err *err)
{
    struct editing e = {r, err};
    bool empty;
    if (count == 0 && base) {
        *ret = *base;
        return 0;
    }
    qsort(edits, count, sizeof *edits, compare_edit_paths);
    return edit_folder(&e, base, edits, count, 0, ret, &empty);
}
