/* log.h: record facts that the program sends with `benchwrap log` to a datagram socket. */
#ifndef WRAPPER_RUN_LOG_H
#define WRAPPER_RUN_LOG_H
#include "base/emit.h"
#include "mlruns-format/record.h"
#include "probes/redact.h"

#include <sys/types.h>

/* The recorder's end of the socket. Any local user can send to it; the recorder reads only messages
 * that the kernel attests as of its own user or of root. */
struct log {
    int fd;                /* -1: there is none */
    uid_t own;
    const struct emit_shared *shared; /* NULL: there is none */
    bool clear;            /* the kernel distinguishes this user from others */
    uint64_t foreign;      /* messages dropped */
    int64_t rest_until_ns; /* CLOCK_MONOTONIC: so many were dropped at once that nothing is read until then; 0: no rest */
};
/* Where stored files go, and how many bytes are left for them. */
struct log_store {
    int spool;
    uint64_t *keep_left;
    struct redact *redact;
};

/* fd: of the launcher, with SO_PASSCRED; -1 for none. It and `shared` (NULL: none) stay the
 * caller's. */
void log_open(struct log *l, int fd, const struct emit_shared *shared);
/* Reads a bounded number of waiting messages and records their facts: {"metric": key, "value": number
 * or "NaN", "step", "time", "unit"}, {"param": key, "value": text}, {"tag": key, "value": text},
 * {"artifact": name} with one open file (SCM_RIGHTS), which it copies into the spool. A wrong message
 * becomes a warning. Never waits. Returns the number of messages read or dropped. */
int log_receive(struct log *l, const struct log_store *to, struct record *record);
/* Reads what the program sent before its end, and records how many messages of other users were dropped: benchwrap.log_dropped and a warning. */
void log_close(struct log *l, const struct log_store *to, struct record *record);
#endif
