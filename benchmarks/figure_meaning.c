/* figure_meaning.c: whether a number with a name is a result, and what its unit is. */
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* "95th percentile" */
bool figure_is_ordinal(struct str s)
{
    size_t n = guess_number(s);
    struct str behind = str_sub(s, n, s.n);
    return n && (str_starts(behind, "th ") || str_starts(behind, "st ") || str_starts(behind, "nd ") || str_starts(behind, "rd "));
}

/* "A TIME OF 172800.0 SECONDS REQUESTED": the word behind names its meaning. */
static bool is_asked_for(struct str line, const struct number *n)
{
    static const char *const words[] = {"requested", "limit",  "allowed",    "maximum", "timeout",
                                        "interval",  "budget", "configured", "default"};
    struct str rest = str_sub(line, n->end, line.n), word = str_word(&rest);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is_anycase(word, words[i]))
            return true;
    return false;
}

/* True if the word behind the number shows that a compressor has saved so much. */
bool figure_is_saving(struct str line, const struct number *n)
{
    struct str rest = str_sub(line, n->end, line.n), word = str_word(&rest);
    while (word.n && is_one_of(word.p[word.n - 1], ",.;)"))
        word.n--;
    return str_has_word("saved savings smaller reduction reduced decrease removed Removed", word);
}

/* "Statements: 60% ( 3/5 )", "Lines executed: 85.71% of 7": two amounts behind the percentage show the same, or what it is a share of follows. Of a loop
 * it is how far it is: "Counting objects: 50% (1/2)". */
static bool is_proved(struct str line, const struct number *n, struct str label)
{
    struct str behind = str_trim(str_sub(line, n->end, line.n)), words = label;
    const char *close = str_starts(behind, "(") ? memchr(behind.p, ')', behind.n) : NULL;
    for (struct str word; (word = str_word(&words)).n;)
        if (str_ends_anycase(word, "ing"))
            return false;
    if (str_starts(behind, "of "))
        return memchr(line.p + n->from, '.', n->to - n->from) && !figure_is_share_of_setting(label);
    return close &&
           figure_is_share(str_trim((struct str){behind.p + 1, (size_t)(close - behind.p) - 1}), str_sub(line, n->from, n->to - n->from));
}

/* "eval_runtime": no time of the day. */
static bool is_runtime(struct str label)
{
    return str_ends_anycase(label, "runtime") || str_ends_anycase(label, "walltime");
}

/* "CPU time: 0.05": a clock measured it, and nothing names the unit. "Time" alone names it where
 * the line has no other number. */
static bool is_time_without_unit(struct str line, const struct figure_candidate *c, struct str label)
{
    return line.p[c->number->from] != '-' && (figure_is_measured(label) || (c->sole && str_is_anycase(label, "time")));
}

/* Is it a result, and under what unit? *ret_unit NULL: without. */
bool figure_is_result(const struct figure_context *x, struct str line, const struct figure_candidate *c, const char *name, bool indented,
                      const struct unit **ret_unit)
{
    const struct number *n = c->number;
    struct str label = str_of(name);
    const struct unit *u = n->unit ? n->unit : n->raw.n ? NULL : figure_unit_of_label(c->label);
    bool whole = !memchr(line.p + n->from, '.', n->to - n->from), section = x->section[0] && indented;
    *ret_unit = u;
    if (is_asked_for(line, n) || (!n->unit && u && whole && u->factor == 1 && str_ends(label, "secs") && !str_ends(label, "in secs")))
        return false;
    if ((n->multiple && !figure_is_counted(u)) ||
        (n->clock && (figure_is_elapsed(label) ? whole && !c->strong : whole || !is_runtime(label))))
        return false;
    for (size_t i = 0; i + 2 < label.n; i++) /* "L0:54.7% L1": values of others */
        if (str_is_digit(label.p[i]) && (label.p[i + 1] == '%' || (label.p[i + 1] == '.' && str_is_digit(label.p[i + 2]))))
            return false;
    struct str words = label;
    bool named = c->strong || str_is_anycase(str_word(&words), "set"); /* what was done, where a rate follows */
    bool asked = u && figure_is_rate(u) && named ? figure_is_rate_condition(label) : figure_is_condition(label);
    if (!label.n || label.n > 70 || asked || (!str_is_letter(label.p[0]) && !(section && figure_is_ordinal(label))))
        return false;
    if (section && figure_is_condition(str_of(x->section)))
        return false;
    if (line.p[n->from] == '-' && u) /* no rate or time is negative */
        return false;
    if (n->raw.n)
        return (c->strong || c->column) && (!figure_is_energy_unit(n->raw) || figure_is_energy(label));
    if (!u && section && x->section_unit && c->strong && (figure_is_statistic(label) || (x->section_heads && !whole && !n->plain))) {
        *ret_unit = x->section_unit;
        return true;
    }
    if (n->times)
        return c->strong && !whole && figure_is_score(label);
    if (!u && (c->strong || c->column) && !n->joined && !whole && is_time_without_unit(line, c, label))
        return !(section && memchr(x->section, '/', strlen(x->section))); /* of a file: an attribute of it, which no clock measured */
    if (!u && c->column && !c->strong && !n->joined && !whole && n->to == line.n && figure_is_score_name(label))
        return true; /* "Log Likelihood     -100.5" */
    if (!u)
        return c->strong && !n->joined && !whole ? figure_is_score(label)
                                                 : (c->strong || c->column) && figure_is_score_word(label) && !figure_is_count(label) &&
                                                       !(section && figure_is_count(str_of(x->section)));
    if (figure_is_rate(u))
        return !n->unit || !figure_ends_in_time(label, NULL);
    if (!strcmp(u->dimension, "second")) {
        if (n->unit && !str_has(n->word, "/") && figure_ends_in_rate(label, NULL))
            return false; /* "refresh rate: 0.5 s" is set, "speed: 2.5 ns/op" is measured */
        bool timed = figure_is_time(label) || (c->timed && !whole) || (section && figure_is_statistic(label)) ||
                     (section && figure_is_time(str_of(x->section)));
        bool task = u->factor < 1 && figure_is_task_time(label); /* "encode time: 52 ms" */
        return timed ? task || !(whole && figure_is_span(label)) : (c->strong || c->column) && !whole;
    }
    if (!strcmp(u->dimension, "percent") && !whole && figure_is_saving(line, n)) /* "0.55% saved" */
        return true;
    if (!strcmp(u->dimension, "percent") && is_proved(line, n, label))
        return c->strong || (c->column && !str_starts(str_trim(str_sub(line, n->end, line.n)), "of "));
    if (!strcmp(u->dimension, "percent")) /* "Read percentage: 87%" before the first result is the mix that was set */
        return c->strong && c->sole && (!whole || x->has_result || figure_is_score(label));
    if (!strcmp(u->dimension, "joule") || !strcmp(u->dimension, "watt"))
        return c->strong;
    return !strcmp(u->dimension, "byte") && c->strong && figure_is_memory(label) && !figure_is_loose_bytes(n->unit);
}
