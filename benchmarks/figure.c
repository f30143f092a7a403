/* figure.c: results in a line of a program that no rules know. The words are in figure_words.c, the numbers in figure_numbers.c. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

enum { HEADER_AGE_MAX = 40 };

/* ---- one result ---- */

struct figure_candidate {
    const struct number *number;
    struct str label;
    bool strong; /* "name:" or "name=" */
    bool column; /* two blanks or a tab part it from its name */
    bool own; /* the label is directly before it */
    bool timed; /* the line begins with "times:" */
    bool sole; /* the line has no other number but in parentheses behind it */
};

/* "95th percentile" */
static bool is_ordinal(struct str s)
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

static bool is_percent(const struct number *n)
{
    return n->unit && !strcmp(n->unit->dimension, "percent");
}

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

/* True if the word behind the number shows that a compressor has saved so much. */
static bool is_saving(struct str line, const struct number *n)
{
    struct str rest = str_sub(line, n->end, line.n), word = str_word(&rest);
    while (word.n && is_one_of(word.p[word.n - 1], ",.;)"))
        word.n--;
    return str_has_word("saved savings smaller reduction reduced decrease removed Removed", word);
}

/* "CPU time: 0.05": a clock measured it, and nothing names the unit. "Time" alone names it where
 * the line has no other number. */
static bool is_time_without_unit(struct str line, const struct figure_candidate *c, struct str label)
{
    return line.p[c->number->from] != '-' && (figure_is_measured(label) || (c->sole && str_is_anycase(label, "time")));
}

/* Is it a result, and under what unit? *ret_unit NULL: without. */
static bool is_figure(const struct figure_context *x, struct str line, const struct figure_candidate *c, const char *name, bool indented,
                      const struct unit **ret_unit)
{
    const struct number *n = c->number;
    struct str label = str_of(name);
    const struct unit *u = n->unit ? n->unit : n->raw.n ? NULL : figure_unit_of_label(c->label);
    bool whole = !memchr(line.p + n->from, '.', n->to - n->from), section = x->section[0] && indented;
    *ret_unit = u;
    if (is_asked_for(line, n) || (!n->unit && u && whole && u->factor == 1 && str_ends(label, "secs") && !str_ends(label, "in secs")))
        return false;
    if ((n->multiple && !figure_is_counted(u)) || (n->clock && (!figure_is_elapsed(label) || (whole && !c->strong))))
        return false;
    for (size_t i = 0; i + 2 < label.n; i++) /* "L0:54.7% L1": values of others */
        if (str_is_digit(label.p[i]) && (label.p[i + 1] == '%' || (label.p[i + 1] == '.' && str_is_digit(label.p[i + 2]))))
            return false;
    struct str words = label;
    bool named = c->strong || str_is_anycase(str_word(&words), "set"); /* what was done, where a rate follows */
    bool asked = u && figure_is_rate(u) && named ? figure_is_rate_condition(label) : figure_is_condition(label);
    if (!label.n || label.n > 70 || asked || (!str_is_letter(label.p[0]) && !(section && is_ordinal(label))))
        return false;
    if (section && figure_is_condition(str_of(x->section)))
        return false;
    if (line.p[n->from] == '-' && u) /* no rate or time is negative */
        return false;
    if (n->raw.n)
        return c->strong || c->column;
    if (!u && section && x->section_unit && c->strong && figure_is_statistic(label)) {
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
    if (!strcmp(u->dimension, "percent") && !whole && is_saving(line, n)) /* "0.55% saved" */
        return true;
    if (!strcmp(u->dimension, "percent")) /* "Read percentage: 87%" before the first result is the mix that was set */
        return c->strong && c->sole && (!whole || x->has_result || figure_is_score(label));
    if (!strcmp(u->dimension, "joule") || !strcmp(u->dimension, "watt"))
        return c->strong;
    return !strcmp(u->dimension, "byte") && c->strong && figure_is_memory(label) && !figure_is_loose_bytes(n->unit);
}

/* "10541 c/s real, 18223 c/s virtual", "0.028 seconds of real time": one to four words up to the next comma or the end name the number before. */
static size_t trailing_name(struct str line, const struct number *n, char *to, size_t size)
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
        if (figure_is_named_rate(&n[k]) && figure_is_named_rate(&n[i]) && !str_eq(n[k].word, n[i].word)) /* "5 runs/s, 9 assertions/s" */
            continue;
        bool other = n[k].unit && (n[i].unit ? strcmp(n[i].unit->dimension, n[k].unit->dimension) != 0 : n[i].raw.n > 0);
        struct str behind = str_sub(line, n[i].end, line.n);
        bool named = !n[i].unit && !n[i].raw.n && guess_letters(str_word(&behind)); /* "16 B/op" */
        if (!other && !named && !(trailing_name(line, &n[i], unused, sizeof unused) && trailing_name(line, &n[k], unused, sizeof unused)))
            return true;
    }
    return false;
}

/* Returns the begin of the label before the ":" or of the number's column, if its only values are
 * whole numbers. Else the number's place. */
static size_t whole_label(struct str line, size_t number)
{
    struct str text = str_sub(line, 0, number);
    size_t n = text.n;
    while (n && str_is_blank(text.p[n - 1]))
        n--;
    bool column = n && (number - n >= 2 || (number > n && text.p[number - 1] == '\t')) && text.p[n - 1] != '=';
    if (!n || (text.p[n - 1] != ':' && !column))
        return number;
    struct str clause = figure_clause(str_sub(text, 0, n));
    if (!clause.n || (!str_is_letter(clause.p[0]) && !is_ordinal(clause)) || memchr(clause.p, '=', clause.n) ||
        memchr(clause.p, ':', clause.n) || memchr(clause.p, '.', clause.n))
        return number;
    return (size_t)(clause.p - line.p);
}

/* "buffer size 1024 bytes: 203.9 MiB/s" */
static bool is_whole_bytes(struct str line, const struct number *n)
{
    return n->unit && !strcmp(n->unit->dimension, "byte") && !memchr(line.p + n->from, '.', n->to - n->from);
}

static struct str head_of(struct str line, size_t first)
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
static bool head_words(struct str line, const struct number *numbers, size_t count, size_t k, const struct figure_candidate *c,
                       const char *label, char head[64])
{
    struct str before = head_of(line, numbers[0].from);
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

/* "compression ratio" of "a.txt - compression ratio" */
static struct str behind_dash(struct str text)
{
    ptrdiff_t at = str_find(text, STR(" - "));
    return at < 0 ? text : str_trim(str_sub(text, (size_t)at + 3, text.n));
}

/* "loss 0.3", "validation accuracy 0.93": up to three words, the last of which names a score, then a fraction, and nothing else. A number of another
 * name may be a setting or a version. */
static bool is_bare_score(struct str line, const struct number *n, size_t count)
{
    struct str name = count == 1 ? behind_dash(str_trim(str_sub(line, 0, n->from))) : (struct str){"", 0}, rest = name, word = {"", 0},
               pair = name, next; /* pair: the last two words, "compression ratio" */
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
static bool is_bare_time(struct str line, const struct number *n, size_t count)
{
    struct str name = count == 1 ? str_trim(str_sub(line, 0, n->from)) : (struct str){"", 0};
    while (name.n && is_one_of(name.p[0], "# "))
        name = str_sub(name, 1, name.n);
    return name.n && !memchr(name.p, ' ', name.n) && memchr(name.p, '_', name.n) && !n->plain && !n->unit && n->to == line.n &&
           memchr(line.p + n->from, '.', n->to - n->from) && figure_unit_of_label(name);
}

/* "matmul 12.34 ms", "total CPU time 0.05": a line of a name and a time alone. */
static bool is_named_time(struct str line, const struct number *n, size_t count)
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
static size_t add_bracket_words(struct str clause, char *name, size_t length, size_t size)
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
static struct str without_error_name(struct str label)
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

/* "Accuracy = 85.6667% (514/600)", not "Counting objects: 100% (1/1)" */
static bool is_sole(struct str line, const struct number *n, size_t count, size_t k)
{
    bool fraction = memchr(line.p + n[k].from, '.', n[k].to - n[k].from) != NULL;
    for (size_t o = 0; o < count; o++)
        if (o != k && !(fraction && o > k && n[o].inside))
            return false;
    return true;
}

/* "write, fsync, close" before a column: one name. */
static bool is_list_of_words(struct str s)
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

/* "Total   time    0.007s": a word without meaning by itself belongs to those before it. */
static struct str whole_columns_name(struct str text, struct str clause)
{
    if (text.n > 40 || !str_has_word("time rate speed throughput bandwidth latency performance avg average mean median max min", clause))
        return clause;
    for (size_t i = 0; i < text.n; i++)
        if (!str_is_letter(text.p[i]) && text.p[i] != ' ')
            return clause;
    return text;
}

/* What names a number that has no words of its own: those of the first one ("1556 files (778 per second)", "Query: 14286 rows, 11.55 ms"), or what it
 * is. Returns the length, 0: nothing. */
static size_t borrowed_name(struct str line, const struct number *numbers, size_t k, struct str between, bool twins, bool tailed, char *to,
                            size_t size)
{
    const struct number *n = &numbers[k], *before = &numbers[k - 1];
    bool rate = n->unit && figure_is_rate(n->unit), time = n->unit && !strcmp(n->unit->dimension, "second") && !twins;
    struct str first = str_sub(line, 0, numbers[0].from);
    bool counted = k == 1 && !numbers[0].unit && !numbers[0].raw.n && !numbers[0].plain && numbers[0].from &&
                   !is_one_of(str_trim(first).p[str_trim(first).n - 1], ":=");
    bool timed = !counted && time && head_of(line, numbers[0].from).n && memchr(line.p + n->from, '.', n->to - n->from);
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
    length = length ? add_bracket_words(name, to, length, size) : 0;
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
static size_t arrow_before(struct str text)
{
    static const char *const arrows[] = {"\xe2\x80\xba", "\xc2\xbb", "\xe2\x9e\x9c"};
    for (size_t i = 0; i < sizeof arrows / sizeof *arrows; i++)
        if (str_ends(text, arrows[i]))
            return strlen(arrows[i]);
    return 0;
}

static bool compose_figure(const struct figure_context *x, struct str line, const struct number *numbers, size_t count, size_t k,
                           bool indented, struct figure *ret)
{
    const struct number *n = &numbers[k];
    size_t from = k ? numbers[k - 1].end : 0;
    size_t i = n->from;
    while (i > from && (str_is_blank(line.p[i - 1]) || is_one_of(line.p[i - 1], "~<>([")))
        i--;
    size_t arrow = arrow_before(str_sub(line, from, i - from));
    struct str between = str_sub(line, from, arrow ? i - arrow - from : n->from - from),
               clause = without_error_name(figure_clause(between));
    struct figure_candidate c = {.number = n, .label = clause, .own = true, .sole = is_sole(line, numbers, count, k)};
    c.strong = arrow || (i > from && is_one_of(line.p[i - 1], "=:")) || is_bare_score(line, n, count) || is_bare_time(line, n, count);
    c.column = n->from - i >= 2 || (n->from > i && line.p[n->from - 1] == '\t') || is_named_time(line, n, count);
    if (!k && c.column && !c.strong && is_list_of_words(str_trim(between)))
/* Composes the result of number k: its name, unit and value. Returns false where the number is no
 * result. */
        clause = c.label = str_trim(between);
    if (!k && c.column)
        clause = c.label = whole_columns_name(str_trim(between), clause);
    if (is_bare_score(line, n, count))
        clause = c.label = behind_dash(clause);
    char label[FIGURE_NAME_MAX], head[64] = "", trailing[FIGURE_NAME_MAX], tail[64] = "";
    size_t length = add_bracket_words(clause, label, figure_name_clean(clause, label, sizeof label), sizeof label);
    bool twins = has_twin(numbers, count, k), tailed = false;
    struct str front = head_of(line, numbers[0].from);
    c.timed = str_is_anycase(front, "times") || str_is_anycase(front, "timings");
    size_t start = k ? whole_label(line, n->from) : 0;
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
    if ((!length || (c.strong && twins)) && n->unit && trailing_name(line, n, trailing, sizeof trailing) && strlen(trailing) < sizeof tail)
        memcpy(tail, trailing, strlen(trailing) + 1);
    if (!k && !length && str_is(clause, "x")) /* "sort     x 94,281 ops/sec" */
        length = figure_name_clean(str_trim(between), label, sizeof label);
    if (!length && k && twins && figure_is_named_rate(n))
        length = figure_name_clean(n->word, label, sizeof label);
    /* The name of the first result ends at the first number: "Score   5   12.3 ± 0.1 op/s". */
    if (tail[0] && !length && (!k || !twins))
        length = (size_t)snprintf(label, sizeof label, "%s", tail), tail[0] = 0, c.column = tailed = true;
    else if (k && !guess_letters(str_of(label))) {
        if (!(length = borrowed_name(line, numbers, k, between, twins, tail[0], label, sizeof label)))
            return false;
        c.own = false;
        c.column = true;
    } else if (!k && !length && n->unit && figure_is_rate(n->unit) && is_arrow_mark(str_trim(between)) &&
               (n->end == line.n || (indented && line.p[n->end] == ',') || is_error_behind(line, n->end)))
        length = (size_t)snprintf(label, sizeof label, "%s", figure_rate_name(n->unit));
    if (!length)
        return false;
    if (k == 1 && n->unit && !strcmp(n->unit->dimension, "second") && !numbers[0].unit && str_ends(str_trim(between), " took")) {
        struct str first = str_trim(str_sub(line, 0, numbers[0].from)), rest = str_of(label); /* `loop of 20000 iterations took 0.386 ms` */
        char whole[FIGURE_NAME_MAX];
        if (!guess_letters(first) || !guess_letters(rest) ||
            (size_t)snprintf(whole, sizeof whole, STR_FMT " " STR_FMT, STR_ARG(first), STR_ARG(rest)) >= sizeof whole)
            return false;
        length = figure_name_clean(str_of(whole), label, sizeof label);
        c.own = false;
        c.column = true;
    }
    if (k && start >= from && c.own && !(tailed && is_saving(line, n)) && numbers[k - 1].end == from &&
        follows_amount(line, &numbers[k - 1], n, &c, clause) && !is_labelled(line, &numbers[k - 1], k > 1 ? numbers[k - 2].end : 0))
        return false;
    const struct unit *unit;
    if (!is_figure(x, line, &c, label, indented, &unit))
        return false;
    figure_variant_set(line, numbers, count, k, c.label, label, ret);
    return head_words(line, numbers, count, k, &c, label, head) &&
           fill_figure(x, line, n, (const char *const[]){head, label, tail}, indented, unit, ret);
}

/* "[READ], AverageLatency(us), 38.5": a tag, a name and a value. */
static size_t take_tagged(const struct figure_context *x, struct str line, struct figure *to)
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
    if (!figure_name_clean(name, label, sizeof label) || !is_figure(x, line, &c, label, false, &to->unit))
        return 0;
    if ((size_t)snprintf(to->name, sizeof to->name, STR_FMT " %s", STR_ARG(tag), label) >= sizeof to->name)
        return 0;
    to->section = tag.n;
    return figure_value_set(x, line, &n, to->unit, to);
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
    if (count >= 2 && memchr(line.p, ':', line.n) && (str_has(line, "avg") || str_has(line, "mean")))
        return true; /* "time [ms]: min 0.3 avg 2.8" */
    return is_bare_score(line, n, count) || is_bare_time(line, n, count) || is_named_time(line, n, count) ||
           (count && memchr(line.p, '/', line.n) && memchr(line.p, '=', line.n));
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
    if (x->section[0] && indent <= x->section_indent)
        x->section[0] = 0;
    if (title) {
        struct str text = str_sub(words, 0, words.n - 1);
        snprintf(x->section, sizeof x->section, STR_FMT, STR_ARG(text));
        x->section_indent = indent;
        x->section_unit = figure_unit_of_label(without_last_noun(text));
    }
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
        if (str_is_digit(line.p[i]) && is_one_of(line.p[i - 1], " \t:=(<~|./"))
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

size_t figure_find(struct figure_context *x, struct str line, struct figure to[FIGURES_MAX])
{
    struct number number[FIGURE_NUMBERS_MAX];
    size_t indent = 0, count = 0, n = 0, single = FIGURE_NUMBERS_MAX;
/* Removes the results with a unit, and sets the round of the others. Returns how many are left. */
    for (size_t i = 0; i < FIGURES_MAX; i++) {
        to[i].variant[0] = to[i].step[0] = 0;
        to[i].is_score_of_round = to[i].more_rounds = false;
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
    words = figure_without_estimate(figure_without_stamp(without_border(words)));
    struct figure_round round = {"", false};
    figure_round_note(x, words);
    bool counted = figure_is_progress(words) || words.p[0] == '[' || str_is_digit(words.p[0]);
    struct str last = counted ? figure_behind_count(x, words, &round) : (struct str){"", 0};
    if (last.n)
        words = last;
    count = words.n ? figure_numbers_take(words, number) : 0;
    figure_commas_note(x, words, number, count);
    if ((n = take_tagged(x, words, to)) || (n = figure_take_time(x, words, number, count, to)) || (n = figure_take_bar(x, words, to)) ||
        (n = figure_take_counted_rate(x, words, number, count, to)))
        goto done;
    if ((has_candidate(words, number, count) || (count && figure_fits_titles(x, words))) && !figure_is_progress(words) &&
        !figure_is_estimate(words)) {
        if ((n = figure_take_percentile(x, words, number, count, to)) || (n = figure_take_parts(x, words, to)) ||
            (n = figure_take_statistics(x, words, to)) || (n = figure_take_listed(x, words, number, count, to)) ||
            (n = figure_take_reduction(x, words, number, count, to)) || (n = figure_take_share(x, words, number, count, to)) ||
            (n = figure_take_bracketed(x, words, number, count, to)) || (n = figure_take_erred(x, words, number, count, indented, to)))
            goto done;
        if ((row = figure_take_columns(x, words, count, to, &n)) && (n || x->header[0]))
            goto done;
        bool rows = count >= 3 && number[0].from == 0 &&
                    (str_is_blank(char_at(words, number[0].to)) && str_is_blank(char_at(words, number[0].to + 1)));
        bool inside = only_rate(number, count, &single);
        for (size_t k = 0; k < count && !rows && n < FIGURES_MAX; k++) {
            const struct number *c = &number[k];
            bool bracketed = c->inside && !(inside && k == single) && !(is_percent(c) && is_saving(words, c));
            if (c->error || (c->plain && !c->multiple && !c->times) || bracketed)
                continue;
            if (compose_figure(x, words, number, count, k, indented, &to[n]))
                n++;
        }
        if (!n && !rows && !(n = figure_take_done(x, words, number, count, to))) {
            n = figure_take_lone(x, words, number, count, to);
            lone = n == 1 && !strcmp(to[0].unit->dimension, "second");
        }
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
    for (size_t i = 0; i < n; i++) {
        to[i].lone = lone;
        x->has_result = x->has_result || figure_is_time_or_rate(to[i].unit);
    }
    note_passed(x, words, number, n ? 0 : count);
    bool table = note_line(x, line, str_trim(line), indent, count, row);
    figure_heading_note(x, words, number, count, n + table);
    return n;
}
