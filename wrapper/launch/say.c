/* say.c: the launcher's own lines on stderr: harmless for terminals, and never in the way when nobody reads them. */
#include "launch/say.h"

#include "base/buf.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

enum { SAY_WAIT_MS = 200, SAY_MAX = 16 << 10 };

static void put(struct out *to, struct str text)
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

static void put_plain(struct out *to, const char *before, const char *text)
{
    if (to->way == OUT_CLOSED)
        return;
    CLEANUP_BUF struct buf line;
    buf_init(&line, SAY_MAX);
    struct str rest = str_of(text);
    while (rest.p && rest.n) {
        buf_puts(&line, before);
        buf_plain(&line, str_cut(&rest, '\n'), 2000);
        buf_putc(&line, '\n');
    }
    if (line.failed && !line.n) /* no memory: the bare fact is better than nothing, when it is ours */
        put(to, STR("benchwrap: out of memory\n"));
    put(to, buf_text(&line));
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
