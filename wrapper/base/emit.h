/* emit.h: sends facts to the recorder of the run that this process is part of, one JSON object per
 * datagram, to the socket that BENCHWRAP_SOCKET names. */
#ifndef BASE_EMIT_H
#define BASE_EMIT_H
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum { EMIT_MAX = 60 << 10, EMIT_WAIT_S = 2 }; /* bytes of one fact: below the smallest default send buffer that Linux has for unix sockets */

/* Opens the socket of a recorder. name: "@name" (abstract) or a path. Returns the descriptor, or -1
 * with err. Sending waits EMIT_WAIT_S at most. ERR_INPUT: the socket belongs neither to this user
 * nor to root, for example because another user bound the name after the recorder died. Root also
 * accepts the user who called sudo, and any known user where sudo was not used. A kernel without
 * unix_diag cannot answer: then the socket is accepted. */
int emit_open(const char *name, struct err *err);
/* Sends one fact. file: an open descriptor to pass with it, or -1. 0, or -1 with errno. */
int emit_send(int fd, struct str fact, int file);
/* Sends {"metric": key, "value": …, "step": …, "time": …}. A value that is not finite is not sent.
 * 0, or -1 with errno. */
int emit_metric(int fd, const char *key, double value, int64_t step, int64_t time_ms);
#endif
