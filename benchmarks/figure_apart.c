/* figure_apart.c: what distinguishes results of one name: the heading above them, words before them
 * in their line, arguments in brackets. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

enum { HEADING_WORDS_MAX = 8, HEADING_AGE_MAX = 20 };

/* Without the marks that are drawn around it: "=== copy ===", "[copy]", "# copy:". */
static struct str without_marks(struct str s)
{
    static const char marks[] = "#=*-~_>:;,|[](){}. \t";
    while (s.n && is_one_of(s.p[0], marks))
        s = str_sub(s, 1, s.n);
    while (s.n && is_one_of(s.p[s.n - 1], marks))
        s.n--;
    return s;
}

/* "=== 16 threads ===", "## copy", "[copy]", "copy:" */
static bool is_marked_heading(struct str s)
{
    bool drawn = s.n > 2 && is_one_of(s.p[0], "#=*-~>") && (s.p[0] == '#' || s.p[1] == s.p[0]);
    return drawn || str_ends(s, ":") || (s.p[0] == '[' && s.p[s.n - 1] == ']');
}

/* "Sorting finished": the line may belong to the test above it. */
static bool is_end_of_test(struct str words)
{
    struct str first = str_word(&words), last = first;
    for (struct str word; (word = str_word(&words)).n;)
        last = word;
    return figure_is_past_verb(first) || figure_is_past_verb(last) || str_has_word("ok OK pass PASS Pass end End END", last);
}

/* "Image written to /tmp/a.jpg": states the outcome of a file operation. */
static bool has_path(struct str words)
{
    for (struct str word; (word = str_word(&words)).n;)
        if (word.n > 1 && word.p[0] == '/' && str_is_letter(word.p[1]))
            return true;
    return false;
}

/* Can the words be a heading at all? Numbers count only in one with marks. */
static bool is_heading(struct str line, struct str words, const struct number *n, size_t count)
{
    size_t found = 0;
    for (size_t k = 0; k < count; k++)
        if (n[k].unit || n[k].raw.n || !is_marked_heading(line))
            return false;
    for (struct str rest = words; str_word(&rest).n;)
        found++;
    return guess_letters(words) && words.n < FIGURE_HEADING_MAX && found <= HEADING_WORDS_MAX && !memchr(words.p, '=', words.n) &&
           !str_ends(line, ".") && !(memchr(words.p, '/', words.n) && has_path(words)) && !figure_is_progress(words) &&
           !is_end_of_test(words);
}

/* "count: 20000", "12 of 20", "warm-up ... 61.4 ms": a property of the test. */
static bool is_detail(const struct figure_context *x, struct str line, const struct number *n, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (n[k].unit)
            return true;
    return (x->heads_deeper && x->indent > x->heading_indent) ||
           (count && n[0].from >= 2 && str_is_blank(line.p[n[0].from - 1]) && str_is_blank(line.p[n[0].from - 2])) ||
           (count && (memchr(line.p, ':', line.n) || memchr(line.p, '=', line.n) || str_is_digit(line.p[0])));
}

/* Removes "(pid 4711)" from a heading, which is another one in each run. */
static void drop_process(char *heading)
{
    struct str text = str_of(heading);
    static const char *const marks[] = {"(pid ", "(PID ", "(tid ", "(TID "};
    for (size_t i = 0; memchr(heading, '(', text.n) && i < sizeof marks / sizeof *marks; i++) {
        ptrdiff_t at = str_find(text, str_of(marks[i]));
        const char *close = at < 0 ? NULL : memchr(heading + at, ')', text.n - (size_t)at);
        if (close)
            memmove(heading + at, close + 1, strlen(close));
        else if (at > 0) /* without_marks has removed the bracket at the end */
            heading[at] = 0;
        text = str_of(heading);
    }
}

static void keep_heading(struct figure_context *x, struct str line, struct str words)
{
    enum heading_level level = str_ends(line, ":") ? HEADING_PART : HEADING_TEST;
    if (level == HEADING_TEST) {
        x->heading[HEADING_PART][0] = 0;
        x->heading_indent = x->indent;
        x->heads_deeper = !is_marked_heading(line) && x->after_text;
    }
    snprintf(x->heading[level], sizeof x->heading[level], STR_FMT, STR_ARG(words));
    drop_process(x->heading[level]);
    x->heading_age[level] = 0;
}

void figure_heading_note(struct figure_context *x, struct str line, const struct number *n, size_t count, size_t figures)
{
    struct str words = without_marks(line);
    x->heading_age[HEADING_TEST]++;
    x->heading_age[HEADING_PART]++;
    if (!figures && guess_letters(line)) {
        if (is_heading(line, words, n, count))
            keep_heading(x, line, words);
        else if (!is_detail(x, line, n, count))
            x->heading[HEADING_TEST][0] = x->heading[HEADING_PART][0] = 0;
    }
    x->after_text = true;
}

const char *figure_heading(const struct figure_context *x, enum heading_level level)
{
    bool holds = x->heading_age[level] <= HEADING_AGE_MAX && !(level == HEADING_TEST && x->heads_deeper && x->indent <= x->heading_indent);
    return holds ? x->heading[level] : "";
}

/* Returns the text in brackets behind the name, and is no unit: "30" of "fib(30)". */
static struct str label_argument(struct str label)
{
    const char *open = memchr(label.p, '(', label.n), *close = open ? memchr(open, ')', (size_t)(label.p + label.n - open)) : NULL;
    return close && !figure_unit_of_label(label) ? str_trim((struct str){open + 1, (size_t)(close - open) - 1}) : (struct str){"", 0};
}

void figure_variant_set(struct str line, const struct number *n, size_t count, size_t k, struct str label, const char *name,
                        struct figure *ret)
{
    struct str first = figure_clause(str_sub(line, 0, n[0].from)), begin = k ? first : label;
    struct str front = without_marks(str_sub(line, 0, begin.n ? (size_t)(begin.p - line.p) : n[0].from));
    struct str behind = k + 1 == count ? without_marks(str_sub(line, n[k].end, line.n)) : (struct str){"", 0},
               argument = label_argument(label);
    size_t length = 0;
    if (guess_letters(front) && !figure_has_number(front))
        length = (size_t)snprintf(ret->variant, sizeof ret->variant, STR_FMT " %s", STR_ARG(front), name);
    else if (argument.n)
        length = (size_t)snprintf(ret->variant, sizeof ret->variant, "%s " STR_FMT, name, STR_ARG(argument));
    else if (guess_letters(behind) && !figure_has_number(behind)) /* "time: 0.5 s: parsing" */
        length = (size_t)snprintf(ret->variant, sizeof ret->variant, "%s " STR_FMT, name, STR_ARG(behind));
    if (!length || length >= sizeof ret->variant)
        ret->variant[0] = 0;
}
