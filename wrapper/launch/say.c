/* say.c: the launcher's own lines on stderr: harmless for terminals, and without blocking where no
 * process reads them. */
#include "launch/say.h"

#include "base/buf.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

enum { SAY_WAIT_MS = 200, SAY_MAX = 16 << 10 };

/* Writes the text to a stream that may be blocked. Drops the rest after SAY_WAIT_MS milliseconds of
 * waiting, or an error. */
static void say_write(struct out *to, struct str text)
{
    int waits = SAY_WAIT_MS / 10, tries = 20;
    while (text.n && tries) {
        ssize_t k = out_write(to, text.p, text.n);
        if (k > 0) {
            text = str_sub(text, (size_t)k, text.n);
            continue;
        }
        tries--;
        if (k < 0 && errno == EAGAIN && waits--) {
            struct pollfd can = {.fd = to->fd, .events = POLLOUT};
            poll(&can, 1, 10);
            tries++;
        } else if (k < 0 && errno != EINTR && errno != EIO)
            return;
    }
}

/* Returns the length of a colour at p ("ESC [ digits m"), which the recorder itself has set; 0:
 * none. Foreign text has no ESC. */
static size_t colour_length(const char *p, size_t n)
{
    size_t i = 2;
    if (n < 4 || p[0] != '\033' || p[1] != '[')
        return 0;
    while (i < n && i < 5 && str_is_digit(p[i]))
        i++;
    return i > 2 && i < n && p[i] == 'm' ? i + 1 : 0;
}

/* Appends the line, made harmless; on a terminal colours stay. */
static void put_coloured(struct buf *line, struct str text, bool coloured)
{
    size_t from = 0;
    for (size_t i = 0; coloured && i < text.n; i++) {
        size_t n = colour_length(text.p + i, text.n - i);
        if (!n)
            continue;
        buf_plain(line, str_sub(text, from, i - from), 2000);
        buf_add(line, text.p + i, n);
        from = i + n;
        i = from - 1;
    }
    buf_plain(line, str_sub(text, from, text.n), 2000);
}

/* Writes each line of the text, made harmless, with `before` in front of it; at most SAY_MAX bytes,
 * or where there is no memory that fact. */
static void put_plain(struct out *to, const char *before, const char *text)
{
    if (to->way == OUT_CLOSED)
        return;
    CLEANUP_BUF struct buf line;
    buf_init(&line, SAY_MAX);
    struct str rest = str_of(text);
    while (rest.p && rest.n) {
        buf_puts(&line, before);
        put_coloured(&line, str_cut(&rest, '\n'), to->is_tty);
        buf_putc(&line, '\n');
    }
    if (line.failed && !line.n)
        say_write(to, STR("benchwrap: out of memory\n"));
    say_write(to, buf_text(&line));
}

void say_line(struct out *to, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put_plain(to, "benchwrap: ", text);
}

void say_text(struct out *to, const char *text)
{
    put_plain(to, "", text);
}

void say_stderr(const char *fmt, ...)
{
    char text[2048];
    struct out to;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    out_open(&to, 2);
    put_plain(&to, "benchwrap: ", text);
    out_close(&to);
}
