/* figure.c: results in a line of a program that no rules know: which form the line has, and what the lines before mean for it. */
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_titles.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

enum { HEADER_AGE_MAX = 40 };

static bool is_percent(const struct number *n)
{
    return n->unit && !strcmp(n->unit->dimension, "percent");
}

/* "102400.00 MiB transferred (13524.03 MiB/sec)": a rate in parentheses counts where the line has no other result. */
static bool only_rate(const struct number *n, size_t count, size_t *ret)
{
    size_t rates = 0;
    for (size_t k = 0; k < count; k++)
        if (n[k].unit && figure_is_rate(n[k].unit)) {
            *ret = k;
            rates++;
        }
    return rates == 1 && n[*ret].inside;
}

/* True if one of the numbers can be a result at all. Tested before the words are compared, which
 * costs more. */
static bool has_candidate(struct str line, const struct number *n, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t i = n[k].from;
        while (i && str_is_blank(line.p[i - 1]))
            i--;
        bool behind_bar = i && (line.p[i - 1] == '|' || (line.p[i - 1] & 0x80));
        if ((!n[k].plain || n[k].multiple || n[k].times) &&
            (n[k].unit || n[k].raw.n || n[k].from - i >= 2 || (n[k].from > i && line.p[i] == '\t') || behind_bar ||
             (i && is_one_of(line.p[i - 1], ":="))))
            return true;
    }
    if (count >= 2 && n[0].from && memchr(line.p, ',', line.n))
        return true; /* "train loss 1.9643, val loss 2.0599" */
    if (count >= 2 && memchr(line.p, ':', line.n) && (str_has(line, "avg") || str_has(line, "mean")))
        return true; /* "time [ms]: min 0.3 avg 2.8" */
    return figure_is_bare_score(line, n, count) || figure_is_bare_time(line, n, count) || figure_is_named_time(line, n, count) ||
           figure_is_bare_computed(line, n, count) || (count && memchr(line.p, '/', line.n) && memchr(line.p, '=', line.n));
}

/* "MFLOPS Summary": what the section has, without the word that marks it as one. */
static struct str without_last_noun(struct str text)
{
    const char *blank = memrchr(text.p, ' ', text.n);
    struct str last = blank ? str_sub(text, (size_t)(blank + 1 - text.p), text.n) : (struct str){"", 0};
    bool noun = str_is_anycase(last, "summary") || str_is_anycase(last, "results") || str_is_anycase(last, "statistics");
    return noun ? str_trim(str_sub(text, 0, (size_t)(blank - text.p))) : text;
}

/* Without the lines that are drawn around it: "━━━ SUCCESS in 0.24 seconds ━━━". */
static struct str without_border(struct str line)
{
    static const char *const drawn[] = {"\xe2\x94\x80", "\xe2\x94\x81", "\xe2\x95\x90"};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        while (str_starts(line, drawn[i]))
            line = str_sub(line, 3, line.n);
        while (str_ends(line, drawn[i]))
            line.n -= 3;
    }
    return str_trim(line);
}

/* The members of an object that is all of the line, "{'loss': 0.3, 'acc': 0.9}", or the words in brackets around all of it. */
static struct str without_braces(struct str line)
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

/* "Single-precision compute (GFLOPS)": keeps words that end in a unit of a rate or a time, in parentheses, as the section. */
static void unit_heading_note(struct figure_context *x, struct str words, size_t indent, size_t numbers)
{
    const char *open = words.n ? memrchr(words.p, '(', words.n) : NULL;
    const struct unit *unit = NULL;
    struct str raw,
        inside = open && str_ends(words, ")") ? (struct str){open + 1, (size_t)(words.p + words.n - open) - 2} : (struct str){"", 0};
    bool heads =
        inside.n && !numbers && open > words.p && str_is_blank(open[-1]) && !memchr(words.p, ':', words.n) && figure_columns(words).n == 1;
    if (!heads || !figure_unit(inside, &unit, &raw) || !figure_is_time_or_rate(unit))
        return;
    struct str name = str_trim(str_sub(words, 0, (size_t)(open - words.p)));
    snprintf(x->section, sizeof x->section, STR_FMT, STR_ARG(name));
    x->section_indent = indent;
    x->section_age = 0;
    x->section_unit = unit;
    x->section_heads = true;
}

/* Returns true for a header or a row of a table. */
static bool note_line(struct figure_context *x, struct str line, struct str words, size_t indent, size_t numbers, bool row)
{
    const char *open = memchr(words.p, '(', words.n);
    bool plain =
        guess_letters(words) && !figure_has_number(open && str_ends(words, "):") ? str_sub(words, 0, (size_t)(open - words.p)) : words);
    bool quotes = memchr(words.p, '\'', words.n) ||
                  memchr(words.p, '"', words.n); /* "Performance counter stats for 'true':" names what was run, not what was measured */
    bool title = str_ends(words, ":") && words.n < sizeof x->section && plain && !quotes;
    if (plain && words.n < sizeof x->title) {
        memcpy(x->title, words.p, words.n);
        x->title[words.n] = 0;
        x->title_age = 0;
    } else
        x->title_age++;
    bool rule = words.n >= 10 && !guess_letters(words) && !numbers; /* drawn; directly below a title it underlines it */
    if (x->section[0] && (indent <= x->section_indent || (rule && x->section_age)))
        x->section[0] = 0;
    x->section_age++;
    if (title) {
        struct str text = str_sub(words, 0, words.n - 1);
        snprintf(x->section, sizeof x->section, STR_FMT, STR_ARG(text));
        x->section_indent = indent;
        x->section_age = 0;
        x->section_unit = figure_unit_of_label(without_last_noun(text));
        x->section_heads = false;
    } else if (words.p[words.n - 1] == ')')
        unit_heading_note(x, words, indent, numbers);
    if (figure_header_note(x, line, numbers))
        return true;
    if (x->header[0] && ++x->header_age > HEADER_AGE_MAX)
        x->header[0] = 0;
    x->header_gap += !row && (numbers || guess_letters(words));
    return row;
}

/* A first test that costs little: most lines of a long log have no number behind a blank, ":" or
 * "=". */
static bool is_promising(struct str line)
{
    if (line.n < 3)
        return false;
    for (size_t i = 1; i < line.n; i++)
        if (str_is_digit(line.p[i]) && is_one_of(line.p[i - 1], " \t:=(<~|./#"))
            return true;
    return str_is_digit(line.p[0]);
}

/* "1976308 B": no unit of a result, as it may be one of bits or of a battery. */
static bool is_bytes(struct str line, const struct number *n)
{
    struct str rest = str_sub(line, n->end, line.n);
    return n->unit ? !strcmp(n->unit->dimension, "byte") : !n->raw.n && str_is(str_word(&rest), "B");
}

/* The line has no result: the first number with a unit is what a reader would miss. */
static void note_passed(struct figure_context *x, struct str line, const struct number *n, size_t count)
{
    x->passed_over = x->passed_size = false;
    for (size_t k = 0; k < count && !x->passed_over; k++) {
        bool bytes = is_bytes(line, &n[k]);
        x->passed_over = !n[k].inside && !n[k].error && (n[k].unit || n[k].raw.n || bytes);
        x->passed_size = x->passed_over && bytes;
    }
}

/* Removes the results with a unit, and sets the round of the others. Returns how many are left. */
static size_t keep_scores(struct figure *f, size_t n, const struct figure_round *round)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!f[i].unit) {
            memcpy(f[i].step, round->number, sizeof f[i].step);
            f[i].is_score_of_round = round->number[0];
            f[i].more_rounds = round->more;
            f[kept++] = f[i];
        }
    return kept;
}

/* Drops values without a unit that have few digits, and notes their names. Returns how many results are left. */
static size_t drop_doubted(struct figure_context *x, struct figure *f, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (f[i].is_computed && f[i].has_few_digits)
            figure_doubt_note(x, f[i].name);
        else
            f[kept++] = f[i];
    return kept;
}

/* The results of a line of words, each from a number and what names it. *ret_lone: a time that is all of the line. */
static size_t take_words_and_numbers(struct figure_context *x, struct str words, const struct number *number, size_t count, bool indented,
                                     struct figure *to, bool *ret_lone)
{
    size_t n = 0, single = FIGURE_NUMBERS_MAX;
    bool rows =
        count >= 3 && number[0].from == 0 && (str_is_blank(char_at(words, number[0].to)) && str_is_blank(char_at(words, number[0].to + 1)));
    bool inside = only_rate(number, count, &single);
    for (size_t k = 0; k < count && !rows && n < FIGURES_MAX; k++) {
        const struct number *c = &number[k];
        bool bracketed = c->inside && !(inside && k == single) && !(is_percent(c) && figure_is_saving(words, c));
        if (c->error || (c->plain && !c->multiple && !c->times) || bracketed)
            continue;
        to[n].is_computed = to[n].has_few_digits = false;
        if (!figure_compose(x, words, number, count, k, indented, &to[n]))
            continue;
        n += drop_doubted(x, &to[n], 1);
    }
    if (n && n < FIGURES_MAX)
        n += figure_take_last_share(x, words, number, count, &to[n]);
    if (!n && !rows && !(n = figure_take_done(x, words, number, count, to))) {
        n = figure_take_lone(x, words, number, count, to);
        *ret_lone = n == 1 && !strcmp(to[0].unit->dimension, "second");
    }
    return n;
}

size_t figure_find(struct figure_context *x, struct str line, struct figure to[FIGURES_MAX])
{
    struct number number[FIGURE_NUMBERS_MAX];
    size_t indent = 0, count = 0, n = 0;
    for (size_t i = 0; i < FIGURES_MAX; i++) {
        to[i].variant[0] = to[i].step[0] = 0;
        to[i].is_score_of_round = to[i].more_rounds = to[i].is_computed = false;
    }
    note_passed(x, line, NULL, 0);
    if (!str_trim(line).n)
        x->after_text = false;
    if (line.n > FIGURE_LINE_MAX || !guess_plain_line(line, FIGURE_LINE_MAX))
        return 0;
    while (indent < line.n && str_is_blank(line.p[indent]))
        indent++;
    struct str words = figure_without_branches(x, str_trim(line));
    if (!words.n)
        return 0;
    x->indent = indent;
    bool indented = x->section[0] && indent > x->section_indent, lone = false, row = false;
    if (!is_promising(words)) {
        figure_heading_note(x, words, NULL, 0, note_line(x, line, words, indent, 0, false));
        return 0;
    }
    if (words.n > 2 && words.p[0] == '"' && memchr(words.p + 1, '"', words.n - 1) == words.p + words.n - 1)
        words = str_sub(words, 1, words.n - 2); /* "Elapsed time: 3.5 msecs", printed as a text */
    words = without_braces(figure_without_estimate(figure_without_stamp(without_border(words))));
    if (words.n > 2 && words.p[0] == '#' && words.p[1] == ' ' && str_is_digit(words.p[2])) /* "# 1000 requests in 5.4 s" */
        words = str_sub(words, 2, words.n);
    struct figure_round round = {"", false};
    figure_round_note(x, words);
    bool counted = figure_is_progress(words) || words.p[0] == '[' || str_is_digit(words.p[0]);
    struct str last = counted ? figure_behind_count(x, words, &round) : (struct str){"", 0};
    if (last.n)
        words = last;
    count = words.n ? figure_numbers_take(words, number) : 0;
    figure_commas_note(x, words, number, count);
    if ((n = figure_take_tagged(x, words, to)) || (n = figure_take_pairs(x, words, count, to)) ||
        (n = figure_take_time(x, words, number, count, to)) || (n = figure_take_bar(x, words, to)) ||
        (n = figure_take_counted_rate(x, words, number, count, to)))
        goto done;
    if ((has_candidate(words, number, count) || (count && figure_fits_titles(x, words))) && !figure_is_progress(words) &&
        !figure_is_estimate(words)) {
        if ((n = figure_take_percentile(x, words, number, count, to)) || (n = figure_take_parts(x, words, to)) ||
            (n = figure_take_statistics(x, words, to)) || (n = figure_take_listed(x, words, number, count, to)) ||
            (n = figure_take_reduction(x, words, number, count, to)) || (n = figure_take_share(x, words, number, count, to)) ||
            (n = figure_take_column_share(x, words, number, count, to)) || (n = figure_take_bracketed(x, words, number, count, to)) ||
            (n = figure_take_erred(x, words, number, count, indented, to)))
            goto done;
        if ((n = figure_take_clauses(x, words, to))) {
            if (last.n)
                n = keep_scores(to, n, &round);
            goto done;
        }
        row = figure_take_columns(x, words, count, to, &n);
        if ((row && n) || (n = figure_take_boxed(x, words, to)) || (row && x->header[0]))
            goto done;
        n = take_words_and_numbers(x, words, number, count, indented, to, &lone);
        if (last.n) /* times and rates may be those of the last part alone */
            n = keep_scores(to, n, &round);
        for (size_t a = 0; a < n; a++) /* one name, several values: which counts is not known */
            for (size_t b = a + 1; b < n; b++)
                if (to[a].unit == to[b].unit && !strcmp(to[a].name, to[b].name)) {
                    n = 0;
                    break;
                }
    }
done:
    n = drop_doubted(x, to, n);
    for (size_t i = 0; i < n; i++) {
        to[i].lone = lone;
        to[i].is_early = to[i].is_computed && !x->has_result && !figure_is_late_name(x, str_of(to[i].name));
        bool result = figure_is_time_or_rate(to[i].unit);
        x->has_result = x->has_result || result;
        x->has_part = x->has_part || (result && !figure_is_elapsed(str_of(to[i].name)));
    }
    note_passed(x, words, number, n ? 0 : count);
    struct str unstamped = figure_without_stamp(str_trim(line)); /* "10:11:12   CPU   %usr" */
    bool table = note_line(x, unstamped.n < str_trim(line).n ? unstamped : line, str_trim(line), indent, count, row);
    figure_heading_note(x, words, number, count, n + table);
    return n;
}
