/* logs_rotation.c: finds the generations of a log file that was rotated, copied or truncated; see logs_follow.h. */
#include "base/fs.h"
#include "base/inflate.h"
#include "logs/logs_follow_parts.h"
#include "logs/logs_siblings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROTATION_BLOCK = 256 << 10 };

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

int follow_unpack(const struct logs_follow *f, const char *path, const struct logs_identity *id, uint64_t *ret_size)
{
    struct rotation_unpacking u = {.max = f->config.held_max ? f->config.held_max : UINT64_C(1) << 30};
    CLEANUP_FD int in = generation_open(path, id);
    if (in < 0)
        return -1;
    struct inflater *i = inflate_new(INFLATE_HEADER);
    char *block = malloc(ROTATION_BLOCK);
    ssize_t n = -1;
    u.fd = f->config.state >= 0 ? openat(f->config.state, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600) : -1;
    bool good = i && block && u.fd >= 0;
    while (good && (n = read(in, block, ROTATION_BLOCK)) > 0)
        good = inflate_feed(i, (struct str){block, (size_t)n}, unpack_put, &u);
    good = good && n == 0 && inflate_ended(i);
    if (i)
        inflate_free(i);
    free(block);
    if (!good)
        fs_close(&u.fd);
    errno = good ? 0 : EINVAL;
    *ret_size = u.size;
    return u.fd;
}

/* ---- what the folder has ---- */

/* False: the folder did not come to rest. */
static bool rotation_list(struct logs_follow *f, const struct follow_log *log, int live_fd, struct siblings *ret)
{
    bool good = siblings_find(ret, log->path, live_fd);
    f->is_unsure |= !good;
    return good;
}

/* Did it fail for a reason that passes: the file was renamed since it was listed, or too many are open? */
static bool rotation_may_succeed(int fd, int why)
{
    return fd < 0 && (why == ESTALE || why == ENOENT || why == EMFILE || why == ENFILE);
}

/* The descriptor of a sibling, or of an unnamed copy with the bytes of a compressed one. -1: it cannot be read. */
static int rotation_open(const struct logs_follow *f, struct siblings *s, const struct sibling *x, uint64_t *ret_size)
{
    *ret_size = x->st.size;
    int fd = x->is_packed ? follow_unpack(f, x->path, &x->st.id, ret_size) : generation_open(x->path, &x->st.id);
    s->has_moved |= rotation_may_succeed(fd, errno);
    return fd;
}

/* Files moved after they were listed, or could not be opened now: what was decided by them does not count. */
static bool rotation_is_settled(struct logs_follow *f, struct siblings *s)
{
    if (!s->has_moved)
        return true;
    f->is_unsure = true;
    siblings_free(s);
    return false;
}

/* Continues a generation that was compressed in an unnamed, unpacked copy of it. False:
 * no such file is found. */
static bool rotation_unpack(struct logs_follow *f, struct logs_generation *g, struct siblings *s)
{
    for (size_t k = s->count; k-- > 0 && g->mark_n;) {
        uint64_t size;
        if (!s->list[k].is_packed ||
            s->list[k].st.mtime_ns < g->mtime_ns - INT64_C(1000000000)) /* gzip keeps the time, in seconds on some file systems */
            continue;
        int fd = rotation_open(f, s, &s->list[k], &size);
        if (fd >= 0 && size >= g->at && generation_has_mark(g, fd)) {
            g->fd = fd;
            f->n_fds++;
            g->size = size;
            g->is_deleted = true; /* the copy has no name: it waits like a deleted file */
            return true;
        }
        fs_close(&fd);
    }
    return false;
}

/* A generation without a descriptor: the sibling that is the same file. */
static bool rotation_find(struct logs_follow *f, struct logs_generation *g, struct siblings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!generation_is_same(&s->list[i].st.id, &g->id) || !follow_set_path(g, s->list[i].path))
            continue;
        bool is_open = follow_open_generation(f, g);
        s->has_moved |= rotation_may_succeed(g->fd, errno);
        return is_open && generation_has_mark(g, g->fd);
    }
    return false;
}

/* Is the file that of a generation? One that was read to its end, and was written again from its beginning, is a new one: a copy that
 * always gets the same name. */
static bool rotation_is_known(struct logs_follow *f, struct siblings *s, const struct sibling *x)
{
    uint64_t size;
    struct logs_generation *known = follow_find_generation(f, &x->st.id);
    if (!known || !known->is_done || known->is_packed || x->st.mtime_ns == known->mtime_ns)
        return known != NULL;
    CLEANUP_FD int fd = rotation_open(f, s, x, &size);
    if (fd < 0 || generation_has_mark(known, fd))
        return true;
    follow_replace_generation(f, known);
    return false;
}

/* Is the compressed file a copy of a generation that is known? */
static bool rotation_is_packed_copy(const struct logs_follow *f, const struct follow_log *log, struct siblings *s, const struct sibling *x)
{
    uint64_t size;
    CLEANUP_FD int fd = rotation_open(f, s, x, &size);
    bool is_copy = fd < 0; /* damaged, or it is being written: its original is still there */
    for (const struct logs_generation *g = log->first; g && !is_copy; g = g->next)
        is_copy = g->mark_n && generation_has_mark(g, fd);
    return is_copy;
}

/* Finds the files that appeared under the log's name, or as copies of what it had, since a time. What the log's file is now, and
 * copies of it, are no older generations. born_ns: what was made before is older than all that is followed; 0: unknown. */
static void rotation_find_new(struct logs_follow *f, const struct follow_log *log, struct siblings *s, int64_t since_ns, int64_t born_ns)
{
    for (size_t i = 0; i < s->count; i++) {
        struct sibling *x = &s->list[i];
        x->is_new = x->st.mtime_ns >= since_ns && !x->is_of_live && !(x->st.id.born_ns && x->st.id.born_ns < born_ns) &&
                    !(s->live.st.is_regular && generation_is_same(&x->st.id, &s->live.st.id)) && !rotation_is_known(f, s, x) &&
                    !(x->is_packed && rotation_is_packed_copy(f, log, s, x));
    }
}

static void rotation_add_new(struct logs_follow *f, struct follow_log *log, const struct siblings *s, struct logs_generation *before)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct sibling *x = &s->list[i];
        struct logs_generation fresh = {
            .id = x->st.id, .fd = -1, .size = x->st.size, .mtime_ns = x->st.mtime_ns, .is_packed = x->is_packed};
        struct logs_generation *g = x->is_new ? follow_add_generation(f, log, &fresh, x->path, before) : NULL;
        if (g && !g->is_packed && follow_open_generation(f, g)) /* else it is found when it is read */
            generation_check_mark(g);
    }
}

/* ---- renamed generations ---- */

int follow_find_file(struct logs_follow *f, struct logs_generation *g)
{
    struct siblings s;
    if (!rotation_list(f, g->log, -1, &s))
        return -1;
    bool found = rotation_find(f, g, &s) || rotation_unpack(f, g, &s);
    if (!rotation_is_settled(f, &s))
        return -1;
    siblings_free(&s);
    return found;
}

bool follow_find_earlier(struct logs_follow *f, struct follow_log *log, struct live_file *live)
{
    struct siblings s;
    if (!rotation_list(f, log, -1, &s))
        return false;
    rotation_find_new(f, log, &s, f->since_ns, 0);
    if (!rotation_is_settled(f, &s))
        return false;
    rotation_add_new(f, log, &s, NULL);
    *live = s.live;
    siblings_free(&s);
    return true;
}

/* The generation that has the path now; NULL: none yet. */
static struct logs_generation *rotation_present(const struct follow_log *log, const struct siblings *s)
{
    struct logs_generation *g = s->live.st.is_regular ? log->first : NULL;
    while (g && (g->is_replaced || !generation_is_same(&g->id, &s->live.st.id)))
        g = g->next;
    return g;
}

bool follow_find_copies(struct logs_follow *f, struct follow_log *log, bool is_settled)
{
    struct siblings s;
    struct logs_generation *g = log->last;
    if (!rotation_list(f, log, g->fd, &s))
        return false;
    rotation_find_new(f, log, &s, g->before_ns, 0);
    if (!rotation_is_settled(f, &s))
        return false;
    rotation_add_new(f, log, &s, g);
    generation_set_mark(g, s.live.begin, s.live.begin_n, is_settled);
    siblings_free(&s);
    return true;
}

/* Is it unread, and its file not known to be there? */
static bool rotation_is_sought(const struct logs_generation *g, const struct siblings *s)
{
    return !g->is_done && g->fd < 0 && !(s->live.st.is_regular && generation_is_same(&g->id, &s->live.st.id));
}

bool follow_find_rotated(struct logs_follow *f, struct follow_log *log, struct live_file *live)
{
    struct siblings s;
    if (!rotation_list(f, log, -1, &s))
        return false;
    int64_t since_ns = log->last->mtime_ns;
    struct logs_generation *present = rotation_present(log, &s);
    for (struct logs_generation *g = log->first; g; g = g->next)
        if (rotation_is_sought(g, &s) && (rotation_find(f, g, &s) || rotation_unpack(f, g, &s)) && g->mtime_ns > since_ns)
            since_ns = g->mtime_ns;
    if (!present || present != log->last)
        rotation_find_new(f, log, &s, since_ns, log->last->id.born_ns);
    if (!rotation_is_settled(f, &s))
        return false;
    for (struct logs_generation *g = log->first; g; g = g->next) {
        if (!rotation_is_sought(g, &s))
            continue;
        if (g->at < g->size || log->is_restored)
            follow_note(f, "lines of %s behind byte %llu are lost: the file was removed while it was not followed", log->path,
                        (unsigned long long)g->at);
        g->is_done = true;
        g->read = g->at;
    }
    rotation_add_new(f, log, &s, present);
    *live = s.live;
    siblings_free(&s);
    return true;
}

/* ---- truncation ---- */

/* Returns whether the file x is a copy of what the generation had when it was truncated: as long at
 * least as what was read, with the same mark. */
static bool rotation_is_copy_of(struct logs_follow *f, const struct logs_generation *old, struct siblings *s, const struct sibling *x)
{
    uint64_t size;
    if (!old->mark_n || x->is_of_live || x->st.size == 0 || rotation_is_known(f, s, x))
        return false;
    CLEANUP_FD int fd = rotation_open(f, s, x, &size);
    return fd >= 0 && size >= old->at && generation_has_mark(old, fd);
}

/* The copy that was made before the truncation: the first one since the last scan, else the newest. NULL: there is none. */
static struct sibling *rotation_pick_copy(struct logs_follow *f, const struct logs_generation *old, struct siblings *s)
{
    struct sibling *found = NULL;
    for (size_t i = 0; i < s->count && !(found && found->st.mtime_ns >= old->before_ns); i++)
        if (rotation_is_copy_of(f, old, s, &s->list[i]))
            found = &s->list[i];
    return found;
}

/* The generation's file was truncated: it continues in the copy, if there is one. */
static void rotation_continue_in(struct logs_follow *f, struct logs_generation *old, const struct sibling *copy)
{
    if (!copy || !follow_set_path(old, copy->path)) {
        if (old->shrunk > old->read)
            follow_note(f, "%llu bytes of %s are lost: the file was truncated before they were read",
                        (unsigned long long)(old->shrunk - old->read), old->log->path);
        follow_replace_generation(f, old);
        old->is_done = true;
        old->read = old->read < old->at ? old->at : old->read;
        return;
    }
    follow_set_identity(f, old, &copy->st.id);
    old->size = copy->st.size;
    old->mtime_ns = copy->st.mtime_ns;
    old->is_packed = copy->is_packed;
    old->is_cut = false;
    old->shrunk = 0;
    follow_open_generation(f, old); /* else it is found when it is read */
}

bool follow_restart_truncated(struct logs_follow *f, struct follow_log *log)
{
    struct logs_generation *old = log->last;
    struct logs_file_stat st;
    struct siblings s;
    if (generation_stat_fd(old->fd, &st) || !rotation_list(f, log, old->fd, &s))
        return false;
    struct sibling *copy = rotation_pick_copy(f, old, &s);
    rotation_find_new(f, log, &s, copy ? copy->st.mtime_ns : old->before_ns, 0);
    if (!rotation_is_settled(f, &s))
        return false;
    struct logs_generation begin = {.id = old->id, .fd = -1, .size = st.size, .mtime_ns = st.mtime_ns};
    struct logs_generation *g = follow_add_generation(f, log, &begin, log->path, NULL);
    if (g) {
        if (copy)
            copy->is_new = false;
        g->fd = old->fd;
        old->fd = -1;
        rotation_continue_in(f, old, copy);
        rotation_add_new(f, log, &s, g);
        generation_set_mark(g, s.live.begin, s.live.begin_n, false);
        off_t data = lseek(g->fd, 0, SEEK_DATA); /* a writer that did not notice leaves a hole at the beginning */
        if (data > 0 && st.size)
            g->at = g->read = (uint64_t)data;
    }
    siblings_free(&s);
    return g != NULL;
}
