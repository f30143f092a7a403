/* out.c: a real output stream of the caller, written without ever blocking the launcher and without touching its shared flags. */
#include "launch/out.h"

#include "launch/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens the file of fd again for writing without waiting: O_NONBLOCK on the inherited description
 * would change it for every process that shares it. Where that fails, out is polled instead. */
static void out_reopen(struct out *out, int fd)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = fd_high(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (own < 0) {
        out->way = OUT_POLLED;
        return;
    }
    out->way = OUT_NONBLOCK;
    out->fd = own;
    out->own = true;
}

void out_open(struct out *out, int fd)
{
    struct stat st;
    *out = (struct out){.way = OUT_CLOSED, .fd = fd};
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) || fstat(fd, &st) < 0)
        return;
    out->way = OUT_PLAIN;
    out->is_tty = S_ISCHR(st.st_mode) && isatty(fd);
    if (S_ISFIFO(st.st_mode) || out->is_tty)
        out_reopen(out, fd);
    else if (S_ISSOCK(st.st_mode)) {
        int type = SOCK_STREAM;
        socklen_t size = sizeof type;
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
        out->way = OUT_SOCKET;
        out->is_message_socket = type != SOCK_STREAM;
    }
}

void out_close(struct out *out)
{
    if (out->own)
        fd_close(&out->fd);
    *out = (struct out){.way = OUT_CLOSED, .fd = -1};
}

ssize_t out_write(struct out *out, const void *p, size_t n)
{
    switch (out->way) {
    case OUT_PLAIN:
    case OUT_NONBLOCK: return write(out->fd, p, n);
    case OUT_SOCKET: return send(out->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    case OUT_POLLED: {
        struct pollfd can = {.fd = out->fd, .events = POLLOUT};
        int ready = poll(&can, 1, 0);
        if (ready > 0)
            return write(out->fd, p, n < PIPE_BUF ? n : PIPE_BUF);
        if (ready == 0)
            errno = EAGAIN;
        return -1;
    }
    case OUT_CLOSED: break;
    }
    errno = EBADF;
    return -1;
}

bool out_same_file(int a, int b)
{
    pid_t self = getpid();
    long order = syscall(SYS_kcmp, self, self, KCMP_FILE, (unsigned long)a, (unsigned long)b);
    if (order >= 0)
        return order == 0;
    struct stat sa, sb; /* kcmp is missing in some kernels and forbidden in some containers */
    int fa = fcntl(a, F_GETFL), fb = fcntl(b, F_GETFL);
    return fa >= 0 && fa == fb && fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino &&
           lseek(a, 0, SEEK_CUR) == lseek(b, 0, SEEK_CUR);
}
