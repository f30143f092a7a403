/* figure_times.c: lines with a duration: those of time(1) and similar programs, "built in 1.2 s", a
 * time printed twice. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

static bool has_two_places(struct str number)
{
    const char *point = memchr(number.p, '.', number.n);
    return point && guess_is_number(number) && number.p + number.n - point > 2;
}

static void time_figure_set(struct figure *to, const char *name, struct str text)
{
    *to = (struct figure){.unit = units_find(STR("s")), .digits = text, .printed = {"", 0}};
    snprintf(to->name, sizeof to->name, "%s", name);
    if (!figure_minutes(text, to->value, sizeof to->value))
        snprintf(to->value, sizeof to->value, STR_FMT, (int)(text.n > 30 ? 30 : text.n), text.p);
    else
        to->digits.n = 0;
}

/* "0.51user 0.00system 0:00.55elapsed 95%CPU": GNU time. */
static size_t take_gnu_time(struct str line, struct figure *to)
{
    static const char *const names[] = {"user", "system", "elapsed"};
    size_t n = 0;
    char unused[32];
    for (; n < 3; n++) {
        struct str word = str_word(&line), number = str_ends(word, names[n]) ? str_sub(word, 0, word.n - strlen(names[n])) : word;
        if (number.n == word.n || !(has_two_places(number) || figure_minutes(number, unused, sizeof unused) == number.n))
            break;
        time_figure_set(&to[n], names[n], number);
    }
    return n >= 2 ? n : 0;
}

/* "0.051u 0.004s 0:00.55 9.0% …": tcsh. */
static size_t take_tcsh_time(struct str line, struct figure *to)
{
    static const char *const names[] = {"user", "system", "elapsed"};
    static const char units[] = "us";
    char unused[32];
    for (size_t n = 0; n < 3; n++) {
        struct str word = str_word(&line), number = n < 2 && word.n > 1 ? str_sub(word, 0, word.n - 1) : word;
        if (n < 2 ? !word.n || word.p[word.n - 1] != units[n] || !has_two_places(number)
                  : figure_minutes(word, unused, sizeof unused) != word.n)
            return 0;
        time_figure_set(&to[n], names[n], number);
    }
    return str_ends(str_word(&line), "%") ? 3 : 0;
}

/* "real 0.30" (time -p), "Run Time: real 0.220 user 0.071451 sys 0.000000", without a unit behind
 * it. */
static size_t take_posix_time(struct str line, struct figure *to)
{
    size_t n = 0, words = 0, known = 0;
    struct str rest = line, head = line, before = {"", 0};
    bool real = false;
    for (struct str word; (word = str_word(&rest)).n && n < FIGURES_MAX; before = word, words++) {
        bool name = str_is(before, "real") || str_is(before, "user") || str_is(before, "sys");
        if (!name || !has_two_places(word))
            continue;
        if (!known++)
            head = str_trim(str_sub(line, 0, (size_t)(before.p - line.p)));
        char label[FIGURE_NAME_MAX], cleaned[64] = "";
        figure_name_clean(head, cleaned, sizeof cleaned);
        snprintf(label, sizeof label, "%s%s" STR_FMT, cleaned, cleaned[0] ? " " : "", STR_ARG(before));
        real = real || str_is(before, "real");
        time_figure_set(&to[n++], label, word);
    }
    bool alone = words == 2 && n == 1;
    return alone || (real && n >= 2 && !figure_has_number(head)) ? n : 0;
}

/* "make  0.51s user 0.00s system 95% cpu 0.550 total": zsh. */
static size_t take_zsh_time(struct str line, struct figure *to)
{
    const char *end = line.n > 6 && str_ends(line, " total") ? line.p + line.n - 6 : NULL;
    const char *begin = end ? memrchr(line.p, ' ', (size_t)(end - line.p)) : NULL;
    struct str number = begin ? (struct str){begin + 1, (size_t)(end - begin - 1)} : (struct str){"", 0};
    char unused[32];
    if (!begin || !str_ends(str_sub(line, 0, (size_t)(begin - line.p)), "% cpu") || !str_has(line, "s user ") ||
        !(has_two_places(number) || figure_minutes(number, unused, sizeof unused) == number.n))
        return 0;
    time_figure_set(to, "total", number);
    return 1;
}

/* "0 hours 1 minutes 3 seconds", "0:01:23", "1m 23s": an amount of time in words and digits only. */
static bool is_amount_of_time(struct str s)
{
    static const char words[] = "h hour hours m min mins minute minutes s sec secs second seconds d day days";
    bool any = false;
    for (size_t i = 0; i < s.n; i++) {
        size_t from = i;
        while (i < s.n && str_is_letter(s.p[i]))
            i++;
        if (i > from && !str_has_word(words, str_sub(s, from, i - from)))
            return false;
        if (i < s.n && !str_is_letter(s.p[i]) && !str_is_digit(s.p[i]) && !is_one_of(s.p[i], " :.,"))
            return false;
        any = any || str_is_digit(char_at(s, i));
    }
    return any;
}

/* "Trace Time:   0 hours  0 minutes  1 seconds (1.009 seconds)": the same time again, more exactly. */
static size_t take_time_again(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    const char *colon = memchr(line.p, ':', line.n);
    const struct number *last = count >= 2 ? &n[count - 1] : NULL;
    if (!last || !colon || !last->inside || last->plain || !last->unit || strcmp(last->unit->dimension, "second") ||
        char_at(line, last->from - 1) != '(' || char_at(line, last->end) != ')' || last->end + 1 != line.n ||
        !memchr(line.p + last->from, '.', last->to - last->from))
        return 0;
    struct str name = str_sub(line, 0, (size_t)(colon - line.p)),
               first = str_sub(line, name.n + 1, last->from - 1 > name.n + 1 ? last->from - 2 - name.n : 0);
    if (figure_has_number(name) || !is_amount_of_time(str_trim(first)) || !figure_name_clean(name, to->name, sizeof to->name) ||
        !figure_is_time(str_of(to->name)) || figure_is_condition(str_of(to->name)))
        return 0;
    to->section = 0;
    return figure_value_set(x, line, last, last->unit, to);
}

/* "process-time:   1s   0.51 seconds": the same without brackets. */
static size_t take_time_beside(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    const char *colon = memchr(line.p, ':', line.n);
    const struct number *last = count >= 2 ? &n[count - 1] : NULL;
    if (!last || !colon || last->inside || last->plain || !last->unit || last->own[0] || strcmp(last->unit->dimension, "second") ||
        last->end != line.n || !memchr(line.p + last->from, '.', last->to - last->from))
        return 0;
    struct str name = str_sub(line, 0, (size_t)(colon - line.p)), first = str_trim(str_sub(line, name.n + 1, last->from - name.n - 1));
    if (!first.n || memchr(first.p, '.', first.n) || !str_is_letter(first.p[first.n - 1]) || figure_has_number(name) ||
        !is_amount_of_time(first) || !str_is_blank(line.p[last->from - 2]) || !figure_name_clean(name, to->name, sizeof to->name) ||
        !figure_is_time(str_of(to->name)) || figure_is_condition(str_of(to->name)))
        return 0;
    to->section = 0;
    return figure_value_set(x, line, last, last->unit, to);
}

/* A whole number of seconds may be the time that the user requested, and no result. */
static bool is_measured_time(struct str line, const struct number *n)
{
    bool fraction = false;
    for (size_t i = n->from; i < n->to; i++)
        if (line.p[i] == '.')
            for (size_t k = i + 1; k < n->to; k++)
                fraction = fraction || (line.p[k] != '0' && str_is_digit(line.p[k]));
    return fraction || n->unit->factor < 1;
}

/* "ElapsedTime 17.36 (17.36 seconds)": the number again, with its unit. */
static size_t take_number_again(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    if (count != 2 || n[0].unit || n[0].raw.n || n[0].plain || n[0].own[0] || !n[1].inside || n[1].plain || n[1].own[0] || !n[1].unit ||
        !figure_is_time_or_rate(n[1].unit) || char_at(line, n[1].from - 1) != '(' || char_at(line, n[1].end) != ')' ||
        n[1].end + 1 != line.n || !str_eq(str_sub(line, n[0].from, n[0].to - n[0].from), str_sub(line, n[1].from, n[1].to - n[1].from)) ||
        str_trim(str_sub(line, n[0].to, n[1].from - 1 - n[0].to)).n)
        return 0;
    struct str name = str_sub(line, 0, n[0].from);
    if (!figure_name_clean(name, to->name, sizeof to->name) || !str_is_letter(to->name[0]) || figure_is_condition(str_of(to->name)) ||
        (!figure_is_rate(n[1].unit) && !figure_is_time(str_of(to->name))))
        return 0;
    to->section = 0;
    return figure_value_set(x, line, &n[1], n[1].unit, to);
}

/* "src/a.js 47ms": a file, and the time for it. */
static size_t take_file_time(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    struct str file = count ? str_trim(str_sub(line, 0, n[0].from)) : (struct str){"", 0};
    const char *point = memrchr(file.p, '.', file.n);
    if (count != 1 || !n[0].joined || n[0].plain || n[0].inside || n[0].end != line.n || !n[0].unit ||
        strcmp(n[0].unit->dimension, "second") || !point || !str_is_letter(point[1]) || memchr(file.p, ' ', file.n) ||
        !memchr(file.p, '/', file.n) || !is_measured_time(line, &n[0]) || file.n >= sizeof to->name)
        return 0;
    snprintf(to->name, sizeof to->name, STR_FMT, STR_ARG(file));
    to->section = 0;
    return figure_value_set(x, line, &n[0], n[0].unit, to);
}

/* A first test that costs little. */
static bool may_be_of_command(struct str line)
{
    return (str_is_digit(char_at(line, 0)) && str_has(line, "u ")) || str_starts(line, "real") || str_starts(line, "sys") ||
           str_has(line, "user");
}

size_t figure_take_time(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    size_t found = 0;
    if (may_be_of_command(line) && ((found = take_gnu_time(line, to)) || (found = take_tcsh_time(line, to)) ||
                                    (found = take_posix_time(line, to)) || (found = take_zsh_time(line, to))))
        return found;
    return (found = take_time_again(x, line, n, count, to)) || (found = take_time_beside(x, line, n, count, to)) ||
                   (found = take_number_again(x, line, n, count, to))
               ? found
               : take_file_time(x, line, n, count, to);
}

/* ---- "built in 1.2 s" and similar ---- */

bool figure_is_past_verb(struct str word)
{
    char lower[24];
    if (word.n < 3 || word.n >= sizeof lower)
        return false;
    for (size_t i = 0; i < word.n; i++)
        lower[i] = str_lower(word.p[i]);
    struct str s = {lower, word.n};
    return str_has_word("ran done built wrote sent took found drew drawn sorted made read written success successful complete", s) ||
           (s.n >= 5 && str_ends(s, "ed") &&
            !str_has_word("speed timed expected scheduled expired limited needed required delayed refused unused allowed desired", s));
}

static bool is_still_to_come(struct str line)
{
    static const char *const words[] = {"will ", "Will ", "retry", "Retry", " be ", "within", "expire", "timeout", "timed out"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_has(line, words[i]))
            return true;
    return false;
}

/* The name in front of " in": the first word of the line if it is such a verb ("Finished dev [optimized] target(s)"), else the last one before. */
static struct str verb_before(struct str text)
{
    struct str rest = text, word, last = {"", 0};
    for (bool first = true; (word = str_word(&rest)).n; first = false) {
        while (word.n && is_one_of(word.p[word.n - 1], ",.:;"))
            word.n--;
        if (figure_is_past_verb(word)) {
            last = word;
            if (first)
                return word;
        }
    }
    return last;
}

/* The words before the time without the one that leads to it, such as "in". *ret_took: that one
 * shows that it was measured. */
static bool take_leading_word(struct str *before, bool ends, bool *ret_took)
{
    static const char *const took[] = {" took", " used", " spent"};
    *ret_took = str_is_anycase(*before, "took"); /* `Took 0min 0.2s` */
    if (*ret_took)
        return true;
    for (size_t i = 0; i < sizeof took / sizeof *took; i++)
        if (str_ends(*before, took[i])) {
            before->n -= strlen(took[i]);
            return *ret_took = true;
        }
    if (str_ends(*before, " in") || (ends && str_ends(*before, " after"))) {
        before->n -= str_ends(*before, " in") ? 3 : 6;
        return true;
    }
    struct str rest = *before, word, last = {"", 0};
    while ((word = str_word(&rest)).n)
        last = word;
    if (!str_ends(last, ",") || !figure_is_past_verb(str_sub(last, 0, last.n - 1))) /* "5 lines compiled, 0.2 sec" */
        return false;
    before->n--;
    return true;
}

/* "Ran 1 test in 1.2 s using 2 processes": what was used, and no part of the result. */
static bool is_means(struct str behind)
{
    return str_starts(behind, "using ") || str_starts(behind, "with ") || str_starts(behind, "on ");
}

/* The number that is the time of the line, count: there is none. *ret_amounts: other numbers outside of parentheses. */
static size_t time_of_line(struct str line, const struct number *n, size_t count, size_t *ret_amounts)
{
    size_t k = count;
    *ret_amounts = 0;
    for (size_t i = 0; i < count; i++) {
        bool time = n[i].unit && !strcmp(n[i].unit->dimension, "second") && !n[i].plain && !n[i].error;
        if (n[i].inside)
            continue;
        if (k < count && !n[i].unit && !n[i].raw.n && is_means(str_trim(str_sub(line, n[k].end, line.n))))
            continue;
        bool size = n[i].unit && !strcmp(n[i].unit->dimension, "byte"); /* "copied 5 GB in 1.2 s" */
        if (k < count || (n[i].unit && !time && !size) || n[i].raw.n)
            return count;
        if (time)
            k = i;
        else
            ++*ret_amounts;
    }
    return k;
}

/* "2 passing (179ms)": an amount, a word, and the time in parentheses. */
static bool is_amount_done(struct str line, const struct number *n, size_t count)
{
    struct str rest = str_sub(line, count == 2 ? n[0].end : line.n, line.n), word = str_word(&rest), behind = str_trim(rest);
    return count == 2 && !n[0].from && !n[0].unit && n[1].inside && !n[1].plain && n[1].unit && !strcmp(n[1].unit->dimension, "second") &&
           (str_is(word, "passing") || figure_is_past_verb(word)) && behind.n && behind.p[0] == '(' && behind.p + 1 == line.p + n[1].from &&
           n[1].end + 1 == line.n && is_measured_time(line, &n[1]);
}

/* "Successfully compiled: 2 files with swc (829.97ms)", "Checked 4 files (3ms)": a verb begins the line, and the time in parentheses ends it. */
static size_t take_done_bracket(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    const struct number *last = count ? &n[count - 1] : NULL;
    struct str rest = line, verb = str_word(&rest);
    if (str_is_anycase(verb, "successfully"))
        verb = str_word(&rest);
    while (verb.n && is_one_of(verb.p[verb.n - 1], ":,"))
        verb.n--;
    if (!last || !last->inside || last->plain || last->error || !last->unit || strcmp(last->unit->dimension, "second") ||
        char_at(line, last->from - 1) != '(' || char_at(line, last->end) != ')' || last->end + 1 != line.n || !figure_is_past_verb(verb) ||
        !str_is_letter(line.p[0]) || is_still_to_come(line) || str_has(line, " of ") || !is_measured_time(line, last))
        return 0;
    for (size_t i = 0; i + 1 < count; i++)
        if (n[i].unit || n[i].raw.n || n[i].error)
            return 0;
    if (!figure_name_clean(verb, to->name, sizeof to->name))
        return 0;
    to->section = 0;
    return figure_value_set(x, line, last, last->unit, to);
}

/* "1000000 lookups in 0.253 s": up to three words between an amount and " in". */
static struct str counted_words(struct str text)
{
    struct str name = str_trim(text), rest = name, none = {"", 0};
    size_t words = 0;
    for (struct str word; (word = str_word(&rest)).n; words++)
        for (size_t i = 0; i < word.n; i++)
            if (!str_is_letter(word.p[i]) && !is_one_of(word.p[i], "-_"))
                return none;
    return words <= 3 ? name : none;
}

/* "created x.wv in 0.06 secs", "Ran 2 tests in 0.067s", "1 passed; 0 failed; finished in 1.33s",
 * `Parsing took 87 ms`. */
size_t figure_take_done(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    size_t amounts, k = time_of_line(line, n, count, &amounts);
    if (is_amount_done(line, n, count)) {
        struct str rest = str_sub(line, n[0].end, line.n), word = str_word(&rest);
        snprintf(to->name, sizeof to->name, STR_FMT, (int)(word.n > 40 ? 40 : word.n), word.p);
        to->section = 0;
        return figure_value_set(x, line, &n[1], n[1].unit, to);
    }
    if (count && n[count - 1].inside && take_done_bracket(x, line, n, count, to))
        return 1;
    struct str before = k < count ? str_trim(str_sub(line, 0, n[k].from)) : (struct str){"", 0};
    struct str behind = k < count ? str_trim(str_sub(line, n[k].end, line.n)) : before;
    bool took;
    if (k == count || !take_leading_word(&before, !behind.n, &took) || is_still_to_come(line) || !is_measured_time(line, &n[k]))
        return 0;
    struct str clause = figure_clause(before);
    bool own = !figure_has_number(clause) && guess_letters(clause); /* numbers before it are of other clauses */
    if ((took ? figure_has_number(before) : amounts > 1 && !(own && verb_before(clause).n)) ||
        (behind.n && !is_one_of(behind.p[0], ".,;(!=-") && !(took && (str_starts(behind, "of ") || str_starts(behind, "on the "))) &&
         !(!took && is_means(behind))))
        return 0;
    struct str name = took ? clause : verb_before(amounts > 1 ? clause : before);
    if (!took && !name.n && amounts == 1 && !n[0].from)
        name = counted_words(str_sub(line, n[0].end, (size_t)(before.p + before.n - line.p) - n[0].end));
    if (str_is_anycase(before, "took"))
        snprintf(to->name, sizeof to->name, "took");
    else if (!figure_name_clean(name, to->name, sizeof to->name) || !str_is_letter(to->name[0]) || strlen(to->name) > 60 ||
             (took && figure_is_condition(str_of(to->name))))
        return 0;
    to->section = 0;
    return figure_value_set(x, line, &n[k], n[k].unit, to);
}
