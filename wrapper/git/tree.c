/* tree.c: git's tree objects: entries, paths, walks, differences. */
#include "git/tree.h"

#include <stdio.h>

enum { DEPTH = 50, PATH_BYTES = 4096 };
static const uint64_t ENTRIES = 20000000;

int repo_tree_next(struct str *rest, struct repo_entry *ret, struct err *err)
{
    uint64_t mode = 0;
    size_t i = 0;
    if (!rest->n)
        return 0;
    for (; i < rest->n && i < 8 && rest->p[i] >= '0' && rest->p[i] <= '7'; i++)
        mode = mode * 8 + (uint64_t)(rest->p[i] - '0');
    const char *name = rest->p + i + 1;
    const char *end = i && i + 1 < rest->n && rest->p[i] == ' ' ? memchr(name, 0, rest->n - i - 1) : NULL;
    if (!end || end == name || (size_t)(rest->p + rest->n - end) < 1 + sizeof ret->id.b)
        return err_set(err, ERR_INPUT, "a folder's object is damaged");
    ret->mode = (unsigned)mode;
    ret->name = name;
    memcpy(ret->id.b, end + 1, sizeof ret->id.b);
    end += 1 + sizeof ret->id.b;
    *rest = (struct str){end, (size_t)(rest->p + rest->n - end)};
    return 1;
}

int repo_tree_compare(const char *a, bool a_dir, const char *b, bool b_dir)
{
    size_t na = strlen(a), nb = strlen(b), n = na < nb ? na : nb;
    int c = memcmp(a, b, n);
    if (c)
        return c;
    unsigned char ca = (unsigned char)(na > n ? a[n] : a_dir ? '/' : 0), cb = (unsigned char)(nb > n ? b[n] : b_dir ? '/' : 0);
    return (ca > cb) - (ca < cb);
}

static int repo_tree_read(struct repo *r, const struct repo_id *id, struct buf *to, struct err *err)
{
    buf_init(to, REPO_TREE_MAX + 1);
    int rc = repo_read(r, id, REPO_TREE, REPO_TREE_MAX, to, err);
    return rc ? -1 : 0; /* a missing one is an error here: the caller relies on it */
}

/* Searches one tree for a name. Returns 0 with *ret, whose name is NULL; 1: there is no such entry;
 * -1 with err. */
static int find_entry(struct repo *r, const struct repo_id *tree, struct str name, struct repo_entry *ret, struct err *err)
{
    CLEANUP_BUF struct buf text = {0};
    if (repo_tree_read(r, tree, &text, err))
        return -1;
    struct str rest = buf_text(&text);
    int rc;
    while ((rc = repo_tree_next(&rest, ret, err)) > 0)
        if (str_is(name, ret->name)) {
            ret->name = NULL;
            return 0;
        }
    return rc < 0 ? -1 : 1;
}

int repo_find(struct repo *r, const struct repo_id *tree_or_commit, const char *path, struct repo_entry *ret, struct err *err)
{
    char hex[REPO_HEX];
    struct repo_entry at = {.mode = REPO_MODE_DIR};
    struct str rest = str_of(path);
    enum repo_kind kind;
    int rc = repo_look(r, tree_or_commit, &kind, NULL, err);
    repo_id_hex(tree_or_commit, hex);
    if (rc == 0 && kind == REPO_TREE)
        at.id = *tree_or_commit; /* a new tree may still be in the writer's memory only */
    else if (rc || repo_resolve(r, hex, REPO_TREE, &at.id, err))
        return -1;
    while (rest.p && rest.n) {
        if (at.mode != REPO_MODE_DIR)
            return 1;
        struct repo_id tree = at.id;
        if ((rc = find_entry(r, &tree, str_cut(&rest, '/'), &at, err)))
            return rc;
    }
    *ret = at;
    return 0;
}

int repo_each(struct repo *r, const struct repo_id *tree, int (*each)(void *context, const struct repo_entry *e), void *context,
              struct err *err)
{
    CLEANUP_BUF struct buf text = {0};
    struct repo_entry e;
    if (repo_tree_read(r, tree, &text, err))
        return -1;
    struct str rest = buf_text(&text);
    int rc;
    while ((rc = repo_tree_next(&rest, &e, err)) > 0) {
        int said = each(context, &e);
        if (said)
            return said;
    }
    return rc;
}

/* ---- two trees side by side; a walk is a difference from nothing ---- */

struct tree_pair {
    struct repo *r;
    int (*each)(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is);
    void *context;
    struct err *err;
    unsigned depth_max;
    uint64_t left;
    char path[PATH_BYTES];
};

static int pair_trees(struct tree_pair *p, const struct repo_id *was, const struct repo_id *is, size_t at, unsigned depth);

static const struct repo_id *entry_folder_id(const struct repo_entry *e)
{
    return e && e->mode == REPO_MODE_DIR ? &e->id : NULL;
}

/* Reports the difference of one name of two trees, and of what is below. was or is NULL: one tree
 * lacks it. 0; -1 with err; else what `each` returned to stop. */
static int pair_entry(struct tree_pair *p, const struct repo_entry *was, const struct repo_entry *is, size_t at, unsigned depth)
{
    const struct repo_id *was_folder = entry_folder_id(was), *is_folder = entry_folder_id(is);
    const struct repo_entry *some = was ? was : is;
    if (was && is && was->mode == is->mode && repo_id_eq(&was->id, &is->id))
        return 0;
    size_t n = strlen(some->name);
    if (!p->left--)
        return err_set(p->err, ERR_INPUT, "the tree has more entries than benchwrap reads");
    if (at + n + 2 > sizeof p->path)
        return err_set(p->err, ERR_INPUT, "the tree has a path of more than %zu bytes", sizeof p->path);
    if (at)
        p->path[at++] = '/';
    memcpy(p->path + at, some->name, n + 1);
    if (!was_folder || !is_folder) { /* a folder on both sides is no difference by itself */
        int said = p->each(p->context, p->path, was, is);
        if (said == REPO_SKIP)
            return 0;
        if (said)
            return said;
    }
    return was_folder || is_folder ? pair_trees(p, was_folder, is_folder, at + n, depth + 1) : 0;
}

/* Reads the next entry as repo_tree_next, and checks that trees have git's order, and a name once.
 * Returns -1 with err. */
static int next_in_order(struct str *rest, struct repo_entry *e, struct err *err)
{
    struct repo_entry before = *e;
    int rc = repo_tree_next(rest, e, err);
    if (rc > 0 && repo_tree_compare(before.name, before.mode == REPO_MODE_DIR, e->name, e->mode == REPO_MODE_DIR) >= 0)
        return err_set(err, ERR_INPUT, "a folder's object is not in git's order, or has a name twice");
    return rc;
}

/* Reports what differs between two trees, in git's order, to p->each; NULL: an empty tree. `at` is
 * the length of p->path so far. Returns 0, -1 with err, or what `each` returned to stop. */
static int pair_trees(struct tree_pair *p, const struct repo_id *was, const struct repo_id *is, size_t at, unsigned depth)
{
    CLEANUP_BUF struct buf a = {0};
    CLEANUP_BUF struct buf b = {0};
    struct repo_entry was_e, is_e;
    struct str was_rest = {"", 0}, is_rest = {"", 0};
    if (depth > p->depth_max)
        return err_set(p->err, ERR_INPUT, "the tree has folders more than %u deep", p->depth_max);
    if ((was && repo_tree_read(p->r, was, &a, p->err)) || (is && repo_tree_read(p->r, is, &b, p->err)))
        return -1;
    if (was)
        was_rest = buf_text(&a);
    if (is)
        is_rest = buf_text(&b);
    int left = repo_tree_next(&was_rest, &was_e, p->err), right = repo_tree_next(&is_rest, &is_e, p->err);
    while (left > 0 || right > 0) {
        int order = left <= 0    ? 1
                    : right <= 0 ? -1
                                 : repo_tree_compare(was_e.name, was_e.mode == REPO_MODE_DIR, is_e.name, is_e.mode == REPO_MODE_DIR);
        if (left < 0 || right < 0)
            return -1;
        p->path[at] = 0;
        int said = pair_entry(p, order <= 0 ? &was_e : NULL, order >= 0 ? &is_e : NULL, at, depth);
        if (said)
            return said;
        if (order <= 0)
            left = next_in_order(&was_rest, &was_e, p->err);
        if (order >= 0)
            right = next_in_order(&is_rest, &is_e, p->err);
    }
    return left < 0 || right < 0 ? -1 : 0;
}

int repo_diff(struct repo *r, const struct repo_id *was, const struct repo_id *is, const struct repo_bounds *bounds,
              int (*each)(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is), void *context,
              struct err *err)
{
    struct tree_pair p = {.r = r, .each = each, .context = context, .err = err};
    p.depth_max = bounds && bounds->depth ? bounds->depth : DEPTH;
    p.left = bounds && bounds->entries ? bounds->entries : ENTRIES;
    if (was && is && repo_id_eq(was, is))
        return 0;
    return pair_trees(&p, was, is, 0, 1);
}
