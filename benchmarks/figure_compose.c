/* figure_compose.c: a result from a number of a line: its name, its value and its unit. */
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* True for a text that may precede a rate without a name: nothing, or an arrow. */
static bool is_arrow_mark(struct str text)
{
    return !text.n || str_is(text, "=>") || str_is(text, "==>") || str_is(text, "->") || str_is(text, "-->");
}

/* "582.5 ops/sec ± 52.9% (139655 samples)" */
static bool is_error_behind(struct str line, size_t at)
{
    return figure_error_skip(line, at) > at;
}

/* "1353.19 ms / 256 runs": how many of what the time before was for. */
static bool is_divisor(struct str line, const struct number *time, const struct number *n)
{
    struct str between = str_trim(str_sub(line, time->end, n->from - time->end)), behind = str_sub(line, n->end, line.n);
    return time->unit && !strcmp(time->unit->dimension, "second") && !n->unit && !n->raw.n && str_is(between, "/") &&
           !memchr(line.p + n->from, '.', n->to - n->from) && guess_letters(str_word(&behind));
}

/* "12.3 12.4 12.6 ms", "0.0004 secs, 0.0005 secs": another number of the same kind that nothing names. Which of them counts is not known. */
static bool has_nameless_sibling(struct str line, const struct number *n, size_t count, size_t k)
{
    char unused[FIGURE_NAME_MAX];
    for (size_t i = k + 1; i < count && !n[i].inside; i++) {
        struct str between = str_sub(line, n[i - 1].end, n[i].from - n[i - 1].end);
        if (n[i].error)
            continue;
        if (guess_letters(between))
            return false;
        if (i == k + 1 && is_divisor(line, &n[k], &n[i])) /* "1353.19 ms / 256 runs" */
            continue;
        if (figure_is_named_rate(&n[k]) && figure_is_named_rate(&n[i]) && !str_eq(n[k].word, n[i].word)) /* "5 runs/s, 9 assertions/s" */
            continue;
        bool other = n[k].unit && (n[i].unit ? strcmp(n[i].unit->dimension, n[k].unit->dimension) != 0 : n[i].raw.n > 0);
        struct str behind = str_sub(line, n[i].end, line.n);
        bool named = !n[i].unit && !n[i].raw.n && guess_letters(str_word(&behind)); /* "16 B/op" */
        if (!other && !named &&
            !(figure_trailing_name(line, &n[i], unused, sizeof unused) && figure_trailing_name(line, &n[k], unused, sizeof unused)))
            return true;
    }
    return false;
}

/* "buffer size 1024 bytes: 203.9 MiB/s" */
static bool is_whole_bytes(struct str line, const struct number *n)
{
    return n->unit && !strcmp(n->unit->dimension, "byte") && !memchr(line.p + n->from, '.', n->to - n->from);
}

/* Is there another value of the same dimension in the line? */
static bool has_twin(const struct number *numbers, size_t count, size_t k)
{
    for (size_t o = 0; o < count; o++)
        if (o != k && numbers[o].unit && numbers[k].unit && !numbers[o].inside && !numbers[o].error &&
            !strcmp(numbers[o].unit->dimension, numbers[k].unit->dimension))
            return true;
    return false;
}

/* "Rate (MB/s): 48.9": the label of the number has its unit. */
static bool is_labelled(struct str line, const struct number *n, size_t from)
{
    struct str text = str_trim(str_sub(line, from, n->from - from));
    return text.n && is_one_of(text.p[text.n - 1], ":=") && figure_unit_of_label(figure_clause(text)) != NULL;
}

/* Does the name of a number begin directly behind the number before it, which is then an amount or a part of the name? */
static bool follows_amount(struct str line, const struct number *before, const struct number *n, const struct figure_candidate *c,
                           struct str name)
{
    char next = char_at(line, before->end);
    struct str front = str_trim(str_sub(line, 0, before->from));
    bool named = front.n && front.p[front.n - 1] == ':' && memchr(line.p + before->from, '.', before->to - before->from);
    if (c->strong && named) /* "loss: 0.3 accuracy: 0.9" */
        return false;
    if (c->strong) /* "500 test keys: 0.001 s", not "records=500 qps=87.6" */
        return !before->unit && next == ' ' && name.p == line.p + before->end + 1 && char_at(line, before->from - 1) != '=';
    bool apart = is_one_of(next, ",;|)]") || next == '\t' || (str_is_blank(next) && str_is_blank(char_at(line, before->end + 1)));
    return !n->inside && !apart; /* "1000 requests in 2.00 s" */
}

/* words: the text before the name in its line, the name, the text behind the value. False:
 * something does not fit. */
static bool fill_figure(const struct figure_context *x, struct str line, const struct number *n, const char *const words[3], bool indented,
                        const struct unit *unit, struct figure *ret)
{
    char raw[32] = "", section[64] = "";
    if (n->raw.n)
        snprintf(raw, sizeof raw, " " STR_FMT, (int)(n->raw.n > 24 ? 24 : n->raw.n), n->raw.p);
    if (x->section[0] && indented)
        figure_name_clean(str_of(x->section), section, sizeof section);
    if ((size_t)snprintf(ret->name, sizeof ret->name, "%s%s%s%s%s%s%s%s", section, section[0] ? " " : "", words[0], words[0][0] ? " " : "",
                         words[1], words[2][0] ? " " : "", words[2], raw) >= sizeof ret->name)
        return false;
    ret->section = strlen(section);
    return figure_value_set(x, line, n, unit, ret);
}

/* "Accuracy = 85.6667% (514/600)", not "Counting objects: 100% (1/1)" */
static bool is_sole(struct str line, const struct number *n, size_t count, size_t k)
{
    bool fraction = memchr(line.p + n[k].from, '.', n[k].to - n[k].from) != NULL;
    for (size_t o = 0; o < count; o++)
        if (o != k && !(fraction && o > k && n[o].inside))
            return false;
    return true;
}

/* "wall time ........ 1.5 s", "assembling...0.5s" */
static bool ends_in_dots(struct str text)
{
    return str_ends(text, "...");
}

/* `loop of 20000 iterations took 0.386 ms`: the words before the amount join the name. Returns its length, 0: there is none. */
static size_t name_across_amount(struct str before, char label[FIGURE_NAME_MAX])
{
    struct str first = str_trim(before), rest = str_of(label);
    char whole[FIGURE_NAME_MAX];
    if (!guess_letters(first) || !guess_letters(rest) ||
        (size_t)snprintf(whole, sizeof whole, STR_FMT " " STR_FMT, STR_ARG(first), STR_ARG(rest)) >= sizeof whole)
        return 0;
    return figure_name_clean(str_of(whole), label, FIGURE_NAME_MAX);
}

/* Sets what marks the result as a computed value without a unit. Returns whether its name can be that of one. */
static bool computed_set(const struct figure_context *x, struct str line, const struct figure_candidate *c, struct str name, bool indented,
                         struct figure *ret)
{
    ret->is_computed = figure_is_computed(x, c, name, indented);
    ret->has_few_digits = ret->is_computed && !figure_has_computed_digits(line, c->number, name);
    return ret->is_computed;
}

bool figure_compose(const struct figure_context *x, struct str line, const struct number *numbers, size_t count, size_t k, bool indented,
                    struct figure *ret)
{
    const struct number *n = &numbers[k];
    size_t from = k ? numbers[k - 1].end : 0;
    size_t i = n->from;
    while (i > from && (str_is_blank(line.p[i - 1]) || is_one_of(line.p[i - 1], "~<>([")))
        i--;
    size_t arrow = figure_arrow_before(str_sub(line, from, i - from));
    struct str between = str_sub(line, from, arrow ? i - arrow - from : n->from - from),
               clause = figure_without_error_name(figure_clause(between));
    struct figure_candidate c = {.number = n, .label = clause, .own = true, .sole = is_sole(line, numbers, count, k)};
    c.strong = arrow || ends_in_dots(str_sub(line, from, i - from)) || (i > from && is_one_of(line.p[i - 1], "=:")) ||
               figure_is_bare_score(line, n, count) || figure_is_bare_time(line, n, count) || figure_is_bare_computed(line, n, count);
    c.column = n->from - i >= 2 || (n->from > i && line.p[n->from - 1] == '\t') || figure_is_named_time(line, n, count);
    if (!k && c.column && !c.strong && figure_is_list_of_words(str_trim(between)))
        clause = c.label = str_trim(between);
    if (!k && c.column)
        clause = c.label = figure_whole_columns_name(str_trim(between), clause);
    if (figure_is_bare_score(line, n, count))
        clause = c.label = figure_behind_dash(clause);
    if (!k && figure_without_formula(between).n)
        clause = c.label = figure_without_formula(between);
    char label[FIGURE_NAME_MAX], head[64] = "", trailing[FIGURE_NAME_MAX], tail[64] = "";
    size_t length = figure_add_bracket_words(clause, label, figure_name_clean(clause, label, sizeof label), sizeof label);
    bool twins = has_twin(numbers, count, k), tailed = false;
    struct str front = figure_head(line, numbers[0].from);
    c.timed = str_is_anycase(front, "times") || str_is_anycase(front, "timings");
    size_t start = k ? figure_whole_label(line, n->from) : 0;
    for (size_t o = 0; o < k; o++) /* "received 35 bytes  27.3 MB/s": a value of its own is no part of a name */
        if (numbers[o].from >= start && (numbers[o].unit || numbers[o].raw.n) && !(c.strong && is_whole_bytes(line, &numbers[o])))
            start = n->from;
    if (k && (c.strong || c.column) && start < from) { /* "phase 3 time: 4.5 s" */
        clause = c.label = figure_clause(str_sub(line, start, n->from - start));
        length = figure_name_clean(clause, label, sizeof label);
        from = start;
    }
    if (has_nameless_sibling(line, numbers, count, k) || figure_is_range_end(line, numbers, k) ||
        (k + 1 < count && figure_is_range_end(line, numbers, k + 1)))
        return false;
    if ((!length || (c.strong && twins)) && n->unit && figure_trailing_name(line, n, trailing, sizeof trailing) &&
        strlen(trailing) < sizeof tail)
        memcpy(tail, trailing, strlen(trailing) + 1);
    if (!k && !length && str_is(clause, "x")) /* "sort     x 94,281 ops/sec" */
        length = figure_name_clean(str_trim(between), label, sizeof label);
    if (!length && k && twins && figure_is_named_rate(n))
        length = figure_name_clean(n->word, label, sizeof label);
    /* The name of the first result ends at the first number: "Score   5   12.3 ± 0.1 op/s". */
    if (tail[0] && !length && (!k || !twins))
        length = (size_t)snprintf(label, sizeof label, "%s", tail), tail[0] = 0, c.column = tailed = true;
    else if (k && !guess_letters(str_of(label))) {
        if (!(length = figure_borrowed_name(line, numbers, k, between, twins, tail[0], label, sizeof label)))
            return false;
        c.own = false;
        c.column = true;
    } else if (!k && !length && n->unit && figure_is_rate(n->unit) && is_arrow_mark(str_trim(between)) &&
               (n->end == line.n || (indented && line.p[n->end] == ',') || is_error_behind(line, n->end)))
        length = (size_t)snprintf(label, sizeof label, "%s", figure_rate_name(n->unit));
    if (!length)
        return false;
    if (k == 1 && n->unit && !strcmp(n->unit->dimension, "second") && !numbers[0].unit && str_ends(str_trim(between), " took")) {
        if (!(length = name_across_amount(str_sub(line, 0, numbers[0].from), label)))
            return false;
        c.own = false;
        c.column = true;
    }
    if (k && start >= from && c.own && !(tailed && figure_is_saving(line, n)) && numbers[k - 1].end == from &&
        follows_amount(line, &numbers[k - 1], n, &c, clause) && !is_labelled(line, &numbers[k - 1], k > 1 ? numbers[k - 2].end : 0))
        return false;
    const struct unit *unit = NULL;
    if (!figure_is_result(x, line, &c, label, indented, &unit)) {
        figure_add_argument(clause, label, length, sizeof label);
        if (!computed_set(x, line, &c, str_of(label), indented, ret)) /* which has no unit either */
            return false;
    }
    figure_variant_set(line, numbers, count, k, c.label, label, ret);
    return figure_head_words(line, numbers, count, k, &c, label, head) &&
           fill_figure(x, line, n, (const char *const[]){head, label, tail}, indented, unit, ret);
}

/* "[READ], AverageLatency(us), 38.5": a tag, a name and a value. */
size_t figure_take_tagged(const struct figure_context *x, struct str line, struct figure *to)
{
    const char *close = char_at(line, 0) == '[' && str_is_letter(char_at(line, 1)) ? memchr(line.p, ']', line.n) : NULL;
    struct str rest = close ? str_sub(line, (size_t)(close + 1 - line.p), line.n) : (struct str){"", 0}, tag, name;
    if (char_at(rest, 0) != ',')
        return 0;
    tag = str_sub(line, 1, (size_t)(close - line.p) - 1);
    str_cut(&rest, ',');
    name = str_trim(str_cut(&rest, ','));
    rest = str_trim(rest);
    size_t length = rest.p ? guess_number(rest) : 0;
    if (!length || length != rest.n || length >= sizeof to->value || tag.n > 40 || memchr(tag.p, ' ', tag.n))
        return 0;
    char label[64];
    struct number n = {.from = (size_t)(rest.p - line.p), .to = (size_t)(rest.p - line.p) + length};
    struct figure_candidate c = {.number = &n, .label = name, .strong = true, .column = true, .own = true, .sole = true};
    if (!figure_name_clean(name, label, sizeof label) || !figure_is_result(x, line, &c, label, false, &to->unit))
        return 0;
    if ((size_t)snprintf(to->name, sizeof to->name, STR_FMT " %s", STR_ARG(tag), label) >= sizeof to->name)
        return 0;
    to->section = tag.n;
    return figure_value_set(x, line, &n, to->unit, to);
}
