/* pump.h: passes one stream of the program to the caller's destination, with a copy for the
 * recorder. */
#ifndef LAUNCH_PUMP_H
#define LAUNCH_PUMP_H
#include "launch/options.h"
#include "launch/out.h"
#include "launch/pty.h"
#include "launch/wire.h"

enum { PUMP_PIECE = 256 << 10, PUMP_STALL_MS = 250 /* so long in all each stream waits for a slow recorder */, PUMP_TRIES = 20 };

struct pump_stream {
    int number;     /* 1 or 2 */
    int source;     /* read end or pty master; -1: not captured, or at its end */
    int for_child;  /* write end or pty slave, until the program has it; -1: it keeps the inherited one */
    bool captured, is_pty;
    struct pty pty;
    struct out *out;
    struct wire_ring *ring; /* NULL: no recorder */
    char *data;             /* the ring's bytes */
    char *spare;            /* PUMP_PIECE bytes for when the ring is full */
    const char *at;         /* bytes read but not yet written: [at, at + left) */
    size_t left;
    int tries;              /* failures in a row */
    int64_t retry_ns;       /* not before */
    int64_t stalled_ns;     /* the ring is full since; 0: it is not */
    int64_t waited_ns;      /* how long it has been full before, in all */
    bool gave_up;           /* waited long enough for the recorder; not again until its tail moves */
    uint64_t tail_then;
    uint64_t owed;          /* after the program's end: bytes that were in the pipe then and must still be read */
    uint64_t passed, lost;
    int failure;            /* errno for which the stream was closed, EPIPE: the reader of the real one is gone; 0: none */
    bool is_unread;         /* the failure was that of reading what the program writes */
    bool reported;          /* the failure has been reported */
};

/* Opens what the program gets instead of descriptor `number`. 0; -1 with errno: the caller runs it unrecorded. An uncapturable stream (closed, read-only,
 * datagrams, --capture none) is left alone. */
int pump_open(struct pump_stream *s, int number, struct out *out, enum capture capture);
/* Joins both streams in one pipe, after pump_open of streams[0]: streams[1] has no source of its own,
 * and shares the write end. */
void pump_merge(struct pump_stream *streams);
/* Attaches the recorder's ring. */
void pump_record(struct pump_stream *s, struct wire *wire, int ring);
/* Reads and writes what is possible without waiting. `recorder`: is it alive? `wake`: it requested
 * to be woken. Returns whether bytes moved. After a lasting error the stream is closed, with
 * s->failure set. */
bool pump_step(struct pump_stream *s, bool recorder, int64_t now_ns, bool *wake);
/* Notes the program's end: what is in the pipe now is owed, what comes later only until the
 * caller's time limit. */
void pump_program_ended(struct pump_stream *s);
/* Closes the source. Bytes that were read already can still be written. */
void pump_close(struct pump_stream *s);
/* Returns whether the stream has neither source nor pending bytes. */
bool pump_finished(const struct pump_stream *s);
/* Returns in how many ms pump_step should be called without any descriptor being ready; -1:
 * never. */
int pump_timeout(const struct pump_stream *s, int64_t now_ns);
/* Returns whether the source is to be polled for input now. */
bool pump_wants_input(const struct pump_stream *s);
#endif
