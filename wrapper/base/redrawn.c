/* redrawn.c: lines that were written for a terminal; see redrawn.h. The sequences are those of ECMA-48, which xterm and other terminals follow. */
#include "base/redrawn.h"

#include "base/utf8.h"

#include <string.h>

enum { ESC = 0x1b, BELL = 7, NOT_SAVED = -1 };

struct escape {
    char kind, last; /* '[': a control sequence; else the byte behind ESC. last: what ends it, "K" of "ESC [ 2 K" */
    unsigned number; /* the first one of a control sequence */
    size_t n; /* bytes in all */
};

struct drawing {
    char *to;
    size_t n;
    ptrdiff_t saved; /* length at which the program saved the cursor */
};

bool redrawn_has_escapes(struct str line)
{
    return line.n && (memchr(line.p, ESC, line.n) || memchr(line.p, '\b', line.n));
}

/* Texts up to BEL or ESC \: titles, device control, messages. */
static size_t string_length(struct str s)
{
    size_t i = 2;
    while (i < s.n && s.p[i] != BELL && s.p[i] != ESC)
        i++;
    return i < s.n && s.p[i] == ESC ? i + 2 : i + 1;
}

/* Reads the escape sequence at the beginning of s, which begins with ESC. */
static struct escape escape_read(struct str s)
{
    struct escape e = {.kind = s.n > 1 ? s.p[1] : 0, .n = 2};
    if (e.kind == '[') {
        size_t i = 2;
        for (; i < s.n && str_is_digit(s.p[i]) && e.number < 10000; i++)
            e.number = e.number * 10 + (unsigned)(s.p[i] - '0');
        while (i < s.n && !(s.p[i] >= 0x40 && s.p[i] <= 0x7e))
            i++;
        e.last = i < s.n ? s.p[i] : 0;
        e.n = i + 1;
    } else if (e.kind && strchr("]P^_X", e.kind)) {
        e.n = string_length(s);
    } else if (e.kind >= 0x20 && e.kind <= 0x2f) { /* "ESC ( B" of tput sgr0 */
        while (e.n < s.n && s.p[e.n - 1] >= 0x20 && s.p[e.n - 1] <= 0x2f)
            e.n++;
    }
    e.n = e.n < s.n ? e.n : s.n;
    return e;
}

static void drawing_back(struct drawing *d, unsigned characters)
{
    for (; characters && d->n && d->to[d->n - 1] != '\r'; characters--)
        do
            d->n--;
        while (d->n && utf8_is_inside(d->to[d->n]));
}

static void drawing_erase(struct drawing *d, unsigned which)
{
    if (which == 1 || which == 2 || (d->n && d->to[d->n - 1] == '\r'))
        d->n = 0;
}

static void drawing_restore(struct drawing *d)
{
    if (d->saved == NOT_SAVED)
        d->to[d->n++] = '\r';
    else if ((size_t)d->saved < d->n)
        d->n = (size_t)d->saved;
}

/* Applies an escape sequence to the line. What it adds is shorter than the sequence. */
static void drawing_apply(struct drawing *d, const struct escape *e)
{
    if (e->kind == '7' || e->last == 's')
        d->saved = (ptrdiff_t)d->n;
    else if (e->kind == '8' || e->last == 'u')
        drawing_restore(d);
    else if (e->last == 'K')
        drawing_erase(d, e->number);
    else if (e->last == 'J' && e->number >= 2)
        d->n = 0;
    else if (e->last == 'C')
        d->to[d->n++] = ' ';
    else if (e->last == 'D')
        drawing_back(d, e->number ? e->number : 1);
    else if ((e->last == 'G' && e->number <= 1) || (e->last && strchr("ABEFHdf", e->last)))
        d->to[d->n++] = '\r';
}

size_t redrawn_plain(struct str line, char *to)
{
    struct drawing d = {.to = to, .saved = NOT_SAVED};
    for (size_t i = 0; i < line.n;) {
        if (line.p[i] == ESC) {
            const struct escape e = escape_read(str_sub(line, i, line.n));
            i += e.n;
            drawing_apply(&d, &e);
        } else if (line.p[i] == '\b') {
            i++;
            drawing_back(&d, 1);
        } else
            to[d.n++] = line.p[i++];
    }
    return d.n;
}

/* Returns whether the text is a mark that is drawn over the beginning of a line, whose rest stays:
 * " 1#", "|", "3/5". Percentages and fractions may be values. */
static bool is_mark(struct str s)
{
    enum { MARK_MAX = 4 };
    if (!str_trim(s).n || s.n > MARK_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z') || strchr("%.,", s.p[i]))
            return false;
    return str_find(s, STR("#")) >= 0 || str_find(s, STR("/")) >= 0 || (!str_is_digit(s.p[0]) && !str_is_digit(s.p[s.n - 1]));
}

static struct str behind_return(struct str line)
{
    const char *again = line.n ? memrchr(line.p, '\r', line.n) : NULL;
    return again ? str_sub(line, (size_t)(again - line.p) + 1, line.n) : line;
}

struct str redrawn_last(struct str line)
{
    struct str last = behind_return(line);
    if (last.n == line.n || !is_mark(last))
        return last;
    line.n -= last.n;
    while (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line.n ? behind_return(line) : last;
}
