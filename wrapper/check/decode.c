/* decode.c: finds texts in other spellings: UTF-16, signs for characters (%67, \\x67, \\u0067, =67,
 * &#103;), base64 and hexadecimal digits, and base64 of gzip; check searches it for secrets too. */
#include "check/parts.h"

enum {
    LEAST = 18, /* characters: check searches for no shorter secrets */
    SHORTEST = 24, /* digits of a spelling */
    DEPTH = 2, /* spellings of spellings */
    PACKED_MAX = 8 << 20 /* bytes of one packed text within a text */
};

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

enum { OTHER = -1, BETWEEN = -2 };
/* One of the spellings by digits; `between` separates digits and has no meaning. */
struct decode_alphabet {
    int (*digit)(char c);
    short *is; /* what each byte is: a digit's value, OTHER or BETWEEN */
    unsigned bits, phases; /* a digit has; so many digits may precede the first complete byte */
    const char *between, *packed; /* packed: how gzip begins in it */
};
static short bytes64[256], bytes16[256];
static const struct decode_alphabet spellings[] = {{base64_digit, bytes64, 6, 4, "\r\n", "H4sI"},
                                                   {str_hex_digit, bytes16, 4, 2, ":", "1f8b08"}};

static void fill_bytes(const struct decode_alphabet *d)
{
    for (int c = 1; c < 256 && !d->is[0]; c++) /* [0] is OTHER once the table is filled */
        d->is[c] = (short)(d->digit((char)c) >= 0 ? d->digit((char)c) : strchr(d->between, c) ? BETWEEN : OTHER);
    d->is[0] = OTHER;
}

/* Appends what the digits from `run` on spell: pieces of text as lines, or, with `whole`, all
 * bytes. */
static void decode_digits(struct buf *to, const struct decode_alphabet *d, struct str run, bool whole)
{
    size_t piece = to->n;
    unsigned value = 0, have = 0;
    for (size_t i = 0; i < run.n; i++) {
        int digit = d->is[(unsigned char)run.p[i]];
        if (digit < 0)
            continue;
        value = (value << d->bits | (unsigned)digit) & 0xffff;
        have += d->bits;
        if (have < 8)
            continue;
        have -= 8;
        unsigned char c = (unsigned char)(value >> have);
        if (whole || (c >= 0x20 && c <= 0x7e) || c == '\t')
            buf_putc(to, (char)c);
        else if (c) { /* a zero between letters: UTF-16 */
            if (to->n - piece < LEAST)
                to->n = piece;
            else
                buf_putc(to, '\n');
            piece = to->n;
        }
    }
    if (!whole && to->n - piece < LEAST)
        to->n = piece;
    else
        buf_putc(to, '\n');
}

/* Appends what a run of digits spells, also unpacked. Returns why a part of it is left out, a
 * static text; NULL: all is there. */
static const char *decode_run(struct buf *to, const struct decode_alphabet *d, struct str run)
{
    for (unsigned phase = 0; phase < d->phases; phase++)
        decode_digits(to, d, str_sub(run, phase, run.n), false);
    if (!str_starts(run, d->packed))
        return NULL;
    CLEANUP_BUF struct buf packed;
    buf_init(&packed, run.n + 64);
    decode_digits(&packed, d, run, true);
    return check_unpack(buf_text(&packed), PACKED_MAX, to);
}

/* Appends what each run of SHORTEST digits of the alphabet or more spells. Returns why a part of
 * one is left out (of the first such run), a static text; NULL: all is there. */
static const char *add_runs(struct buf *to, struct str text, const struct decode_alphabet *d)
{
    const char *why = NULL;
    fill_bytes(d);
    for (size_t at = 0, end; at < text.n; at = end + 1) {
        size_t last = at; /* behind the last digit */
        for (end = at; end < text.n; end++) {
            int is = d->is[(unsigned char)text.p[end]];
            if (is >= 0)
                last = end + 1;
            else if (end == at || is == OTHER)
                break;
        }
        const char *left = last - at >= SHORTEST ? decode_run(to, d, str_sub(text, at, last - at)) : NULL;
        why = why ? why : left;
    }
    return why;
}

/* Returns the number of n hexadecimal digits at `at`; -1: these are not there. */
static int hex_at(struct str s, size_t at, size_t n)
{
    int value = 0;
    for (size_t i = 0; i < n; i++) {
        int digit = at + i < s.n ? str_hex_digit(s.p[at + i]) : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Reads an entity of a page, "&#103;" or "&#x67;", of at most 7 digits. Returns its length.
 * Requires "&#" at `at`. */
static size_t entity_at(struct str s, size_t at, int *ret)
{
    size_t i = at + 2;
    bool hex = i < s.n && (s.p[i] == 'x' || s.p[i] == 'X');
    int value = 0;
    for (i += hex; i < s.n && i < at + 9; i++) {
        int digit = str_hex_digit(s.p[i]);
        if (digit < 0 || (!hex && digit > 9))
            break;
        value = value * (hex ? 16 : 10) + digit;
    }
    *ret = value;
    return i - at + (i < s.n && s.p[i] == ';');
}

/* Reads an encoded ASCII character at `at` (%41, =41, \u0041, \x41, &#65;) into *ret. Returns the
 * bytes of its code; 0: there is none. */
static size_t sign_at(struct str s, size_t at, char *ret)
{
    int value = -1;
    size_t n = 0;
    char next = at + 1 < s.n ? s.p[at + 1] : 0;
    switch (s.p[at]) {
    case '%':
    case '=':
        value = hex_at(s, at + 1, 2);
        n = 3;
        break;
    case '\\':
        n = next == 'u' ? 6 : next == 'x' ? 4 : 0;
        value = n ? hex_at(s, at + 2, n - 2) : -1;
        break;
    case '&': n = next == '#' ? entity_at(s, at, &value) : 0; break;
    default: break;
    }
    *ret = (char)value;
    return n && value >= 0x20 && value < 0x7f ? n : 0;
}

/* Lines with a character that a sign spells. */
static void add_signs(struct buf *to, struct str text)
{
    for (struct str rest = text; rest.p && rest.n;) {
        struct str line = str_cut(&rest, '\n');
        size_t before = to->n, n;
        bool spelt = false;
        for (size_t i = 0; i < line.n; i += n ? n : 1) {
            char c;
            n = sign_at(line, i, &c);
            buf_putc(to, n ? c : line.p[i]);
            spelt = spelt || n;
        }
        if (spelt)
            buf_putc(to, '\n');
        else
            to->n = before;
    }
}

static bool has_escape_sign(struct str text)
{
    return memchr(text.p, '%', text.n) || memchr(text.p, '\\', text.n) || memchr(text.p, '=', text.n) || memchr(text.p, '&', text.n);
}

/* Appends what the text spells in each way, once. Returns why a part of it is left out, a static
 * text; NULL: all is there. */
static const char *add_spellings(struct str text, struct buf *to)
{
    const char *why = NULL;
    if (memchr(text.p, 0, text.n)) { /* UTF-16 and UTF-32, or letters separated by NULs */
        for (size_t i = 0; i < text.n; i++)
            if (text.p[i])
                buf_putc(to, text.p[i]);
        buf_putc(to, '\n');
    }
    if (has_escape_sign(text))
        add_signs(to, text);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const char *left = add_runs(to, text, &spellings[i]);
        why = why ? why : left;
    }
    return why;
}

const char *check_decode(struct str text, struct buf *to)
{
    size_t from = to->n;
    if (text.n < LEAST)
        return NULL;
    const char *why = add_spellings(text, to);
    for (int depth = 1; depth < DEPTH && to->n - from >= LEAST; depth++) {
        CLEANUP_BUF struct buf again;
        struct str said = str_sub(buf_text(to), from, to->n - from);
        buf_init(&again, 8 * said.n + 4096 + PACKED_MAX);
        const char *left = add_spellings(said, &again);
        why = why ? why : left;
        from = to->n;
        buf_str(to, buf_text(&again));
        to->failed |= again.failed;
    }
    return to->failed ? "larger than the limit of check when it is decoded" : why;
}
