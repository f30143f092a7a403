/* html_out.c: foreign text in HTML and SVG; see html_out.h. */
#include "base/html_out.h"
#include "base/utf8.h"

#include <string.h>

enum { TEXT_MAX = 4000 };

/* Appends one character; returns its bytes. */
static size_t html_add_char(struct buf *to, struct str rest)
{
    size_t k = str_utf8(rest.p, rest.n);
    unsigned char c = (unsigned char)*rest.p;
    if (k == 0 || c < ' ' || c == 0x7f) {
        buf_printf(to, "\\x%02x", c);
        return 1;
    }
    unsigned point = utf8_code_point(rest.p, k);
    if (point >= 0x80 && point < 0xa0)
        buf_printf(to, "\\x%02x", point);
    else if (utf8_is_direction(point) || (point & 0xfffe) == 0xfffe)
        buf_printf(to, "\\u%04x", point);
    else if (c == '<')
        buf_puts(to, "&lt;");
    else if (c == '>')
        buf_puts(to, "&gt;");
    else if (c == '&')
        buf_puts(to, "&amp;");
    else if (c == '"')
        buf_puts(to, "&quot;");
    else if (c == '\'')
        buf_puts(to, "&#39;");
    else
        buf_add(to, rest.p, k);
    return k;
}

/* Characters at the beginning that stand for themselves, at most `max`: most of all text. */
static size_t html_plain_length(struct str s, size_t max)
{
    size_t n = 0;
    while (n < s.n && n < max && s.p[n] >= ' ' && s.p[n] < 0x7f && !strchr("<>&\"'", s.p[n]))
        n++;
    return n;
}

void html_text(struct buf *to, struct str text, size_t max)
{
    for (size_t i = 0, shown = 0; i < text.n; shown++) {
        size_t plain = html_plain_length(str_sub(text, i, text.n), max - shown);
        buf_add(to, text.p + i, plain);
        i += plain;
        shown += plain;
        if (i == text.n)
            return;
        char c = text.p[i];
        if (shown == max) {
            buf_puts(to, "…");
            return;
        }
        if (c == '\n' || c == '\r' || c == '\t') {
            buf_putc(to, ' ');
            i++;
        } else
            i += html_add_char(to, str_sub(text, i, text.n));
    }
}

/* Returns the number of bytes of a sequence ESC [ digits ; … m at the beginning, which sets colours
 * alone; 0: there is none. */
static size_t html_colour_sequence(struct str s)
{
    size_t i = 2;
    if (s.n < 3 || s.p[0] != '\x1b' || s.p[1] != '[')
        return 0;
    while (i < s.n && (str_is_digit(s.p[i]) || s.p[i] == ';'))
        i++;
    return i < s.n && s.p[i] == 'm' ? i + 1 : 0;
}

void html_lines(struct buf *to, struct str text)
{
    for (size_t i = 0; i < text.n;) {
        struct str rest = str_sub(text, i, text.n);
        size_t colours = html_colour_sequence(rest);
        if (colours) {
            i += colours;
        } else if (*rest.p == '\n' || *rest.p == '\t') {
            buf_putc(to, *rest.p);
            i++;
        } else if (*rest.p == '\r' && rest.n > 1 && rest.p[1] == '\n') {
            i++;
        } else
            i += html_add_char(to, rest);
    }
}

void html_path(struct buf *to, const char *path)
{
    const char *slash = strchr(path, '/'), *colon = strchr(path, ':');
    if (colon && (!slash || colon < slash))
        buf_puts(to, "./"); /* else the word before it is a scheme */
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (str_is_letter(*path) || str_is_digit(*path) || strchr("/-._~#=", *path))
            buf_putc(to, *path);
        else
            buf_printf(to, "%%%02X", c);
    }
}

void html_element(struct buf *to, const char *tag, const char *class, const char *text)
{
    if (class)
        buf_printf(to, "<%s class=\"%s\">", tag, class);
    else
        buf_printf(to, "<%s>", tag);
    html_text(to, str_of(text), TEXT_MAX);
    buf_printf(to, "</%s>\n", tag);
}

void html_link(struct buf *to, const char *path, const char *text)
{
    buf_puts(to, "<a href=\"");
    html_path(to, path);
    buf_puts(to, "\">");
    html_text(to, str_of(text), TEXT_MAX);
    buf_puts(to, "</a>");
}
