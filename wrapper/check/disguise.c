/* disguise.c: what a text says in other spellings: UTF-16, percent signs, base64 and hexadecimal digits; secrets are looked for there, too. */
#include "check/parts.h"

enum { SHORTEST = 24 /* digits of a spelling: shorter secrets than eighteen characters are not looked for */ };

static int digit64(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* A run of digits of so many bits, decoded as a line of its own, where nothing but text comes of it. */
static void add_digits(struct buf *to, struct str run, int (*digit)(char), unsigned bits)
{
    size_t before = to->n;
    unsigned long value = 0;
    unsigned have = 0;
    for (size_t i = 0; i < run.n; i++) {
        value = value << bits | (unsigned long)digit(run.p[i]);
        have += bits;
        if (have < 8)
            continue;
        have -= 8;
        unsigned char c = (unsigned char)(value >> have);
        value &= (1ul << have) - 1;
        if (c != '\n' && c != '\t' && c != '\r' && (c < 0x20 || c > 0x7e)) {
            to->n = before;
            return;
        }
        buf_putc(to, (char)c);
    }
    buf_putc(to, '\n');
}

static void add_runs(struct buf *to, struct str text, int (*digit)(char), unsigned bits)
{
    for (size_t at = 0, end; at < text.n; at = end + 1) {
        for (end = at; end < text.n && digit(text.p[end]) >= 0;)
            end++;
        if (end - at >= SHORTEST)
            add_digits(to, str_sub(text, at, end - at), digit, bits);
    }
}

/* Lines with a character that a percent sign spells. */
static void add_percents(struct buf *to, struct str text)
{
    for (struct str rest = text; rest.p && rest.n;) {
        struct str line = str_cut(&rest, '\n');
        size_t before = to->n;
        bool spelt = false;
        for (size_t i = 0; i < line.n; i++) {
            bool is = line.p[i] == '%' && i + 2 < line.n && str_hex_digit(line.p[i + 1]) >= 0 && str_hex_digit(line.p[i + 2]) >= 0;
            buf_putc(to, is ? (char)(str_hex_digit(line.p[i + 1]) << 4 | str_hex_digit(line.p[i + 2])) : line.p[i]);
            spelt = spelt || is;
            i += is ? 2 : 0;
        }
        if (spelt)
            buf_putc(to, '\n');
        else
            to->n = before;
    }
}

void check_spellings(struct str text, struct buf *to)
{
    if (text.n && memchr(text.p, 0, text.n)) { /* UTF-16 and its kin, and letters that are kept apart */
        for (size_t i = 0; i < text.n; i++)
            if (text.p[i])
                buf_putc(to, text.p[i]);
        buf_putc(to, '\n');
    }
    add_percents(to, text);
    add_runs(to, text, digit64, 6);
    add_runs(to, text, str_hex_digit, 4);
}
