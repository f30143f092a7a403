/* number.c: numbers as programs print them. */
#include "benchmarks/number.h"

#include <math.h>

/* Returns whether the text, in any case, stands for a value that there is not. */
static bool is_missing_word(struct str s)
{
    static const char *const words[] = {
        "",     "-",    "--",       "---",       "na",        "n/a",  "n.a.", "nan", "-nan",      "+nan",    "nan(ind)", "-nan(ind)", "inf",
        "-inf", "+inf", "infinity", "-infinity", "+infinity", "null", "none", "nil", "undefined", "unknown", "-1.#ind",  "1.#qnan"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_is_anycase(s, words[i]))
            return true;
    return false;
}

static double suffix_factor(char c, unsigned flags)
{
    static const char letters[] = "kMGTPE";
    const char *at = c == 'K' ? letters : c && c != 'K' ? strchr(letters, c) : NULL;
    if (!at || !(flags & (NUMBER_SI | NUMBER_BINARY)))
        return 0;
    return pow(flags & NUMBER_BINARY ? 1024 : 1000, (double)(at - letters + 1));
}

/* Copies "1,234,567" or "4,096.5" without its commas into to, of *ret_n bytes and no NUL. False: the
 * commas may be no separators of thousands ("0,500" has a decimal comma, "4,096" and "4,096." may
 * have one), or the text has `size` bytes or more. */
static bool without_commas(struct str s, char *to, size_t size, size_t *ret_n)
{
    size_t n = 0, digits = 0, groups = 0, i = 0;
    if (s.n >= size)
        return false;
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        to[n++] = s.p[i++];
    for (; i < s.n && (s.p[i] == ',' || str_is_digit(s.p[i])); i++) {
        if (s.p[i] == ',') {
            if (groups ? digits != 3 : digits < 1 || digits > 3)
                return false;
            groups++;
            digits = 0;
        } else {
            to[n++] = s.p[i];
            digits++;
        }
    }
    const char *first = to + (n && (to[0] == '-' || to[0] == '+'));
    if (!groups || digits != 3 || *first == '0' || (groups == 1 && (i + 1 >= s.n || s.p[i] != '.')))
        return false;
    for (; i < s.n; i++)
        to[n++] = s.p[i];
    *ret_n = n;
    return true;
}

/* Returns whether a digit before the exponent is not 0: "1e-400" is not zero, although its double
 * is. */
static bool is_something(struct str s)
{
    for (size_t i = 0; i < s.n && s.p[i] != 'e' && s.p[i] != 'E'; i++)
        if (s.p[i] >= '1' && s.p[i] <= '9')
            return true;
    return false;
}

enum number_kind number_parse(struct str text, unsigned flags, double *ret)
{
    char plain[64];
    double v, factor = 1;
    struct str s = str_trim(text);
    if (is_missing_word(s))
        return NUMBER_MISSING;
    if (flags & NUMBER_PERCENT && s.p[s.n - 1] == '%')
        s = str_trim(str_sub(s, 0, s.n - 1));
    if (s.n > 1 && (factor = suffix_factor(s.p[s.n - 1], flags)) > 0)
        s.n--;
    else
        factor = 1;
    char last = s.n ? s.p[s.n - 1] : 0; /* "inf" and "nan" were words; what is left must end like a number */
    if (!(last >= '0' && last <= '9') && last != '.')
        return NUMBER_NOT;
    if (s.n && memchr(s.p, ',', s.n)) {
        size_t n;
        if (!without_commas(s, plain, sizeof(plain), &n))
            return NUMBER_NOT;
        s = (struct str){plain, n};
    }
    if (!str_double(s, &v))
        return NUMBER_NOT;
    /* A subnormal one is no measurement: pointers printed with `%g` (a variable that was not set) have this form, 6.9e-310. */
    if (!isfinite(v * factor) || (v == 0 && is_something(s)) || fpclassify(v) == FP_SUBNORMAL)
        return NUMBER_MISSING;
    *ret = v * factor + 0.0; /* -0 is 0 */
    return NUMBER_GOOD;
}

struct numbered numbered_of(struct str word)
{
    struct numbered l = {.head = word};
    while (l.head.n && str_is_digit(l.head.p[l.head.n - 1]))
        l.head.n--;
    l.good = str_uint(str_sub(word, l.head.n, word.n), &l.number) && !memchr(l.head.p, '.', l.head.n);
    return l;
}
