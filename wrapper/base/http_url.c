/* http_url.c: addresses as text: parts of them made, and what may be shown of them. */
#include "base/http.h"

void http_escape(struct buf *to, struct str s, bool keep_slash)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || memchr("-._~", c, 4) || (c == '/' && keep_slash);
        if (plain)
            buf_putc(to, (char)c);
        else
            buf_printf(to, "%%%02X", c);
    }
}

void http_print_url(struct buf *to, const char *url)
{
    struct str rest = {url, strcspn(url, "?#")}; /* a query may hold a signature */
    ptrdiff_t scheme = str_find(rest, STR("://"));
    if (scheme >= 0) {
        buf_plain(to, str_sub(rest, 0, (size_t)scheme + 3), 20);
        rest = str_sub(rest, (size_t)scheme + 3, rest.n);
        const char *slash = memchr(rest.p, '/', rest.n), *at = memrchr(rest.p, '@', slash ? (size_t)(slash - rest.p) : rest.n);
        if (at)
            rest = str_sub(rest, (size_t)(at + 1 - rest.p), rest.n);
    }
    buf_plain(to, rest, 200);
}
