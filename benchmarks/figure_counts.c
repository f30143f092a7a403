/* figure_counts.c: what a loop reports: lines that begin with the count of its rounds, "Epoch 3/10: loss=0.3", and the bar that it draws. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_titles.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

static struct str without_brackets(struct str word)
{
    while (word.n && is_one_of(word.p[0], "[("))
        word = str_sub(word, 1, word.n);
    while (word.n && is_one_of(word.p[word.n - 1], "]):,"))
        word.n--;
    return word;
}

/* "3", "3/10": the number of a round, and of all rounds if the line has both. *ret_last: it is the last of them; *ret_more: it is not. */
static bool is_round(struct str word, struct str *ret_number, bool *ret_last, bool *ret_more)
{
    struct str of = word;
    uint64_t unused;
    *ret_number = str_cut(&of, '/');
    *ret_last = of.p && str_eq(*ret_number, of);
    *ret_more = of.p && !*ret_last;
    return str_uint(*ret_number, &unused) && ret_number->n < 12 && (!of.p || str_uint(of, &unused));
}

static void round_set(struct figure_round *to, struct str number, bool more)
{
    snprintf(to->number, sizeof to->number, STR_FMT, (int)(number.n > 20 ? 20 : number.n), number.p);
    to->more = more;
}

/* "[20] rmse: 74.9", not "[3] 0.5": names follow the number. */
static bool is_listed(struct str word, struct str number, struct str rest)
{
    return word.n == number.n + 2 && word.p[0] == '[' && word.p[word.n - 1] == ']' && str_is_letter(char_at(rest, 0));
}

void figure_round_note(struct figure_context *x, struct str line)
{
    static const char marks[] = "#=*-~>:[] ";
    while (line.n && is_one_of(line.p[0], marks))
        line = str_sub(line, 1, line.n);
    while (line.n && is_one_of(line.p[line.n - 1], marks))
        line.n--;
    struct str name = str_word(&line), number = str_trim(line);
    bool unused, more;
    while (number.n && is_one_of(number.p[0], "#:"))
        number = str_sub(number, 1, number.n);
    if (figure_is_loop(without_brackets(name)) && is_round(number, &number, &unused, &more))
        round_set(&x->round, number, more);
}

struct str figure_behind_count(const struct figure_context *x, struct str line, struct figure_round *ret_round)
{
    struct str rest = line, word = str_word(&rest), name = word, number, none = {"", 0};
    bool named = word.n && str_is_letter(word.p[0]), last, more;
    *ret_round = (struct figure_round){"", false};
    if (named)
        word = str_word(&rest);
    bool loop = named && figure_is_loop(without_brackets(name)), round = is_round(without_brackets(word), &number, &last, &more);
    while (rest.n && is_one_of(rest.p[0], "]):,|- \t"))
        rest = str_sub(rest, 1, rest.n);
    if (!round || !(loop || last || (!named && is_listed(word, number, rest))))
        return none;
    if (named ? loop : !last)
        round_set(ret_round, number, more);
    else if (!named)
        *ret_round = x->round;
    return rest;
}

/* ---- rates of what was counted ---- */

size_t figure_take_counted_rate(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    const struct unit *unit;
    for (size_t k = 1; k < count; k++)
        if (!n[k].inside)
            return 0;
    const char *open = count > 1 && str_ends(line, ")") ? memchr(line.p, '(', line.n) : NULL;
    if (open) /* "931 logical lines per second (18 total)" */
        line = str_trim(str_sub(line, 0, (size_t)(open - line.p)));
    const char *last = line.n ? memrchr(line.p, ' ', line.n) : NULL;
    struct str time = last ? str_sub(line, (size_t)(last + 1 - line.p), line.n) : (struct str){"", 0},
               name = str_sub(line, 0, line.n - time.n);
    if (!count || (count > 1 && !open) || n[0].from || n[0].plain || n[0].raw.n || !str_ends(name, " per ") ||
        !figure_rate(STR("op"), time, &unit))
        return 0;
    name = str_trim(str_sub(name, n[0].to, name.n - n[0].to - 4));
    struct str last_word = {"", 0}, word;
    size_t words = 0;
    for (struct str rest = name; (word = str_word(&rest)).n; words++)
        last_word = word;
    bool apart = str_is_blank(char_at(line, n[0].to)) && str_is_blank(char_at(line, n[0].to + 1));
    if (!(words >= 2 || (apart && open)) || words > 4 || !(figure_is_past_verb(last_word) || (open && str_ends(last_word, "s"))) ||
        memchr(name.p, ',', name.n) || figure_is_rate_condition(name) || figure_is_estimate(name) ||
        !figure_name_clean(name, to->name, sizeof to->name) || !str_is_letter(to->name[0]))
        return 0;
    to->section = 0;
    return figure_value_set(x, line, &n[0], unit, to);
}

/* ---- bars ---- */

static bool is_all(struct str count)
{
    struct str all = str_trim(count), some = str_cut(&all, '/');
    return all.p && some.n && str_eq(some, all);
}

/* Sets a result with the name `head`. Returns false where the text is more than one number with a
 * unit, or `head` is a condition. */
static bool bar_figure_set(const struct figure_context *x, struct str text, struct str head, struct figure *to)
{
    struct number n;
    size_t length = guess_number(text);
    char name[64];
    if (!length || figure_number_take(text, 0, length, &n) != text.n || !n.unit || n.plain || figure_is_condition(head) ||
        figure_columns(head).n > 2) /* titles of a table */
        return false;
    if (!figure_name_clean(head, name, sizeof name))
        snprintf(name, sizeof name, "%s", figure_is_rate(n.unit) ? figure_rate_name(n.unit) : "time per operation");
    snprintf(to->name, sizeof to->name, "%s", name);
    to->section = 0;
    return figure_value_set(x, text, &n, n.unit, to);
}

/* "loss=0.3", "best loss: 0.3" behind the rate of a bar. */
static bool bar_score_set(const struct figure_context *x, struct str text, struct figure *to)
{
    size_t at = 0;
    while (at < text.n && !is_one_of(text.p[at], "=:"))
        at++;
    struct str name = str_sub(text, 0, at), value = str_trim(str_sub(text, at + 1, text.n));
    struct number n = {.from = (size_t)(value.p - text.p), .to = (size_t)(value.p - text.p) + value.n};
    if (at >= text.n || !value.n || guess_number(value) != value.n || !memchr(value.p, '.', value.n) || !figure_is_score(name) ||
        figure_is_condition(name) || !figure_name_clean(name, to->name, sizeof to->name))
        return false;
    to->section = 0;
    return figure_value_set(x, text, &n, NULL, to);
}

/* "Load: 100%|####| 1000/1000 [00:01<00:00, 950.00it/s, loss=0.3]" */
static size_t take_open_bar(const struct figure_context *x, struct str line, struct figure *to)
{
    ptrdiff_t at = str_find(line, STR("100%|"));
    size_t drawn = at >= 0 ? (size_t)at + sizeof "100%|" - 1 : line.n;
    const char *bar = memchr(line.p + drawn, '|', line.n - drawn), *open = bar ? memchr(bar, '[', (size_t)(line.p + line.n - bar)) : NULL;
    if (!open || !str_ends(line, "]") || !is_all((struct str){bar + 1, (size_t)(open - bar - 1)}))
        return 0;
    struct str parts = {open + 1, (size_t)(line.p + line.n - open) - 2}, times = str_cut(&parts, ','),
               rate = str_trim(str_cut(&parts, ','));
    if (!memchr(times.p, '<', times.n) || !bar_figure_set(x, rate, str_trim(str_sub(line, 0, (size_t)at)), to))
        return 0;
    size_t found = 1;
    while (parts.n && found < FIGURES_MAX) { /* "loss=0.3, acc=0.9", "loss=0.3 | acc=0.9" */
        size_t end = 0;
        while (end < parts.n && !is_one_of(parts.p[end], ",|"))
            end++;
        found += bar_score_set(x, str_trim(str_sub(parts, 0, end)), &to[found]);
        parts = str_sub(parts, end + 1, parts.n);
    }
    return found;
}

/* "items |####| 500/500 [100%] in 1.2s (421.13/s)" */
static size_t take_closed_bar(const struct figure_context *x, struct str line, struct figure *to)
{
    const struct str done = STR(" [100%] in ");
    ptrdiff_t at = str_find(line, done);
    struct str front = at > 0 ? str_sub(line, 0, (size_t)at) : (struct str){"", 0}, time, rate;
    const char *bar = front.n ? memrchr(front.p, '|', front.n) : NULL, *first = bar ? memchr(front.p, '|', front.n) : NULL;
    if (first == bar || !is_all((struct str){bar + 1, (size_t)(front.p + front.n - bar - 1)}) || !str_ends(line, ")"))
        return 0;
    rate = str_sub(line, front.n + done.n, line.n - front.n - done.n - 1);
    time = str_trim(str_cut(&rate, '('));
    struct str head = str_trim(str_sub(line, 0, (size_t)(first - line.p)));
    if (!rate.p || !bar_figure_set(x, rate, head, to))
        return 0;
    return 1 + (bar_figure_set(x, time, head.n ? head : STR("time"), &to[1]) && figure_is_rate(to[0].unit) && !figure_is_rate(to[1].unit));
}

size_t figure_take_bar(const struct figure_context *x, struct str line, struct figure *to)
{
    size_t found = take_open_bar(x, line, to);
    return found ? found : take_closed_bar(x, line, to);
}
