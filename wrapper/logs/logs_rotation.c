/* logs_rotation.c: finds the generations of a log file that was rotated, copied or truncated; see logs_follow.h. */
#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/inflate.h"
#include "base/place.h"
#include "logs/logs_follow_parts.h"
#include "logs/logs_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROTATION_STEP_MS = 10, ROTATION_PATIENCE_MS = 500, ROTATION_BLOCK = 256 << 10, ROTATION_FILES = 1000 };

/* A file next to the log whose name is that of an older generation. */
struct sibling {
    char *path;
    struct logs_file_stat st;
    bool is_packed;
};
struct siblings {
    const char *log; /* its path */
    struct sibling *list;
    size_t count, room;
};

static int sibling_add(void *context, const char *name, unsigned char type)
{
    struct siblings *s = context;
    struct sibling x;
    const char *base = str_base_name(s->log);
    (void)type;
    if (!generation_is_rotated_name(str_of(name), str_of(base)) || s->count == ROTATION_FILES)
        return 0;
    if (asprintf(&x.path, "%.*s%s", (int)(base - s->log), s->log, name) < 0)
        return 0;
    if (generation_stat_path(x.path, &x.st) || !x.st.is_regular || !ARRAY_FITS(s->list, s->room, s->count + 1)) {
        free(x.path);
        return 0;
    }
    x.is_packed = str_ends(str_of(name), ".gz");
    s->list[s->count++] = x;
    return 0;
}

/* The oldest first. */
static int sibling_order(const void *a, const void *b)
{
    const struct sibling *x = a, *y = b;
    if (x->st.mtime_ns != y->st.mtime_ns)
        return x->st.mtime_ns < y->st.mtime_ns ? -1 : 1;
    return -str_natural(x->path, y->path); /* .2 is older than .1 */
}

static void siblings_free(struct siblings *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->list[i].path);
    free(s->list);
    s->list = NULL;
    s->count = s->room = 0;
}

/* Lists a folder whose files may be renamed at the same time: a file that moves from one name to another would be missed.
 * The list counts once the folder has been the same for a while; it waits for that at most so long. */
static void siblings_find(struct siblings *s, const char *log, int patience_ms)
{
    const char *base = str_base_name(log);
    char *folder = strndup(log, (size_t)(base - log));
    *s = (struct siblings){.log = log};
    for (int waited = 0; folder; waited += ROTATION_STEP_MS) {
        struct logs_file_stat before, after;
        siblings_free(s);
        bool known = generation_stat_path(folder, &before) == 0;
        fs_each_name(AT_FDCWD, folder, sibling_add, s);
        known = known && generation_stat_path(folder, &after) == 0;
        if (waited >= patience_ms || !known ||
            (before.mtime_ns == after.mtime_ns && logs_now_ns() - after.mtime_ns > ROTATION_STEP_MS * INT64_C(1000000)))
            break;
        usleep(ROTATION_STEP_MS * 1000);
    }
    free(folder);
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, sibling_order);
}

/* ---- compressed generations ---- */

struct rotation_unpacking {
    int fd;
    uint64_t size, max;
};

static bool unpack_put(void *context, struct str out)
{
    struct rotation_unpacking *u = context;
    u->size += out.n;
    return u->size <= u->max && fs_write_all(u->fd, out.p, out.n) == 0;
}

int follow_unpack(const struct logs_follow *f, const char *path, uint64_t *ret_size)
{
    struct rotation_unpacking u = {.max = f->config.held_max ? f->config.held_max : UINT64_C(1) << 30};
    CLEANUP_FD int in = place_open_found(path);
    struct inflater *i = inflate_new(INFLATE_HEADER);
    char *block = malloc(ROTATION_BLOCK);
    ssize_t n = -1;
    u.fd = f->config.state >= 0 ? openat(f->config.state, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600) : -1;
    bool good = in >= 0 && i && block && u.fd >= 0;
    while (good && (n = read(in, block, ROTATION_BLOCK)) > 0)
        good = inflate_feed(i, (struct str){block, (size_t)n}, unpack_put, &u);
    good = good && n == 0 && inflate_ended(i);
    if (i)
        inflate_free(i);
    free(block);
    if (!good)
        fs_close(&u.fd);
    *ret_size = u.size;
    return u.fd;
}

/* The generation was compressed. True: it continues in an unnamed copy. */
static bool rotation_unpack(struct logs_follow *f, struct logs_generation *g, const struct siblings *s)
{
    for (size_t k = s->count; k-- > 0 && g->mark_n;) {
        uint64_t size;
        if (!s->list[k].is_packed ||
            s->list[k].st.mtime_ns < g->mtime_ns - INT64_C(1000000000)) /* gzip keeps the time, in seconds on some file systems */
            continue;
        int fd = follow_unpack(f, s->list[k].path, &size);
        if (fd < 0)
            continue;
        if (size >= g->at && generation_has_mark(g, fd)) {
            g->fd = fd;
            f->n_fds++;
            g->size = size;
            g->is_deleted = true; /* the copy has no name: it waits like a deleted file */
            return true;
        }
        close(fd);
    }
    return false;
}

/* ---- renamed generations ---- */

/* A generation without a descriptor: the sibling that is the same file. */
static bool rotation_find(struct logs_follow *f, struct logs_generation *g, const struct siblings *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (generation_is_same(&s->list[i].st.id, &g->id) && follow_set_path(g, s->list[i].path) && follow_open_generation(f, g) &&
            generation_has_mark(g, g->fd))
            return true;
    return false;
}

/* Is the compressed file a copy of a generation that is known? */
static bool rotation_is_copy(const struct logs_follow *f, const struct follow_log *log, const char *path)
{
    uint64_t size;
    CLEANUP_FD int fd = follow_unpack(f, path, &size);
    bool is_copy = fd < 0; /* damaged, or it is being written: its original is still there */
    for (const struct logs_generation *g = log->first; g && !is_copy; g = g->next)
        is_copy = g->mark_n && generation_has_mark(g, fd);
    return is_copy;
}

/* What a file begins with, read before its folder is: what is copied and truncated later is found by it. */
struct rotation_start {
    char bytes[GENERATION_MARK];
    size_t n;
};

static void rotation_read_start(struct rotation_start *ret, int fd)
{
    ssize_t n = fd < 0 ? 0 : pread(fd, ret->bytes, sizeof ret->bytes, 0);
    ret->n = n > 0 ? (size_t)n : 0;
}

/* Is this file a copy of what the log has now, perhaps one that is being made? */
static bool rotation_begins_as(const char *path, const struct rotation_start *live)
{
    struct rotation_start x;
    CLEANUP_FD int fd = place_open_found(path);
    rotation_read_start(&x, fd);
    size_t n = x.n < live->n ? x.n : live->n;
    return n > 0 && memcmp(x.bytes, live->bytes, n) == 0;
}

/* The mark of a generation is what the file began with. */
static void rotation_set_mark(struct logs_generation *g, const struct rotation_start *live)
{
    g->mark_n = (unsigned)live->n;
    g->mark = generation_mark_of_bytes(live->bytes, live->n);
}

/* Files that appeared under the log's name and were renamed, all between two scans. live: what the file begins with, if copies of
 * it are made and it is truncated; NULL. A copy of what it has now is no generation. */
static void rotation_add_between(struct logs_follow *f, struct follow_log *log, const struct siblings *s, int64_t since_ns,
                                 const struct rotation_start *live, const struct logs_file_stat *st, struct logs_generation *before)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct sibling *x = &s->list[i];
        if (x->st.mtime_ns < since_ns || (live && x->st.size == 0) || (st && generation_is_same(&x->st.id, &st->id)) ||
            follow_find_generation(f, &x->st.id) || (x->is_packed && rotation_is_copy(f, log, x->path)) ||
            (live && rotation_begins_as(x->path, live)))
            continue;
        struct logs_generation fresh = {
            .id = x->st.id, .fd = -1, .size = x->st.size, .mtime_ns = x->st.mtime_ns, .is_packed = x->is_packed};
        struct logs_generation *g = follow_add_generation(f, log, &fresh, x->path, before);
        if (g && !g->is_packed && follow_open_generation(f, g))
            generation_extend_mark(g);
    }
}

bool follow_find_file(struct logs_follow *f, struct logs_generation *g)
{
    struct siblings s;
    siblings_find(&s, g->log->path, ROTATION_PATIENCE_MS);
    bool found = rotation_find(f, g, &s) || rotation_unpack(f, g, &s);
    siblings_free(&s);
    return found;
}

void follow_find_earlier(struct logs_follow *f, struct follow_log *log, const struct logs_file_stat *st)
{
    struct siblings s;
    siblings_find(&s, log->path, ROTATION_STEP_MS);
    rotation_add_between(f, log, &s, f->since_ns, NULL, st, NULL);
    siblings_free(&s);
}

/* The generation that has the path now; NULL: none yet. */
static struct logs_generation *rotation_present(const struct follow_log *log, const struct logs_file_stat *st)
{
    struct logs_generation *g = log->first;
    while (st && g && (g->is_replaced || !generation_is_same(&g->id, &st->id)))
        g = g->next;
    return st ? g : NULL;
}

void follow_find_copies(struct logs_follow *f, struct follow_log *log)
{
    struct siblings s;
    struct rotation_start live;
    rotation_read_start(&live, log->last->fd);
    siblings_find(&s, log->path, ROTATION_PATIENCE_MS);
    rotation_add_between(f, log, &s, log->last->before_ns, &live, NULL, log->last);
    rotation_set_mark(log->last, &live);
    siblings_free(&s);
}

void follow_find_rotated(struct logs_follow *f, struct follow_log *log, const struct logs_file_stat *st, bool is_present)
{
    struct siblings s;
    int64_t since_ns = log->last->mtime_ns;
    siblings_find(&s, log->path, ROTATION_PATIENCE_MS);
    for (struct logs_generation *g = log->first; g; g = g->next) {
        if (g->is_done || g->fd >= 0 || (st && generation_is_same(&g->id, &st->id)))
            continue;
        bool found = rotation_find(f, g, &s) || rotation_unpack(f, g, &s);
        if (!found) {
            if (g->at < g->size || log->is_restored)
                follow_note(f, "lines of %s behind byte %llu are lost: the file was removed while it was not followed", log->path,
                            (unsigned long long)g->at);
            g->is_done = true;
            g->read = g->at;
        } else if (g->mtime_ns > since_ns)
            since_ns = g->mtime_ns;
    }
    if (!is_present)
        rotation_add_between(f, log, &s, since_ns, NULL, st, rotation_present(log, st));
    siblings_free(&s);
}

/* ---- truncation ---- */

/* The copy that was made before the truncation has what is unread. */
static bool rotation_add_copy(struct logs_follow *f, struct follow_log *log, const struct logs_generation *old,
                              const struct rotation_start *live)
{
    struct siblings s;
    bool found = false;
    siblings_find(&s, log->path, ROTATION_PATIENCE_MS);
    for (size_t i = s.count; i-- > 0 && old->mark_n && !found;) {
        const struct sibling *x = &s.list[i];
        if (x->st.size < old->at || x->is_packed || follow_find_generation(f, &x->st.id))
            continue;
        struct logs_generation copy = {.id = x->st.id,
                                       .fd = -1,
                                       .size = x->st.size,
                                       .mtime_ns = x->st.mtime_ns,
                                       .at = old->at,
                                       .read = old->read,
                                       .mark = old->mark,
                                       .mark_n = old->mark_n,
                                       .is_continued = old->is_continued};
        struct logs_generation *g = follow_add_generation(f, log, &copy, x->path, NULL);
        found = g && follow_open_generation(f, g) && generation_has_mark(g, g->fd);
        if (g && !found)
            follow_remove_generation(f, g);
    }
    rotation_add_between(f, log, &s, found ? log->last->mtime_ns : old->before_ns, live, NULL, NULL);
    siblings_free(&s);
    return found;
}

void follow_restart_truncated(struct logs_follow *f, struct follow_log *log)
{
    struct logs_generation *old = log->last;
    struct logs_file_stat st;
    int fd = old->fd;
    if (fd < 0 || generation_stat_fd(fd, &st))
        return;
    struct logs_generation begin = {.id = old->id, .fd = -1, .size = st.size, .mtime_ns = st.mtime_ns};
    struct rotation_start live;
    rotation_read_start(&live, fd);
    if (!rotation_add_copy(f, log, old, &live) && old->shrunk > old->read)
        follow_note(f, "%llu bytes of %s are lost: the file was truncated before they were read",
                    (unsigned long long)(old->shrunk - old->read), log->path);
    struct logs_generation *g = follow_add_generation(f, log, &begin, log->path, NULL);
    if (!g)
        return;
    old->fd = -1; /* it is the new generation's */
    old->is_done = true;
    old->is_deleted = true;
    old->is_replaced = true;
    old->read = old->read < old->at ? old->at : old->read;
    g->fd = fd;
    rotation_set_mark(g, &live);
    off_t data = lseek(fd, 0, SEEK_DATA); /* a writer that did not notice leaves a hole at the beginning */
    if (data > 0 && st.size)
        g->at = g->read = (uint64_t)data;
}
