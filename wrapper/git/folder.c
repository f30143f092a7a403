/* folder.c: a tree of a repository as a folder: entries sorted once, so that runs are found among a hundred thousand. */
#include "git/folder.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

enum {
    OBJECT_MAX = 1 << 30 /* of a file that is read: libgit2 loads it completely into memory */
};

struct git_folder_entry {
    const char *name; /* in text */
    unsigned mode;
    const unsigned char *id;
};

struct git_folder {
    struct repo *repo;
    struct repo_id id;
    struct buf text;
    struct git_folder_entry *entries; /* by name */
    size_t count;
    unsigned users; /* folders that are this, and the one above that keeps it */
    const struct git_folder_entry *found; /* the entry that was searched last */
    struct git_folder *last; /* the folder below that was entered last: paths of one run come one after the other */
};

static const struct folder_ops ops;

static int errno_of(int rc, const struct err *err)
{
    errno = rc >= 0 ? EIO : err->sys ? err->sys : EIO;
    return -1;
}

static int compare_git_entries(const void *a, const void *b)
{
    return strcmp(((const struct git_folder_entry *)a)->name, ((const struct git_folder_entry *)b)->name);
}

/* Parses the entries of the raw tree. */
static int git_folder_parse(struct git_folder *f)
{
    struct err err = {0};
    struct repo_entry e;
    struct str rest = buf_text(&f->text);
    size_t room = 0;
    bool sorted = true;
    int rc;
    f->count = 0;
    while ((rc = repo_tree_next(&rest, &e, &err)) > 0) {
        if (!ARRAY_FITS(f->entries, room, f->count + 1))
            return -1;
        const struct git_folder_entry *before = f->count ? &f->entries[f->count - 1] : NULL;
        if (before && repo_tree_compare(before->name, before->mode == REPO_MODE_DIR, e.name, e.mode == REPO_MODE_DIR) >= 0) {
            errno = EBADMSG; /* git itself would find one or the other of two equal names */
            return -1;
        }
        sorted = sorted && (!before || strcmp(before->name, e.name) < 0);
        f->entries[f->count++] = (struct git_folder_entry){e.name, e.mode, (const unsigned char *)rest.p - sizeof e.id.b};
    }
    if (rc < 0) {
        errno = EBADMSG;
        return -1;
    }
    if (!sorted) /* git sorts folders as if they ended in '/' */
        qsort(f->entries, f->count, sizeof *f->entries, compare_git_entries);
    return 0;
}

static void git_folder_release(struct git_folder *f)
{
    if (f->users && --f->users)
        return;
    if (f->last)
        git_folder_release(f->last);
    free(f->entries);
    buf_deinit(&f->text);
    free(f);
}

int git_folder_open(struct repo *r, const struct repo_id *tree, struct folder *ret)
{
    struct git_folder *f = calloc(1, sizeof *f);
    struct err err = {0};
    if (!f) {
        errno = ENOMEM;
        return -1;
    }
    f->repo = r;
    f->users = 1;
    f->id = *tree;
    buf_init(&f->text, (size_t)REPO_TREE_MAX + 1);
    int rc = repo_read(r, tree, REPO_TREE, REPO_TREE_MAX, &f->text, &err);
    if (rc ? errno_of(rc, &err) : git_folder_parse(f)) {
        int why = errno;
        git_folder_release(f);
        errno = why;
        return -1;
    }
    *ret = (struct folder){.ops = &ops, .fd = -1, .own = f};
    return 0;
}

/* Returns the entry of that name, borrowed; NULL with errno ENOENT: none. The entry found last is
 * checked first, since each file of a run is a search for the run's folder. */
static const struct git_folder_entry *git_folder_search(struct git_folder *f, struct str name)
{
    size_t low = 0, high = f->count;
    if (f->found && str_is(name, f->found->name)) /* a run among a hundred thousand, for each of its files */
        return f->found;
    while (low < high) {
        size_t at = low + (high - low) / 2;
        int order = str_cmp(str_of(f->entries[at].name), name);
        if (order == 0)
            return f->found = &f->entries[at];
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    errno = ENOENT;
    return NULL;
}

static enum folder_kind git_folder_kind(unsigned mode)
{
    switch (mode) {
    case REPO_MODE_DIR: return FOLDER_FOLDER;
    case REPO_MODE_FILE: return FOLDER_FILE;
    case REPO_MODE_EXEC: return FOLDER_PROGRAM;
    case REPO_MODE_LINK: return FOLDER_LINK;
    case REPO_MODE_MODULE: return FOLDER_MODULE;
    default: return FOLDER_OTHER;
    }
}

static struct repo_id id_of(const struct git_folder_entry *e)
{
    struct repo_id id;
    memcpy(id.b, e->id, sizeof id.b);
    return id;
}

/* Opens the folder `name` below f, which the caller leaves by folder_leave. The folder opened last
 * stays in f->last, so that it is parsed once. Returns -1 with errno, which is ELOOP for a symbolic
 * link. */
static int enter_one(struct git_folder *f, struct str name, struct folder *ret)
{
    const struct git_folder_entry *e = git_folder_search(f, name);
    if (!e)
        return -1;
    if (e->mode != REPO_MODE_DIR) {
        errno = e->mode == REPO_MODE_LINK ? ELOOP : ENOTDIR;
        return -1;
    }
    struct repo_id id = id_of(e);
    if (!f->last || !repo_id_eq(&f->last->id, &id)) {
        if (git_folder_open(f->repo, &id, ret) < 0)
            return -1;
        if (f->last)
            git_folder_release(f->last);
        f->last = ret->own;
    } else
        *ret = (struct folder){.ops = &ops, .fd = -1, .own = f->last};
    f->last->users++;
    return 0;
}

static void git_folder_leave(struct folder *f)
{
    int why = errno;
    git_folder_release(f->own);
    f->own = NULL;
    errno = why;
}

/* Goes down to the folder of the path's last name; *held is what is to be left, with ops NULL where it is f itself. */
static struct git_folder *git_folder_descend(const struct folder *f, const char *path, struct folder *held, struct str *ret_name)
{
    struct str rest = str_of(path), name = str_cut(&rest, '/');
    struct git_folder *at = f->own;
    *held = (struct folder){.fd = -1};
    while (rest.p) {
        struct folder next;
        int rc = enter_one(at, name, &next);
        folder_leave(held);
        if (rc < 0)
            return NULL;
        *held = next;
        at = held->own;
        name = str_cut(&rest, '/');
    }
    *ret_name = name;
    return at;
}

int git_folder_find(const struct folder *f, const char *path, struct repo_entry *ret)
{
    CLEANUP_FOLDER struct folder held = {0};
    struct str name;
    struct git_folder *at = git_folder_descend(f, path, &held, &name);
    const struct git_folder_entry *e = at ? git_folder_search(at, name) : NULL;
    if (!e)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 1 : -1;
    *ret = (struct repo_entry){.mode = e->mode, .id = id_of(e)};
    return 0;
}

static int git_folder_enter(const struct folder *f, const char *path, struct folder *ret)
{
    CLEANUP_FOLDER struct folder held = {0};
    struct str name;
    struct git_folder *at = git_folder_descend(f, path, &held, &name);
    return at ? enter_one(at, name, ret) : -1;
}

static int git_folder_list(const struct folder *f, bool modes, int (*each)(void *context, const struct folder_entry *entry), void *context)
{
    (void)modes;
    const struct git_folder *g = f->own;
    for (size_t i = 0; i < g->count; i++) {
        const struct git_folder_entry *e = &g->entries[i];
        struct folder_entry entry = {
            .name = str_of(e->name), .kind = git_folder_kind(e->mode), .id = e->id, .id_size = sizeof(struct repo_id)};
        int rc = each(context, &entry);
        if (rc)
            return rc;
    }
    return 0;
}

/* Fills kind, and for files also size, of the entry at path. Returns -1 with errno. */
static int git_folder_look(const struct folder *f, const char *path, struct folder_entry *ret, uint64_t *ret_size)
{
    CLEANUP_FOLDER struct folder held = {0};
    struct str name;
    struct err err = {0};
    struct git_folder *at = git_folder_descend(f, path, &held, &name);
    const struct git_folder_entry *e = at ? git_folder_search(at, name) : NULL;
    if (!e)
        return -1;
    ret->kind = git_folder_kind(e->mode);
    if (ret->kind != FOLDER_FILE && ret->kind != FOLDER_PROGRAM)
        return 0;
    struct repo_id id = id_of(e);
    int rc = repo_look(at->repo, &id, NULL, ret_size, &err);
    return rc ? errno_of(rc, &err) : 0;
}

/* Appends the file at path to the buffer. cut: reads the first `max` bytes of a larger file and
 * returns 1; else a larger file is an error. Returns -1 with errno. */
static int git_folder_read(const struct folder *f, const char *path, size_t max, bool cut, struct buf *to)
{
    CLEANUP_FOLDER struct folder held = {0};
    struct str name;
    struct git_folder *at = git_folder_descend(f, path, &held, &name);
    const struct git_folder_entry *e = at ? git_folder_search(at, name) : NULL;
    if (!e)
        return -1;
    enum folder_kind kind = git_folder_kind(e->mode);
    if (kind != FOLDER_FILE && kind != FOLDER_PROGRAM) {
        errno = kind == FOLDER_FOLDER ? EISDIR : ELOOP;
        return -1;
    }
    struct repo_id id = id_of(e);
    struct err err = {0};
    uint64_t bytes = 0;
    int rc = cut ? repo_read_head(at->repo, &id, max, to, &bytes, &err) : repo_read(at->repo, &id, REPO_BLOB, max, to, &err);
    return rc ? errno_of(rc, &err) : bytes > max;
}

static int git_folder_feed(const struct folder *f, const char *path, uint64_t max, void (*piece)(void *context, const void *p, size_t n),
                           void *context)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, (size_t)OBJECT_MAX + 1);
    if (git_folder_read(f, path, max < OBJECT_MAX ? (size_t)max : OBJECT_MAX, false, &b) < 0)
        return -1;
    if (b.n)
        piece(context, b.p, b.n);
    return 0;
}

static const struct folder_ops ops = {
    git_folder_enter, git_folder_leave, git_folder_list, git_folder_look, git_folder_feed, git_folder_read, false};
