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
    const char *from = strstr(url, "://"), *end = from ? from + 3 + strcspn(from + 3, "/?#") : url, *query = strpbrk(url, "?#");
    const char *at = from ? memrchr(from + 3, '@', (size_t)(end - from - 3)) : NULL;
    if (from)
        buf_plain(to, (struct str){url, (size_t)(from - url) + 3}, 20);
    const char *rest = at ? at + 1 : from ? from + 3 : url;
    buf_plain(to, query && query > rest ? (struct str){rest, (size_t)(query - rest)} : str_of(rest),
              200); /* a query may hold a signature */
}
