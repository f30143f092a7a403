/* logs_lines.c: reads a text file line by line; see logs_lines.h. */
#include "logs/logs_lines.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { LINES_BLOCK = 1 << 20 };

int logs_each_line(int folder, const char *name, int (*each)(void *context, struct str line, struct err *err), void *context,
                   struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, LOGS_LINES_MAX + LINES_BLOCK);
    CLEANUP_FD int fd = name[0] == '/' ? place_open_named(name) : place_open(folder, name, O_RDONLY, 0);
    int rc = 0;
    if (fd < 0)
        return errno == ENOENT ? 0 : err_sys(err, "cannot read %s", name);
    for (ssize_t n = 1; rc == 0 && n > 0;) {
        char *p = buf_room(&text, LINES_BLOCK);
        n = p ? read(fd, p, LINES_BLOCK) : 0;
        if (!p)
            return err_set(err, ERR_INPUT, "cannot read %s: a line is longer than %d bytes", name, LOGS_LINES_MAX);
        if (n < 0)
            return err_sys(err, "cannot read %s", name);
        text.n += (size_t)n;
        size_t at = 0;
        for (const char *end; rc == 0 && (end = memchr(text.p + at, '\n', text.n - at)); at = (size_t)(end - text.p) + 1)
            rc = each(context, (struct str){text.p + at, (size_t)(end - text.p) - at}, err);
        memmove(text.p, text.p + at, text.n - at);
        text.n -= at;
    }
    return rc;
}
