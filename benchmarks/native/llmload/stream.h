/* stream.h: cuts a reply's body into events: server-sent events, lines of JSON, or one JSON text.
 *
 * Bytes come in pieces cut anywhere; the same bytes yield the same events, however they were cut.
 * Events that are completely in a piece are read in place. */
#ifndef LLMLOAD_STREAM_H
#define LLMLOAD_STREAM_H
#include "benchmarks/native/llmload/event.h"
#include "base/buf.h"

enum stream_framing { FRAMING_UNKNOWN /* found from the first bytes */, FRAMING_SSE, FRAMING_LINES, FRAMING_JSON };
enum { STREAM_EVENT_MAX = 16 << 20 }; /* longest line, event or JSON text, in bytes */

enum stream_trouble {
    STREAM_FINE,
    STREAM_MALFORMED,
    STREAM_TOO_LONG,
    STREAM_WRONG_TYPE,
    STREAM_CODING /* set from outside: compressed, and damaged */
};

/* The event read last that was content alone: the next one of the stream mostly differs in that
 * string only. Where everything before and behind is the same and no quote or backslash is
 * between, it is the same kind of event, and need not be read again. */
struct stream_memo {
    struct buf line; /* a copy; n 0: none */
    size_t before, behind; /* bytes of it before and behind the content */
    struct event e; /* its texts point nowhere */
};

struct reply_stream {
    struct stream_memo memo;
    struct buf line, data; /* what is not complete yet: a line; an event's data */
    uint8_t framing, trouble;
    bool lines; /* where it must be guessed, {…} are lines */
    bool cr; /* the last byte was CR: an LF now belongs to it */
    bool begun; /* a byte order mark cannot come any more */
    bool has_data; /* data: lines were in this event */
    bool named_error; /* event: error */
    bool done; /* [DONE] was there */
    uint32_t after_done; /* events after it, which are not read */
    uint32_t events;
    size_t behind; /* bytes of the last piece behind its last event; without one, the piece */
};

/* Called for each event (not for [DONE]); e and its texts live until it returns. */
typedef void stream_take(void *context, const struct event *e);

/* Begins, with nothing allocated. lines: with FRAMING_UNKNOWN a text that begins with '{' is lines
 * of JSON, not one text. The caller ends it with reply_stream_deinit. */
void reply_stream_init(struct reply_stream *s, enum stream_framing framing, bool lines);
void reply_stream_deinit(struct reply_stream *s);
/* Prepares the stream for a new reply as reply_stream_init does; memory of the previous reply is
 * used again where it is small. The memo stays. */
void stream_reset(struct reply_stream *s, enum stream_framing framing, bool lines);
/* Reads the next bytes, and passes on the events that are complete. Returns false after trouble,
 * which is in s->trouble; nothing more is read then. One JSON text is passed on by stream_end. */
bool reply_stream_feed(struct reply_stream *s, const char *p, size_t n, stream_take *take, void *context);
/* Ends the body: passes on an event without its last line end, or the one JSON text. Returns false
 * after trouble. */
bool stream_end(struct reply_stream *s, stream_take *take, void *context);
#endif
