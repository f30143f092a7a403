/* fd.c: descriptors of the launcher: out of the program's way, closed on exec. */
#include "launch/fd.h"

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int fd_high(int fd)
{
    if (fd < 0 || fd >= FD_LOWEST)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_LOWEST), saved = errno;
    if (high < 0 && fd > 2)
        return fd; /* good enough: programs rely on 0, 1 and 2 only */
    close(fd);
    errno = saved;
    return high;
}

/* Moves both ends by fd_high. 0; -1: both are closed. */
static int both_high(int ends[2])
{
    ends[0] = fd_high(ends[0]);
    ends[1] = fd_high(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    fd_close(&ends[0]);
    fd_close(&ends[1]);
    return -1;
}

int fd_pipe(int ret_ends[2])
{
    return pipe2(ret_ends, O_CLOEXEC) < 0 ? -1 : both_high(ret_ends);
}

int fd_socketpair(int type, int ret_ends[2])
{
    return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ret_ends) < 0 ? -1 : both_high(ret_ends);
}

void fd_close(int *fd)
{
    int saved = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved;
}

bool fd_nonblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool fd_write_all(int fd, const void *p, size_t n)
{
    int tries = 0;
    for (const char *at = p; n;) {
        ssize_t k = write(fd, at, n);
        if (k < 0 && (errno != EINTR || ++tries > 100))
            return false;
        if (k > 0)
            at += k, n -= (size_t)k;
    }
    return true;
}

void fd_close_range(int low, int high)
{
    for (int fd = low; fd <= high; fd++)
        close(fd);
}

void fd_close_from(int low)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)low, ~0U, 0U) == 0)
        return;
#endif
    DIR *dir = opendir("/proc/self/fd");
    if (dir) {
        for (struct dirent *entry; (entry = readdir(dir));) {
            int64_t fd;
            if (str_int(str_of(entry->d_name), &fd) && fd >= low && fd != dirfd(dir))
                close((int)fd);
        }
        closedir(dir);
        return;
    }
    struct rlimit limit;
    int top = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = low; fd < top; fd++)
        close(fd);
}
