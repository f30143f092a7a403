/* logs_known.c: the logs and generations that a follower knows, and their descriptors; see logs_follow_parts.h. */
#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "logs/logs_follow_parts.h"
#include "logs/logs_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

/* Returns the bucket of a log's path. */
static size_t follow_hash_path(const char *path)
{
    size_t h = 5381;
    for (; *path; path++)
        h = h * 33 + (unsigned char)*path;
    return h % FOLLOW_BUCKETS;
}

static size_t follow_hash_inode(uint64_t ino)
{
    return (size_t)(ino * UINT64_C(0x9e3779b97f4a7c15) >> 40) % FOLLOW_BUCKETS;
}

struct follow_log *follow_find_log(const struct logs_follow *f, const char *path)
{
    struct follow_log *l = f->by_path[follow_hash_path(path)];
    while (l && strcmp(l->path, path) != 0)
        l = l->next_of_hash;
    return l;
}

void follow_watch_folder(const struct logs_follow *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    if (folder && f->events >= 0)
        inotify_add_watch(f->events, folder, IN_CREATE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE | IN_ONLYDIR);
    free(folder);
}

struct follow_log *follow_make_log(struct logs_follow *f, const char *path, size_t tag)
{
    struct follow_log *l = f->count < FOLLOW_LOGS_MAX && ARRAY_FITS(f->logs, f->room, f->count + 1) ? calloc(1, sizeof *l) : NULL;
    if (l && !(l->path = strdup(path))) {
        free(l);
        l = NULL;
    }
    if (!l)
        return NULL;
    size_t bucket = follow_hash_path(path);
    l->tag = tag;
    l->next_of_hash = f->by_path[bucket];
    f->by_path[bucket] = l;
    f->logs[f->count++] = l;
    follow_watch_folder(f, path);
    return l;
}

struct logs_generation *follow_find_generation(const struct logs_follow *f, const struct logs_identity *id)
{
    struct logs_generation *g = f->by_inode[follow_hash_inode(id->ino)];
    while (g && !generation_is_same(&g->id, id))
        g = g->next_of_hash;
    return g;
}

bool follow_set_path(struct logs_generation *g, const char *path)
{
    char *copy = g->path && strcmp(g->path, path) == 0 ? g->path : strdup(path);
    if (copy && copy != g->path) {
        free(g->path);
        g->path = copy;
    }
    return copy != NULL;
}

int64_t follow_mono_of(int64_t wall_ns)
{
    int64_t age_ns = logs_now_ns() - wall_ns;
    return clock_mono_ns() - (age_ns > 0 ? age_ns : 0);
}

/* Makes g, which is not hashed, findable by its inode. f borrows g until follow_forget_inode. */
static void follow_hash_generation(struct logs_follow *f, struct logs_generation *g)
{
    size_t bucket = follow_hash_inode(g->id.ino);
    g->next_of_hash = f->by_inode[bucket];
    f->by_inode[bucket] = g;
    g->is_hashed = true;
}

struct logs_generation *follow_add_generation(struct logs_follow *f, struct follow_log *log, const struct logs_generation *from,
                                              const char *path, struct logs_generation *before)
{
    struct logs_generation *g = malloc(sizeof *g);
    if (!g)
        return NULL;
    *g = *from;
    g->log = log;
    g->path = NULL;
    g->next = before;
    g->given = g->acked = 0;
    g->before_ns = g->mtime_ns;
    g->grown_ns = follow_mono_of(g->mtime_ns);
    if (!follow_set_path(g, path)) {
        free(g);
        return NULL;
    }
    struct logs_generation **at = &log->first;
    while (*at != before)
        at = &(*at)->next;
    *at = g;
    if (!before)
        log->last = g;
    follow_hash_generation(f, g);
    f->is_dirty = true;
    return g;
}

static void follow_forget_inode(struct logs_follow *f, struct logs_generation *g)
{
    struct logs_generation **at = &f->by_inode[follow_hash_inode(g->id.ino)];
    while (g->is_hashed && *at && *at != g)
        at = &(*at)->next_of_hash;
    if (g->is_hashed && *at)
        *at = g->next_of_hash;
    g->is_hashed = false;
}

void follow_replace_generation(struct logs_follow *f, struct logs_generation *g)
{
    follow_forget_inode(f, g);
    g->is_deleted = g->is_replaced = true;
    f->is_dirty = true;
}

void follow_set_identity(struct logs_follow *f, struct logs_generation *g, const struct logs_identity *id)
{
    follow_forget_inode(f, g);
    g->id = *id;
    follow_hash_generation(f, g);
    f->is_dirty = true;
}

void follow_close_fd(struct logs_follow *f, struct logs_generation *g)
{
    f->n_fds -= g->fd >= 0;
    fs_close(&g->fd);
}

void follow_remove_generation(struct logs_follow *f, struct logs_generation *g)
{
    struct follow_log *log = g->log;
    struct logs_generation **at = &log->first;
    follow_forget_inode(f, g);
    follow_close_fd(f, g);
    while (*at && *at != g)
        at = &(*at)->next;
    if (*at)
        *at = g->next;
    log->last = log->first;
    while (log->last && log->last->next)
        log->last = log->last->next;
    free(g->path);
    free(g);
    f->is_dirty = true;
}

/* ---- descriptors ---- */

/* Closes a descriptor where FOLLOW_FDS are open: that of the file that was idle longest and is read
 * to its end. Closes none where no file is. */
static void follow_spare_fd(struct logs_follow *f)
{
    struct logs_generation *oldest = NULL;
    if (f->n_fds < FOLLOW_FDS)
        return;
    for (size_t i = 0; i < f->count; i++)
        for (struct logs_generation *g = f->logs[i]->first; g; g = g->next)
            if (g->fd >= 0 && g->read >= g->size && g->at == g->read && !g->is_deleted && (!oldest || g->grown_ns < oldest->grown_ns))
                oldest = g;
    if (oldest)
        follow_close_fd(f, oldest);
}

bool follow_open_generation(struct logs_follow *f, struct logs_generation *g)
{
    struct logs_file_stat st;
    if (g->fd >= 0)
        return true;
    follow_spare_fd(f);
    g->fd = g->is_packed ? follow_unpack(f, g->path, &g->id, &g->size) : generation_open(g->path, &g->id);
    if (g->fd < 0)
        return false;
    f->n_fds++;
    g->is_deleted = g->is_packed; /* the copy has no name: it waits like a deleted file */
    g->is_missing = false;
    if (!g->is_packed && generation_stat_fd(g->fd, &st) == 0)
        g->size = st.size;
    return true;
}
