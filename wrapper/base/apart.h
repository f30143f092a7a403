/* apart.h: work in a forked process with a deadline: closes inherited descriptors, and reads the
 * answer from a pipe. */
#ifndef BASE_APART_H
#define BASE_APART_H
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Called in the new process: closes all descriptors from `first` on. A process that hangs must not
 * hold a journal's lock or another process's pipe. */
void apart_close_from(int first);
/* Appends what comes through the pipe until its other end is closed: true. False: the time
 * (monotonic, ns) is over, or more came than the buffer may hold. */
bool apart_hear(int fd, int64_t until_ns, struct buf *to);
#endif
