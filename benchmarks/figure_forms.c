/* figure_forms.c: lines of a known form: rows below a header, min/avg/max lists, percentiles, and what needs no name. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

enum { COLUMNS_MAX = 24 };

/* "68.4 to 127.2 kbit/s", "0.5 .. 1.5 s": the ends of a range. */
bool figure_is_range_end(struct str line, const struct number *n, size_t k)
{
    static const char *const words[] = {"to", "..", "...", "-", "\xe2\x80\xa6", "and", "up to"};
    struct str between = k ? str_trim(str_sub(line, n[k - 1].end, n[k].from - n[k - 1].end)) : (struct str){"", 0};
    if (k && n[k].unit && n[k - 1].unit && strcmp(n[k].unit->dimension, n[k - 1].unit->dimension))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(between, words[i]))
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
    struct columns c;
    c.n = 0;
    for (size_t i = 0; i < line.n && c.n < COLUMNS_MAX;) {
        while (i < line.n && (str_is_blank(line.p[i]) || line.p[i] == '|'))
            i++;
        size_t from = i;
        while (i < line.n && line.p[i] != '\t' && line.p[i] != '|' &&
               !(line.p[i] == ' ' && (i + 1 == line.n || str_is_blank(line.p[i + 1]))))
            i++;
        if (i > from)
            c.field[c.n++] = str_trim(str_sub(line, from, i - from));
    }
    return c;
}

/* A line of column titles: three or more, words all of them, no sentence. */
bool figure_is_header(struct str line, size_t numbers)
{
    if (numbers || line.n >= FIGURE_HEADER_MAX || line.n < sizeof "a|b|c" - 1)
        return false;
    struct columns c = columns_of(line);
    if (c.n < 3)
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
    if (!length || (title.n == 1 && !str_is_letter(title.p[0])))
        return false;
    size_t end = figure_number_take(field, 0, length, &n);
    if (end != field.n || n.plain || n.raw.n)
        return false;
    const struct unit *unit = n.unit ? n.unit : figure_unit_of_label(title);
    if (!unit && figure_is_statistic(title)) /* "Reqs/sec   90.45   74.11" below "Statistics   Avg   Stdev" */
        unit = figure_unit_of_label(name);
    char label[64];
    if (!unit || !figure_name_clean(title, label, sizeof label) || figure_is_condition(str_of(label)) || figure_is_spread(str_of(label)))
        return false;
    if (!strcmp(unit->dimension, "byte") ||
        (size_t)snprintf(ret->name, sizeof ret->name, STR_FMT " %s", STR_ARG(name), label) >= sizeof ret->name)
        return false;
    snprintf(ret->value, sizeof ret->value, STR_FMT, (int)(n.to > 30 ? 30 : n.to), field.p);
    ret->unit = unit;
    ret->digits = str_sub(field, 0, n.to);
    ret->printed = n.word;
    ret->section = 0;
    return true;
}

/* Rows below a header: "BM_copy   5.6 ns   5.5 ns   1000" below "Benchmark   Time   CPU   Iterations". */
bool figure_take_columns(const struct figure_context *x, struct str line, struct figure *to, size_t *ret_n)
{
    struct columns row = columns_of(line), head = columns_of(str_of(x->header));
    size_t numbers = 0, n = 0;
    for (size_t i = 1; i < row.n; i++)
        numbers += guess_number(row.field[i]) > 0;
    if (row.n < 3 || numbers + 1 != row.n || !str_is_letter(char_at(row.field[0], 0)) || str_ends(row.field[0], ":"))
        return false;
    for (size_t i = 1; i < row.n && head.n == row.n && n < FIGURES_MAX; i++)
        n += column_figure(row.field[0], head.field[i], row.field[i], &to[n]);
    *ret_n = n;
    return head.n == row.n || numbers >= 2;
}

/* ---- "rtt min/avg/max/mdev = 0.021/0.036/0.061/0.014 ms" ---- */

size_t figure_take_parts(struct str line, struct figure *to)
{
    const char *equal = memchr(line.p, '=', line.n);
    if (!equal)
        equal = memchr(line.p, ':', line.n);
    struct str left = equal ? str_trim(str_sub(line, 0, (size_t)(equal - line.p))) : (struct str){NULL, 0};
    const char *blank = left.n ? memrchr(left.p, ' ', left.n) : NULL;
    struct str names = blank ? str_sub(left, (size_t)(blank + 1 - left.p), left.n) : left,
               head = blank ? str_trim(str_sub(left, 0, (size_t)(blank - left.p))) : (struct str){"", 0},
               values = equal ? str_trim(str_sub(line, (size_t)(equal + 1 - line.p), line.n)) : (struct str){NULL, 0}, value[FIGURES_MAX],
               each = {"", 0};
    size_t n = 0, at = 0, count = 1;
    for (size_t i = 0; i < names.n; i++)
        count += names.p[i] == '/';
    if (count < 2 || count > FIGURES_MAX || figure_has_number(head) || !guess_letters(names))
        return 0;
    for (; n < count; n++) {
        size_t length = guess_number(str_sub(values, at, values.n));
        if (!length)
            return 0;
        value[n] = str_sub(values, at, length);
        at += length;
        while (n + 1 < count && str_is_blank(char_at(values, at)))
            at++;
        size_t word = at; /* "175.7 us / 201.4 us" */
        while (n + 1 < count && str_is_letter(char_at(values, at)))
            at++;
        if (n + 1 < count && at > word) {
            if (n ? !str_eq(each, str_sub(values, word, at - word)) : false)
                return 0;
            each = str_sub(values, word, at - word);
        }
        while (n + 1 < count && str_is_blank(char_at(values, at)))
            at++;
        if (n + 1 < count && char_at(values, at++) != '/')
            return 0;
        while (n + 1 < count && str_is_blank(char_at(values, at)))
            at++;
    }
    struct str unit_text = str_trim(str_sub(values, at, values.n)), unit_word = str_word(&unit_text), raw;
    const struct unit *unit = NULL;
    while (unit_word.n && is_one_of(unit_word.p[unit_word.n - 1], ",;."))
        unit_word.n--;
    if (!unit_word.n || !figure_unit(unit_word, &unit, &raw) || !unit || (each.n && !str_eq(each, unit_word)))
        return 0;
    for (size_t k = 0; k < count; k++) {
        struct str part = str_cut(&names, '/');
        if (!guess_letters(part) || value[k].n > 30)
            return 0;
        snprintf(to[k].name, sizeof to[k].name, STR_FMT "%s" STR_FMT, (int)(head.n > 60 ? 60 : head.n), head.p, head.n ? " " : "",
                 (int)(part.n > 40 ? 40 : part.n), part.p);
        snprintf(to[k].value, sizeof to[k].value, STR_FMT, STR_ARG(value[k]));
        to[k].unit = unit;
        to[k].digits = value[k];
        to[k].printed = (struct str){"", 0};
        to[k].section = 0;
    }
    return count;
}
static void set_figure(struct figure *to, struct str line, const struct number *n, const char *name)
{
    snprintf(to->name, sizeof to->name, "%s", name);
    snprintf(to->value, sizeof to->value, STR_FMT, (int)(n->to - n->from), line.p + n->from);
    to->unit = n->unit;
    to->digits = str_sub(line, n->from, n->to - n->from);
    to->printed = n->word;
    to->section = 0;
}

/* "99%   20.23ms", "95th: 3.1 ms" below "Latency Distribution": a percentile, whose name is above. */
size_t figure_take_percentile(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    struct str title = str_of(x->title), behind = str_sub(line, n[0].to, line.n);
    char label[sizeof x->title];
    if (count != 2 || n[0].from || !(str_starts(behind, "%") || str_starts(behind, "th")) || !figure_is_time(title) || n[1].raw.n ||
        n[1].inside || n[1].plain || n[1].own[0])
        return 0;
    const struct unit *u = n[1].unit ? n[1].unit : figure_unit_of_label(title);
    struct str rest = str_trim(str_sub(line, n[1].end, line.n));
    if (!u || strcmp(u->dimension, "second") || n[1].to - n[1].from >= sizeof to->value ||
        !(!rest.n || rest.p[0] == '(' || str_is(rest, "<=")) || !figure_name_clean(title, label, sizeof label) ||
        figure_is_condition(str_of(label)))
        return 0;
    if ((size_t)snprintf(to->name, sizeof to->name, "%s p" STR_FMT, label, (int)n[0].to, line.p) >= sizeof to->name)
        return 0;
    snprintf(to->value, sizeof to->value, STR_FMT, (int)(n[1].to - n[1].from), line.p + n[1].from);
    to->unit = u;
    to->digits = str_sub(line, n[1].from, n[1].to - n[1].from);
    to->printed = n[1].word;
    to->section = strlen(label);
    return 1;
}
/* Can the number stand without a name? */
static bool is_lone(struct str line, const struct number *n, size_t count, size_t k)
{
    return !n[k].error && !n[k].plain && !n[k].own[0] && n[k].to - n[k].from < sizeof((struct figure *)NULL)->value &&
           line.p[n[k].from] != '-' && !figure_is_range_end(line, n, k) && !(k + 1 < count && figure_is_range_end(line, n, k + 1));
}

static size_t take_nameless(struct str line, const struct number *n, size_t count, struct figure *to)
{
    size_t rates = 0, times = 0; /* times that were measured: not whole */
    struct str rest = count ? str_trim(str_sub(line, n[0].end, line.n)) : (struct str){"", 0};
    for (size_t k = 0; k < count; k++) {
        if (n[k].unit && !strcmp(n[k].unit->dimension, "second"))
            times += memchr(line.p + n[k].from, '.', n[k].to - n[k].from) != NULL;
        if (!n[k].unit || !figure_is_rate(n[k].unit))
            continue;
        for (size_t i = 0; i < rates; i++)
            if (!strcmp(to[i].unit->dimension, n[k].unit->dimension)) /* two of a kind: which one counts is not known */
                return 0;
        if (rates == FIGURES_MAX || !is_lone(line, n, count, k))
            return 0;
        set_figure(&to[rates++], line, &n[k], figure_rate_name(n[k].unit));
    }
    if (rates || count != 1 || n[0].from || !times || !is_lone(line, n, count, 0) ||
        !(!rest.n || rest.p[0] == '(' || str_starts(rest, "per ")))
        return times ? rates : 0;
    bool each = str_has(line, " per ") || memchr(line.p, '/', n[0].end); /* "0.03 microseconds per iteration", "5.04 usecs/op" */
    set_figure(to, line, n, each ? "time per operation" : "time");
    return 1;
}

/* What a line says without a name: its rates beside a time ("20 iter 0.44s user 9.777 iter/s"), or the time that is all of it ("0.029 seconds"). */
size_t figure_take_lone(struct str line, const struct number *n, size_t count, struct figure *to)
{
    size_t found = take_nameless(line, n, count, to);
    return found && figure_is_rate_condition(line) ? 0 : found; /* the words cost more */
}
