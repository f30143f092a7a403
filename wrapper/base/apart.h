/* apart.h: what is the same for all work that is done in a forked process of its own with a deadline: it keeps few descriptors, and is heard through a pipe. */
#ifndef BASE_APART_H
#define BASE_APART_H
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* In the process: closes all descriptors from this one on (a journal's lock, somebody's pipe must not live on in one that hangs). */
void apart_close_from(int first);
/* Appends what comes through the pipe, until its other end is closed: true. False: until this monotonic time it was not, or it says more than the
 * buffer's maximum. */
bool apart_hear(int fd, int64_t until_ns, struct buf *to);
#endif
