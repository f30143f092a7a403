/* stream.h: store one captured stream in the spool: the complete head, the tail in rotating segments.
 *
 * Files in the spool directory: `<name>` holds the first half of the limit, `<name>.tail.<k>` the k-th piece (of half the limit each)
 * behind it; a segment is removed when two newer ones exist. So any crash leaves the head and at least half of the limit's tail. */
#ifndef WRAPPER_RUN_STREAM_H
#define WRAPPER_RUN_STREAM_H
#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct spool_stream {
    int dir;            /* spool directory (borrowed) */
    const char *name;   /* "stdout.log" */
    uint64_t half;      /* bytes of head, and of each tail segment; 0: nothing is kept */
    uint64_t total;     /* bytes written so far */
    int fd;             /* file of the piece being written, -1 none yet */
    int error;          /* errno of the last write that failed, 0: none */
    uint64_t lost;      /* bytes that could not be written */
};

/* Begins a stream. Nothing is made on disk until the first byte. */
void spool_stream_init(struct spool_stream *s, int dir, const char *name, uint64_t log_max);
/* Stores n more bytes. Never fails: counts in ->lost what cannot be written. */
void spool_stream_write(struct spool_stream *s, const void *p, size_t n);
void spool_stream_deinit(struct spool_stream *s);

/* What is kept of a stream, reconstructed from the files alone. */
struct spool_stream_kept {
    uint64_t total;     /* bytes the stream had */
    uint64_t head;      /* bytes at its beginning that are kept */
    uint64_t cut;       /* bytes in the middle that are not */
    uint64_t tail;      /* bytes at its end that are kept */
};
/* Computes what is kept from the sizes of the stream's files; an absent stream has no bytes. */
void spool_stream_inspect(int dir, const char *name, uint64_t log_max, struct spool_stream_kept *ret);
/* Passes the stored bytes in order to `piece`, and calls `cut` between head and tail if bytes were cut.
 * 0; -1 with err. */
int spool_stream_feed(int dir, const char *name, uint64_t log_max, void (*piece)(void *context, const void *p, size_t n),
                void (*cut)(void *context, uint64_t bytes), void *context, struct err *err);
/* Passes each stored line that is not empty to `line`, without its end, at most STREAM_LINE_MAX bytes. */
enum { STREAM_LINE_MAX = 512 };
void spool_stream_lines(int dir, const char *name, uint64_t log_max, void (*line)(void *context, struct str line), void *context);
/* Makes one file of the stream: `name` itself if that is complete, else `<name>.whole` (head, a line
 * with the number of cut bytes, tail). *ret_file: `name` or text in `path`; NULL: no bytes. Can be
 * repeated after a crash. 0; -1 with err. */
int spool_stream_join(int dir, const char *name, uint64_t log_max, struct buf *path, const char **ret_file, struct err *err);
#endif
