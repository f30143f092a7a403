/* filter_scan.c: reads the words of an expression: keys, numbers, texts in quotes. The rules are those of sqlparse, which MLflow's client reads its
 * expressions with, as far as its search accepts the result. */
#include "filter/filter_parts.h"

#include "base/screen.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BEFORE = 40, SHOWN = 70 }; /* bytes of the expression that a message shows, about */

int filter_scan_refuse(const struct filter_scan *s, size_t at, const char *fmt, ...)
{
    char words[400];
    va_list ap;
    CLEANUP_BUF struct buf plain, before;
    buf_init(&plain, 2048);
    buf_init(&before, 2048);
    va_start(ap, fmt);
    vsnprintf(words, sizeof words, fmt, ap);
    va_end(ap);
    size_t from = utf8_cut(s->text, at > SHOWN_BEFORE + 10 ? at - SHOWN_BEFORE : 0);
    size_t end = utf8_cut(s->text, s->text.n - from > SHOWN + 10 ? from + SHOWN : s->text.n);
    const char *dots = from ? "…" : "";
    buf_puts(&before, dots);
    buf_plain(&before, str_sub(s->text, from, at - from), 4 * SHOWN);
    buf_puts(&plain, dots);
    buf_plain(&plain, str_sub(s->text, from, end - from), 4 * SHOWN);
    buf_puts(&plain, end < s->text.n ? "…" : "");
    err_set(s->err, ERR_USAGE, "%s: %s", s->option, words);
    return err_excerpt(s->err, "  %s\n  %*s^", plain.p ? plain.p : "", (int)screen_text_width(buf_text(&before)), "");
}

static bool is_scan_blank(char c)
{
    return c && strchr(" \t\n\r\f\v", c);
}

void filter_scan_blanks(struct filter_scan *s)
{
    while (s->at < s->text.n && is_scan_blank(s->text.p[s->at]))
        s->at++;
}

/* Returns the code point at `at`, 0 behind the end. *ret_len (NULL is allowed): its bytes. */
static uint32_t scan_char_at(const struct filter_scan *s, size_t at, size_t *ret_len)
{
    uint32_t c = 0;
    size_t k = at < s->text.n ? filter_char(s->text.p + at, s->text.n - at, &c) : 0;
    if (ret_len)
        *ret_len = k;
    return c;
}

uint32_t filter_scan_peek(const struct filter_scan *s)
{
    return scan_char_at(s, s->at, NULL);
}

bool filter_scan_word(struct filter_scan *s, const char *word)
{
    size_t n = strlen(word);
    if (!str_is_anycase(str_sub(s->text, s->at, n), word) || filter_char_is_word(scan_char_at(s, s->at + n, NULL)))
        return false;
    s->at += n;
    return true;
}

/* sqlparse tries the escapes "two quotes" and "backslash, quote" first, and reads them as plain
 * characters where the text would have no end. So the text ends at the first quote that is no
 * escape, or else at the last one that could be no escape. */
size_t filter_scan_quoted(const struct filter_scan *s, size_t at)
{
    char quote = s->text.p[at];
    size_t last = 0;
    for (size_t i = at + 1; i < s->text.n; i++) {
        bool next = i + 1 < s->text.n && s->text.p[i + 1] == quote;
        if (s->text.p[i] == quote && !next)
            return i + 1;
        if (s->text.p[i] == quote) { /* doubled */
            last = i + 1;
            i++;
        } else if (s->text.p[i] == '\\' && next && quote != '`') {
            last = i + 2;
            i++;
        }
    }
    return last;
}

/* ---- keys ---- */

/* Returns whether sqlparse reads the word as SQL even behind a dot, as MLflow's filters do. */
static bool is_reserved_word(struct str word)
{
    static const char *const words[] = {"case", "in", "values", "using", "from", "as"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is_anycase(word, words[i]))
            return true;
    return false;
}

static bool is_scan_digit(const struct filter_scan *s, size_t at)
{
    return at < s->text.n && s->text.p[at] >= '0' && s->text.p[at] <= '9';
}

/* A part that begins with digits is a name only if sqlparse reads no number at its beginning: "1st"
 * is one, "1e5", "12" and "99th" are none. */
static bool is_number_led(const struct filter_scan *s, size_t at)
{
    size_t i = at;
    if (!is_scan_digit(s, at))
        return false;
    if (is_scan_digit(s, ++i))
        return true;
    uint32_t c = scan_char_at(s, i, NULL);
    if (c == 'e' || c == 'E')
        return is_scan_digit(s, i + 1);
    if ((c == 'x' || c == 'X') && i == at + 1 && s->text.p[at] == '0')
        return i + 1 < s->text.n && str_hex_digit(s->text.p[i + 1]) >= 0;
    return c != '_' && !filter_char_is_letter(c);
}

/* Returns the end of one part of a key without quotes; `at` itself: there is none. */
static size_t scan_name_end(const struct filter_scan *s, size_t at)
{
    size_t i = at, k;
    uint32_t c = scan_char_at(s, i, &k);
    bool loose = !filter_char_is_letter(c); /* such a part may also have "$" and "#" */
    if (!filter_char_is_word(c))
        return at;
    while (k && (filter_char_is_word(c) || (loose && (c == '$' || c == '#')))) {
        i += k;
        c = scan_char_at(s, i, &k);
    }
    return i;
}

/* One part of a key. behind: of a dot; before: the parts before the dot. Returns its end. 0: s->err. */
static size_t scan_key_part(const struct filter_scan *s, size_t at, bool behind, struct str before)
{
    char c = at < s->text.n ? s->text.p[at] : 0;
    if (c == '`' || c == '"' || (c == '\'' && behind)) {
        size_t end = filter_scan_quoted(s, at);
        if (!end)
            filter_scan_refuse(s, at, "the quote %c is never closed", c);
        return end;
    }
    size_t end = scan_name_end(s, at);
    struct str part = str_sub(s->text, at, end - at);
    if (end == at) {
        filter_scan_refuse(s, at, behind ? "expected a key behind the dot" : "expected metrics.KEY, params.KEY, tags.KEY or an attribute");
        return 0;
    }
    if (behind && is_number_led(s, at))
        filter_scan_refuse(s, at, "this part of the key reads as a number; write the key in backticks");
    else if (is_reserved_word(part))
        filter_scan_refuse(s, at, "\"" STR_FMT "\" is a word of SQL; write the key in backticks", STR_ARG(part));
    else if (behind && is_scan_digit(s, at) && str_starts(before, "parameter"))
        filter_scan_refuse(s, at, "write params.`" STR_FMT "`: MLflow refuses a digit behind \"" STR_FMT ".\"", STR_ARG(part),
                           STR_ARG(before));
    else
        return end;
    return 0;
}

int filter_scan_key(struct filter_scan *s, struct filter_key *ret, struct str *ret_raw)
{
    size_t from = s->at, end = scan_key_part(s, from, false, STR(""));
    while (end && end < s->text.n && s->text.p[end] == '.')
        end = scan_key_part(s, end + 1, true, str_sub(s->text, from, end - from));
    if (!end)
        return -1;
    *ret_raw = str_sub(s->text, from, end - from);
    s->at = end;
    return filter_key_of(s, *ret_raw, from, false, ret);
}

/* ---- numbers ---- */

/* Returns the index behind the digits that begin at `at`. */
static size_t scan_digits(const struct filter_scan *s, size_t at)
{
    while (is_scan_digit(s, at))
        at++;
    return at;
}

/* Returns the end of a number as 5e3 or 5.5e-3, whose exponent has no plus; 0: none. */
static size_t scan_exponent_number(const struct filter_scan *s, size_t at)
{
    size_t i = scan_digits(s, at);
    if (i == at)
        return 0;
    if (i < s->text.n && s->text.p[i] == '.' && is_scan_digit(s, i + 1))
        i = scan_digits(s, i + 1);
    if (i >= s->text.n || str_lower(s->text.p[i]) != 'e')
        return 0;
    i++;
    if (i < s->text.n && s->text.p[i] == '-')
        i++;
    return is_scan_digit(s, i) ? scan_digits(s, i) : 0;
}

int filter_scan_number(struct filter_scan *s, struct str *ret, bool *ret_integer)
{
    size_t from = s->at, first = from + (from < s->text.n && s->text.p[from] == '-'), end = scan_exponent_number(s, first);
    *ret_integer = false;
    if (!end) {
        size_t whole = scan_digits(s, first);
        bool point = whole < s->text.n && s->text.p[whole] == '.';
        end = point ? scan_digits(s, whole + 1) : whole;
        *ret_integer = !point;
        uint32_t next = scan_char_at(s, end, NULL);
        if ((whole == first && end <= first + 1) || filter_char_is_letter(next) || filter_char_is_word(next))
            return 1;
    }
    *ret = str_sub(s->text, from, end - from);
    s->at = end;
    return 0;
}
