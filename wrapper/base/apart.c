/* apart.c: work in a process of its own with a deadline. */
#include "base/apart.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

void apart_close_from(int first)
{
    if (close_range((unsigned)first, ~0u, 0) != 0) /* before Linux 5.9 */
        for (int i = first; i < 4096; i++)
            close(i);
}

bool apart_hear(int fd, int64_t until_ns, struct buf *to)
{
    enum { PIECE = 4096, TURN_MS = 1000 };
    for (;;) {
        int64_t left = (until_ns - clock_mono_ns()) / 1000000;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (left <= 0)
            return false;
        int got = poll(&p, 1, left > TURN_MS ? TURN_MS : (int)left);
        char *room = got > 0 ? buf_room(to, PIECE) : NULL;
        ssize_t n = room ? read(fd, room, PIECE) : -1;
        if (got > 0 && !room) /* it says more than is heard */
            return false;
        if (n == 0 || (n < 0 && got > 0 && errno != EINTR))
            return true;
        if (n > 0) {
            to->n += (size_t)n;
            to->p[to->n] = 0;
        }
    }
}
