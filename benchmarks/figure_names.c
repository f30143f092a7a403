/* figure_names.c: the words of a line that name one of its numbers. */
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* "10541 c/s real, 18223 c/s virtual", "0.028 seconds of real time": one to four words up to the next comma or the end name the number before. */
size_t figure_trailing_name(struct str line, const struct number *n, char *to, size_t size)
{
    struct str rest = str_sub(line, n->end, line.n);
    size_t i = 0, words = 0;
    if (!str_is_blank(char_at(rest, 0)))
        return 0;
    while (i < rest.n && !is_one_of(rest.p[i], ",;()[]|=:\t") && !str_is_digit(rest.p[i]) &&
           !(str_is_blank(rest.p[i]) && i && str_is_blank(char_at(rest, i + 1))))
        i++;
    if (i < rest.n && !is_one_of(rest.p[i], ",;()") && !str_is_blank(rest.p[i]))
        return 0;
    struct str text = str_trim(str_sub(rest, 0, i)), each = text, word;
    while ((word = str_word(&each)).n && words++ == 0 && figure_is_small(word))
        text = str_trim(str_sub(text, word.n, text.n));
    for (each = text, words = 0; str_word(&each).n;)
        words++;
    return words && words <= 4 ? figure_name_clean(text, to, size) : 0;
}

/* Returns the begin of the label before the ":" or of the number's column, if its only values are
 * whole numbers. Else the number's place. */
size_t figure_whole_label(struct str line, size_t number)
{
    struct str text = str_sub(line, 0, number);
    size_t n = text.n;
    while (n && str_is_blank(text.p[n - 1]))
        n--;
    bool column = n && (number - n >= 2 || (number > n && text.p[number - 1] == '\t')) && text.p[n - 1] != '=';
    if (!n || (text.p[n - 1] != ':' && !column))
        return number;
    struct str clause = figure_clause(str_sub(text, 0, n));
    if (!clause.n || (!str_is_letter(clause.p[0]) && !figure_is_ordinal(clause)) || memchr(clause.p, '=', clause.n) ||
        memchr(clause.p, ':', clause.n) || memchr(clause.p, '.', clause.n))
        return number;
    return (size_t)(clause.p - line.p);
}

struct str figure_head(struct str line, size_t first)
{
    struct str head = str_sub(line, 0, first);
    const char *colon = memchr(head.p, ':', head.n);
    return colon ? str_trim(str_sub(head, 0, (size_t)(colon - head.p))) : (struct str){"", 0};
}

/* "Model:   OLS   R-squared: 0.93": a column between the colon of a head and the name is what the head names. alone: the only number of the
 * line; of several between tabs ("Method: DUMB<tab>Elapsed: 0.5<tab>Copy: 3 MB/s") the head names the row. first: of the numbers. */
static bool has_own_value(struct str line, size_t colon, size_t name, bool first, bool alone)
{
    struct str between = name > colon ? str_sub(line, colon + 1, name - colon - 1) : (struct str){"", 0};
    size_t gap = between.n;
    while (gap && str_is_blank(between.p[gap - 1]))
        gap--;
    struct str value = str_trim(between);
    bool tabs = memchr(between.p, '\t', between.n) != NULL;
    if ((tabs && !alone) || (!first && !str_is_letter(char_at(value, 0)))) /* "Copy:  12.5 MB/s  latency=3 us": both are of Copy */
        return false;
    return value.n && (between.n - gap >= 2 || (between.n > gap && between.p[gap] == '\t'));
}

/* "Write: BW=12 MB/s": the text before the first colon of the line, where it is not the name
 * itself. False: it is too long for a name. */
bool figure_head_words(struct str line, const struct number *numbers, size_t count, size_t k, const struct figure_candidate *c,
                       const char *label, char head[64])
{
    struct str before = figure_head(line, numbers[0].from);
    char cleaned[64];
    if (!before.n || (k && !c->own))
        return true;
    size_t named = (size_t)(before.p + before.n - line.p);
    bool led = k ? guess_letters(str_sub(line, named, numbers[0].from - named)) /* else the head is the name of the first number itself */
                 : before.p + before.n <= c->label.p;
    if (!led || has_own_value(line, named, (size_t)(c->label.p - line.p), !k, count == 1))
        return true;
    if (before.n >= sizeof cleaned)
        return false;
    bool other = figure_name_clean(before, cleaned, sizeof cleaned) &&
                 (k ? strcmp(cleaned, label) && !figure_has_number(str_of(cleaned)) : !str_has(str_of(cleaned), label));
    if (other)
        snprintf(head, sizeof cleaned, "%s", cleaned);
    return true;
}

/* "set (rand)", "set (seq-hint)": a word that names a variant, and neither a unit nor a statistic. */
static bool is_variant(struct str word)
{
    const struct unit *unit;
    struct str raw;
    for (size_t i = 0; i < word.n; i++)
        if (!str_is_letter(word.p[i]) && !(i && is_one_of(word.p[i], "-_")))
            return false;
    return word.n >= 3 && word.n <= 20 && !figure_unit(word, &unit, &raw) && !figure_is_statistic(word) && !figure_is_spread(word);
}

/* "Total time (CPU seconds)": the words before the unit are a part of the name. Returns the length of all of it. */
size_t figure_add_bracket_words(struct str clause, char *name, size_t length, size_t size)
{
    const char *close = clause.n && clause.p[clause.n - 1] == ')' ? memrchr(clause.p, '(', clause.n) : NULL;
    struct str words = close ? (struct str){close + 1, (size_t)(clause.p + clause.n - close) - 2} : (struct str){"", 0};
    const char *blank = words.n ? memrchr(words.p, ' ', words.n) : NULL;
    struct str kept = blank ? str_trim(str_sub(words, 0, (size_t)(blank - words.p))) : (struct str){"", 0};
    if (!blank && is_variant(words) && length + words.n + 2 <= size)
        return length + (size_t)snprintf(name + length, size - length, " " STR_FMT, STR_ARG(words));
    if (!kept.n || figure_has_number(words) || !figure_unit_of_label(clause) || figure_is_small(kept) || length + kept.n + 2 > size)
        return length;
    return length + (size_t)snprintf(name + length, size - length, " " STR_FMT, STR_ARG(kept));
}

/* "Mean +- std dev: 17.3 us +- 3.6 us": the name of the result, without that of its error. */
struct str figure_without_error_name(struct str label)
{
    static const char *const signs[] = {"\xc2\xb1", "+/-", "+-"};
    if (!label.n || !(memchr(label.p, '+', label.n) || memchr(label.p, 0xc2, label.n)))
        return label;
    for (size_t s = 0; s < sizeof signs / sizeof *signs; s++)
        for (size_t i = 1; i < label.n; i++)
            if (str_starts(str_sub(label, i, label.n), signs[s]) && guess_letters(str_sub(label, 0, i)))
                return str_trim(str_sub(label, 0, i));
    return label;
}

/* "compression ratio" of "a.txt - compression ratio" */
struct str figure_behind_dash(struct str text)
{
    ptrdiff_t at = str_find(text, STR(" - "));
    return at < 0 ? text : str_trim(str_sub(text, (size_t)at + 3, text.n));
}

/* "write, fsync, close" before a column: one name. */
bool figure_is_list_of_words(struct str s)
{
    bool comma = false;
    for (size_t i = 0; i < s.n; i++) {
        if (!str_is_letter(s.p[i]) && s.p[i] != ',' && s.p[i] != ' ' && s.p[i] != '-')
            return false;
        if (s.p[i] == ' ' && i + 1 < s.n && s.p[i + 1] == ' ')
            return false;
        comma = comma || s.p[i] == ',';
    }
    return comma;
}

/* "Compress      --> Frame rate": all of it is the name. */
static bool is_led_by_arrow(struct str text)
{
    ptrdiff_t at = str_find(text, STR(" --> "));
    return at > 0 && str_is_letter(text.p[0]) && !figure_has_number(text) && !memchr(text.p, ':', text.n);
}

/* "Total   time    0.007s", "RMS     amplitude:": a word without meaning by itself belongs to those before it. */
struct str figure_whole_columns_name(struct str text, struct str clause)
{
    static const char statistics[] = "mean maximum minimum rms average total median";
    static const char nouns[] = "time rate speed throughput bandwidth latency performance avg average mean median max min";
    if (text.n && text.p[text.n - 1] == ':')
        text.n--;
    struct str rest = text;
    if (text.n <= 40 && is_led_by_arrow(text))
        return text;
    if (text.n > 40 || (!figure_is_any(str_word(&rest), statistics) && !str_has_word(nouns, clause)))
        return clause;
    for (size_t i = 0; i < text.n; i++)
        if (!str_is_letter(text.p[i]) && text.p[i] != ' ')
            return clause;
    return text;
}

/* What names a number that has no words of its own: those of the first one ("1556 files (778 per second)", "Query: 14286 rows, 11.55 ms"), or what it
 * is. Returns the length, 0: nothing. */
size_t figure_borrowed_name(struct str line, const struct number *numbers, size_t k, struct str between, bool twins, bool tailed, char *to,
                            size_t size)
{
    const struct number *n = &numbers[k], *before = &numbers[k - 1];
    bool rate = n->unit && figure_is_rate(n->unit), time = n->unit && !strcmp(n->unit->dimension, "second") && !twins;
    struct str first = str_sub(line, 0, numbers[0].from);
    bool counted = k == 1 && !numbers[0].unit && !numbers[0].raw.n && !numbers[0].plain && numbers[0].from &&
                   !is_one_of(str_trim(first).p[str_trim(first).n - 1], ":=");
    bool timed = !counted && time && figure_head(line, numbers[0].from).n && memchr(line.p + n->from, '.', n->to - n->from);
    if (!counted && !rate && !timed)
        return 0;
    if (!counted && !tailed && before->unit && n->unit && !strcmp(before->unit->dimension, n->unit->dimension))
        return 0; /* "12.5 MB/s 13.5 MB/s": one name, two values */
    if (!counted && memchr(between.p, '/', between.n))
        return 0;
    struct str name = counted ? figure_clause(first) : str_trim(first);
    /* "read latency=3 ms, 700 ops/s", "Elapsed time: 17.8 s, 951.5 MB/s", "throughput: 951.5 MB/s, 17.8 s" */
    while ((rate && figure_ends_in_time(name, &name)) || (time && figure_ends_in_rate(name, &name)))
        ;
    if (rate && str_starts(name, "time to ")) /* "time to read: 0.5 s at 951.5 MB/s" */
        name = str_sub(name, sizeof "time to", name.n);
    size_t length = figure_name_clean(name, to, size);
    length = length ? figure_add_bracket_words(name, to, length, size) : 0;
    if (length || !rate)
        return length;
    struct str behind = str_sub(line, numbers[0].end, line.n), word = str_word(&behind);
    if (str_has_word("total overall average aggregate", word)) /* "2048 MiB total in 11.144 sec, 183.776 MBps" */
        return (size_t)snprintf(to, size, STR_FMT " %s", STR_ARG(word), figure_rate_name(n->unit));
    bool amount = false; /* of what was moved, or how long: without one it may be the rate of a stream */
    for (size_t i = 0; i < k; i++)
        amount = amount || (numbers[i].unit && !memchr(line.p + numbers[i].from, ':', numbers[i].to - numbers[i].from));
    for (size_t i = 0; i < n->from; i++)
        amount = amount || str_is_letter(line.p[i]);
    if (!amount)
        return 0;
    /* "1073741824 bytes copied, 0.3 s, 3.4 GB/s", "[ 3] 0.0-2.0 sec  2.02 GBytes  8.65 Gbits/sec" */
    return (size_t)snprintf(to, size, "%s", figure_rate_name(n->unit));
}

/* Length of the mark that ends the text and stands for a colon: "Duration  \xe2\x80\xba  12.5 ms". 0: there is none. */
size_t figure_arrow_before(struct str text)
{
    static const char *const arrows[] = {"\xe2\x80\xba", "\xc2\xbb", "\xe2\x9e\x9c"};
    for (size_t i = 0; i < sizeof arrows / sizeof *arrows; i++)
        if (str_ends(text, arrows[i]))
            return strlen(arrows[i]);
    return 0;
}
