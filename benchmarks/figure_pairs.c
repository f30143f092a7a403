/* figure_pairs.c: names and values in turn, with neither marks between them nor columns: "loss 0.3 acc 0.9", "| fps | 1234 |". */
#include "benchmarks/figure_columns.h"
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

enum { LEADING_WORDS_MAX = 2 };

/* Sets the result that `name: value` would be. The texts are of the line. Returns false where it would be none. */
static bool pair_set(const struct figure_context *x, struct str line, struct str name, struct str value, struct figure *to)
{
    struct number n;
    size_t length = guess_number(value);
    const struct unit *unit;
    if (!length || !guess_letters(name))
        return false;
    size_t end = figure_number_take(line, (size_t)(value.p - line.p), length, &n);
    struct figure_candidate c = {.number = &n, .label = name, .strong = true, .column = true, .own = true, .sole = true};
    if (line.p + end != value.p + value.n || n.plain || n.raw.n || !figure_name_clean(name, to->name, sizeof to->name) ||
        figure_has_number(name) || !figure_is_result(x, line, &c, to->name, false, &unit))
        return false;
    to->section = 0;
    return figure_value_set(x, line, &n, unit, to);
}

/* A score is believed here only with a fraction: "mips 1 score 2" may be a row of settings. */
static bool is_pair(struct str name, struct str value)
{
    const struct unit *unit = figure_unit_of_label(name);
    return (unit && figure_is_rate(unit)) || (memchr(value.p, '.', value.n) && figure_is_score(name));
}

size_t figure_take_pairs(const struct figure_context *x, struct str line, size_t count, struct figure *to)
{
    size_t found = 0, pairs = 0, leading = 0;
    struct str rest = line, name = str_word(&rest), value;
    if (count < 2 || !name.n || memchr(line.p, ':', line.n) || memchr(line.p, '=', line.n) || figure_is_progress(line))
        return 0;
    if (str_is(name, "*"))
        name = str_word(&rest);
    while (name.n && found < FIGURES_MAX) {
        value = str_word(&rest);
        if (!value.n || guess_is_number(name) || !guess_letters(name))
            return 0;
        if (!guess_is_number(value)) {
            if (pairs || ++leading > LEADING_WORDS_MAX)
                return 0;
            name = value;
            continue;
        }
        pairs++;
        found += is_pair(name, value) && pair_set(x, line, name, value, &to[found]);
        name = str_word(&rest);
    }
    return pairs >= 2 ? found : 0;
}

size_t figure_take_boxed(const struct figure_context *x, struct str line, struct figure *to)
{
    struct columns row = figure_columns(line);
    return row.n == 2 && row.bars == 3 && pair_set(x, line, row.field[0], row.field[1], to);
}

struct str figure_without_braces(struct str line)
{
    if (line.n > 2 && line.p[0] == '[' && str_is_letter(line.p[1]) && memchr(line.p, ']', line.n) == line.p + line.n - 1)
        return str_trim(str_sub(line, 1, line.n - 2)); /* "[total 345ms]" */
    struct str inner = str_ends(line, ",") ? str_sub(line, 0, line.n - 1) : line;
    for (size_t i = 0; i + 1 < inner.n; i++) /* a line of a log, with a message */
        if (inner.p[i] == ':' && is_one_of(*str_trim(str_sub(inner, i + 1, inner.n)).p, "\"'{["))
            return line;
    bool object = inner.n > 2 && inner.p[0] == '{' && str_ends(inner, "}") && memchr(inner.p, ':', inner.n);
    return object ? str_trim(str_sub(inner, 1, inner.n - 2)) : line;
}
