/* place.c: files below a directory that other users may write: opened without links, and only where no other user planted them. */
#include "base/place.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_bool has_no_openat2; /* an old kernel, or a filter of system calls */

/* Opens one name in dir without following a link. Returns the descriptor; -1 with errno, ELOOP for
 * a link. */
static int open_component(int dir, const char *name, int flags, mode_t mode)
{
    int fd;
    do
        fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno == ENOTDIR) { /* O_DIRECTORY on a link: as openat2 reports it */
        struct stat st;
        errno = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
    }
    return fd;
}

/* Opens the last component, but refuses a link with O_PATH too (ELOOP), as openat2 does: O_NOFOLLOW
 * would open the link itself. */
static int open_last(int dir, const char *name, int flags, mode_t mode)
{
    struct stat st;
    int fd = open_component(dir, name, flags, mode);
    if (fd < 0 || !(flags & O_PATH) || fstat(fd, &st) < 0 || !S_ISLNK(st.st_mode))
        return fd;
    close(fd);
    errno = ELOOP;
    return -1;
}

/* Does what openat2 does for open_beneath, one component after the other. ".." is refused too
 * (EXDEV). Returns the descriptor, or -1 with errno. */
static int open_by_component(int dir, const char *path, int flags, mode_t mode)
{
    char name[NAME_MAX + 1];
    CLEANUP_FD int above = -1;
    if (*path == '/' || !*path) {
        errno = *path ? EXDEV : ENOENT;
        return -1;
    }
    for (;;) {
        size_t n = strcspn(path, "/");
        const char *next = path + n + strspn(path + n, "/");
        if (n > NAME_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, path, n);
        name[n] = 0;
        if (strcmp(name, "..") == 0) {
            errno = EXDEV;
            return -1;
        }
        int at = above >= 0 ? above : dir;
        if (!*next)
            return open_last(at, name, flags | (path[n] ? O_DIRECTORY : 0), mode);
        int fd = open_component(at, name, O_PATH | O_DIRECTORY, 0);
        if (fd < 0)
            return -1;
        fs_close(&above);
        above = fd;
        path = next;
    }
}

/* Opens dir/path, which must stay below dir, without following links. Returns the descriptor,
 * close-on-exec; -1 with errno: EXDEV where it leaves dir, ELOOP for a link. */
static int open_beneath(int dir, const char *path, int flags, mode_t mode)
{
    struct open_how how = {.flags = (unsigned long long)(unsigned)(flags | O_CLOEXEC),
                           .mode = flags & O_CREAT ? mode : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    for (int tries = 0; !atomic_load(&has_no_openat2) && tries < 64;) {
        long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        if (errno == EAGAIN) /* a rename somewhere while ".." was resolved */
            tries++;
        else if (errno == ENOSYS)
            atomic_store(&has_no_openat2, true);
        else if (errno == EPERM) /* of a filter, or of this file: the other way knows */
            break;
        else if (errno != EINTR)
            return -1;
    }
    return open_by_component(dir, path, flags, mode);
}

int place_open(int dir, const char *path, int flags, mode_t mode)
{
    bool reads = (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_DIRECTORY | O_PATH));
    struct stat st;
    int fd = open_beneath(dir, path, flags | (reads ? O_NONBLOCK | O_NOCTTY : 0), mode);
    if (fd < 0 || !reads)
        return fd;
    int why = fstat(fd, &st) < 0                             ? errno
              : !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) ? ELOOP
              : place_is_planted(dir, path, &st)             ? EPERM
                                                             : 0;
    if (why == 0)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

int place_make_folder(int dir, const char *name, mode_t mode)
{
    if (mkdirat(dir, name, mode) < 0 && errno != EEXIST) {
        int why = errno; /* a read-only file system answers EROFS for folders that exist */
        int fd = open_component(dir, name, O_RDONLY | O_DIRECTORY, 0);
        errno = fd < 0 && errno == ENOENT ? why : errno;
        return fd;
    }
    return open_component(dir, name, O_RDONLY | O_DIRECTORY, 0);
}

int place_make_temporary(int dir, char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    enum { TRIES = 100, RANDOM = 6 };
    unsigned char random[RANDOM];
    char *end = name + strlen(name) - RANDOM;
    for (int i = 0; i < TRIES; i++) {
        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
            return -1;
        for (int k = 0; k < RANDOM; k++)
            end[k] = letters[random[k] % (sizeof letters - 1)];
        if (mkdirat(dir, name, 0700) < 0) {
            if (errno == EEXIST)
                continue;
            return -1;
        }
        CLEANUP_FD int fd = open_component(dir, name, O_RDONLY | O_DIRECTORY, 0);
        if (fd >= 0 && !place_is_own(fd)) { /* it was exchanged */
            errno = EPERM;
            return -1;
        }
        return fs_take(&fd);
    }
    return -1;
}

/* ---- paths with links: only those of the caller and root are followed ---- */

/* Replaces the path in rest by the text of the open link and what followed the link. *ret_root: it begins at the root. -1 with errno. */
static int follow_link(int link, char *rest, size_t size, bool *ret_root)
{
    char to[PATH_MAX];
    ssize_t n = readlinkat(link, "", to, sizeof to - 1);
    size_t more = strlen(rest);
    if (n <= 0 || (size_t)n + 1 + more + 1 > size) {
        errno = n < 0 ? errno : ENAMETOOLONG;
        return -1;
    }
    memmove(rest + n + 1, rest, more + 1);
    memcpy(rest, to, (size_t)n);
    rest[n] = '/';
    if (!more)
        rest[n] = 0;
    *ret_root = to[0] == '/';
    return 0;
}

/* Opens the directory at/name with O_PATH; with a mode in `make` (0: none) it is made where it does
 * not exist. Returns a descriptor of the caller's, or -1 with errno. */
static int open_step(int at, const char *name, mode_t make)
{
    int fd = open_component(at, name, O_PATH | O_DIRECTORY, 0); /* this mounts what is mounted on demand */
    if (fd >= 0 || errno != ENOENT || !make || (mkdirat(at, name, make) < 0 && errno != EEXIST))
        return fd;
    return open_component(at, name, O_PATH | O_DIRECTORY, 0);
}

struct place_walk {
    int at; /* the directory that was reached, with O_PATH */
    bool follows_closed; /* also another user's link, in a folder that only its owner may write */
    char rest[2 * PATH_MAX], name[NAME_MAX + 1];
};

/* Returns whether the walk may follow this link, whose data is st, in the directory that was
 * reached. */
static bool may_follow(const struct place_walk *w, const struct stat *st)
{
    struct stat folder;
    return place_is_trusted(st->st_uid) || (w->follows_closed && fstat(w->at, &folder) == 0 && !(folder.st_mode & (S_IWGRP | S_IWOTH)));
}

/* Goes down the path from w->at. 0: all of it are directories; 1: the last one, w->name in w->at, is none; -1 with errno. */
static int walk_down(struct place_walk *w, const char *path, mode_t make)
{
    enum { LINKS_MAX = 40 }; /* as the kernel */
    if (snprintf(w->rest, sizeof w->rest, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (int links = 0; w->at >= 0;) {
        struct stat st;
        bool root = false;
        char *begin = w->rest + strspn(w->rest, "/");
        size_t n = strcspn(begin, "/");
        if (!n)
            return 0;
        if (n > NAME_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(w->name, begin, n);
        w->name[n] = 0;
        memmove(w->rest, begin + n, strlen(begin + n) + 1);
        CLEANUP_FD int fd = open_step(w->at, w->name, make);
        if (fd < 0 && errno != ENOTDIR && errno != ELOOP)
            return -1;
        if (fd >= 0) {
            fs_close(&w->at);
            w->at = fs_take(&fd);
            continue;
        }
        if ((fd = open_component(w->at, w->name, O_PATH, 0)) < 0 || fstat(fd, &st) < 0)
            return -1;
        if (!S_ISLNK(st.st_mode)) {
            errno = ENOTDIR;
            return *w->rest ? -1 : 1;
        }
        if (!may_follow(w, &st) || ++links > LINKS_MAX) {
            errno = ELOOP;
            return -1;
        }
        if (follow_link(fd, w->rest, sizeof w->rest, &root) < 0)
            return -1;
        if (root) {
            fs_close(&w->at);
            w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        }
    }
    return -1;
}

/* Opens the directory at which a path begins, with O_PATH. Returns the descriptor, or -1 with
 * errno. */
static int open_start(const char *path)
{
    return open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Walks down `rest` from the directory, which it consumes. The directory there for reading, or -1 with errno. */
static int open_walked(int at, const char *rest, mode_t make, bool follows_closed)
{
    struct place_walk w = {.at = at, .follows_closed = follows_closed};
    int rc = walk_down(&w, rest, make);
    int fd = rc == 0 ? openat(w.at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, why = errno;
    fs_close(&w.at);
    errno = why;
    return fd;
}

int place_open_folder(const char *path, mode_t make)
{
    if (*path)
        return open_walked(open_start(path), path, make, false);
    errno = ENOENT;
    return -1;
}

int place_open_named_folder(const char *path)
{
    return open_walked(open_start(path), path, 0, true);
}

int place_open_below(const char *path, unsigned levels, mode_t make)
{
    char part[PATH_MAX];
    size_t n = strlen(path), from = n;
    if (n == 0 || n >= sizeof part) {
        errno = n ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    for (unsigned i = 0; i < levels && from > 0; i++) {
        while (from > 0 && path[from - 1] == '/')
            from--;
        while (from > 0 && path[from - 1] != '/')
            from--;
    }
    for (struct str rest = str_of(path + from); rest.p;)
        if (str_is(str_cut(&rest, '/'), "..")) {
            errno = EXDEV;
            return -1;
        }
    snprintf(part, sizeof part, "%.*s", from ? (int)from : 1, from || *path == '/' ? path : ".");
    struct err err = {0};
    if (make && faccessat(AT_FDCWD, part, F_OK, 0) < 0 && errno == ENOENT && fs_mkdirs(AT_FDCWD, part, make, &err) < 0) {
        errno = err.sys;
        return -1;
    }
    return open_walked(open(part, O_PATH | O_DIRECTORY | O_CLOEXEC), path + from, make, false);
}

/* Returns whether the path is in /dev (but not /dev/shm) or /proc, where the kernel made the
 * links. */
static bool is_kernel_name(const char *path)
{
    struct str s = str_of(path);
    return (str_starts(s, "/dev/") && !str_starts(s, "/dev/shm/")) || str_starts(s, "/proc/");
}

/* Opens a named file for reading, unless another user can have planted it. Devices and pipes must
 * belong to a trusted user. -1 with errno. */
static int open_named_file(int dir, const char *name)
{
    struct stat st;
    CLEANUP_FD int fd = open_component(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    errno = !S_ISREG(st.st_mode) && !place_is_trusted(st.st_uid) ? ELOOP : place_is_planted(dir, name, &st) ? EPERM : 0;
    return errno ? -1 : fs_take(&fd);
}

int place_open_named(const char *path)
{
    if (is_kernel_name(path))
        return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct place_walk w = {.at = open_start(path), .follows_closed = true};
    int rc = *path ? walk_down(&w, path, 0) : (errno = ENOENT, -1);
    int fd = rc == 1 ? open_named_file(w.at, w.name) : -1, why = rc == 0 ? EISDIR : errno;
    fs_close(&w.at);
    errno = why;
    return fd;
}

/* Opens a regular file that a search found, for reading. -1 with errno: a link or another kind of
 * file (ELOOP), or one that another user may have made (EPERM). The caller closes the
 * descriptor. */
static int open_found_file(int dir, const char *name)
{
    struct stat st;
    CLEANUP_FD int fd = open_component(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    errno = !S_ISREG(st.st_mode) ? ELOOP : place_is_planted(dir, name, &st) ? EPERM : 0;
    return errno ? -1 : fs_take(&fd);
}

int place_open_found(const char *path)
{
    struct place_walk w = {.at = open_start(path)};
    int rc = walk_down(&w, path, 0);
    int fd = rc == 1 ? open_found_file(w.at, w.name) : -1, why = rc == 0 ? ELOOP : errno; /* 0: a directory */
    fs_close(&w.at);
    errno = why;
    return fd;
}

/* Creates or opens dir/name for writing, and truncates it with O_TRUNC once it is checked. Returns
 * the descriptor; -1 with errno: ELOOP for another user's FIFO or device, EPERM for a hard link
 * that another user may have planted (place_is_planted). */
static int create_file(int dir, const char *name, int flags, mode_t mode)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode) && !place_is_trusted(st.st_uid)) {
        errno = ELOOP; /* a FIFO would block the reader */
        return -1;
    }
    CLEANUP_FD int fd = open_component(dir, name, O_WRONLY | O_CREAT | (flags & ~O_TRUNC), mode);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    errno = !S_ISREG(st.st_mode) && !place_is_trusted(st.st_uid) ? ELOOP : place_is_planted(dir, name, &st) ? EPERM : 0;
    if (errno || (flags & O_TRUNC && S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0))
        return -1;
    return fs_take(&fd);
}

int place_create(const char *path, int flags, mode_t mode)
{
    if (is_kernel_name(path))
        return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
    struct place_walk w = {.at = open_start(path)};
    int rc = walk_down(&w, path, 0);
    bool is_new = rc < 0 && errno == ENOENT && w.at >= 0 && !*w.rest;
    if (rc == 0)
        errno = EISDIR;
    int fd = rc == 1 || is_new ? create_file(w.at, w.name, flags, mode) : -1, why = errno;
    fs_close(&w.at);
    errno = why;
    return fd;
}

bool place_is_own(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool place_is_trusted(uid_t uid)
{
    const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    uint64_t caller;
    return uid == geteuid() || uid == 0 || (sudo && str_uint(str_of(sudo), &caller) && caller == uid);
}

bool place_is_planted(int dir, const char *path, const struct stat *st)
{
    char parent[PATH_MAX];
    struct stat above;
    if (!S_ISREG(st->st_mode) || st->st_nlink < 2 || st->st_uid != geteuid())
        return false;
    const char *slash = strrchr(path, '/');
    int n = snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return n < 0 || (size_t)n >= sizeof parent || fstatat(dir, parent, &above, AT_SYMLINK_NOFOLLOW) < 0 ||
           !place_is_trusted(above.st_uid) || (above.st_uid != geteuid() && above.st_mode & S_IWOTH);
}

const char *place_owner(uid_t uid, char *ret, size_t size)
{
    FILE *passwd = fopen("/etc/passwd", "re");
    struct passwd entry, *p = NULL;
    char text[4096];
    while (passwd && fgetpwent_r(passwd, &entry, text, sizeof text, &p) == 0 && p->pw_uid != uid)
        p = NULL;
    if (p)
        snprintf(ret, size, "%s", p->pw_name);
    else
        snprintf(ret, size, "uid %u", (unsigned)uid);
    if (passwd)
        fclose(passwd);
    return ret;
}
