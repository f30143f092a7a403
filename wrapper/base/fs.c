/* fs.c: files: read completely with a bound, write completely or not at all, make and remove
 * folders. */
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

/* Calls read(2) once for at most n bytes, again after EINTR. */
static ssize_t read_some(int fd, void *p, size_t n)
{
    ssize_t got;
    do
        got = read(fd, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Opens a file, not a folder, for reading; links: symbolic links are followed. Returns a descriptor
 * that the caller closes; -1 with errno. */
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
        if (!to) { /* the caller's buffer is too small, or out of memory */
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
            break; /* one byte more was requested, so no second read is needed to find the end */
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

int fs_append(int fd, const void *p, size_t n)
{
    struct stat st;
    if (fstat(fd, &st))
        return -1;
    if (fs_write_all(fd, p, n) == 0)
        return 0;
    int why = errno;
    (void)!ftruncate(fd, st.st_size); /* a full disk accepts a part of a line, which the next line would continue */
    errno = why;
    return -1;
}

/* Opens the folder of a path that the caller names, for writing, through links of the caller and
 * root alone. *ret_name: the last component. Returns the descriptor, or -1 with errno. */
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

/* Opens the folder of dir/path, below dir and through no link, since other users may write in
 * between; returns dir itself where path is a name, or dir is AT_FDCWD. *ret_name: the path in it.
 * *ret_held owns what was opened; the caller closes it. -1 with errno. */
static int fs_parent_below(int dir, const char *path, const char **ret_name, int *ret_held)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *ret_name = path;
    if (dir == AT_FDCWD || !slash)
        return dir;
    *ret_name = slash + 1;
    if (snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path) < (int)sizeof folder)
        return *ret_held = place_open(dir, folder, O_PATH | O_DIRECTORY, 0);
    errno = ENAMETOOLONG;
    return -1;
}

int fs_create(int dir, const char *path, struct str data, mode_t mode, struct err *err)
{
    const char *name = path;
    CLEANUP_FD int folder = -1;
    int at = dir == AT_FDCWD ? (folder = fs_open_parent(path, &name)) : fs_parent_below(dir, path, &name, &folder);
    CLEANUP_FD int fd = at == -1 ? -1 : open_again(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd < 0)
        return err_sys(err, "cannot create %s", path);
    if (fs_write_all(fd, data.p, data.n) < 0)
        return err_sys(err, "cannot write %s", path);
    if (close(fs_take(&fd)) < 0 && errno != EINTR) /* NFS reports a full disk here */
        return err_sys(err, "cannot write %s", path);
    return 0;
}

static int sync_folder(int dir, const char *shown, struct err *err)
{
    CLEANUP_FD int fd = open_again(dir, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        return err_sys(err, "cannot sync the folder of %s", shown);
    return 0;
}

/* Returns the descriptor of this process that a name stands for: /dev/stdout, /dev/fd/N; -1:
 * none. */
static int named_descriptor(const char *path)
{
    uint64_t n;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    return strncmp(path, "/dev/fd/", 8) == 0 && str_uint(str_of(path + 8), &n) && n < INT_MAX ? (int)n : -1;
}

/* Returns whether the path is something that must not be replaced: a device, a pipe, a socket. */
static bool is_no_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Writes the data into an existing device, pipe or descriptor, or creates the file, in place. 0; -1
 * with err and errno: a part may have been written. */
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

/* Creates a file with a name that no other file of the folder has, and writes the name into `name`.
 * Returns a descriptor that the caller closes; -1 with errno. */
static int open_temporary(int dir, char *name, size_t size, mode_t mode)
{
    static atomic_uint serial;
    int fd = -1;
    for (int tries = 0; tries < 100 && fd < 0; tries++) {
        snprintf(name, size, ".%ld.%u.tmp", (long)getpid(), atomic_fetch_add(&serial, 1u));
        fd = open_again(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Returns the errno of a failed rename, with EISDIR for ".", which the kernel calls busy. */
static int rename_error(const char *name)
{
    return errno == EBUSY && strcmp(name, ".") == 0 ? EISDIR : errno;
}

/* Writes the data to a temporary file and renames it to `name`; `sync`: syncs file and folder
 * too. shown: for messages. 0; -1 with err: the file is as before, unless only the folder's
 * sync failed. */
static int replace_file(int dir, const char *name, const char *shown, struct str data, mode_t mode, bool sync, struct err *err)
{
    char temporary[48];
    int fd = open_temporary(dir, temporary, sizeof temporary, mode);
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
    if (rc == 0 && (rc = renameat(dir, temporary, dir, name)) < 0)
        why = rename_error(name);
    if (rc < 0) {
        unlinkat(dir, temporary, 0);
        errno = why;
        return err_sys(err, "cannot write %s", shown);
    }
    return sync ? sync_folder(dir, shown, err) : 0;
}

int fs_new_begin(struct fs_new *ret, const char *path, mode_t mode, struct err *err)
{
    ret->fd = -1;
    ret->folder = fs_open_parent(path, &ret->name);
    if (ret->folder >= 0)
        ret->fd = open_temporary(ret->folder, ret->temporary, sizeof ret->temporary, mode);
    if (ret->fd >= 0)
        return 0;
    err_sys(err, "cannot write %s", path);
    fs_close(&ret->folder);
    return -1;
}

int fs_new_end(struct fs_new *f, const char *path, bool complete, struct err *err)
{
    bool written = f->fd < 0 || close(fs_take(&f->fd)) == 0 || errno == EINTR; /* NFS reports a full disk here */
    int rc = complete && written && renameat(f->folder, f->temporary, f->folder, f->name) == 0 ? 0 : -1;
    if (rc < 0 && complete) {
        errno = rename_error(f->name);
        err_sys(err, "cannot write %s", path);
    }
    if (rc < 0)
        unlinkat(f->folder, f->temporary, 0);
    fs_close(&f->folder);
    return complete ? rc : 0;
}

int fs_write(int dir, const char *path, struct str data, mode_t mode, bool sync, struct err *err)
{
    const char *name;
    CLEANUP_FD int folder = -1;
    if (dir == AT_FDCWD &&
        (named_descriptor(path) >= 0 || is_no_file(path))) /* below a descriptor a FIFO is not the caller's: replace it */
        return write_into(path, data, err);
    int at = dir == AT_FDCWD ? (folder = fs_open_parent(path, &name)) : fs_parent_below(dir, path, &name, &folder);
    return at == -1 ? err_sys(err, "cannot write %s", path) : replace_file(at, name, path, data, mode, sync, err);
}

int fs_mkdirs(int dir, const char *path, mode_t mode, struct err *err)
{
    char part[NAME_MAX + 1];
    CLEANUP_FD int made = dir == AT_FDCWD ? place_open_folder(path, mode) : -1;
    if (dir == AT_FDCWD)
        return made < 0 ? err_sys(err, "cannot make the folder %s", path) : 0;
    struct str rest = str_of(path), name;
    for (bool first = true; first || rest.p; first = false) {
        name = str_cut(&rest, '/');
        if (!name.n && *path) /* "a//b", "a/" */
            continue;
        errno = !name.n ? ENOENT : name.n > NAME_MAX ? ENAMETOOLONG : str_is(name, "..") ? EXDEV : 0;
        int below = -1;
        if (!errno) {
            memcpy(part, name.p, name.n);
            part[name.n] = 0;
            below = place_make_folder(made < 0 ? dir : made, part, mode);
        }
        if (below < 0)
            return err_sys(err, "cannot make the folder %s", path);
        fs_close(&made);
        made = below;
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

/* Removes everything in the open folder, which the caller closes. What another process removes
 * first is no error. -1 with errno: `failed` has the name. */
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
    const char *name;
    CLEANUP_FD int folder = -1;
    int at = fs_parent_below(dir, path, &name, &folder);
    DIR *d = at == -1 ? NULL : fs_open_listing(at, name);
    if (!d) {
        if (errno == ENOENT)
            return 0;
        if (at != -1 && (errno == ENOTDIR || errno == ELOOP) && (unlinkat(at, name, 0) == 0 || errno == ENOENT))
            return 0;
        return err_sys(err, "cannot remove %s", path);
    }
    int rc = remove_below(d, 0, failed, sizeof failed);
    int why = errno;
    closedir(d);
    errno = why;
    if (rc < 0)
        return err_sys(err, "cannot remove %s%s%s", path, failed[0] ? ": " : "", failed);
    if (unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        return err_sys(err, "cannot remove %s", path);
    return 0;
}

/* Syncs every file and folder below d, and d itself; the caller closes d. 0; -1 with errno at the
 * first failure, and at more than DEPTH_MAX levels (ELOOP). */
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

/* Copies the bytes of `from` into `to`: by shared blocks if the file system can, else in the
 * kernel, else here. 0; -1 with errno. */
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
    unlinkat(to_dir, to, 0); /* this call has made it, and it is no copy */
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
