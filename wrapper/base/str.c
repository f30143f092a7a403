/* str.c: borrowed text (pointer and length); split, trim, compare, numbers. */
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>

bool str_is_anycase(struct str a, const char *z)
{
    size_t i = 0;
    if (a.n != strlen(z)) /* most names differ in length already */
        return false;
    while (i < a.n && str_lower(a.p[i]) == str_lower(z[i]))
        i++;
    return i == a.n;
}

bool str_ends_anycase(struct str s, const char *z)
{
    size_t n = strlen(z);
    return s.n >= n && str_is_anycase(str_sub(s, s.n - n, n), z);
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* Returns which power of 1024 the letter at *at means, if a word of a size ends there: 4k, 4K,
 * 4KiB, 4kb; and moves *at behind it. 0: it is none. */
static unsigned read_multiple(const char **at)
{
    static const char letters[] = "kmgt";
    const char *p = *at, *found = *p ? strchr(letters, str_lower(*p)) : NULL;
    if (!found)
        return 0;
    p++;
    p += *p == 'i';
    p += str_lower(*p) == 'b';
    if (str_is_letter(*p) || str_is_digit(*p))
        return 0;
    *at = p;
    return (unsigned)(found - letters) + 1;
}

/* Returns the number that begins here and moves *at behind it. A second point makes a version or an
 * address: only the part before it is read. */
static double read_natural_number(const char **at)
{
    const char *p = *at;
    double value = 0, place = 1;
    for (; str_is_digit(*p); p++)
        value = value * 10 + (*p - '0');
    if (*p == '.' && str_is_digit(p[1])) {
        const char *end = p + 1;
        while (str_is_digit(*end))
            end++;
        if (*end != '.' || !str_is_digit(end[1]))
            for (p++; p < end; p++)
                value += (*p - '0') * (place /= 10);
    }
    for (unsigned n = read_multiple(&p); n; n--)
        value *= 1024;
    *at = p;
    return value;
}

int str_natural(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        if (str_is_digit(*x) && str_is_digit(*y)) {
            double left = read_natural_number(&x), right = read_natural_number(&y);
            if (left != right)
                return left < right ? -1 : 1;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++;
            y++;
        }
    }
    return *x ? 1 : *y ? -1 : strcmp(a, b);
}

int str_natural_order(const void *a, const void *b)
{
    return str_natural(*(const char *const *)a, *(const char *const *)b);
}

bool str_starts(struct str s, const char *z)
{
    size_t n = strlen(z);
    return s.n >= n && memcmp(s.p, z, n) == 0;
}

bool str_ends(struct str s, const char *z)
{
    size_t n = strlen(z);
    return s.n >= n && memcmp(s.p + s.n - n, z, n) == 0;
}

ptrdiff_t str_find(struct str s, struct str z)
{
    if (z.n == 0)
        return 0;
    const char *at = s.n ? memmem(s.p, s.n, z.p, z.n) : NULL;
    return at ? at - s.p : -1;
}

bool str_has(struct str s, const char *z)
{
    return str_find(s, str_of(z)) >= 0;
}

static bool is_blank_char(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int str_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool str_hex(struct str s, size_t n)
{
    bool good = s.n == n;
    for (size_t i = 0; i < n && good; i++)
        good = str_is_digit(s.p[i]) || (s.p[i] >= 'a' && s.p[i] <= 'f');
    return good;
}

struct str str_trim(struct str s)
{
    while (s.n && is_blank_char(s.p[0]))
        s.p++, s.n--;
    while (s.n && is_blank_char(s.p[s.n - 1]))
        s.n--;
    return s;
}

struct str str_sub(struct str s, size_t from, size_t n)
{
    if (from > s.n)
        from = s.n;
    if (n > s.n - from)
        n = s.n - from;
    return (struct str){s.p + from, n};
}

struct str str_cut(struct str *rest, char sep)
{
    struct str s = *rest;
    const char *at = s.n ? memchr(s.p, sep, s.n) : NULL;
    if (!at) {
        *rest = (struct str){NULL, 0};
        return s;
    }
    *rest = (struct str){at + 1, s.n - (size_t)(at - s.p) - 1};
    return (struct str){s.p, (size_t)(at - s.p)};
}

struct str str_word(struct str *rest)
{
    while (rest->n && is_blank_char(rest->p[0]))
        rest->p++, rest->n--;
    struct str w = {rest->p, 0};
    while (w.n < rest->n && !is_blank_char(rest->p[w.n]))
        w.n++;
    rest->p += w.n;
    rest->n -= w.n;
    return w;
}

bool str_has_word(const char *words, struct str word)
{
    struct str rest = str_of(words ? words : "");
    for (struct str w; (w = str_word(&rest)).n;)
        if (str_eq(w, word))
            return true;
    return false;
}

/* Copies what may be a number, since strto* need an end. False: it is empty, longer than 63 bytes,
 * or begins as no number does. */
static bool number_text(struct str s, char to[64])
{
    if (s.n == 0 || s.n > 63)
        return false;
    char c = s.p[0];
    if (!((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'i' || c == 'I' || c == 'n' || c == 'N'))
        return false;
    memcpy(to, s.p, s.n);
    to[s.n] = 0;
    return strlen(to) == s.n;
}

bool str_int(struct str s, int64_t *ret)
{
    char text[64], *end;
    if (!number_text(s, text))
        return false;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || *end || end == text)
        return false;
    *ret = v;
    return true;
}

bool str_uint(struct str s, uint64_t *ret)
{
    char text[64], *end;
    if (!number_text(s, text) || text[0] == '-')
        return false;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || *end || end == text)
        return false;
    *ret = v;
    return true;
}

bool str_based(struct str s, unsigned base, uint64_t *ret)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t v = 0;
    if (base == 16 && str_starts(s, "0x"))
        s = str_sub(s, 2, s.n);
    for (size_t i = 0; i < s.n; i++) {
        const char *at = memchr(digits, s.p[i] | (s.p[i] >= 'A' ? 0x20 : 0), base);
        if (!at || v > UINT64_MAX / base)
            return false;
        v = v * base + (uint64_t)(at - digits);
    }
    if (s.n == 0)
        return false;
    *ret = v;
    return true;
}

/* Reads a number. Decimals longer than 63 characters exist (1e-300 printed with %f): strtod reads a
 * copy of those from malloc. */
bool str_double(struct str s, double *ret)
{
    char text[64], *big = NULL, *at = text, *end;
    if (s.n > 63 && s.n < 2048) {
        big = malloc(s.n + 1);
        if (!big)
            return false;
        memcpy(big, s.p, s.n);
        big[s.n] = 0;
        at = big;
        if (strlen(big) != s.n || !strchr("0123456789+-.", big[0])) {
            free(big);
            return false;
        }
    } else if (!number_text(s, text))
        return false;
    bool ok = !strpbrk(at, "xX()");
    double v = ok ? strtod(at, &end) : 0; /* benchwrap's programs never call setlocale(LC_NUMERIC) */
    ok = ok && end != at && *end == 0;
    free(big);
    if (ok)
        *ret = v;
    return ok;
}

bool str_duration(struct str s, double *ret_seconds)
{
    static const double DURATION_MOST_S = 1e9; /* 31 years: in nanoseconds, added to a clock, it fits 64 bits */
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"min", 60}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    double factor = 1, v;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_ends(s, units[i].unit)) {
            s.n -= strlen(units[i].unit);
            factor = units[i].factor;
            break;
        }
    if (!str_double(s, &v) || !(v >= 0) || v * factor > DURATION_MOST_S)
        return false;
    *ret_seconds = v * factor;
    return true;
}

bool str_size(struct str s, uint64_t *ret_bytes)
{
    if (str_ends(s, "iB"))
        s.n -= 2;
    else if (str_ends(s, "B"))
        s.n -= 1;
    unsigned shift = 0;
    if (s.n) {
        const char *at = memchr("kKmMgGtTpP", s.p[s.n - 1], 10);
        if (at) {
            shift = 10 * (unsigned)((at - "kKmMgGtTpP") / 2 + 1);
            s.n--;
        }
    }
    uint64_t v;
    if (!str_uint(s, &v) || v > (UINT64_MAX >> shift))
        return false;
    *ret_bytes = v << shift;
    return true;
}

size_t str_utf8(const char *p, size_t n)
{
    const unsigned char *u = (const unsigned char *)p;
    if (n == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    size_t len = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    if (u[0] < 0xc2 || u[0] > 0xf4 || n < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) || (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
        return 0;
    return len;
}

bool str_valid_utf8(struct str s)
{
    for (size_t i = 0, k; i < s.n; i += k)
        if (!(k = str_utf8(s.p + i, s.n - i)))
            return false;
    return true;
}

/* Returns the length of a control character (C0, C1) or of a mark that changes the direction of
 * text at s.p[i]; 0: the character is plain. */
static size_t unplain_at(struct str s, size_t i)
{
    unsigned char c = (unsigned char)s.p[i], next = i + 1 < s.n ? (unsigned char)s.p[i + 1] : 0,
                  last = i + 2 < s.n ? (unsigned char)s.p[i + 2] : 0;
    if ((c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f)
        return 1;
    if (c == 0xc2 && next < 0xa0)
        return 2;
    return c == 0xe2 && ((next == 0x80 && last >= 0xaa && last <= 0xae) || (next == 0x81 && last >= 0xa6 && last <= 0xa9)) ? 3 : 0;
}

bool str_is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (unplain_at(s, i))
            return false;
    return true;
}

void str_make_plain(char *p, size_t n)
{
    for (size_t i = 0, k; i < n; i += k ? k : 1)
        if ((k = unplain_at((struct str){p, n}, i)))
            memset(p + i, ' ', k < n - i ? k : n - i);
}

unsigned str_distance(struct str a, struct str b)
{
    enum { NAME_MAX_CELLS = 40 };
    unsigned row[NAME_MAX_CELLS + 1];
    if (a.n >= 3 && b.n > a.n && memcmp(b.p, a.p, a.n) == 0)
        return 1;
    if (a.n > NAME_MAX_CELLS || b.n > NAME_MAX_CELLS)
        return NAME_MAX_CELLS;
    for (size_t j = 0; j <= b.n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned best = corner + (a.p[i - 1] != b.p[j - 1]);
            corner = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[b.n];
}
