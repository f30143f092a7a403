/* buf.h: text being built; grows up to a maximum, and errors stick.
 *
 * Every buffer states its maximum: foreign text is endless. A buffer that ran out
 * of memory or met its maximum sets `failed` and ignores what follows, so that one
 * check at the end is enough. The text is always NUL-terminated once anything was added. */
#ifndef BASE_BUF_H
#define BASE_BUF_H
#include "base/str.h"

#include <stdarg.h>

struct buf {
    char *p;
    size_t n, size, max;
    bool failed;
};

/* Begins an empty buffer for at most max bytes, with nothing allocated. The caller ends it with
 * buf_deinit. */
void buf_init(struct buf *b, size_t max);
/* Frees the text. The buffer is empty, keeps its maximum, and may be used again. */
void buf_deinit(struct buf *b);
/* Empties the buffer and resets `failed`. Memory and maximum stay. */
void buf_clear(struct buf *b);
/* Append bytes, text or a formatted text. On failure nothing of it is appended, and `failed` is
 * set. */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_puts(struct buf *b, const char *z);
void buf_putc(struct buf *b, char c);
void buf_str(struct buf *b, struct str s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Returns b->p + b->n, with capacity for n more bytes and a NUL there. The caller writes them, and
 * adds their number to b->n. NULL on failure. */
char *buf_room(struct buf *b, size_t n);
/* Returns the text, valid until the buffer changes; "" where nothing was added. */
struct str buf_text(const struct buf *b);

/* Appends s as a JSON string with its quotes: control characters escaped, non-BMP raw, invalid
 * bytes as U+FFFD. Such a string is also a valid double-quoted YAML scalar. */
void buf_json(struct buf *b, struct str s);
/* Appends a double that reads back equal, shortest of %.15g, %.16g, %.17g; "NaN", "Infinity",
 * "-Infinity". */
void buf_double(struct buf *b, double v);
/* Appends s made harmless for a terminal: valid UTF-8, control characters (ESC, C1 too) as \xNN,
 * marks that change the direction of text as \uNNNN, at most max characters, "..." marks a cut. */
void buf_plain(struct buf *b, struct str s, size_t max);
/* Appends s as valid UTF-8: each invalid byte and each NUL becomes U+FFFD. */
void buf_utf8(struct buf *b, struct str s);
#define CLEANUP_BUF __attribute__((cleanup(buf_deinit)))
#endif
