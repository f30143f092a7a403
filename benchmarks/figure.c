/* figure.c: results in a line of a program that no rules know. The words are in figure_words.c. */
#include "benchmarks/figure.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

enum { COLUMNS_MAX = 24, HEADER_AGE_MAX = 40, NUMBERS_MAX = 24 };

struct number {
    size_t from, to, end; /* the digits; end: behind the unit */
    const struct unit *unit;
    char own[32]; /* "0m3.2s" in seconds; empty: the digits as they stand */
    struct str raw; /* a unit that the record does not have ("MIPS", "MH/s"): it joins the name */
    bool joined, inside, error, plain; /* inside: in parentheses; error: behind ±; plain: cannot be a result, only ends a name */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static char char_at(struct str s, size_t i)
{
    return i < s.n ? s.p[i] : 0;
}

/* ---- log prefixes ---- */

static bool is_stamp_char(char c)
{
    return is_digit(c) || is_one_of(c, "-:.,/TZ+");
}

/* "2026-11-20 10:11:12,123 ", "[10:11:12] ", "I1120 10:11:12.123 ", "INFO: " at the beginning. */
static struct str without_stamp(struct str s)
{
    for (int pass = 0; pass < 5; pass++) {
        size_t i = 0, digits = 0, marks = 0;
        bool bracket = char_at(s, 0) == '[';
        for (i = bracket; i < s.n && is_stamp_char(s.p[i]); i++) {
            digits += is_digit(s.p[i]);
            marks += s.p[i] == ':' || s.p[i] == '-';
        }
        if (digits >= 4 && marks >= 2 && (bracket ? char_at(s, i) == ']' : is_blank(char_at(s, i)))) {
            s = str_trim(str_sub(s, i + bracket, s.n));
            continue;
        }
        struct str rest = s, word = str_word(&rest);
        while (word.n && is_one_of(word.p[word.n - 1], ":]"))
            word.n--;
        if (word.n && word.p[0] == '[')
            word = str_sub(word, 1, word.n);
        if (!figure_is_level(word))
            return s;
        s = str_trim(rest);
    }
    return s;
}

/* ---- numbers ---- */

/* "(27.3", "[26.0": is the place in brackets? */
static void mark_inside(struct str line, struct number *n, size_t count)
{
    size_t depth = 0, k = 0;
    for (size_t i = 0; i < line.n && k < count; i++) {
        depth += line.p[i] == '(' || line.p[i] == '[' || line.p[i] == '{' || line.p[i] == '<';
        while (k < count && n[k].from == i)
            n[k++].inside = depth > 0;
        if (is_one_of(line.p[i], ")]}>") && depth)
            depth--;
    }
}

static bool is_error_sign(struct str before)
{
    while (before.n && is_blank(before.p[before.n - 1]))
        before.n--;
    return str_ends(before, "\xc2\xb1") || str_ends(before, "+/-") || str_ends(before, "+-") || str_ends(before, "-/+");
}

/* Behind "12.5 ± 0.3" the unit of both: where it begins. */
static size_t skip_error(struct str line, size_t at)
{
    static const char *const signs[] = {"\xc2\xb1", "+/-", "+-", "-/+"};
    size_t i = at;
    while (i < line.n && is_blank(line.p[i]))
        i++;
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (str_starts(str_sub(line, i, line.n), signs[k])) {
            i += strlen(signs[k]);
            while (i < line.n && is_blank(line.p[i]))
                i++;
            size_t n = guess_number(str_sub(line, i, line.n));
            return n ? i + n : at;
        }
    return at;
}

/* "0m3.203s", "1m23s", "0:03.20": seconds as text. Returns its length, 0: none. */
static size_t minutes_at(struct str s, char *to, size_t size)
{
    size_t i = 0, minutes = 0, from;
    while (i < s.n && i < 5 && is_digit(s.p[i]))
        minutes = minutes * 10 + (size_t)(s.p[i++] - '0');
    if (!i || char_at(s, i) != 'm' || !is_digit(char_at(s, i + 1)))
        return 0;
    from = ++i;
    size_t n = guess_number(str_sub(s, i, s.n));
    if (!n || char_at(s, i + n) != 's' || is_letter(char_at(s, i + n + 1)))
        return 0;
    char seconds[24];
    double value;
    snprintf(seconds, sizeof seconds, STR_FMT, (int)(n > 20 ? 20 : n), s.p + from);
    if (!str_double(str_of(seconds), &value))
        return 0;
    snprintf(to, size, "%.10g", (double)minutes * 60 + value);
    return i + n + 1;
}

/* The unit that begins at `at`, behind blanks: one word, or "requests per second". Sets n->unit or n->raw, and n->end. */
static void take_unit(struct str line, size_t at, bool joined, struct number *n)
{
    size_t blanks = 0;
    while (is_blank(char_at(line, at + blanks)))
        blanks++;
    if (joined ? blanks > 0 : blanks == 0 || blanks > 3)
        return;
    at += blanks;
    bool open = is_one_of(char_at(line, at), "[(");
    size_t from = at + open, to = from;
    while (to < line.n && !is_blank(line.p[to]) && !is_one_of(line.p[to], ",;()[]|=") && line.p[to] != ':')
        to++;
    if (open && !is_one_of(char_at(line, to), ")]"))
        return;
    struct str word = str_sub(line, from, to - from), rest = str_sub(line, to, line.n);
    while (word.n && word.p[word.n - 1] == '.')
        word.n--;
    /* "12 seconds: …" and "30 s = …" name what follows */
    if (!word.n || (is_one_of(char_at(line, to), "=:") && !str_ends(str_trim(line), ":")))
        return;
    struct str next = rest, per = str_word(&next), time = str_word(&next);
    if (!open && !joined && is_blank(char_at(rest, 0)) && (str_is(per, "per") || str_is(per, "/")) && time.n) {
        while (time.n && is_one_of(time.p[time.n - 1], ".,;)"))
            time.n--;
        if (figure_rate(word, time, &n->unit)) {
            n->end = (size_t)(time.p + time.n - line.p);
            return;
        }
        n->plain = true; /* "12 ms per frame", "3 GB per node" */
        return;
    }
    if (figure_unit(word, &n->unit, &n->raw))
        n->end = to + open;
}

/* A number begins at i: its value, its unit, and whether it can be a result at all. Returns the place behind it. */
static size_t take_number(struct str line, size_t i, size_t length, struct number *n)
{
    struct str before = str_sub(line, 0, i);
    *n = (struct number){.from = i, .to = i + length, .end = i + length, .error = is_error_sign(before)};
    size_t minutes = minutes_at(str_sub(line, i, line.n), n->own, sizeof n->own);
    if (minutes) {
        n->to = n->end = i + minutes;
        n->unit = units_find(STR("s"));
        return n->end;
    }
    char next = char_at(line, n->to), behind = char_at(line, n->to + 1);
    bool ends = !next || is_blank(next) || is_one_of(next, ",;)]}>|") || ((next == '.' || next == ':') && (!behind || is_blank(behind)));
    if (!ends) {
        take_unit(line, n->to, true, n);
        n->joined = n->unit || n->raw.n;
        if (n->joined)
            return n->end;
        n->plain = next != '/';
        size_t to = n->to;
        while (to < line.n && !is_blank(line.p[to]) && !is_one_of(line.p[to], ",;()[]|="))
            to++;
        if (next == '/') /* "1/2": read by the list of parts or by nobody */
            n->plain = true;
        n->end = to;
        return to;
    }
    size_t at = skip_error(line, n->to);
    take_unit(line, at, false, n);
    if (at > n->to && n->end == n->to)
        n->end = at;
    return n->end;
}

static size_t take_numbers(struct str line, struct number *to)
{
    size_t count = 0;
    for (size_t i = 0; i < line.n && count < NUMBERS_MAX; i++) {
        char before = i ? line.p[i - 1] : ' ';
        if (!is_digit(line.p[i]) && !(is_one_of(line.p[i], "-+") && is_digit(char_at(line, i + 1))) &&
            !(line.p[i] == '.' && is_digit(char_at(line, i + 1))))
            continue;
        bool apart = is_blank(before) || is_one_of(before, "=:([<>~|,;") || (unsigned char)before == 0xb1;
        bool clock = i > 1 && is_one_of(before, ":,") && is_digit(line.p[i - 2]); /* 10:11:12 and 1,2,3 are no numbers */
        size_t n = apart && !clock ? guess_number(str_sub(line, i, line.n)) : 0;
        if (n) {
            i = take_number(line, i, n, &to[count++]) - 1;
            continue;
        }
        while (i + 1 < line.n && (is_letter(line.p[i + 1]) || is_digit(line.p[i + 1]) || is_one_of(line.p[i + 1], ".-_")))
            i++;
    }
    mark_inside(line, to, count);
    return count;
}

/* ---- names ---- */

/* The last part of the text before a number: behind the last comma, bar, tab or pair of blanks, unless these stand right before the number. */
static struct str clause_of(struct str text)
{
    size_t end = text.n;
    while (end && (is_blank(text.p[end - 1]) || is_one_of(text.p[end - 1], "=:~<>.([")))
        end--;
    size_t from = end, open = end;
    if (end && is_one_of(text.p[end - 1], ")]")) { /* "Latency (us)": the brackets belong to the name */
        while (open && !is_one_of(text.p[open - 1], "(["))
            open--;
        from = open ? open - 1 : end;
    }
    while (from) {
        char c = text.p[from - 1];
        if (is_one_of(c, ",;|\t)]}") || (c == ' ' && from > 1 && is_blank(text.p[from - 2])))
            break;
        from--;
    }
    return str_trim(str_sub(text, from, end - from));
}

/* Without quotes, list marks, a leading "the", and small words at its end; brackets and what they hold go. */
static size_t name_clean(struct str label, char *to, size_t size)
{
    size_t n = 0, depth = 0;
    for (size_t i = 0; i < label.n && n + 1 < size; i++) {
        char c = label.p[i];
        bool open = is_one_of(c, "([{<");
        depth += open;
        if (!depth)
            to[n++] = is_one_of(c, "\"'`") ? ' ' : c;
        if (is_one_of(c, ")]}>") && depth)
            depth--;
    }
    to[n] = 0;
    struct str s = str_trim((struct str){to, n});
    while (s.n && is_one_of(s.p[0], "#-*=>/.: "))
        s = str_sub(s, 1, s.n);
    for (bool more = true; more && s.n;) {
        while (s.n && is_one_of(s.p[s.n - 1], " \t=:.-~>#*"))
            s.n--;
        const char *blank = memrchr(s.p, ' ', s.n);
        struct str last = blank ? str_sub(s, (size_t)(blank + 1 - s.p), s.n) : s;
        more = figure_is_small(last);
        if (more)
            s.n = blank ? (size_t)(blank - s.p) : 0;
    }
    memmove(to, s.p, s.n);
    to[s.n] = 0;
    return s.n;
}

static bool has_number(struct str label)
{
    for (size_t i = 0; i < label.n; i++)
        if (is_digit(label.p[i]) && (i == 0 || is_one_of(label.p[i - 1], " \t=:([,")))
            return true;
    return false;
}

/* ---- columns: a header above, rows with a name and as many values ---- */

struct columns {
    struct str field[COLUMNS_MAX];
    size_t n;
};

static struct columns columns_of(struct str line)
{
    struct columns c = {.n = 0};
    for (size_t i = 0; i < line.n && c.n < COLUMNS_MAX;) {
        while (i < line.n && (is_blank(line.p[i]) || line.p[i] == '|'))
            i++;
        size_t from = i;
        while (i < line.n && line.p[i] != '\t' && line.p[i] != '|' && !(line.p[i] == ' ' && (i + 1 == line.n || is_blank(line.p[i + 1]))))
            i++;
        if (i > from)
            c.field[c.n++] = str_trim(str_sub(line, from, i - from));
    }
    return c;
}

/* A line of column titles: three or more, words all of them, no sentence. */
static bool is_header(struct str line, size_t numbers)
{
    struct columns c = columns_of(line);
    if (numbers || c.n < 3 || line.n >= FIGURE_HEADER_MAX)
        return false;
    for (size_t i = 0; i < c.n; i++)
        if (!guess_letters(c.field[i]) || c.field[i].n > 30 || str_ends(c.field[i], ":"))
            return false;
    return true;
}

/* The value of a column: its number and unit, the unit of the title where it has none. */
static bool column_figure(struct str name, struct str title, struct str field, struct figure *ret)
{
    struct number n;
    size_t length = guess_number(field);
    if (!length || (title.n == 1 && !is_letter(title.p[0])))
        return false;
    size_t end = take_number(field, 0, length, &n);
    if (end != field.n || n.plain || n.raw.n)
        return false;
    const struct unit *unit = n.unit ? n.unit : figure_unit_of_label(title);
    char label[64];
    if (!unit || !name_clean(title, label, sizeof label) || figure_is_condition(str_of(label)) || figure_is_spread(str_of(label)))
        return false;
    if (!strcmp(unit->dimension, "byte") ||
        (size_t)snprintf(ret->name, sizeof ret->name, STR_FMT " %s", STR_ARG(name), label) >= sizeof ret->name)
        return false;
    snprintf(ret->value, sizeof ret->value, STR_FMT, (int)(n.to > 30 ? 30 : n.to), field.p);
    ret->unit = unit;
    return true;
}

/* Rows below a header: "BM_copy   5.6 ns   5.5 ns   1000" below "Benchmark   Time   CPU   Iterations". */
static bool take_columns(const struct figure_context *x, struct str line, struct figure *to, size_t *ret_n)
{
    struct columns row = columns_of(line), head = columns_of(str_of(x->header));
    size_t numbers = 0, n = 0;
    for (size_t i = 1; i < row.n; i++)
        numbers += guess_number(row.field[i]) > 0;
    if (row.n < 3 || numbers + 1 != row.n || !is_letter(char_at(row.field[0], 0)) || str_ends(row.field[0], ":"))
        return false;
    for (size_t i = 1; i < row.n && head.n == row.n && n < FIGURES_MAX; i++)
        n += column_figure(row.field[0], head.field[i], row.field[i], &to[n]);
    *ret_n = n;
    return head.n == row.n || numbers >= 2;
}

/* ---- "rtt min/avg/max/mdev = 0.021/0.036/0.061/0.014 ms" ---- */

static size_t take_parts(struct str line, struct figure *to)
{
    const char *equal = memchr(line.p, '=', line.n);
    if (!equal)
        equal = memchr(line.p, ':', line.n);
    struct str left = equal ? str_trim(str_sub(line, 0, (size_t)(equal - line.p))) : (struct str){NULL, 0};
    const char *blank = left.n ? memrchr(left.p, ' ', left.n) : NULL;
    struct str names = blank ? str_sub(left, (size_t)(blank + 1 - left.p), left.n) : left,
               head = blank ? str_trim(str_sub(left, 0, (size_t)(blank - left.p))) : (struct str){"", 0},
               values = equal ? str_trim(str_sub(line, (size_t)(equal + 1 - line.p), line.n)) : (struct str){NULL, 0}, value[FIGURES_MAX];
    size_t n = 0, at = 0, count = 1;
    for (size_t i = 0; i < names.n; i++)
        count += names.p[i] == '/';
    if (count < 2 || count > FIGURES_MAX || has_number(head) || !guess_letters(names))
        return 0;
    for (; n < count; n++) {
        size_t length = guess_number(str_sub(values, at, values.n));
        if (!length)
            return 0;
        value[n] = str_sub(values, at, length);
        at += length;
        while (n + 1 < count && is_blank(char_at(values, at)))
            at++;
        if (n + 1 < count && char_at(values, at++) != '/')
            return 0;
        while (n + 1 < count && is_blank(char_at(values, at)))
            at++;
    }
    struct str unit_text = str_trim(str_sub(values, at, values.n)), unit_word = str_word(&unit_text), raw;
    const struct unit *unit = NULL;
    while (unit_word.n && is_one_of(unit_word.p[unit_word.n - 1], ",;."))
        unit_word.n--;
    if (!unit_word.n || !figure_unit(unit_word, &unit, &raw) || !unit)
        return 0;
    for (size_t k = 0; k < count; k++) {
        struct str part = str_cut(&names, '/');
        if (!guess_letters(part) || value[k].n > 30)
            return 0;
        snprintf(to[k].name, sizeof to[k].name, STR_FMT "%s" STR_FMT, (int)(head.n > 60 ? 60 : head.n), head.p, head.n ? " " : "",
                 (int)(part.n > 40 ? 40 : part.n), part.p);
        snprintf(to[k].value, sizeof to[k].value, STR_FMT, STR_ARG(value[k]));
        to[k].unit = unit;
    }
    return count;
}

/* ---- one figure ---- */

struct candidate {
    const struct number *number;
    struct str label;
    bool strong; /* "name:" or "name=" */
    bool column; /* two blanks or a tab part it from its name */
    bool own; /* the label stands right before it */
    bool sole; /* the line has no other number */
};

/* Is it a result, and under what unit? *ret_unit NULL: without. */
static bool is_figure(const struct figure_context *x, struct str line, const struct candidate *c, const char *name, bool indented,
                      const struct unit **ret_unit)
{
    const struct number *n = c->number;
    struct str label = str_of(name);
    const struct unit *u = n->unit ? n->unit : n->raw.n ? NULL : figure_unit_of_label(c->label);
    bool whole = !memchr(line.p + n->from, '.', n->to - n->from), section = x->section[0] && indented;
    *ret_unit = u;
    for (size_t i = 0; i + 2 < label.n; i++) /* "L0:54.7% L1": values of others */
        if (is_digit(label.p[i]) && (label.p[i + 1] == '%' || (label.p[i + 1] == '.' && is_digit(label.p[i + 2]))))
            return false;
    if (!label.n || label.n > 70 || figure_is_condition(label) || !is_letter(label.p[0]))
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
    if (!u)
        return c->strong && !n->joined && !whole ? figure_is_score(label) : (c->strong || c->column) && figure_is_score_word(label);
    if (figure_is_rate(u))
        return true;
    if (!strcmp(u->dimension, "second")) {
        bool timed = figure_is_time(label) || (section && figure_is_statistic(label)) || (section && figure_is_time(str_of(x->section)));
        return timed ? !(whole && figure_is_span(label)) : (c->strong || c->column) && !whole;
    }
    if (!strcmp(u->dimension, "percent"))
        return c->strong && c->sole;
    if (!strcmp(u->dimension, "joule") || !strcmp(u->dimension, "watt"))
        return c->strong;
    return !strcmp(u->dimension, "byte") && c->strong && figure_is_memory(label) && !figure_is_loose_bytes(n->unit);
}

/* "10541 c/s real, 18223 c/s virtual", "0.028 seconds of real time": one to four words up to the next comma or the end name the number before. */
static size_t trailing_name(struct str line, const struct number *n, char *to, size_t size)
{
    struct str rest = str_sub(line, n->end, line.n);
    size_t i = 0, words = 0;
    if (!is_blank(char_at(rest, 0)))
        return 0;
    while (i < rest.n && !is_one_of(rest.p[i], ",;()[]|=:\t") && !is_digit(rest.p[i]) &&
           !(is_blank(rest.p[i]) && i && is_blank(char_at(rest, i + 1))))
        i++;
    if (i < rest.n && !is_one_of(rest.p[i], ",;(") && !is_blank(rest.p[i]))
        return 0;
    struct str text = str_trim(str_sub(rest, 0, i)), each = text, word;
    while ((word = str_word(&each)).n && words++ == 0 && figure_is_small(word))
        text = str_trim(str_sub(text, word.n, text.n));
    for (each = text, words = 0; str_word(&each).n;)
        words++;
    return words && words <= 4 ? name_clean(text, to, size) : 0;
}

/* "68.4 to 127.2 kbit/s", "0.5 .. 1.5 s": the ends of a range. */
static bool is_range_end(struct str line, const struct number *n, size_t k)
{
    static const char *const words[] = {"to", "..", "...", "-", "\xe2\x80\xa6", "and", "up to"};
    struct str between = k ? str_trim(str_sub(line, n[k - 1].end, n[k].from - n[k - 1].end)) : (struct str){"", 0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(between, words[i]))
            return true;
    return false;
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
        bool other = n[i].unit && n[k].unit && strcmp(n[i].unit->dimension, n[k].unit->dimension);
        struct str behind = str_sub(line, n[i].end, line.n);
        bool named = !n[i].unit && !n[i].raw.n && guess_letters(str_word(&behind)); /* "16 B/op" */
        if (!other && !named && !(trailing_name(line, &n[i], unused, sizeof unused) && trailing_name(line, &n[k], unused, sizeof unused)))
            return true;
    }
    return false;
}

/* Where the label before the ":" or the column of the number begins, if whole numbers stand in it and nothing else that could be a value. Else the number's place. */
static size_t whole_label(struct str line, size_t number)
{
    struct str text = str_sub(line, 0, number);
    size_t n = text.n;
    while (n && is_blank(text.p[n - 1]))
        n--;
    bool column = n && (number - n >= 2 || (number > n && text.p[number - 1] == '\t')) && text.p[n - 1] != '=';
    if (!n || (text.p[n - 1] != ':' && !column))
        return number;
    struct str clause = clause_of(str_sub(text, 0, n));
    if (!clause.n || !is_letter(clause.p[0]) || memchr(clause.p, '=', clause.n) || memchr(clause.p, ':', clause.n) ||
        memchr(clause.p, '.', clause.n))
        return number;
    return (size_t)(clause.p - line.p);
}

static struct str head_of(struct str line, size_t first)
{
    struct str head = str_sub(line, 0, first);
    const char *colon = memchr(head.p, ':', head.n);
    return colon ? str_trim(str_sub(head, 0, (size_t)(colon - head.p))) : (struct str){"", 0};
}

static bool compose(const struct figure_context *x, struct str line, const struct number *numbers, size_t count, size_t k, bool indented,
                    struct figure *ret)
{
    const struct number *n = &numbers[k];
    size_t from = k ? numbers[k - 1].end : 0;
    struct str between = str_sub(line, from, n->from - from), clause = clause_of(between);
    struct candidate c = {.number = n, .label = clause, .own = true, .sole = count == 1};
    size_t i = n->from;
    while (i > from && (is_blank(line.p[i - 1]) || is_one_of(line.p[i - 1], "~<>([")))
        i--;
    c.strong = i > from && is_one_of(line.p[i - 1], "=:");
    c.column = n->from - i >= 2 || (n->from > i && line.p[n->from - 1] == '\t');
    char label[FIGURE_NAME_MAX], head[64] = "", trailing[FIGURE_NAME_MAX], tail[64] = "";
    size_t length = name_clean(clause, label, sizeof label);
    bool twins = false;
    for (size_t o = 0; o < count; o++)
        twins = twins || (o != k && numbers[o].unit && n->unit && !numbers[o].inside && !numbers[o].error &&
                          !strcmp(numbers[o].unit->dimension, n->unit->dimension));
    size_t start = k ? whole_label(line, n->from) : 0;
    for (size_t o = 0; o < k; o++) /* "received 35 bytes  27.3 MB/s": a value of its own is no part of a name */
        if (numbers[o].from >= start && (numbers[o].unit || numbers[o].raw.n))
            start = n->from;
    if (k && (c.strong || c.column) && start < from) { /* "phase 3 time: 4.5 s" */
        clause = c.label = clause_of(str_sub(line, start, n->from - start));
        length = name_clean(clause, label, sizeof label);
        from = start;
    }
    if (has_nameless_sibling(line, numbers, count, k) || is_range_end(line, numbers, k) ||
        (k + 1 < count && is_range_end(line, numbers, k + 1)))
        return false;
    if ((!length || (c.strong && twins)) && n->unit && trailing_name(line, n, trailing, sizeof trailing) && strlen(trailing) < sizeof tail)
        memcpy(tail, trailing, strlen(trailing) + 1);
    /* The name of the first figure ends at the first number: "Score   5   12.3 ± 0.1 op/s". */
    if (tail[0] && !length && (!k || !twins))
        length = (size_t)snprintf(label, sizeof label, "%s", tail), tail[0] = 0, c.column = true;
    else if (k && !guess_letters(str_of(label))) {
        bool rate = n->unit && figure_is_rate(n->unit);
        struct str first = str_sub(line, 0, numbers[0].from);
        bool counted = k == 1 && !numbers[0].unit && !numbers[0].raw.n && !numbers[0].plain && numbers[0].from &&
                       !is_one_of(str_trim(first).p[str_trim(first).n - 1], ":=");
        if (!counted && !rate)
            return false;
        if (!counted && memchr(between.p, '/', between.n))
            return false;
        length = name_clean(counted ? clause_of(first) : first, label, sizeof label);
        c.own = false;
        c.column = true;
        if (!length && rate) { /* "1073741824 bytes copied, 0.3 s, 3.4 GB/s", "[ 3] 0.0-2.0 sec  2.02 GBytes  8.65 Gbits/sec" */
            const char *word = figure_rate_name(n->unit);
            length = (size_t)snprintf(label, sizeof label, "%s", word);
        }
    } else if (!k && !length && n->unit && figure_is_rate(n->unit) && n->from == 0 && n->end == line.n)
        length = (size_t)snprintf(label, sizeof label, "%s", figure_rate_name(n->unit));
    if (!length)
        return false;
    if (k && start >= from && c.own && !c.strong && !n->inside && numbers[k - 1].end == from && !is_one_of(char_at(line, from), ",;|)") &&
        !(is_blank(char_at(line, from)) && is_blank(char_at(line, from + 1))) && char_at(line, from) != '\t')
        return false; /* "1000 requests in 2.00 s": the number before names the amount */
    const struct unit *unit;
    if (!is_figure(x, line, &c, label, indented, &unit))
        return false;
    bool led = numbers[0].from && !is_one_of(line.p[numbers[0].from - 1], "=:") &&
               !(numbers[0].from > 1 && line.p[numbers[0].from - 2] == ':'); /* the head is no name of the first number itself */
    if (k && c.own && led) {
        struct str before = head_of(line, numbers[0].from);
        char cleaned[64];
        if (before.n && before.n < 40 && name_clean(before, cleaned, sizeof cleaned) && strcmp(cleaned, label) &&
            !has_number(str_of(cleaned)))
            snprintf(head, sizeof head, "%s", cleaned);
    } else if (!k) { /* "Write: BW=12 MB/s" */
        struct str before = head_of(line, n->from);
        char cleaned[64];
        if (before.n && before.n < 40 && name_clean(before, cleaned, sizeof cleaned) && !str_has(str_of(cleaned), label) &&
            before.p + before.n <= clause.p)
            snprintf(head, sizeof head, "%s", cleaned);
    }
    char raw[32] = "", section[64] = "";
    if (n->raw.n)
        snprintf(raw, sizeof raw, " " STR_FMT, (int)(n->raw.n > 24 ? 24 : n->raw.n), n->raw.p);
    if (x->section[0] && indented)
        name_clean(str_of(x->section), section, sizeof section);
    if ((size_t)snprintf(ret->name, sizeof ret->name, "%s%s%s%s%s%s%s%s", section, section[0] ? " " : "", head, head[0] ? " " : "", label,
                         tail[0] ? " " : "", tail, raw) >= sizeof ret->name)
        return false;
    if (n->own[0])
        memcpy(ret->value, n->own, sizeof ret->value);
    else if (n->to - n->from < sizeof ret->value)
        snprintf(ret->value, sizeof ret->value, STR_FMT, (int)(n->to - n->from), line.p + n->from);
    else
        return false;
    ret->unit = unit;
    return true;
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

/* Can one of the numbers be a result at all? Asked before the words are compared, which costs more. */
static bool has_candidate(struct str line, const struct number *n, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t i = n[k].from;
        while (i && is_blank(line.p[i - 1]))
            i--;
        if (!n[k].plain && (n[k].unit || n[k].raw.n || n[k].from - i >= 2 || (i && is_one_of(line.p[i - 1], ":="))))
            return true;
    }
    return count && memchr(line.p, '/', line.n) && memchr(line.p, '=', line.n);
}

static void note_line(struct figure_context *x, struct str line, struct str words, size_t indent, size_t numbers)
{
    bool title = str_ends(words, ":") && words.n < sizeof x->section && guess_letters(words) && !has_number(words);
    if (x->section[0] && indent <= x->section_indent)
        x->section[0] = 0;
    if (title) {
        struct str text = str_sub(words, 0, words.n - 1);
        snprintf(x->section, sizeof x->section, STR_FMT, STR_ARG(text));
        x->section_indent = indent;
        x->section_unit = figure_unit_of_label(text);
    }
    if (is_header(line, numbers)) {
        snprintf(x->header, sizeof x->header, STR_FMT, STR_ARG(line));
        x->header_age = 0;
    } else if (x->header[0] && ++x->header_age > HEADER_AGE_MAX)
        x->header[0] = 0;
}

/* A first look that costs little: most lines of a long log have no number behind a blank, ":" or "=". */
static bool is_promising(struct str line)
{
    if (line.n < 3)
        return false;
    for (size_t i = 1; i < line.n; i++)
        if (is_digit(line.p[i]) && is_one_of(line.p[i - 1], " \t:=(<~|./"))
            return true;
    return is_digit(line.p[0]);
}

size_t figure_find(struct figure_context *x, struct str line, struct figure to[FIGURES_MAX])
{
    struct number number[NUMBERS_MAX];
    size_t indent = 0, count = 0, n = 0, single = NUMBERS_MAX;
    if (line.n > FIGURE_LINE_MAX || !guess_plain_line(line, FIGURE_LINE_MAX))
        return 0;
    while (indent < line.n && is_blank(line.p[indent]))
        indent++;
    struct str words = str_trim(line);
    if (!words.n)
        return 0;
    bool indented = x->section[0] && indent > x->section_indent;
    if (!is_promising(words)) {
        note_line(x, line, words, indent, 0);
        return 0;
    }
    words = without_stamp(words);
    count = words.n ? take_numbers(words, number) : 0;
    if (has_candidate(words, number, count) && !figure_is_progress(words) && !figure_is_estimate(words)) {
        if ((n = take_parts(words, to)))
            goto done;
        if (take_columns(x, words, to, &n) && (n || x->header[0]))
            goto done;
        bool rows =
            count >= 3 && number[0].from == 0 && (is_blank(char_at(words, number[0].to)) && is_blank(char_at(words, number[0].to + 1)));
        bool inside = only_rate(number, count, &single);
        for (size_t k = 0; k < count && !rows && n < FIGURES_MAX; k++) {
            const struct number *c = &number[k];
            if (c->error || c->plain || (c->inside && !(inside && k == single)))
                continue;
            if (compose(x, words, number, count, k, indented, &to[n]))
                n++;
        }
        for (size_t a = 0; a < n; a++) /* one name, several values: nobody knows which */
            for (size_t b = a + 1; b < n; b++)
                if (to[a].unit == to[b].unit && !strcmp(to[a].name, to[b].name)) {
                    n = 0;
                    break;
                }
    }
done:
    note_line(x, line, str_trim(line), indent, count);
    return n;
}
