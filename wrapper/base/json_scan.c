/* json_scan.c: read members of a large JSON text front to back; see json_scan.h. */
#include "base/json_scan.h"

#include <string.h>

struct json_scan json_scan_of(struct str text)
{
    return (struct json_scan){.p = text.p, .end = text.p + text.n};
}

static bool scan_damaged(struct json_scan *s)
{
    s->damaged = true;
    s->p = s->end;
    return false;
}

/* Moves to the next character that is no blank, and returns it; 0: none. */
static char scan_next(struct json_scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
    return s->p < s->end ? *s->p : 0;
}

bool json_scan_enter(struct json_scan *s)
{
    if (s->damaged || scan_next(s) != '{')
        return false;
    s->p++;
    return true;
}

/* Reads to the end of a text, from after its first quote to after its last one; *ret is what is
 * between. False: it has no end. */
static bool scan_quoted(struct json_scan *s, struct str *ret)
{
    const char *begin = s->p;
    for (;;) {
        const char *quote = memchr(s->p, '"', (size_t)(s->end - s->p));
        size_t slashes = 0;
        if (!quote)
            return scan_damaged(s);
        while (quote - slashes > begin && quote[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        s->p = quote + 1;
        if (slashes % 2 == 0) {
            *ret = (struct str){begin, (size_t)(quote - begin)};
            return true;
        }
    }
}

/* Steps over the comma before a member, or out of the bracket that ends here. */
static bool scan_goes_on(struct json_scan *s)
{
    char c = s->damaged ? 0 : scan_next(s);
    if (c == '}') {
        s->p++;
        return false;
    }
    if (c == ',') {
        s->p++;
        c = scan_next(s);
    }
    return c ? true : scan_damaged(s);
}

bool json_scan_member(struct json_scan *s, struct str *ret_key)
{
    if (!scan_goes_on(s))
        return false;
    if (*s->p != '"')
        return scan_damaged(s);
    s->p++;
    if (!scan_quoted(s, ret_key) || scan_next(s) != ':')
        return scan_damaged(s);
    s->p++;
    return true;
}

bool json_scan_text(struct json_scan *s, struct str *ret)
{
    if (s->damaged || scan_next(s) != '"')
        return false;
    s->p++;
    return scan_quoted(s, ret);
}

static bool scan_is_end(char c)
{
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool json_scan_number(struct json_scan *s, double *ret)
{
    char c = s->damaged ? 0 : scan_next(s);
    size_t n = 0;
    if (c != '-' && !str_is_digit(c))
        return false;
    while (s->p + n < s->end && !scan_is_end(s->p[n]))
        n++;
    if (!str_double((struct str){s->p, n}, ret))
        return scan_damaged(s);
    s->p += n;
    return true;
}

bool json_scan_value(struct json_scan *s, struct str *ret)
{
    struct str text;
    size_t depth = 0;
    char c = s->damaged ? 0 : scan_next(s);
    const char *begin = s->p;
    if (!c || c == ',' || c == ':' || c == '}' || c == ']')
        return scan_damaged(s);
    do {
        c = scan_next(s);
        if (!c)
            return scan_damaged(s);
        s->p++;
        if (c == '"') {
            if (!scan_quoted(s, &text))
                return false;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        } else if (c != ',' && c != ':') {
            while (s->p < s->end && !scan_is_end(*s->p) && *s->p != ':')
                s->p++;
        }
    } while (depth);
    *ret = (struct str){begin, (size_t)(s->p - begin)};
    return true;
}
