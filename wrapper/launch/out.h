/* out.h: a real output stream of the caller, written without ever blocking the launcher and without touching its shared flags. */
#ifndef LAUNCH_OUT_H
#define LAUNCH_OUT_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum out_way {
    OUT_CLOSED, /* not open, or not for writing */
    OUT_PLAIN, /* regular files and devices: write(2) */
    OUT_NONBLOCK, /* own description with O_NONBLOCK, through /proc/self/fd */
    OUT_POLLED, /* poll, then at most PIPE_BUF bytes: where the own description could not be had */
    OUT_SOCKET /* send(MSG_DONTWAIT | MSG_NOSIGNAL) */
};

struct out {
    enum out_way way;
    int fd; /* to poll and write */
    bool own; /* out_close closes fd */
    bool is_tty;
    bool is_message_socket; /* a datagram socket: a copy would join its messages */
};

/* Inspects the caller's descriptor and chooses how to write to it. Never fails: an unusable
 * descriptor is OUT_CLOSED. */
void out_open(struct out *out, int fd);
void out_close(struct out *out);
/* Writes without waiting, but for OUT_PLAIN (files and devices). Returns the bytes written, which may
 * be fewer; -1 with errno: EAGAIN: wait for POLLOUT on out->fd; EBADF: it is closed. */
ssize_t out_write(struct out *out, const void *p, size_t n);
/* Returns whether both descriptors are one open file description. */
bool out_same_file(int a, int b);
#endif
