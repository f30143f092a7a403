/* buf.c: text being built; grows up to a maximum, and errors stick. */
#include "base/buf.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_deinit(struct buf *b)
{
    free(b->p);
    *b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->failed = false;
    if (b->p)
        b->p[0] = 0;
}

char *buf_room(struct buf *b, size_t n)
{
    if (b->failed || n > b->max || b->n > b->max - n) {
        b->failed = true;
        return NULL;
    }
    if (b->size - b->n <= n) {
        size_t size = b->size ? b->size * 2 : 256;
        while (size <= b->n + n)
            size *= 2;
        char *p = realloc(b->p, size);
        if (!p) {
            b->failed = true;
            return NULL;
        }
        b->p = p;
        b->size = size;
    }
    return b->p + b->n;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    char *to = buf_room(b, n);
    if (!to)
        return;
    if (n)
        memcpy(to, p, n);
    b->n += n;
    b->p[b->n] = 0;
}

void buf_puts(struct buf *b, const char *z)
{
    buf_add(b, z, strlen(z));
}

void buf_putc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_str(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    size_t room = b->failed ? 0 : b->size - b->n; /* mostly enough: then it is formatted once */
    int n = vsnprintf(room ? b->p + b->n : NULL, room, fmt, ap);
    b->failed = b->failed || n < 0; /* longer than INT_MAX */
    char *to = n < 0 ? NULL : buf_room(b, (size_t)n);
    if (to) {
        if ((size_t)n >= room)
            vsnprintf(to, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    } else if (room)
        b->p[b->n] = 0;
    va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

struct str buf_text(const struct buf *b)
{
    return (struct str){b->p ? b->p : "", b->n};
}

/* Returns the code point of a mark that changes the direction of text, or of a separator of lines;
 * 0: it is none. */
static unsigned direction_mark(const char *p, size_t k)
{
    unsigned code = utf8_code_point(p, k);
    return utf8_is_direction(code) ? code : 0;
}

/* Returns how many bytes at the beginning of p stand for themselves in a JSON string. */
static size_t json_plain(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

void buf_json(struct buf *b, struct str s)
{
    buf_putc(b, '"');
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i];
        size_t k = json_plain(s.p + i, s.n - i);
        if (k > 0) {
            buf_add(b, s.p + i, k);
            i += k;
            continue;
        }
        k = str_utf8(s.p + i, s.n - i);
        if (k == 0) {
            buf_puts(b, "\xef\xbf\xbd");
            k = 1;
        } else if (c == '"' || c == '\\') {
            buf_putc(b, '\\');
            buf_putc(b, (char)c);
        } else if (c == '\n')
            buf_puts(b, "\\n");
        else if (c == '\t')
            buf_puts(b, "\\t");
        else if (c == '\r')
            buf_puts(b, "\\r");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(b, "\\u%04x", c);
        else if (k == 2 && c == 0xc2 && (unsigned char)s.p[i + 1] < 0xa0) /* C1 controls: not printable in YAML */
            buf_printf(b, "\\u%04x", (unsigned)(unsigned char)s.p[i + 1]);
        else if (k == 3 && (unsigned char)s.p[i] == 0xef && (unsigned char)s.p[i + 1] == 0xbf && (unsigned char)s.p[i + 2] >= 0xbe)
            buf_printf(b, "\\uff%02x", (unsigned)(unsigned char)s.p[i + 2] + 0x40u); /* U+FFFE, U+FFFF */
        else if (direction_mark(s.p + i, k)) /* JSON may come to a terminal or an editor */
            buf_printf(b, "\\u%04x", direction_mark(s.p + i, k));
        else
            buf_add(b, s.p + i, k);
        i += k;
    }
    buf_putc(b, '"');
}

void buf_double(struct buf *b, double v)
{
    if (isnan(v)) {
        buf_puts(b, "NaN");
        return;
    }
    if (isinf(v)) {
        buf_puts(b, v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    buf_puts(b, text);
}

void buf_plain(struct buf *b, struct str s, size_t max)
{
    size_t shown = 0;
    for (size_t i = 0, k; i < s.n; i += k, shown++) {
        if (shown == max) {
            buf_puts(b, "...");
            return;
        }
        unsigned char c = (unsigned char)s.p[i];
        k = str_utf8(s.p + i, s.n - i);
        bool c1 = k == 2 && c == 0xc2 && (unsigned char)s.p[i + 1] < 0xa0;
        if (k == 0 || c < 0x20 || c == 0x7f) {
            buf_printf(b, "\\x%02x", c);
            k = 1;
        } else if (c1)
            buf_printf(b, "\\x%02x", (unsigned)(unsigned char)s.p[i + 1]);
        else if (direction_mark(s.p + i, k))
            buf_printf(b, "\\u%04x", direction_mark(s.p + i, k));
        else
            buf_add(b, s.p + i, k);
    }
}

void buf_utf8(struct buf *b, struct str s)
{
    for (size_t i = 0, k; i < s.n; i += k) {
        k = s.p[i] ? str_utf8(s.p + i, s.n - i) : 0;
        if (k)
            buf_add(b, s.p + i, k);
        else {
            buf_puts(b, "\xef\xbf\xbd");
            k = 1;
        }
    }
}
