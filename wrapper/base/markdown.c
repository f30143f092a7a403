/* markdown.c: foreign text on the page of a forge. */
#include "base/markdown.h"

#include <string.h>

void markdown_text(struct buf *to, const char *text, size_t max)
{
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, 1 << 20);
    if (!text || !*text)
        return;
    buf_plain(&plain, str_of(text), max);
    buf_puts(to, "<code>");
    for (size_t i = 0; i < plain.n; i++) {
        char c = plain.p[i];
        if (strchr("\\`*_{}[]()#+!|<>~@:$&\"'", c))
            buf_printf(to, "&#%d;", c);
        else
            buf_putc(to, c);
    }
    buf_puts(to, "</code>");
}
