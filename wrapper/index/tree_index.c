/* tree_index.c: a tree of runs as a folder with an index behind it. */
#include "index/tree_index.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fs.h"
#include "base/hash.h"
#include "index/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    SLOTS = 512, /* runs that are read at the same time */
    VALUE_MAX = 16 << 10, /* bytes of a file that is remembered */
    SETTLED_S = 3 /* a file must not have changed for so long: file systems have times of up to two seconds */
};

/* What was read of a run, and is not in the index yet. */
struct new_entry {
    struct index_entry is;
    bool is_listed; /* by a listing of its folder */
    size_t order; /* of several for one path the last counts */
};

struct index_slot {
    pthread_mutex_t lock;
    char run[INDEX_RUN_MAX]; /* "": none */
    struct buf bytes;
    struct index_record record; /* in `bytes` */
    uint64_t at; /* of the record in the file */
    struct arena arena; /* of what is new */
    struct new_entry *list;
    size_t count, capacity, values;
};

struct tree_index {
    int root;
    time_t opened;
    struct index_file *file;
    struct folder tree;
    struct index_slot slots[SLOTS];
};

/* A folder of the tree. */
struct indexed_folder {
    struct tree_index *index;
    bool is_valid; /* the index has its present entries; else it is read by the descriptor, or by its path */
    char path[]; /* below the tree, "": the tree itself */
};

static const struct folder_ops indexed;

/* ---- stamps ---- */

/* Reads the state of a file. AT_STATX_FORCE_SYNC: a client of NFS would answer with what it knew a
 * minute ago. */
static int look_at(const struct tree_index *x, const char *path, struct statx *st)
{
    return statx(x->root, *path ? path : ".", AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT,
                 STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME, st);
}

static uint64_t index_stamp(const struct statx *st)
{
    const uint64_t parts[] = {
        st->stx_ino,           st->stx_size, (uint64_t)st->stx_mtime.tv_sec, st->stx_mtime.tv_nsec, (uint64_t)st->stx_ctime.tv_sec,
        st->stx_ctime.tv_nsec, st->stx_mode};
    return hash_bytes(2, parts, sizeof parts) | 1;
}

/* Returns the stamp of what is going to be read; 0: it changed just now. */
static uint64_t stamp_to_keep(const struct tree_index *x, const struct statx *st)
{
    return st->stx_ctime.tv_sec < x->opened - SETTLED_S && st->stx_mtime.tv_sec < x->opened - SETTLED_S ? index_stamp(st) : 0;
}

/* ---- what is new of a run ---- */

static int by_path_then_order(const void *a, const void *b)
{
    const struct new_entry *x = a, *y = b;
    int order = strcmp(x->is.path, y->is.path);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Returns whether `path` is an entry of the folder itself ("": the run's), not of a folder in
 * it. */
static bool is_child(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    if (n && (strncmp(path, folder, n) != 0 || path[n] != '/'))
        return false;
    return !strchr(path + n + (n > 0), '/');
}

/* True if the folder of the path has been listed since the record was made. Then the listing shows
 * what is in it. */
static bool parent_is_listed(const struct index_slot *s, const char *path)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].is.kind == FOLDER_FOLDER && s->list[i].is.stamp && is_child(path, s->list[i].is.path))
            return true;
    return false;
}

/* Joins entries for one path: the last value that is known, and whether it was listed. */
static void unite_new_entries(struct index_slot *s)
{
    size_t kept = 0;
    qsort(s->list, s->count, sizeof *s->list, by_path_then_order);
    for (size_t i = 0; i < s->count; i++) {
        struct new_entry *last = kept ? &s->list[kept - 1] : NULL;
        if (!last || strcmp(last->is.path, s->list[i].is.path) != 0) {
            s->list[kept++] = s->list[i];
            continue;
        }
        bool is_listed = last->is_listed || s->list[i].is_listed;
        if (s->list[i].is.stamp || !last->is.stamp)
            *last = s->list[i];
        last->is_listed = is_listed;
    }
    s->count = kept;
}

static void add_to_record(struct index_entry *list, size_t *n, const struct index_slot *s, struct index_entry entry, bool is_listed)
{
    if (is_listed || entry.kind == INDEX_DERIVED || !parent_is_listed(s, entry.path))
        list[(*n)++] = entry;
}

/* Returns whether the old entry has more than a listing, which knows name and kind alone. */
static bool knows_more(const struct index_entry *old, const struct index_entry *listed)
{
    return !listed->stamp && old->kind == listed->kind;
}

/* Reads the value of an old entry, if it is a long one. */
static bool has_long_value(struct tree_index *x, struct index_slot *s, struct index_entry *e)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, INDEX_RECORD_MAX + 8);
    if (e->value.p)
        return true;
    if (!index_file_value(x->file, s->at, e, &b))
        return false;
    e->value.p = arena_dup(&s->arena, b.p, b.n);
    return e->value.p != NULL;
}

/* Appends the record of the run with what is new. */
static void print_slot(struct tree_index *x, struct index_slot *s, struct buf *to)
{
    unite_new_entries(s);
    struct index_entry *list = arena_get(&s->arena, (s->record.count + s->count + 1) * sizeof *list);
    size_t n = 0, at = 0;
    for (size_t i = 0; list && (i < s->count || at < s->record.count);) {
        struct index_entry old = at < s->record.count ? index_record_get(&s->record, at) : (struct index_entry){0};
        int order = i == s->count ? 1 : at == s->record.count ? -1 : strcmp(s->list[i].is.path, old.path);
        bool is_old = order > 0 || (order == 0 && knows_more(&old, &s->list[i].is));
        if (!is_old || has_long_value(x, s, &old))
            add_to_record(list, &n, s, is_old ? old : s->list[i].is, order <= 0 && s->list[i].is_listed);
        i += order <= 0;
        at += order >= 0;
    }
    if (list)
        index_record_print(s->run, list, n, to);
    else
        to->failed = true;
}

/* Adds to the index file what was read of the slot's run, if anything new was, and empties the slot. */
static void store_slot(struct tree_index *x, struct index_slot *s)
{
    if (s->values) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, INDEX_RECORD_MAX + 8);
        print_slot(x, s, &b);
        if (!b.failed && !s->arena.failed)
            index_file_add(x->file, buf_text(&b), s->values);
    }
    arena_deinit(&s->arena);
    arena_init(&s->arena, INDEX_RECORD_MAX);
    s->count = s->values = 0;
}

static void add_new_entry(struct index_slot *s, const char *path, unsigned char kind, uint64_t stamp, struct str value, bool is_listed)
{
    const char *copy = arena_dup(&s->arena, path, strlen(path)), *text = value.n ? arena_dup(&s->arena, value.p, value.n) : "";
    if (!copy || !text || !ARRAY_FITS(s->list, s->capacity, s->count + 1))
        return;
    s->list[s->count] = (struct new_entry){{copy, kind, stamp, {text, value.n}}, is_listed, s->count};
    s->count++;
    s->values += stamp != 0;
}

/* ---- the run of a path ---- */

/* Returns the part of a path behind "<experiment>/<run>", without its '/', which is copied to
 * `run`. NULL: the path is not in a run. */
static const char *path_in_run(const char *path, char run[INDEX_RUN_MAX])
{
    size_t experiment = strcspn(path, "/");
    const char *id = path[experiment] ? path + experiment + 1 : "";
    size_t n = strcspn(id, "/"), length = experiment + 1 + n;
    if (n != 32 || !str_hex((struct str){id, n}, 32) || length >= INDEX_RUN_MAX)
        return NULL;
    memcpy(run, path, length);
    run[length] = 0;
    return id + n + (id[n] == '/');
}

/* Returns the slot of the run, locked. */
static struct index_slot *lock_slot(struct tree_index *x, const char *run)
{
    struct index_slot *s = &x->slots[hash_bytes(3, run, strlen(run)) % SLOTS];
    pthread_mutex_lock(&s->lock);
    if (strcmp(s->run, run) == 0)
        return s;
    store_slot(x, s);
    snprintf(s->run, sizeof s->run, "%s", run);
    if (!index_file_find(x->file, run, &s->bytes, &s->record, &s->at))
        s->record = (struct index_record){0};
    return s;
}

/* Finds an entry of the run in the index; its texts belong to the slot. False: the index does not
 * have it. The caller holds the slot's lock. */
static bool find_index_entry(const struct index_slot *s, const char *path, struct index_entry *ret)
{
    size_t i = index_record_find(&s->record, path);
    if (i == s->record.count)
        return false;
    *ret = index_record_get(&s->record, i);
    return strcmp(ret->path, path) == 0;
}

/* ---- the folder ---- */

/* Makes the path below the tree of something in the folder. Returns false with errno where it is
 * too long. */
static bool full_path(const struct folder *f, const char *path, char ret[PATH_MAX])
{
    const struct indexed_folder *own = f->own;
    errno = ENAMETOOLONG;
    return snprintf(ret, PATH_MAX, "%s%s%s", own->path, *own->path && *path ? "/" : "", path) < PATH_MAX;
}

/* Returns the same folder on disk: what is read by `path` of *f is read by *ret_path of the
 * result. */
static struct folder on_disk(const struct folder *f, const char *path, const char *full, const char **ret_path)
{
    const struct indexed_folder *own = f->own;
    *ret_path = f->fd >= 0 ? path : full;
    return folder_disk(f->fd >= 0 ? f->fd : own->index->root);
}

/* Returns 1 where the index has the present entries of the folder, 0 where they must be read. -1
 * with errno: the folder does not exist. */
static int has_listing(struct tree_index *x, const char *full, const char *run, const char *in_run)
{
    struct index_entry e;
    struct statx st;
    struct index_slot *s = lock_slot(x, run);
    bool known = find_index_entry(s, in_run, &e) && e.kind == FOLDER_FOLDER && e.stamp;
    uint64_t stamp = known ? e.stamp : 0;
    pthread_mutex_unlock(&s->lock);
    if (!known && *in_run)
        return 0;
    if (look_at(x, full, &st) < 0)
        return -1;
    if (!S_ISDIR(st.stx_mode)) {
        errno = S_ISLNK(st.stx_mode) ? ELOOP : ENOTDIR;
        return -1;
    }
    return known && index_stamp(&st) == stamp;
}

/* Enters a folder; where the index has the listing of a run's folder, without opening it. -1 with
 * errno. */
static int indexed_enter(const struct folder *f, const char *path, struct folder *ret)
{
    const struct indexed_folder *own = f->own;
    char full[PATH_MAX], run[INDEX_RUN_MAX];
    if (!full_path(f, path, full))
        return -1;
    const char *in_run = path_in_run(full, run), *name;
    int valid = in_run ? has_listing(own->index, full, run, in_run) : 0;
    if (valid < 0)
        return -1;
    bool by_path = valid || (in_run && !*in_run);
    struct folder disk = on_disk(f, path, full, &name), opened = {.fd = -1};
    struct indexed_folder *to = malloc(sizeof *to + strlen(full) + 1);
    if (!to || (!by_path && folder_enter(&disk, name, &opened) < 0)) {
        int why = to ? errno : ENOMEM;
        free(to);
        errno = why;
        return -1;
    }
    *to = (struct indexed_folder){own->index, valid};
    memcpy(to->path, full, strlen(full) + 1);
    *ret = (struct folder){.ops = &indexed, .fd = opened.fd, .own = to};
    return 0;
}

static void indexed_leave(struct folder *f)
{
    int why = errno;
    if (!f->borrowed) {
        fs_close(&f->fd);
        free(f->own);
    }
    errno = why;
}

/* Names as they are copied out of a record or a listing: a byte for the kind, the name, a NUL. */
static int copy_name(void *context, const struct folder_entry *entry)
{
    struct buf *names = context;
    buf_putc(names, (char)('0' + entry->kind));
    buf_add(names, entry->name.p, entry->name.n + 1);
    return names->failed;
}

static int pass_names(const struct buf *names, int (*each)(void *context, const struct folder_entry *entry), void *context)
{
    int rc = 0;
    for (size_t at = 0; at < names->n && rc == 0;) {
        struct folder_entry entry = {.name = str_of(names->p + at + 1), .kind = (enum folder_kind)(names->p[at] - '0')};
        at += entry.name.n + 2;
        rc = each(context, &entry);
    }
    return rc;
}

/* Copies the names that the index has of a folder; the caller has checked that they are still valid. */
static void copy_listing(struct index_slot *s, const char *folder, struct buf *names)
{
    size_t n = strlen(folder);
    for (size_t i = n ? index_record_find(&s->record, folder) : 0; i < s->record.count; i++) {
        struct index_entry e = index_record_get(&s->record, i);
        if (strncmp(e.path, folder, n) != 0)
            break;
        if (e.kind != INDEX_DERIVED && *e.path && strcmp(e.path, folder) != 0 && is_child(e.path, folder))
            copy_name(names, &(struct folder_entry){.name = str_of(e.path + n + (n > 0)), .kind = e.kind});
    }
}

/* Notes the entries of a run's folder in the index, with the folder's stamp. names: kind, name and
 * NUL of each. */
static void note_listing(struct tree_index *x, const char *run, const char *folder, uint64_t stamp, const struct buf *names)
{
    char path[PATH_MAX];
    struct index_slot *s = lock_slot(x, run);
    add_new_entry(s, folder, FOLDER_FOLDER, stamp, STR(""), true);
    for (size_t at = 0; at < names->n;) {
        const char *name = names->p + at + 1;
        if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name) < (int)sizeof path)
            add_new_entry(s, path, (unsigned char)(names->p[at] - '0'), 0, STR(""), true);
        at += strlen(name) + 2;
    }
    pthread_mutex_unlock(&s->lock);
}

/* Lists a folder: from the index where it is valid, else from the disk, and then notes it. Returns
 * what `each` returned to stop, or -1 with errno. */
static int indexed_list(const struct folder *f, bool modes, int (*each)(void *context, const struct folder_entry *entry), void *context)
{
    const struct indexed_folder *own = f->own;
    char run[INDEX_RUN_MAX];
    const char *in_run = modes ? NULL : path_in_run(own->path, run), *name;
    struct folder disk = on_disk(f, "", own->path, &name);
    CLEANUP_FOLDER struct folder opened = {0};
    struct statx st;
    CLEANUP_BUF struct buf names;
    buf_init(&names, 1 << 30);
    if (own->is_valid && in_run) {
        struct index_slot *s = lock_slot(own->index, run);
        copy_listing(s, in_run, &names);
        pthread_mutex_unlock(&s->lock);
        if (!names.failed)
            return pass_names(&names, each, context);
        buf_clear(&names);
    }
    uint64_t stamp = in_run && look_at(own->index, own->path, &st) == 0 ? stamp_to_keep(own->index, &st) : 0;
    if (f->fd >= 0) {
        disk.borrowed = f->borrowed;
    } else if (folder_enter(&disk, name, &opened) == 0) {
        disk = opened;
    } else {
        return -1;
    }
    if (!in_run)
        return disk.ops->list(&disk, modes, each, context);
    int rc = folder_names(&disk, copy_name, &names);
    if (rc < 0)
        return rc;
    if (names.failed) {
        errno = ENOMEM;
        return -1;
    }
    if (stamp)
        note_listing(own->index, run, in_run, stamp, &names);
    return pass_names(&names, each, context);
}

/* Appends the value of an entry of the slot. False: it is damaged. */
static bool copy_index_value(struct tree_index *x, const struct index_slot *s, const struct index_entry *e, struct buf *to)
{
    if (!e->value.p)
        return index_file_value(x->file, s->at, e, to);
    buf_str(to, e->value);
    return !to->failed;
}

/* Returns what an entry has as the result of a read: as folder_read and folder_read_head. */
static int give_value(struct str value, size_t max, bool cut, struct buf *to)
{
    buf_add(to, value.p, value.n < max ? value.n : max);
    if (to->failed)
        errno = ENOMEM;
    else if (value.n > max && !cut)
        errno = EFBIG;
    return to->failed || (value.n > max && !cut) ? -1 : value.n > max;
}

/* Reads a file from the index, with the result of the read in *ret. Returns 1 where the index has
 * no present value of it. */
static int read_known(struct tree_index *x, const char *full, const char *run, const char *in_run, size_t max, bool cut, struct buf *to,
                      int *ret)
{
    struct index_entry e;
    struct statx st;
    struct index_slot *s = lock_slot(x, run);
    int rc = 1;
    if (find_index_entry(s, in_run, &e) && e.stamp && (e.kind == FOLDER_FILE || e.kind == FOLDER_PROGRAM)) {
        if (look_at(x, full, &st) == 0) {
            CLEANUP_BUF struct buf b;
            buf_init(&b, 2 * VALUE_MAX);
            if (index_stamp(&st) == e.stamp && (e.value.p || copy_index_value(x, s, &e, &b))) {
                *ret = give_value(e.value.p ? e.value : buf_text(&b), max, cut, to);
                rc = 0;
            }
        } else if (errno == ENOENT) {
            *ret = -1;
            rc = 0;
        }
    }
    int why = errno;
    pthread_mutex_unlock(&s->lock);
    errno = why;
    return rc;
}

/* Reads a file of the tree: from the index where it is known, else from the disk. A small file of a
 * run is then noted. Returns as folder_disk_read does. */
static int indexed_read(const struct folder *f, const char *path, size_t max, bool cut, struct buf *to)
{
    const struct indexed_folder *own = f->own;
    struct tree_index *x = own->index;
    char full[PATH_MAX], run[INDEX_RUN_MAX];
    const char *name, *in_run;
    int rc = -1;
    if (!full_path(f, path, full))
        return -1;
    in_run = path_in_run(full, run);
    if (in_run && read_known(x, full, run, in_run, max, cut, to, &rc) == 0)
        return rc;
    struct folder disk = on_disk(f, path, full, &name);
    CLEANUP_FD int fd = folder_disk_open(&disk, name);
    struct statx st;
    size_t before = to->n;
    if (fd < 0)
        return -1;
    uint64_t stamp = in_run && statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) == 0 && S_ISREG(st.stx_mode) && st.stx_size <= VALUE_MAX
                         ? stamp_to_keep(x, &st)
                         : 0;
    rc = folder_disk_read(fd, max, cut, to);
    if (rc == 0 && stamp && to->n - before == st.stx_size) {
        struct index_slot *s = lock_slot(x, run);
        add_new_entry(s, in_run, FOLDER_FILE, stamp, to->n > before ? (struct str){to->p + before, to->n - before} : STR(""), false);
        pthread_mutex_unlock(&s->lock);
    }
    return rc;
}

static int indexed_look(const struct folder *f, const char *path, struct folder_entry *ret, uint64_t *ret_size)
{
    char full[PATH_MAX];
    const char *name;
    if (!full_path(f, path, full))
        return -1;
    struct folder disk = on_disk(f, path, full, &name);
    return disk.ops->look(&disk, name, ret, ret_size);
}

static int indexed_feed(const struct folder *f, const char *path, uint64_t max, void (*piece)(void *context, const void *p, size_t n),
                        void *context)
{
    char full[PATH_MAX];
    const char *name;
    if (!full_path(f, path, full))
        return -1;
    struct folder disk = on_disk(f, path, full, &name);
    return disk.ops->feed(&disk, name, max, piece, context);
}

static const struct folder_ops indexed = {indexed_enter, indexed_leave, indexed_list, indexed_look, indexed_feed, indexed_read, true};

struct folder tree_index_folder(struct tree_index *index)
{
    return index->tree;
}

/* ---- derived values ---- */

bool tree_index_derived(struct tree_index *index, const char *run_path, const char *file, const char *what, struct buf *to,
                        uint64_t *ret_stamp)
{
    char full[PATH_MAX], entry[PATH_MAX], run[INDEX_RUN_MAX];
    struct statx st;
    struct index_entry e;
    *ret_stamp = 0;
    if (!index || snprintf(full, sizeof full, "%s/%s", run_path, file) >= PATH_MAX ||
        snprintf(entry, sizeof entry, "%s %s", file, what) >= PATH_MAX || !path_in_run(full, run) || look_at(index, full, &st) < 0 ||
        !S_ISREG(st.stx_mode))
        return false;
    struct index_slot *s = lock_slot(index, run);
    bool known =
        find_index_entry(s, entry, &e) && e.kind == INDEX_DERIVED && e.stamp == index_stamp(&st) && copy_index_value(index, s, &e, to);
    pthread_mutex_unlock(&s->lock);
    *ret_stamp = stamp_to_keep(index, &st);
    return known && !to->failed;
}

void tree_index_derive(struct tree_index *index, const char *run_path, const char *file, const char *what, uint64_t stamp, struct str value)
{
    char full[PATH_MAX], entry[PATH_MAX], run[INDEX_RUN_MAX];
    if (!index || !stamp || snprintf(full, sizeof full, "%s/%s", run_path, file) >= PATH_MAX ||
        snprintf(entry, sizeof entry, "%s %s", file, what) >= PATH_MAX || !path_in_run(full, run))
        return;
    struct index_slot *s = lock_slot(index, run);
    add_new_entry(s, entry, INDEX_DERIVED, stamp, value, true);
    pthread_mutex_unlock(&s->lock);
}

/* ---- opening ---- */

struct tree_index *tree_index_open(int root, const char *path, const char *cache, time_t now)
{
    char folder[PATH_MAX], name[32];
    struct tree_index *x = calloc(1, sizeof *x);
    struct indexed_folder *top = calloc(1, sizeof *top + 1);
    if (x && top && snprintf(folder, sizeof folder, "%s/index", cache) < PATH_MAX) {
        snprintf(name, sizeof name, "%016llx", (unsigned long long)hash_bytes(4, path, strlen(path)));
        x->file = index_file_open(folder, name);
    }
    if (!x || !x->file) {
        free(x);
        free(top);
        return NULL;
    }
    x->root = root;
    x->opened = now;
    *top = (struct indexed_folder){.index = x};
    x->tree = (struct folder){.ops = &indexed, .fd = root, .borrowed = true, .own = top};
    for (size_t i = 0; i < SLOTS; i++) {
        pthread_mutex_init(&x->slots[i].lock, NULL);
        buf_init(&x->slots[i].bytes, 2 * (size_t)INDEX_RECORD_MAX);
        arena_init(&x->slots[i].arena, INDEX_RECORD_MAX);
    }
    return x;
}

void tree_index_close(struct tree_index *x)
{
    for (size_t i = 0; x && i < SLOTS; i++) {
        struct index_slot *s = &x->slots[i];
        store_slot(x, s);
        arena_deinit(&s->arena);
        buf_deinit(&s->bytes);
        free(s->list);
        pthread_mutex_destroy(&s->lock);
    }
    if (!x)
        return;
    index_file_close(x->file);
    free(x->tree.own);
    free(x);
}
