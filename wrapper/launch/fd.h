/* fd.h: descriptors of the launcher: out of the program's way, closed on exec. */
#ifndef LAUNCH_FD_H
#define LAUNCH_FD_H
#include <stdbool.h>
#include <sys/types.h>

enum { FD_LOWEST = 10 /* a caller's closed 0, 1, 2 must stay closed, and shells use 3 to 9 */ };

/* Moves fd to a number >= FD_LOWEST with close-on-exec and closes the old one. Where that is impossible (limit of open files) fd is kept if it
 * is above 2, else closed: -1 with errno. -1 passes through, so calls nest: fd_high(open(…)). */
int fd_high(int fd);
/* Makes a pipe, both ends moved by fd_high. 0; -1 with nothing left open. */
int fd_pipe(int ret_ends[2]);
/* Makes a pair of connected sockets of this type (SOCK_STREAM …), both moved by fd_high. 0; -1 with
 * nothing left open. */
int fd_socketpair(int type, int ret_ends[2]);
/* Closes *fd if it is open and sets it to -1; errno is kept. */
void fd_close(int *fd);
/* Sets O_NONBLOCK on the open file description, which other processes may share. False with errno. */
bool fd_nonblock(int fd);
/* Writes the complete buffer to a descriptor, which may block. False with errno: not all of it was
 * written. */
bool fd_write_all(int fd, const void *p, size_t n);
/* Closes the descriptors from low to high; none where high < low. */
void fd_close_range(int low, int high);
/* Closes every descriptor from `low` on: close_range(2), else what /proc/self/fd lists, else up to the limit. */
void fd_close_from(int low);
#endif
