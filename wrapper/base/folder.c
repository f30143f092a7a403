/* folder.c: folders on disk as base/folder.h has them. */
#include "base/folder.h"

#include "base/fs.h"
#include "base/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST = 4096, /* most files are small: one read */
    PIECE = 64 * 1024
};

static const struct folder_ops disk;

bool folder_shared(const struct folder *f)
{
    return f->ops->shared;
}

int folder_enter(const struct folder *f, const char *path, struct folder *ret)
{
    *ret = (struct folder){.fd = -1};
    return f->ops->enter(f, path, ret);
}

void folder_leave(struct folder *f)
{
    if (f->ops)
        f->ops->leave(f);
    f->ops = NULL;
}

int folder_list(const struct folder *f, int (*each)(void *context, const struct folder_entry *entry), void *context)
{
    return f->ops->list(f, true, each, context);
}

int folder_names(const struct folder *f, int (*each)(void *context, const struct folder_entry *entry), void *context)
{
    return f->ops->list(f, false, each, context);
}

int folder_look(const struct folder *f, const char *path, struct folder_entry *ret, uint64_t *ret_size)
{
    uint64_t size = 0;
    *ret = (struct folder_entry){.name = STR("")};
    int rc = f->ops->look(f, path, ret, &size);
    if (ret_size)
        *ret_size = size;
    return rc;
}

int folder_read(const struct folder *f, const char *path, size_t max, struct buf *to)
{
    return f->ops->read(f, path, max, false, to);
}

int folder_read_head(const struct folder *f, const char *path, size_t max, struct buf *to)
{
    return f->ops->read(f, path, max, true, to);
}

int folder_feed(const struct folder *f, const char *path, uint64_t max, void (*piece)(void *context, const void *p, size_t n),
                void *context)
{
    return f->ops->feed(f, path, max, piece, context);
}

/* ---- on disk ---- */

struct folder folder_disk(int fd)
{
    return (struct folder){.ops = &disk, .fd = fd, .borrowed = true};
}

static int disk_enter(const struct folder *f, const char *path, struct folder *ret)
{
    int fd = place_open(f->fd, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return -1;
    *ret = (struct folder){.ops = &disk, .fd = fd};
    return 0;
}

static void disk_leave(struct folder *f)
{
    int why = errno;
    if (!f->borrowed)
        fs_close(&f->fd);
    errno = why;
}

static enum folder_kind folder_kind_of(mode_t mode)
{
    if (S_ISREG(mode))
        return mode & 0111 ? FOLDER_PROGRAM : FOLDER_FILE;
    return S_ISDIR(mode) ? FOLDER_FOLDER : S_ISLNK(mode) ? FOLDER_LINK : FOLDER_OTHER;
}

static enum folder_kind kind_of_type(unsigned char type)
{
    return type == DT_REG ? FOLDER_FILE : type == DT_DIR ? FOLDER_FOLDER : type == DT_LNK ? FOLDER_LINK : FOLDER_OTHER;
}

struct folder_listing {
    const struct folder *folder;
    bool modes;
    int (*each)(void *context, const struct folder_entry *entry);
    void *context;
};

/* Called for each name of a folder on disk: passes it to l->each and returns what that returns.
 * Leaves out a name that has been removed since. */
static int list_name(void *context, const char *name, unsigned char type)
{
    const struct folder_listing *l = context;
    struct stat st;
    bool look = type == DT_UNKNOWN || (l->modes && type == DT_REG);
    if (look && fstatat(l->folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0; /* removed since it was listed */
    struct folder_entry entry = {.name = str_of(name), .kind = look ? folder_kind_of(st.st_mode) : kind_of_type(type)};
    if (!l->modes && entry.kind == FOLDER_PROGRAM)
        entry.kind = FOLDER_FILE;
    return l->each(l->context, &entry);
}

static int disk_list(const struct folder *f, bool modes, int (*each)(void *context, const struct folder_entry *entry), void *context)
{
    struct folder_listing l = {f, modes, each, context};
    return fs_each_name(f->fd, f->borrowed ? "." : NULL, list_name, &l); /* the position of a caller's descriptor is the caller's */
}

/* Sets kind and size of an entry of a folder on disk; a link is not followed, and only a file has a
 * size. -1 with errno. */
static int disk_look(const struct folder *f, const char *path, struct folder_entry *ret, uint64_t *ret_size)
{
    struct stat st;
    if (fstatat(f->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    ret->kind = folder_kind_of(st.st_mode);
    *ret_size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return 0;
}

int folder_disk_open(const struct folder *f, const char *path)
{
    return place_open(f->fd, path, O_RDONLY, 0);
}

/* Only now is it known what was opened: a directory's read fails by itself, a FIFO has an end at once and no bytes. */
int folder_disk_read(int fd, size_t max, bool cut, struct buf *to)
{
    size_t begin = to->n;
    for (size_t want = FIRST;; want = PIECE) {
        char *room = buf_room(to, want);
        ssize_t k = room ? read(fd, room, want) : -1;
        if (k < 0 && room && errno == EINTR)
            continue;
        if (k < 0) {
            errno = room ? errno : ENOMEM;
            return -1;
        }
        to->n += (size_t)k;
        to->p[to->n] = 0;
        if (to->n - begin > max && cut) {
            to->n = begin + max;
            to->p[to->n] = 0;
            return 1;
        }
        if (to->n - begin > max) {
            errno = EFBIG;
            return -1;
        }
        if ((size_t)k < want && (k == 0 || want == FIRST))
            return 0;
    }
}

static int disk_read(const struct folder *f, const char *path, size_t max, bool cut, struct buf *to)
{
    CLEANUP_FD int fd = folder_disk_open(f, path);
    return fd < 0 ? -1 : folder_disk_read(fd, max, cut, to);
}

/* Passes the bytes of a regular file to `piece`. 0; -1 with errno: EISDIR or ELOOP for what is no
 * regular file, EFBIG where it has more than `max` bytes, of which `piece` has then received a
 * part. */
static int disk_feed(const struct folder *f, const char *path, uint64_t max, void (*piece)(void *context, const void *p, size_t n),
                     void *context)
{
    char block[PIECE];
    uint64_t done = 0;
    struct stat st;
    CLEANUP_FD int fd = folder_disk_open(f, path);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : ELOOP;
        return -1;
    }
    for (ssize_t k; (k = read(fd, block, sizeof block)) != 0;) {
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -1;
        if ((done += (uint64_t)k) > max) {
            errno = EFBIG;
            return -1;
        }
        piece(context, block, (size_t)k);
    }
    return 0;
}

static const struct folder_ops disk = {disk_enter, disk_leave, disk_list, disk_look, disk_feed, disk_read, true};
