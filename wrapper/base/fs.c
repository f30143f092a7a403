/* fs.c: files: read whole with a bound, write whole or not at all, make and remove folders. */
#include "base/fs.h"

#include "base/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#endif

enum {
    PIECE = 64 * 1024,
    DEPTH_MAX = 128 /* levels of folders: one descriptor each is open on the way down */
};

int fs_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

void fs_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_again(int dir, const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = openat(dir, path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* One read(2) of at most n bytes; EINTR retried. */
static ssize_t read_some(int fd, void *p, size_t n)
{
    ssize_t got;
    do
        got = read(fd, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static int fs_open_file(int dir, const char *path, bool links, struct stat *st)
{
    int fd = links             ? open_again(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
             : dir == AT_FDCWD ? place_open_named(path)
                               : place_open(dir, path, O_RDONLY, 0);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) < 0 || S_ISDIR(st->st_mode)) {
        int why = S_ISDIR(st->st_mode) ? EISDIR : errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

int fs_read_open(int fd, const char *path, size_t max, int flags, struct buf *ret, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return err_sys(err, "cannot read %s", path);
    size_t done = 0;
    /* Read one byte more than allowed, to distinguish "full" from "longer". */
    size_t piece = S_ISREG(st.st_mode) && st.st_size > 0 && (size_t)st.st_size < max ? (size_t)st.st_size + 1 : PIECE;
    for (;;) {
        size_t want = max - done < piece ? max - done + 1 : piece;
        size_t room = ret->max > ret->n ? ret->max - ret->n : 0;
        char over; /* a full buffer can still learn that the file ends here */
        if (want > room)
            want = room ? room : 1;
        char *to = room ? buf_room(ret, want) : &over;
        if (!to) { /* the caller's buffer is too small, or memory is short */
            errno = ENOMEM;
            return err_sys(err, "cannot read %s", path);
        }
        ssize_t got = read_some(fd, to, want);
        if (got < 0)
            return err_sys(err, "cannot read %s", path);
        if (got == 0)
            break;
        size_t take = !room ? 0 : (size_t)got > max - done ? max - done : (size_t)got;
        ret->n += take;
        done += take;
        if (ret->p)
            ret->p[ret->n] = 0;
        if ((size_t)got > take) {
            if (flags & FS_CUT)
                return 1;
            return err_set(err, ERR_INPUT, "cannot read %s: it is longer than %zu bytes", path, max);
        }
        if (S_ISREG(st.st_mode) && st.st_size > 0 && done == (size_t)st.st_size && (size_t)got < want)
            break; /* one byte more was asked for: no second read to learn that it ends */
        piece = PIECE;
    }
    if (ret->p)
        ret->p[ret->n] = 0;
    return 0;
}

int fs_read(int dir, const char *path, size_t max, int flags, struct buf *ret, struct err *err)
{
    struct stat st = {0};
    CLEANUP_FD int fd = fs_open_file(dir, path, flags & FS_LINKS, &st);
    return fd < 0 ? err_sys(err, "cannot read %s", path) : fs_read_open(fd, path, max, flags, ret, err);
}

int fs_write_all(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n) {
        ssize_t k = write(fd, at, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            if (k == 0)
                errno = EIO;
            return -1;
        }
        at += k;
        n -= (size_t)k;
    }
    return 0;
}

/* The folder of a path that the caller names, for writing: through links of the caller and root alone. *ret_name: the last component. */
static int fs_open_parent(const char *path, const char **ret_name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *ret_name = slash ? slash + 1 : path;
    if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".") < (int)sizeof folder)
        return place_open_folder(folder, 0);
    errno = ENAMETOOLONG;
    return -1;
}

int fs_create(int dir, const char *path, struct str data, mode_t mode, struct err *err)
{
    const char *name = path;
    CLEANUP_FD int folder = dir == AT_FDCWD ? fs_open_parent(path, &name) : -1;
    CLEANUP_FD int fd =
        dir == AT_FDCWD && folder < 0 ? -1 : open_again(folder < 0 ? dir : folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd < 0)
        return err_sys(err, "cannot create %s", path);
    if (fs_write_all(fd, data.p, data.n) < 0)
        return err_sys(err, "cannot write %s", path);
    if (close(fs_take(&fd)) < 0 && errno != EINTR) /* NFS reports a full disk here */
        return err_sys(err, "cannot write %s", path);
    return 0;
}

/* Syncs the folder that holds path. */
static int sync_parent(int dir, const char *path, struct err *err)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash == path ? 1 : slash - path) : 1, slash ? path : ".");
    CLEANUP_FD int fd = open_again(dir, parent, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        return err_sys(err, "cannot sync the folder of %s", path);
    return 0;
}

/* The descriptor of this process that a name stands for: /dev/stdout, /dev/fd/N; -1: none. */
static int named_descriptor(const char *path)
{
    uint64_t n;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    return strncmp(path, "/dev/fd/", 8) == 0 && str_uint(str_of(path + 8), &n) && n < INT_MAX ? (int)n : -1;
}

/* Is there something that must not be replaced: a device, a pipe, a socket? */
static bool is_no_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int write_into(const char *path, struct str data, struct err *err)
{
    int own = named_descriptor(path); /* opened again, it would begin at the beginning */
    int fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 3) : place_create(path, O_NONBLOCK | O_NOCTTY, 0666);
    int rc =
        fd < 0 || (own < 0 && fcntl(fd, F_SETFL, 0) < 0) ? -1 : fs_write_all(fd, data.p, data.n); /* to open never waits, to write may */
    int why = errno;
    if (fd >= 0 && close(fd) < 0 && rc == 0 && errno != EINTR)
        rc = -1, why = errno;
    errno = why;
    return rc < 0 ? err_sys(err, "cannot write %s", path) : 0;
}

/* path: below a descriptor. shown: for messages. */
static int replace_file(int dir, const char *path, const char *shown, struct str data, mode_t mode, bool sync, struct err *err)
{
    static atomic_uint serial;
    char temporary[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    int fd = -1;
    for (int tries = 0; tries < 100 && fd < 0; tries++) {
        int n = snprintf(temporary, sizeof temporary, "%.*s.%ld.%u.tmp", folder, path, (long)getpid(), atomic_fetch_add(&serial, 1u));
        if (n < 0 || (size_t)n >= sizeof temporary) {
            errno = ENAMETOOLONG;
            return err_sys(err, "cannot write %s", shown);
        }
        fd = open_again(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return err_sys(err, "cannot write %s", shown);
    int rc = fs_write_all(fd, data.p, data.n);
    if (rc == 0 && sync)
        rc = fsync(fd);
    int why = errno;
    if (close(fd) < 0 && rc == 0 && errno != EINTR) {
        rc = -1;
        why = errno;
    }
    if (rc == 0 && (rc = renameat(dir, temporary, dir, path)) < 0)
        why = errno;
    if (rc < 0) {
        unlinkat(dir, temporary, 0);
        errno = why;
        return err_sys(err, "cannot write %s", shown);
    }
    return sync ? sync_parent(dir, path, err) : 0;
}

int fs_write(int dir, const char *path, struct str data, mode_t mode, bool sync, struct err *err)
{
    const char *name;
    if (dir != AT_FDCWD) /* a FIFO or a link to one is not the caller's: replace it */
        return replace_file(dir, path, path, data, mode, sync, err);
    if (named_descriptor(path) >= 0 || is_no_file(path))
        return write_into(path, data, err);
    CLEANUP_FD int folder = fs_open_parent(path, &name);
    return folder < 0 ? err_sys(err, "cannot write %s", path) : replace_file(folder, name, path, data, mode, sync, err);
}

int fs_mkdirs(int dir, const char *path, mode_t mode, struct err *err)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof part) {
        errno = n ? ENAMETOOLONG : ENOENT;
        return err_sys(err, "cannot make the folder %s", path);
    }
    if (dir == AT_FDCWD) {
        CLEANUP_FD int made = place_open_folder(path, mode);
        return made < 0 ? err_sys(err, "cannot make the folder %s", path) : 0;
    }
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != 0)
            continue;
        part[i] = 0;
        /* A file system mounted read-only answers EROFS, an automounter EACCES, for folders that exist: look before complaining. */
        if (mkdirat(dir, part, mode) < 0) {
            int why = errno;
            struct stat st;
            if (fstatat(dir, part, &st, 0) < 0 || !S_ISDIR(st.st_mode)) {
                errno = why == EEXIST ? ENOTDIR : why;
                return err_sys(err, "cannot make the folder %s", part);
            }
        }
        if (i < n)
            part[i] = '/';
    }
    return 0;
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

/* Opens the folder for listing. NULL with errno. */
static DIR *fs_open_listing(int dir, const char *path)
{
    int fd = open_again(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return NULL;
    DIR *d = fdopendir(fd);
    if (!d)
        close(fd);
    return d;
}

static int remove_below(DIR *d, int depth, char *failed, size_t size)
{
    int rc = 0;
    struct dirent *e;
    while ((errno = 0, e = readdir(d))) {
        if (is_dots(e->d_name))
            continue;
        if (e->d_type != DT_DIR && unlinkat(dirfd(d), e->d_name, 0) == 0)
            continue;
        if (e->d_type != DT_DIR && errno == ENOENT)
            continue;
        if (e->d_type == DT_DIR || errno == EISDIR || errno == EPERM) {
            DIR *sub = depth < DEPTH_MAX ? fs_open_listing(dirfd(d), e->d_name) : (errno = ELOOP, NULL);
            if (sub) {
                int below = remove_below(sub, depth + 1, failed, size);
                int why = errno;
                closedir(sub);
                if (below < 0) {
                    rc = -1;
                    errno = why;
                    return rc;
                }
            }
            if (sub && (unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR) == 0 || errno == ENOENT))
                continue;
        }
        snprintf(failed, size, "%s", e->d_name);
        return -1;
    }
    return errno ? -1 : rc;
}

int fs_remove_tree(int dir, const char *path, struct err *err)
{
    char failed[NAME_MAX + 1] = "";
    DIR *d = fs_open_listing(dir, path);
    if (!d) {
        if (errno == ENOENT)
            return 0;
        if ((errno == ENOTDIR || errno == ELOOP) && (unlinkat(dir, path, 0) == 0 || errno == ENOENT))
            return 0;
        return err_sys(err, "cannot remove %s", path);
    }
    int rc = remove_below(d, 0, failed, sizeof failed);
    int why = errno;
    closedir(d);
    errno = why;
    if (rc < 0)
        return err_sys(err, "cannot remove %s%s%s", path, failed[0] ? ": " : "", failed);
    if (unlinkat(dir, path, AT_REMOVEDIR) < 0 && errno != ENOENT)
        return err_sys(err, "cannot remove %s", path);
    return 0;
}

static int sync_below(DIR *d, int depth)
{
    struct dirent *e;
    while ((errno = 0, e = readdir(d))) {
        if (is_dots(e->d_name) || e->d_type == DT_LNK || e->d_type == DT_FIFO || e->d_type == DT_SOCK)
            continue;
        int fd = open_again(dirfd(d), e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        if (fd < 0)
            return -1;
        struct stat st;
        int rc = fstat(fd, &st);
        if (rc == 0 && S_ISDIR(st.st_mode)) {
            DIR *sub = depth < DEPTH_MAX ? fdopendir(fd) : (errno = ELOOP, NULL);
            if (sub) {
                rc = sync_below(sub, depth + 1);
                int why = errno;
                closedir(sub);
                errno = why;
                fd = -1;
            } else
                rc = -1;
        } else if (rc == 0 && S_ISREG(st.st_mode))
            rc = fsync(fd);
        int why = errno;
        fs_close(&fd);
        errno = why;
        if (rc < 0)
            return -1;
    }
    if (errno)
        return -1;
    return fsync(dirfd(d)) < 0 && errno != EINVAL ? -1 : 0;
}

int fs_sync_tree(int dir, const char *path, struct err *err)
{
    DIR *d = fs_open_listing(dir, path);
    if (!d)
        return err_sys(err, "cannot sync %s", path);
    int rc = sync_below(d, 0);
    int why = errno;
    closedir(d);
    errno = why;
    return rc < 0 ? err_sys(err, "cannot sync %s", path) : 0;
}

/* Bytes of `from` into `to`: shared blocks if the file system can, else copied in the kernel, else here. */
static int copy_bytes(int from, int to)
{
#ifdef FICLONE
    if (ioctl(to, FICLONE, from) == 0)
        return 0;
#endif
    ssize_t k;
    while ((k = copy_file_range(from, NULL, to, NULL, 1 << 30, 0)) > 0)
        ;
    if (k < 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT))
        return -1;
    /* Not supported here, or 0 at once (proc files): read and write what is left. */
    char *piece = malloc(PIECE);
    if (!piece)
        return -1;
    while ((k = read_some(from, piece, PIECE)) > 0)
        if (fs_write_all(to, piece, (size_t)k) < 0) {
            k = -1;
            break;
        }
    int why = errno;
    free(piece);
    errno = why;
    return k < 0 ? -1 : 0;
}

int fs_copy(int from_dir, const char *from, int to_dir, const char *to, mode_t mode, struct err *err)
{
    CLEANUP_FD int in =
        from_dir == AT_FDCWD ? open_again(from_dir, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0) : place_open(from_dir, from, O_RDONLY, 0);
    struct stat st;
    if (in < 0 || fstat(in, &st) < 0)
        return err_sys(err, "cannot read %s", from);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "cannot copy %s: it is not a regular file", from);
    CLEANUP_FD int out = open_again(to_dir, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & (st.st_mode | 0700));
    if (out < 0)
        return err_sys(err, "cannot create %s", to);
    bool whole = copy_bytes(in, out) == 0 && (close(fs_take(&out)) == 0 || errno == EINTR);
    if (whole)
        return 0;
    err_sys(err, "cannot copy %s to %s", from, to);
    unlinkat(to_dir, to, 0); /* made by us, and no copy */
    return -1;
}

int fs_lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole);
}

int fs_link(int from_dir, const char *from, int to_dir, const char *to, mode_t mode, struct err *err)
{
    struct stat st, made;
    if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "cannot read %s", from);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "cannot take %s: it is not a regular file", from);
    if (from_dir != AT_FDCWD && place_is_planted(from_dir, from, &st)) {
        errno = EPERM;
        return err_sys(err, "cannot take %s", from);
    }
    if (linkat(from_dir, from, to_dir, to, 0) == 0) {
        if (fstatat(to_dir, to, &made, AT_SYMLINK_NOFOLLOW) == 0 && made.st_ino == st.st_ino && made.st_dev == st.st_dev)
            return 0;
        unlinkat(to_dir, to, 0); /* the name was exchanged after it was checked */
        errno = EPERM;
        return err_sys(err, "cannot take %s", from);
    }
    if (errno == EEXIST || errno == ENOENT || errno == ENOSPC || errno == EDQUOT)
        return err_sys(err, "cannot link %s to %s", from, to);
    return fs_copy(from_dir, from, to_dir, to, mode, err); /* other file system, too many links, links not allowed */
}
