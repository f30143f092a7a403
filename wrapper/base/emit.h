/* emit.h: sends facts to the recorder of the run that this process is part of, one JSON object per
 * datagram, to the socket that BENCHWRAP_SOCKET names. */
#ifndef BASE_EMIT_H
#define BASE_EMIT_H
#include "base/err.h"
#include "base/str.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
    EMIT_MAX = 60 << 10, /* bytes of one fact: below the smallest default send buffer that Linux has for unix sockets */
    EMIT_WAIT_MS = 500, /* for a recorder that reads nothing, all senders of the run together */
    EMIT_SHARED_AT = 12288 /* offset of struct emit_shared in the launcher's memory */
};

/* What all senders of a run share with the recorder. The name of the socket, "@benchwrap/ID/PID.FD",
 * names the memory: descriptor FD of the launcher PID. */
struct emit_shared {
    char run_id[33];
    _Atomic uint32_t waited_us; /* without success; a tenth of the time of successful waits is added */
    _Atomic uint32_t lost; /* facts that the recorder did not read in time */
};

/* Opens the socket of a recorder. name: "@name" (abstract) or a path. Returns the descriptor, or -1
 * with err. ERR_INPUT: the socket belongs neither to this user nor to root, for example because
 * another user bound the name after the recorder died. Root also accepts the user who called sudo, and
 * any known user where sudo was not used. A kernel without unix_diag cannot answer: then the socket is
 * accepted. */
int emit_open(const char *name, struct err *err);
/* Sends one fact. file: an open descriptor to pass with it, or -1. 0, or -1 with errno; EAGAIN: the
 * recorder reads nothing, and the run's EMIT_WAIT_MS are used up (where the launcher's memory cannot
 * be reached, a fifth of them for each process). The loss is counted for the record. */
int emit_send(int fd, struct str fact, int file);
/* Counts n facts that were not sent after one that the recorder did not read in time. */
void emit_count_lost(uint32_t n);
/* Sends {"metric": key, "value": …, "step": …, "time": …}. A value that is not finite is not sent.
 * 0, or -1 with errno. */
int emit_metric(int fd, const char *key, double value, int64_t step, int64_t time_ms);
#endif
