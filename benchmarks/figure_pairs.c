/* figure_pairs.c: names and values without a mark between them: "loss 0.3" alone, "loss 0.3 acc 0.9", "| fps | 1234 |". */
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_titles.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

enum { LEADING_WORDS_MAX = 2 };

/* ---- one pair ---- */

/* "loss 0.3", "validation accuracy 0.93": up to three words, the last of which names a score, then a fraction, and nothing else. A number of another
 * name may be a setting or a version. */
bool figure_is_bare_score(struct str line, const struct number *n, size_t count)
{
    struct str name = count == 1 ? figure_behind_dash(str_trim(str_sub(line, 0, n->from))) : (struct str){"", 0}, rest = name,
               word = {"", 0}, pair = name, next; /* pair: the last two words, "compression ratio" */
    size_t words = 0;
    for (; (next = str_word(&rest)).n; words++) {
        if (word.n)
            pair = (struct str){word.p, (size_t)(next.p + next.n - word.p)};
        word = next;
    }
    bool ends = n->to == line.n || (n->to + 1 == line.n && line.p[n->to] == '.');
    return words && words <= 3 && !n->plain && !n->error && !n->inside && ends && str_is_blank(line.p[n->from - 1]) &&
           guess_letters(word) && !memchr(name.p, ',', name.n) && (figure_is_score(word) || figure_is_score_name(pair));
}

/* "# duration_ms 1135.39": a line of a name that ends with a unit, and a fraction. */
bool figure_is_bare_time(struct str line, const struct number *n, size_t count)
{
    struct str name = count == 1 ? str_trim(str_sub(line, 0, n->from)) : (struct str){"", 0};
    while (name.n && is_one_of(name.p[0], "# "))
        name = str_sub(name, 1, name.n);
    return name.n && !memchr(name.p, ' ', name.n) && memchr(name.p, '_', name.n) && !n->plain && !n->unit && n->to == line.n &&
           memchr(line.p + n->from, '.', n->to - n->from) && figure_unit_of_label(name);
}

/* "matmul 12.34 ms", "total CPU time 0.05": a line of a name and a time alone. */
bool figure_is_named_time(struct str line, const struct number *n, size_t count)
{
    struct str name = count == 1 ? str_trim(str_sub(line, 0, n->from)) : (struct str){"", 0}, rest = name, word, last = {"", 0};
    size_t words = 0;
    for (; (word = str_word(&rest)).n; words++)
        last = word;
    if (!words || words > 4 || n->plain || n->error || n->inside || n->own[0] || n->end != line.n || !guess_letters(last) ||
        figure_is_small(last) || str_has_word("every after until using than sleeping waiting pausing", last) ||
        is_one_of(last.p[last.n - 1], ",;"))
        return false;
    bool time = n->unit && !strcmp(n->unit->dimension, "second");
    if (time) /* "prog 2.4 s" may be anything */
        return (words > 1 || n->unit->factor < 1) && memchr(line.p + n->from, '.', n->to - n->from);
    return words > 1 && !n->unit && figure_is_measured(name);
}

/* ---- pairs in turn, or in a box ---- */

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

/* "train loss 1.9643, val loss 2.0599": of clauses between commas, each a name and a number, those with the name of a score. */
size_t figure_take_clauses(const struct figure_context *x, struct str line, struct figure *to)
{
    size_t found = 0, clauses = 0;
    if (!memchr(line.p, ',', line.n) || memchr(line.p, ':', line.n) || memchr(line.p, '=', line.n))
        return 0;
    for (struct str rest = line, clause; (clause = str_trim(str_cut(&rest, ','))).n && found < FIGURES_MAX; clauses++) {
        const char *blank = memrchr(clause.p, ' ', clause.n);
        struct str value = blank ? str_sub(clause, (size_t)(blank + 1 - clause.p), clause.n) : clause,
                   name = blank ? str_trim(str_sub(clause, 0, (size_t)(blank - clause.p))) : (struct str){"", 0};
        if (!guess_letters(name) || figure_has_number(name) || !guess_number(value))
            return 0;
        found += memchr(value.p, '.', value.n) && figure_is_score(name) && pair_set(x, line, name, value, &to[found]);
    }
    return clauses >= 2 ? found : 0;
}

size_t figure_take_boxed(const struct figure_context *x, struct str line, struct figure *to)
{
    struct columns row = figure_columns(line);
    return row.n == 2 && row.bars == 3 && pair_set(x, line, row.field[0], row.field[1], to);
}
