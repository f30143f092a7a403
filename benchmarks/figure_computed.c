/* figure_computed.c: values without a unit whose digits show that a program computed them: "fidelity: 0.73174". */
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include "base/hash.h"

#include <string.h>

/* People write settings with few digits. */
enum { COMPUTED_DIGITS = 4, BARE_DIGITS = 5, BARE_WORDS_MAX = 4, NAME_MIN = 3, NAME_MAX_LENGTH = 70 };

/* How many digits the value shows: 4 of "0.0315200e-3". Zeros at its ends are the format's. */
static size_t significant_digits(struct str value)
{
    size_t digits = 0, zeros = 0;
    for (size_t i = 0; i < value.n && !is_one_of(value.p[i], "eE"); i++) {
        if (!str_is_digit(value.p[i]) || (!digits && value.p[i] == '0'))
            continue;
        digits++;
        zeros = value.p[i] == '0' ? zeros + 1 : 0;
    }
    return digits - zeros;
}

/* "7.6288e+07" may be a count. */
static bool is_whole_value(struct str value)
{
    double number;
    return str_double(value, &number) && number > -1e15 && number < 1e15 && number == (double)(int64_t)number;
}

bool figure_is_computed_value(struct str value)
{
    return memchr(value.p, '.', value.n) && significant_digits(value) >= COMPUTED_DIGITS && !is_whole_value(value);
}

bool figure_is_computed_name(struct str name)
{
    struct str rest = name;
    if (!str_is_letter(name.p[0]) || figure_has_number(name) || figure_is_condition(name) || figure_is_estimate(name) ||
        figure_unit_of_label(name) || figure_is_small(str_word(&rest)))
        return false;
    rest = name;
    for (struct str word; (word = str_word(&rest)).n;)
        if (figure_is_any(
                word, "alpha altitude azimuth beta bound box cell charge checksum coefficient constant coordinate coordinates crc decay "
                      "density depth diameter digest dropout elevation eps epsilon factor gamma hash height lambda lat latitude lattice "
                      "length lon longitude lr mass momentum offset origin param period phase pi position radius scale seed size "
                      "spacing step temp temperature threshold timestamp tol tolerance weight width"))
            return false;
    return true;
}

/* "2.5 +/- 0.01" */
static bool has_error(const struct number *n)
{
    return n->end > n->to;
}

bool figure_has_computed_digits(struct str line, const struct number *n, struct str name)
{
    struct str value = str_sub(line, n->from, n->to - n->from), rest = name;
    bool average = false;
    for (struct str word; (word = str_word(&rest)).n;)
        average = average || figure_is_any(word, "average avg mean median");
    return has_error(n) || figure_is_computed_value(value) || (average && significant_digits(value) >= COMPUTED_DIGITS);
}

bool figure_is_computed(const struct figure_context *x, const struct figure_candidate *c, struct str name, bool indented)
{
    const struct number *n = c->number;
    bool of_file = x->section[0] && indented && memchr(x->section, '/', strlen(x->section));
    if (of_file && figure_ends_in_time(name, NULL)) /* an attribute of it, which no clock measured */
        return false;
    if (char_at(c->label, 0) == '-' && str_is_letter(char_at(c->label, 1))) /* "-V/T": the name would be that of its opposite */
        return false;
    return c->strong && c->own && !n->unit && !n->raw.n && !n->joined && !n->plain && !n->clock && !n->multiple && !n->inside &&
           name.n >= (has_error(n) ? 1 : NAME_MIN) && name.n <= NAME_MAX_LENGTH &&
           !(x->section[0] && indented && figure_is_condition(str_of(x->section))) && !figure_unit_of_label(c->label) &&
           figure_is_computed_name(name);
}

size_t figure_add_argument(struct str clause, char *name, size_t length, size_t size)
{
    const char *open = memchr(clause.p, '(', clause.n), *close = open ? memchr(open, ')', (size_t)(clause.p + clause.n - open)) : NULL;
    struct str argument = close ? (struct str){open + 1, (size_t)(close - open) - 1} : (struct str){"", 0};
    if (length >= NAME_MIN || !length || !argument.n || argument.n + length + 2 > size)
        return length;
    name[length++] = ' ';
    for (size_t i = 0; i < argument.n; i++)
        name[length++] = str_is_letter(argument.p[i]) || str_is_digit(argument.p[i]) ? argument.p[i] : ' ';
    name[length] = 0;
    return length;
}

bool figure_is_late_name(const struct figure_context *x, struct str name)
{
    return figure_is_statistic(name) || figure_is_any(str_word(&name), "final result overall") || str_has(str_of(x->section), "ummary") ||
           str_has(str_of(x->section), "esult");
}

/* ---- names that other values contradict ---- */

bool figure_is_doubted(const struct figure_context *x, const char *name)
{
    uint32_t hash = (uint32_t)hash_bytes(0, name, strlen(name));
    for (size_t i = 0; i < x->doubts && x->doubts < FIGURE_DOUBTS_MAX; i++)
        if (x->doubt[i] == hash)
            return true;
    return x->doubts == FIGURE_DOUBTS_MAX;
}

void figure_doubt_note(struct figure_context *x, const char *name)
{
    if (!figure_is_doubted(x, name))
        x->doubt[x->doubts++] = (uint32_t)hash_bytes(0, name, strlen(name));
}

/* ---- lines of a name and a value alone ---- */

bool figure_is_bare_computed(struct str line, const struct number *n, size_t count)
{
    struct str name = count == 1 ? str_trim(str_sub(line, 0, n->from)) : (struct str){"", 0}, rest = name, last = {"", 0};
    size_t words = 0;
    for (struct str word; (word = str_word(&rest)).n; words++)
        last = word;
    return words && words <= BARE_WORDS_MAX && !n->plain && !n->unit && !n->raw.n && n->to == line.n && !figure_is_small(last) &&
           guess_letters(last) && significant_digits(str_sub(line, n->from, n->to - n->from)) >= BARE_DIGITS &&
           figure_is_computed_value(str_sub(line, n->from, n->to - n->from));
}

struct str figure_without_formula(struct str text)
{
    ptrdiff_t at = str_ends(str_trim(text), ":") ? str_find(text, STR(" = ")) : -1;
    return at > 0 ? str_trim(str_sub(text, 0, (size_t)at)) : (struct str){"", 0};
}
