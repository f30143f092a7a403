/* grouped.c: numbers in the notation of a locale: digits in groups of three, and decimal commas. */
#include "benchmarks/grouped.h"

#include <ctype.h>
#include <string.h>

/* Length of the separator between groups: blank, comma, point, apostrophe, and UTF-8's narrow, thin
 * and unbreakable blanks. 0: nothing of the kind. */
static size_t separator_length(struct str s)
{
    static const char *const separators[] = {" ",           ",", ".", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x87",
                                             "\xe2\x80\x99"};
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++)
        if (str_starts(s, separators[i]))
            return strlen(separators[i]);
    return 0;
}

static size_t digits_length(struct str s)
{
    size_t n = 0;
    while (n < s.n && isdigit((unsigned char)s.p[n]))
        n++;
    return n;
}

static struct str text_from(struct str s, size_t at)
{
    return str_sub(s, at, s.n);
}

/* Reads a number at the beginning of the text. `whole`: with its groups; length: with its fraction. */
struct notation {
    size_t first, groups, group_length, whole, length;
    char point; /* 0: no fraction */
};

/* Returns how the number at the beginning of the text is written: groups of digits, decimal sign,
 * length. */
static struct notation notation_of(struct str s, enum grouped_comma comma)
{
    struct notation n = {.first = digits_length(s)};
    n.whole = n.first;
    for (size_t sep; n.first <= 3 && (sep = separator_length(text_from(s, n.whole))); n.groups++) {
        if (digits_length(text_from(s, n.whole + sep)) != 3 || (s.p[n.whole] == ',' && comma != COMMA_GROUPS) ||
            (n.groups && memcmp(s.p + n.first, s.p + n.whole, sep) != 0))
            break;
        n.group_length = sep;
        n.whole += sep + 3;
    }
    n.length = n.whole;
    char next = n.whole < s.n ? s.p[n.whole] : 0;
    size_t fraction = next == '.' || (next == ',' && comma == COMMA_DECIMAL) ? digits_length(text_from(s, n.whole + 1)) : 0;
    if (fraction && !(n.groups && s.p[n.first] == next)) {
        n.point = next;
        n.length += 1 + fraction;
    }
    return n;
}

/* Is the number in a notation of its own? "3.632" is none: a fraction as everywhere. */
static bool is_foreign_notation(struct str s, const struct notation *n)
{
    if (n->point == ',')
        return true;
    return n->groups && !(s.p[n->first] == '.' && (n->groups == 1 || n->point));
}

/* Writes the number without separators between its digits, and with "." before decimals. Returns
 * the length; no NUL follows. */
static size_t number_write(struct str s, const struct notation *n, char *to)
{
    size_t length = 0;
    for (size_t i = 0; i < n->whole; i++)
        if (isdigit((unsigned char)s.p[i]))
            to[length++] = s.p[i];
    if (n->point)
        to[length++] = '.';
    for (size_t i = n->whole + 1; n->point && i < n->length; i++)
        to[length++] = s.p[i];
    return length;
}

/* A cheap search first: nearly all lines have nothing of the kind. */
static bool has_separator(struct str s)
{
    for (size_t i = 1; i + 1 < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if ((c == ' ' || c == ',' || c == '\'' || c >= 0x80) && isdigit((unsigned char)s.p[i - 1]) &&
            (c >= 0x80 || isdigit((unsigned char)s.p[i + 1])))
            return true;
    }
    return false;
}

size_t grouped_plain(struct str text, enum grouped_comma comma, char *to)
{
    size_t length = 0;
    bool any = false;
    if (!has_separator(text))
        return 0;
    for (size_t i = 0; i < text.n;) {
        bool begins = isdigit((unsigned char)text.p[i]) && !(i && isalnum((unsigned char)text.p[i - 1])) && !(i && text.p[i - 1] == '.');
        if (!begins) {
            to[length++] = text.p[i++];
            continue;
        }
        struct str rest = text_from(text, i);
        struct notation n = notation_of(rest, comma);
        if (is_foreign_notation(rest, &n)) {
            any = true;
            length += number_write(rest, &n, to + length);
            i += n.length;
            continue;
        }
        for (size_t digits = n.first; digits; digits--)
            to[length++] = text.p[i++];
    }
    return any ? length : 0;
}

bool grouped_is_number(struct str text)
{
    text = str_trim(text);
    if (text.n && (text.p[0] == '-' || text.p[0] == '+'))
        text = text_from(text, 1);
    if (!text.n || !isdigit((unsigned char)text.p[0]))
        return false;
    for (int comma = 0; comma < COMMA_READINGS; comma++) {
        struct notation n = notation_of(text, (enum grouped_comma)comma);
        if (n.length == text.n && is_foreign_notation(text, &n))
            return true;
    }
    return false;
}
