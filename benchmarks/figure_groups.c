/* figure_groups.c: digits in groups: "1,234,567", "1'234'567", "107 852 015". A comma may also
 * begin a fraction: the output itself shows which it is. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* Length of the mark between groups of digits at i, 0: there is none. *ret_sure: it has no other use between digits. */
static size_t group_mark(struct str s, size_t i, bool *ret_sure)
{
    static const char *const marks[] = {"'", "_", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99"};
    *ret_sure = false;
    if (char_at(s, i) == ' ')
        return 1;
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (str_starts(str_sub(s, i, s.n), marks[k])) {
            *ret_sure = true;
            return strlen(marks[k]);
        }
    return 0;
}

/* Returns whether exactly three digits are at `at`, as in "1,234". */
static bool is_group_of_three(struct str s, size_t at)
{
    return str_is_digit(char_at(s, at)) && str_is_digit(char_at(s, at + 1)) && str_is_digit(char_at(s, at + 2)) &&
           !str_is_digit(char_at(s, at + 3));
}

/* The length of a number in groups: two at least, three where blanks part them. 0: it is none. */
static size_t grouped_length(struct str s, bool *ret_sure)
{
    size_t i = 0, groups = 1, mark;
    while (i < 4 && str_is_digit(char_at(s, i)))
        i++;
    if (!i || i > 3 || s.p[0] == '0' || !(mark = group_mark(s, i, ret_sure)))
        return 0;
    struct str first = str_sub(s, i, mark);
    for (; str_eq(str_sub(s, i, mark), first) && is_group_of_three(s, i + mark); i += mark + 3)
        groups++;
    if (*ret_sure && char_at(s, i) == '.' && str_is_digit(char_at(s, i + 1)))
        for (i++; str_is_digit(char_at(s, i));)
            i++;
    if (*ret_sure)
        return groups >= 2 && !str_is_digit(char_at(s, i)) && !str_eq(str_sub(s, i, mark), first) ? i : 0;
    return groups >= 3 && str_is_blank(char_at(s, i)) && !str_is_digit(char_at(s, i + 1)) ? i : 0;
}

/* Digits with blanks between them are one number only as the rate behind a name, or without one. */
bool figure_grouped_take(struct str line, size_t i, struct number *n)
{
    bool sure;
    struct str before = str_trim(str_sub(line, 0, i));
    size_t length = grouped_length(str_sub(line, i, line.n), &sure), k = 0;
    if (!length || length >= sizeof n->own || !(sure || !before.n || is_one_of(before.p[before.n - 1], ":=")))
        return false;
    figure_number_take(line, i, length, n);
    if (!sure && !(n->unit && figure_is_rate(n->unit)))
        return false;
    for (size_t at = i; at < i + length; at++)
        if (str_is_digit(line.p[at]) || line.p[at] == '.')
            n->own[k++] = line.p[at];
    n->own[k] = 0;
    return true;
}

/* "0,646 s", "12,5 MB/s": a fraction behind a comma, at `at`, where the digits before it end. */
bool figure_is_decimal_comma(struct str line, size_t from, size_t at)
{
    size_t end = at + 1;
    const struct unit *unit = NULL;
    struct str raw = {"", 0};
    while (str_is_digit(char_at(line, end)))
        end++;
    size_t word = end + (char_at(line, end) == ' '), to = word;
    while (to < line.n && !str_is_blank(line.p[to]) && !is_one_of(line.p[to], ",;()[]|="))
        to++;
    bool group = end - at == 4 && !(at - from == 1 && line.p[from] == '0');
    return !group && figure_unit(str_sub(line, word, to - word), &unit, &raw);
}

/* A unit, or one joined to the number that continues otherwise: "(8.28us...18.19us)". */
static bool has_unit_behind(struct str line, const struct number *n)
{
    size_t to = n->to;
    const struct unit *unit = NULL;
    struct str raw;
    while (str_is_letter(char_at(line, to)))
        to++;
    return n->unit || (to > n->to && figure_unit(str_sub(line, n->to, to - n->to), &unit, &raw) && unit);
}

void figure_commas_note(struct figure_context *x, struct str line, const struct number *n, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        struct str digits = str_sub(line, n[k].from, n[k].to - n[k].from);
        const char *comma = memchr(digits.p, ',', digits.n), *point = memchr(digits.p, '.', digits.n);
        x->has_decimal_comma = x->has_decimal_comma || n[k].decimal_comma || (comma && digits.p[0] == '0');
        if (comma)
            x->has_point = x->has_point || point || memrchr(digits.p, ',', digits.n) != comma;
        else if (point && has_unit_behind(line, &n[k])) { /* "1.234 s" may have a point between thousands */
            size_t whole = (size_t)(point - digits.p), fraction = digits.n - whole - 1;
            x->has_point = x->has_point || fraction != 3 || whole > 3 || digits.p[0] == '0';
        }
    }
}

bool figure_value_set(const struct figure_context *x, struct str text, const struct number *n, const struct unit *unit, struct figure *ret)
{
    struct str digits = str_sub(text, n->from, n->to - n->from);
    size_t used = 0, commas = 0;
    double value;
    ret->unit = unit;
    ret->printed = n->word;
    ret->unsure = ret->bare = false;
    ret->digits = (struct str){digits.p, 0};
    if (n->own[0]) {
        memcpy(ret->value, n->own, sizeof ret->value);
        return true;
    }
    if (digits.n >= sizeof ret->value)
        return false;
    for (size_t i = 0; i < digits.n; i++)
        if (digits.p[i] == ',')
            commas++;
        else
            ret->value[used++] = digits.p[i];
    ret->value[used] = 0;
    if (n->multiple) {
        if (!str_double(str_of(ret->value), &value))
            return false;
        snprintf(ret->value, sizeof ret->value, "%.10g", value * n->multiple);
    } else if (commas == 1 && !memchr(digits.p, '.', digits.n))
        ret->unsure = !x->has_point;
    else
        ret->digits = digits;
    return !(commas && x->has_decimal_comma);
}
