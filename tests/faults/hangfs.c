/* hangfs.c: a FUSE file system over a folder in which one kind of call never returns.
 * hangfs FOLDER CALL MOUNTPOINT [fuse options]; CALL: getattr open create write mkdir rename fsync readdir link … or none. */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int base = -1;
static const char *hanging;

static const char *below(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static void hang_in(const char *call)
{
    while (strcmp(hanging, call) == 0)
        pause();
}

static int done(int rc)
{
    return rc < 0 ? -errno : rc;
}

static int h_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
    (void)fi;
    if (path[1])
        hang_in("getattr");
    return done(fstatat(base, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int h_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t at, struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
    (void)at, (void)fi, (void)flags;
    hang_in("readdir");
    int fd = openat(base, below(path), O_RDONLY | O_DIRECTORY);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return -errno;
    for (struct dirent *e; (e = readdir(d));)
        fill(to, e->d_name, NULL, 0, 0);
    closedir(d);
    return 0;
}

static int h_mkdir(const char *path, mode_t mode)
{
    hang_in("mkdir");
    return done(mkdirat(base, below(path), mode));
}

static int h_unlink(const char *path)
{
    return done(unlinkat(base, below(path), 0));
}

static int h_rmdir(const char *path)
{
    return done(unlinkat(base, below(path), AT_REMOVEDIR));
}

static int h_rename(const char *from, const char *to, unsigned flags)
{
    hang_in("rename");
    return flags ? -EINVAL : done(renameat(base, below(from), base, below(to)));
}

static int h_link(const char *from, const char *to)
{
    hang_in("link");
    return done(linkat(base, below(from), base, below(to), 0));
}

static int h_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
    (void)fi;
    int fd = openat(base, below(path), O_WRONLY);
    int rc = done(fd < 0 ? -1 : ftruncate(fd, size));
    if (fd >= 0)
        close(fd);
    return rc;
}

static int opened(struct fuse_file_info *fi, int fd)
{
    fi->fh = (uint64_t)fd;
    return fd < 0 ? -errno : 0;
}

static int h_open(const char *path, struct fuse_file_info *fi)
{
    hang_in("open");
    return opened(fi, openat(base, below(path), fi->flags));
}

static int h_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    hang_in("create");
    return opened(fi, openat(base, below(path), fi->flags | O_CREAT, mode));
}

static int h_read(const char *path, char *to, size_t n, off_t at, struct fuse_file_info *fi)
{
    (void)path;
    return done((int)pread((int)fi->fh, to, n, at));
}

static int h_write(const char *path, const char *from, size_t n, off_t at, struct fuse_file_info *fi)
{
    (void)path;
    hang_in("write");
    return done((int)pwrite((int)fi->fh, from, n, at));
}

static int h_fsync(const char *path, int data, struct fuse_file_info *fi)
{
    (void)path, (void)data, (void)fi;
    hang_in("fsync");
    return 0;
}

static int h_release(const char *path, struct fuse_file_info *fi)
{
    (void)path;
    close((int)fi->fh);
    return 0;
}

static int h_utimens(const char *path, const struct timespec t[2], struct fuse_file_info *fi)
{
    (void)fi;
    return done(utimensat(base, below(path), t, AT_SYMLINK_NOFOLLOW));
}

int main(int argc, char **argv)
{
    static const struct fuse_operations ops = {.getattr = h_getattr, .readdir = h_readdir, .mkdir = h_mkdir, .unlink = h_unlink, .rmdir = h_rmdir,
        .rename = h_rename, .link = h_link, .truncate = h_truncate, .open = h_open, .create = h_create, .read = h_read, .write = h_write,
        .fsync = h_fsync, .release = h_release, .utimens = h_utimens};
    if (argc < 4)
        return 2;
    hanging = argv[2];
    base = open(argv[1], O_RDONLY | O_DIRECTORY);
    if (base < 0) {
        perror(argv[1]);
        return 1;
    }
    argv[2] = argv[0];
    return fuse_main(argc - 2, argv + 2, &ops, NULL);
}
