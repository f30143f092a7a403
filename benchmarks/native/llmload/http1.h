/* http1.h: reads an HTTP/1.x reply that comes in pieces cut anywhere (RFC 9112): head, then the
 * body's bytes in place. */
#ifndef LLMLOAD_HTTP1_H
#define LLMLOAD_HTTP1_H
#include "base/buf.h"

enum { HTTP1_HEAD_MAX = 64 << 10 };

enum http1_got {
    HTTP1_MORE, /* all bytes are used up */
    HTTP1_HEAD, /* the head is complete: status and the other fields are there */
    HTTP1_BODY, /* *ret are bytes of the body */
    HTTP1_END, /* the reply is complete; what is left belongs to none */
    HTTP1_BAD, /* not HTTP, or its framing contradicts itself */
    HTTP1_TOO_LONG
};
enum http1_type { HTTP1_TYPE_NONE, HTTP1_TYPE_SSE, HTTP1_TYPE_NDJSON, HTTP1_TYPE_JSON, HTTP1_TYPE_HTML, HTTP1_TYPE_OTHER };

struct http1 {
    struct buf head; /* an incomplete head */
    uint64_t left; /* bytes of the body, or of its chunk, that are to come */
    uint8_t state; /* private */
    uint8_t type; /* enum http1_type */
    uint8_t digits; /* of a chunk's size */
    bool keep_alive, gzip, strange_encoding;
    uint16_t status;
};

/* Begins, with nothing allocated; the caller ends it with http1_deinit. */
void http1_init(struct http1 *h);
/* Prepares for the next reply. */
void http1_reset(struct http1 *h);
void http1_deinit(struct http1 *h);
/* Reads on, and moves *p and *n over what it has used. Returns what came; with HTTP1_BODY, *ret is in the caller's bytes. */
enum http1_got http1_next(struct http1 *h, const char **p, size_t *n, struct str *ret);
/* Returns whether the reply is complete when the server closes the connection now. */
bool http1_eof_is_end(const struct http1 *h);
/* Reads one line of a head that the caller has cut: a status line, which begins a new reply, or a
 * field. Returns false where it cannot be understood. */
bool http1_line(struct http1 *h, struct str line);
/* Returns whether all of a chunk has come but the line end behind it. */
bool http1_before_chunk_end(const struct http1 *h);
/* Returns whether any byte of a reply has come. */
bool http1_begun(const struct http1 *h);
#endif
