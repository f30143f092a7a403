/* figure_bare.c: lines of a name and a number alone, without a mark between them: "loss 0.3", "matmul 12.34 ms". */
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* "compression ratio" of "a.txt - compression ratio" */
struct str figure_behind_dash(struct str text)
{
    ptrdiff_t at = str_find(text, STR(" - "));
    return at < 0 ? text : str_trim(str_sub(text, (size_t)at + 3, text.n));
}

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
