/* wire.h: what launcher and recorder share: a memory region with the stream rings, and a socket of small messages.
 *
 * The launcher makes both before it starts the recorder: the region is a memfd inherited as descriptor WIRE_MEMORY_FD, the socket
 * (SOCK_SEQPACKET) as WIRE_SOCKET_FD, the `benchwrap log` socket as WIRE_LOG_FD (-1: none; the
 * region records it), and the credentials that the recorder's environment lacks
 * as WIRE_CREDENTIALS_FD (base/credentials.h), for the process that talks to a server. Bytes of a stream are read
 * by the launcher straight into its ring, written on to the real stream from there, and then published: the recorder reads them in
 * place, so recording costs the program's bytes no second copy on the way. A ring that the recorder does not empty in time loses
 * bytes for the record (counted), never for the reader. Both programs are of one build: the layout is private. */
#ifndef LAUNCH_WIRE_H
#define LAUNCH_WIRE_H
#include "base/emit.h"
#include "launch/counters.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { WIRE_MAGIC = 0x62770001, WIRE_SOCKET_FD = 3, WIRE_MEMORY_FD = 4, WIRE_LOG_FD = 5, WIRE_CREDENTIALS_FD = 6, WIRE_STREAMS = 2, WIRE_RING = 4 << 20, WIRE_SIGNALS = 65 };

struct wire_ring {
    _Atomic uint64_t head;    /* bytes published since the start (launcher) */
    _Atomic uint64_t tail;    /* bytes read (recorder) */
    _Atomic uint64_t wake_at; /* the recorder sleeps until head >= this: the launcher then sets it to UINT64_MAX (need not be woken) and sends WIRE_WAKE.
                               * The recorder stores it again before each sleep and then reads head once more */
    _Atomic uint64_t dropped; /* bytes the record lost because the ring was full */
    _Atomic uint64_t gap_at;  /* head position of the latest loss */
    uint32_t used;            /* 0: this stream is not captured */
    uint32_t is_tty;
    _Alignas(64) char pad[1];
};

struct wire {
    uint32_t magic;
    uint32_t merged;          /* stdout and stderr are one open file: ring 0 has both */
    int64_t start_wall_ms;    /* launcher's main() */
    int64_t start_mono_ns;
    char run_id[33], parent_id[33];
    pid_t launcher;
    uint32_t has_log_socket, has_credentials;
    uint32_t lost_credentials; /* there are some, and they could not be passed on */
    uint32_t in_series;       /* a run of a series */
    uint64_t soft_limits[RLIM_NLIMITS]; /* of the launcher, which the program gets: the recorder's are raised */
    uint32_t columns;         /* of the terminal that is the caller's stderr; 0: not known, or no terminal */
    uint32_t is_terminal, has_colour;
    _Atomic pid_t sender;     /* the recorder's process that talks to the server, 0: none; no descendant of the program, though the launcher may inherit it */
    uint32_t rank, ranks;     /* rank of this process, number of ranks (0: unknown) */
    char rank_source[32];     /* variable the rank was read from, "" none */
    char scope[16];           /* tag benchwrap.scope: "process", "rank0", "rank", "launcher" … */
    /* The signal observer: how often each signal reached the recorder, to distinguish group from single delivery. */
    _Atomic uint32_t seen[WIRE_SIGNALS];
    struct wire_ring ring[WIRE_STREAMS];
    /* the ring bytes follow: WIRE_STREAMS * WIRE_RING, page-aligned at WIRE_DATA */
};
_Static_assert(sizeof(struct wire) <= EMIT_SHARED_AT, "the page of struct emit_shared is behind the head");
enum { WIRE_DATA = 16384, WIRE_SIZE = WIRE_DATA + WIRE_STREAMS * WIRE_RING };

enum { WIRE_LEFT_UNKNOWN = UINT32_MAX };

enum wire_kind {
    WIRE_READY = 1,   /* recorder: probes done, the program may start */
    WIRE_NOTE,        /* recorder: text to print on stderr as one warning (the prefix "benchwrap: " is added) */
    WIRE_SUMMARY,     /* recorder: text to print on stderr at the very end, as it is; several messages are one text */
    WIRE_DONE,        /* recorder: finished; .status; text states why it is not pass */
    WIRE_REFUSE,      /* recorder: 125: text states why (--strict, or something the user named) */
    WIRE_ENV,         /* recorder, before READY: text is a NAME=VALUE for the program's environment (--share-run) */
    WIRE_ATTACHED,    /* recorder: the answer to WIRE_HELD */
    WIRE_ACCEPTED,    /* recorder, before READY: every option of the command line is valid */
    WIRE_STARTED = 16,/* launcher: program started; .pid .mono_ns .wall_ms */
    WIRE_NOEXEC,      /* launcher: program could not be started; .status = errno */
    WIRE_ENDED,       /* launcher: program ended; .status (wait status) .usage … */
    WIRE_WAKE,        /* launcher: bytes are waiting */
    WIRE_HELD         /* launcher: the process .pid waits for its exec until WIRE_ATTACHED (--profile-code) */
};

struct wire_msg {
    uint32_t kind;
    int32_t status;           /* wait status, errno, or verdict (0 pass, 1 not pass) */
    pid_t pid;
    int64_t wall_ms, mono_ns; /* of the event */
    struct rusage usage;      /* program and its reaped descendants */
    uint32_t orphans;         /* grandchildren adopted and reaped */
    uint32_t left;            /* still running at the end of waiting; WIRE_LEFT_UNKNOWN: /proc does not show this PID namespace */
    uint32_t open_streams;    /* bit i: a background process still held stream i, whose later bytes are not recorded */
    uint32_t timed_out;
    uint32_t finish_signal;   /* first terminating signal forwarded or observed (TERM INT HUP QUIT) that the program did not ignore, 0 */
    int64_t overhead_us;      /* launcher's own CPU time so far */
    uint64_t passed[WIRE_STREAMS]; /* bytes passed on */
    uint64_t lost[WIRE_STREAMS];   /* bytes the real stream did not accept */
    struct counter_value counters[COUNTERS_COUNT]; /* with --counters */
    char text[1536];          /* NUL-terminated */
};
#endif
