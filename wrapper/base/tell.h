/* tell.h: telling facts to the recorder of the run that this process is part of: one JSON object per datagram, to the socket of BENCHWRAP_SOCKET. */
#ifndef BASE_TELL_H
#define BASE_TELL_H
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum { TELL_MAX = 60 << 10, TELL_WAIT_S = 2 }; /* bytes of one fact: below the smallest default send buffer that Linux has for unix sockets */

/* name: "@name" (abstract) or a path. The descriptor, or -1 with err. Sending waits TELL_WAIT_S at most. */
int tell_open(const char *name, struct err *err);
/* One fact. 0, or -1 with errno. */
int tell_send(int fd, struct str fact);
/* {"metric": key, "value": …, "step": …, "time": …}; a value that is not finite is not told. 0, or -1 with errno. */
int tell_metric(int fd, const char *key, double value, int64_t step, int64_t time_ms);
#endif
