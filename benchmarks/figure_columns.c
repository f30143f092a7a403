/* figure_columns.c: rows below a header: "BM_copy   5.6 ns   5.5 ns   1000", "| Latency | 41 ms |", "copy: 12.3 4.5" below indented titles. */
#include "benchmarks/figure_compose.h"
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_titles.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* ---- trees ---- */

struct str figure_without_branches(struct figure_context *x, struct str line)
{
    static const char *const ends[] = {"\xe2\x94\x9c\xe2\x94\x80", "\xe2\x95\xb0\xe2\x94\x80", "\xe2\x94\x94\xe2\x94\x80"};
    size_t at = 0, depth = 1;
    x->depth = 0;
    if (!line.n || line.p[0] != '\xe2')
        return line;
    while (str_starts(str_sub(line, at, line.n), "\xe2\x94\x82") ||
           str_is_blank(char_at(line, at))) { /* the bar of a branch that continues */
        depth += !str_is_blank(line.p[at]);
        at += str_is_blank(line.p[at]) ? 1 : 3;
    }
    struct str row = str_sub(line, at, line.n), name;
    bool branch = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        branch = branch || str_starts(row, ends[i]);
    if (!branch || depth > FIGURE_TREE_MAX)
        return line;
    row = str_trim(str_sub(row, 6, row.n));
    struct columns c = figure_columns(row);
    if (!c.n || c.field[0].n >= sizeof x->branch[0])
        return line;
    name = c.field[0];
    snprintf(x->branch[depth - 1], sizeof x->branch[0], STR_FMT, STR_ARG(name));
    x->depth = depth;
    return row;
}

/* ---- rows ---- */

struct table_row {
    const struct figure_context *context;
    struct columns head, row, units; /* units: a line below the header, n 0: none */
    size_t shift; /* 1: the column of names has no title */
    char name[FIGURE_NAME_MAX];
    size_t names; /* columns before the values */
    char step[sizeof((struct figure *)NULL)->step]; /* "1024" below "Size": what the row differs from others by; empty: nothing */
    bool seconds; /* what time(1) prints */
};

/* Does the cell begin with a number, or is it an error such as "±12.88%"? "3de8b9" is neither. */
static bool is_value_cell(struct str cell)
{
    struct number n;
    cell = figure_cell(cell);
    size_t length = guess_number(cell);
    if (!length)
        return str_starts(cell, "\xc2\xb1");
    figure_number_take(cell, 0, length, &n);
    return !n.plain || n.multiple || !str_is_letter(char_at(cell, length));
}

/* "-", "N/A": the row has no value in this column. */
static bool is_empty_cell(struct str cell)
{
    return str_has_word("- -- n/a N/A NA", figure_cell(cell));
}

static struct str row_title(const struct table_row *t, size_t column)
{
    return t->head.field[column - t->shift];
}

/* The unit of a value in the column behind it, below "Unit"; NULL: there is none. *ret_raw: one that the record does not have. */
static const struct unit *next_unit(const struct table_row *t, size_t column, struct str *ret_raw)
{
    const struct unit *unit = NULL;
    struct str title = column + 1 < t->row.n ? row_title(t, column + 1) : (struct str){"", 0};
    *ret_raw = (struct str){"", 0};
    if (!str_is_anycase(title, "unit") && !str_is_anycase(title, "units"))
        return NULL;
    return figure_unit(figure_cell(t->row.field[column + 1]), &unit, ret_raw) ? unit : NULL;
}

/* The unit of a value that has none of its own. */
static const struct unit *column_unit(const struct table_row *t, size_t column, bool fraction)
{
    struct str title = row_title(t, column);
    const struct unit *unit = figure_unit_of_label(title);
    if (!unit && column >= 1 && column <= t->units.n)
        unit = figure_unit_of_label(t->units.field[column - 1]);
    if (!unit && title.n > 2 && title.p[0] == '%' && str_is_letter(str_trim(str_sub(title, 1, title.n)).p[0])) /* "%idle", "% Lines" */
        unit = units_find(STR("percent"));
    if (!unit && figure_is_statistic(title)) /* "Reqs/sec   90.45   74.11" below "Statistics   Avg   Stdev" */
        unit = figure_unit_of_label(str_of(t->name));
    if (!unit && str_is(title, "hz"))
        unit = units_find(STR("op/s"));
    struct str name = str_of(t->name);
    bool timed = (t->seconds && guess_letters(title)) ||
                 (figure_is_statistic(title) && (str_is(name, "real") || str_is(name, "user") || str_is(name, "sys")));
    return !unit && timed && fraction ? units_find(STR("s")) : unit;
}

/* Returns whether the column's title names a score or a time ("Score", "F1", "CPU time"): then a number
 * with a decimal point in the column may be a result without a unit. */
static bool is_score_column(struct str title, struct str label)
{
    return figure_is_score(title) || str_is_anycase(label, "time") || figure_is_measured(label);
}

/* The name of a row with computed values has so many letters: "x10" is one of many variables. */
enum { ROW_LETTERS_MIN = 3 };

static size_t letters_in(const char *name)
{
    size_t letters = 0;
    for (; *name; name++)
        letters += str_is_letter(*name);
    return letters;
}

/* The value of a column: its number and unit, the unit of the title where it has none. */
static bool column_figure(const struct table_row *t, size_t column, struct figure *ret)
{
    struct number n;
    struct str title = row_title(t, column), cell = figure_cell(t->row.field[column]);
    size_t length = guess_number(cell);
    if (!length || (title.n == 1 && !str_is_letter(title.p[0])))
        return false;
    struct str rest = str_trim(str_sub(cell, figure_number_take(cell, 0, length, &n), cell.n));
    bool erred = n.end > n.to && !n.unit && str_is(rest, "%"); /* "294.27 ± 73.34%" */
    if ((rest.n && !erred) || (n.plain && !n.multiple) || n.raw.n || (n.clock && !figure_is_elapsed(title)))
        return false;
    if (!t->name[0] && n.unit && !t->step[0] &&
        !(t->row.bars && figure_is_rate(n.unit))) /* below titles without units it may be a setting as well */
        return false;
    struct str raw;
    const struct unit *unit = n.unit ? n.unit : next_unit(t, column, &raw);
    if (!n.unit && raw.n)
        return false;
    if (!unit)
        unit = column_unit(t, column, memchr(cell.p, '.', length) != NULL);
    char label[64];
    if ((n.multiple && !figure_is_counted(unit)) || !figure_title_name(title, label, sizeof label) || figure_is_condition(str_of(label)) ||
        figure_is_estimate(str_of(label)) || (!(unit && figure_is_rate(unit)) && figure_is_condition(str_of(t->name))))
        return false;
    if (!unit && t->shift && !t->name[0]) /* the number that begins the row may be that of a class */
        return false;
    bool of_round = t->step[0] && figure_is_round(t->head.field[0]) && figure_is_round_value(title);
    bool score = memchr(cell.p, '.', length) && (t->name[0] || t->step[0]) && (of_round || is_score_column(title, str_of(label)));
    if (!unit && !score) {
        ret->is_computed = letters_in(t->name) >= ROW_LETTERS_MIN && figure_is_computed_name(str_of(label));
        ret->has_few_digits = !figure_is_computed_value(str_sub(cell, 0, length));
        if (!ret->is_computed)
            return false;
    }
    if ((unit && (cell.p[0] == '-' || !strcmp(unit->dimension, "byte"))) ||
        (size_t)snprintf(ret->name, sizeof ret->name, "%s%s%s", t->name, t->name[0] ? " " : "", label) >= sizeof ret->name)
        return false;
    ret->section = 0;
    memcpy(ret->step, t->step, sizeof ret->step);
    ret->is_score_of_round = of_round && !unit;
    return figure_value_set(t->context, cell, &n, unit, ret);
}

/* Rows of numbers alone: a size or number of threads that begins them distinguishes them. */
static void take_row_step(struct table_row *t)
{
    int64_t number;
    uint64_t size;
    struct str cell = t->row.n ? figure_cell(t->row.field[0]) : (struct str){"", 0};
    if (t->names || !t->head.n || (!t->shift && !figure_is_step(t->head.field[0])))
        return;
    if (str_int(cell, &number) && number >= 0)
        snprintf(t->step, sizeof t->step, "%lld", (long long)number);
    else if (str_is_digit(char_at(cell, 0)) && str_size(cell, &size) && size < INT64_MAX)
        snprintf(t->step, sizeof t->step, "%llu", (unsigned long long)size);
}

/* Finds the columns of names that begin the row, two at most, and joins their texts in t->name. */
static void take_row_name(struct table_row *t)
{
    size_t at = 0;
    t->names = 0;
    t->name[0] = 0;
    while (t->names < t->row.n && t->names < 2 && guess_letters(t->row.field[t->names]) && !is_value_cell(t->row.field[t->names]) &&
           !is_empty_cell(t->row.field[t->names]))
        t->names++;
    for (size_t i = 0; i < t->names; i++) {
        struct str cell = figure_cell(t->row.field[i]);
        while (cell.n && !str_is_letter(cell.p[0]) && ((cell.p[0] & 0x80) || is_one_of(cell.p[0], "-*.#> "))) /* the mark of a list */
            cell = str_sub(cell, 1, cell.n);
        while (cell.n && cell.p[cell.n - 1] == ':')
            cell.n--;
        at += (size_t)snprintf(t->name + at, sizeof t->name - at, "%s" STR_FMT, i ? " " : "", (int)(cell.n > 50 ? 50 : cell.n), cell.p);
    }
}

/* The name of a row of a tree is that of all branches that lead to it: "copy 1024". */
static void take_branch_name(struct table_row *t)
{
    size_t at = 0;
    for (size_t i = 0; i < t->context->depth; i++)
        at += (size_t)snprintf(t->name + at, sizeof t->name - at, "%s%s", i ? " " : "", t->context->branch[i]);
    t->names = 1;
}

/* The number of a row before its name: "0 │ copy │ 12.3". */
static bool drop_row_index(struct table_row *t)
{
    int64_t unused;
    if (t->row.n < 3 || !str_int(figure_cell(t->row.field[0]), &unused) || is_value_cell(t->row.field[1]) || t->shift)
        return false;
    for (size_t i = 1; i < t->row.n; i++) {
        t->row.field[i - 1] = t->row.field[i];
        t->head.field[i - 1] = t->head.field[i];
    }
    t->row.n--;
    t->head.n--;
    return true;
}

static bool is_unit_cell(const struct table_row *t, size_t column)
{
    struct str raw;
    return t->head.n + t->shift == t->row.n && (next_unit(t, column - 1, &raw) || raw.n);
}

static size_t numbers_in(const struct table_row *t)
{
    size_t numbers = 0;
    for (size_t i = t->names; i < t->row.n; i++)
        numbers += is_value_cell(t->row.field[i]) || (i && (is_empty_cell(t->row.field[i]) || is_unit_cell(t, i)));
    return numbers;
}

/* "Average:   all   33.1" below "10:11:12   CPU   %usr": a statistic of the rows above is in the place of their time. */
static struct str cut_statistic(struct table_row *t)
{
    size_t titles = figure_word_columns(str_of(t->context->header)).n;
    struct str first = t->row.n == titles + 1 ? t->row.field[0] : (struct str){"", 0};
    if (!str_ends(first, ":") || !figure_is_statistic(first))
        return (struct str){"", 0};
    t->row.n--;
    t->shift = t->shift && t->head.n < t->row.n;
    for (size_t i = 0; i < t->row.n; i++)
        t->row.field[i] = t->row.field[i + 1];
    return str_sub(first, 0, first.n - 1);
}

static void add_statistic(struct table_row *t, struct str statistic)
{
    char rows[sizeof t->name];
    snprintf(rows, sizeof rows, "%s", t->name);
    snprintf(t->name, sizeof t->name, STR_FMT " %.80s", (int)(statistic.n > 30 ? 30 : statistic.n), statistic.p, rows);
}

/* The next line of a row that has as many lines as its header: numbers alone. */
static bool take_more_values(struct figure_context *x, struct table_row *t, struct figure *to, size_t *ret_n)
{
    if (!x->row[0] || x->row_line >= x->belows) {
        x->row[0] = 0;
        return false;
    }
    t->head = figure_columns(str_of(x->below[x->row_line++]));
    if (t->row.n != t->head.n || numbers_in(t) != t->row.n) { /* t->names is still 0 */
        x->row[0] = 0;
        return false;
    }
    snprintf(t->name, sizeof t->name, "%s", x->row);
    t->names = 1;
    for (size_t i = 0; i < t->row.n && *ret_n < FIGURES_MAX; i++)
        *ret_n += column_figure(t, i, &to[*ret_n]);
    return true;
}

/* Where columns do not fit, words may: "copy 12.5 81.9" below "Test Time(us) MB/s". Numbers come
 * only behind the names. */
static void take_words(struct table_row *t, struct str line)
{
    struct columns head = figure_word_columns(str_of(t->context->header)), row = figure_word_columns(line);
    size_t i = 0;
    while (i < row.n && i < 2 && !is_value_cell(row.field[i]))
        i++;
    for (size_t k = i; k < row.n; k++)
        if (!guess_is_number(figure_cell(row.field[k])))
            return;
    if (i == row.n)
        return;
    for (size_t k = 0; k < i; k++)
        if (figure_unit_of_label(head.field[k])) /* above a name: the title of another column */
            return;
    t->head = head;
    t->row = row;
}

/* The column of names has no title: one title less than fields, and the first one ends right of the name. */
static bool is_shifted(const struct table_row *t, struct str line)
{
    const char *header = t->context->header;
    if (t->head.n + 1 != t->row.n || !t->head.n || !str_is_blank(header[0]) || !str_is_blank(header[1]))
        return false;
    struct str title = t->head.field[0], name = t->row.field[0];
    return (size_t)(title.p + title.n - header) > t->context->indent + (size_t)(name.p + name.n - line.p);
}

/* "CPU  %sys %iowait": where one blank is between two titles, the words are the titles if they end at the same places as the row's fields. Counted
 * from the right: the left of a row may have lost its time. */
static void match_words(struct table_row *t, struct str line)
{
    struct str header = str_trim(str_of(t->context->header));
    struct columns words = figure_word_columns(header);
    if (words.n != t->row.n || t->row.bars)
        return;
    for (size_t i = 1; i < words.n; i++)
        if (header.p + header.n - words.field[i].p - (ptrdiff_t)words.field[i].n !=
            line.p + line.n - t->row.field[i].p - (ptrdiff_t)t->row.field[i].n)
            return;
    t->head = words;
    t->shift = 0;
}

/* Rows below a header: "BM_copy   5.6 ns   5.5 ns   1000" below "Benchmark   Time   CPU   Iterations". */
bool figure_take_columns(struct figure_context *x, struct str line, size_t count, struct figure *to, size_t *ret_n)
{
    struct table_row t = {.context = x, .row = figure_columns(line)};
    size_t numbers = 0, n = 0;
    *ret_n = 0;
    if (take_more_values(x, &t, to, ret_n))
        return true;
    t.head = figure_columns(str_of(x->header));
    if ((t.head.n != t.row.n || t.head.n < 2) && !x->belows && figure_fits_titles(x, line))
        take_words(&t, line);
    if (t.row.n < 2 || (t.row.n == 2 && t.head.n != 2) || figure_is_title_line(line, count))
        return false;
    if (x->belows)
        t.units = figure_columns(str_of(x->below[0]));
    t.shift = is_shifted(&t, line);
    struct str statistic = cut_statistic(&t);
    if (t.head.n < t.row.n)
        match_words(&t, line);
    bool fits = t.head.n && t.head.n + t.shift == t.row.n, drawn = fits && t.row.bars && t.row.bars == t.head.bars;
    if (drawn && !x->depth)
        drop_row_index(&t);
    if (x->depth)
        take_branch_name(&t);
    else
        take_row_name(&t);
    if (!str_is_letter(t.name[0])) /* the number of a job, a hash */
        t.name[0] = 0;
    if (statistic.n)
        add_statistic(&t, statistic);
    numbers = numbers_in(&t);
    bool all = numbers + t.names == t.row.n, named = t.name[0], alone = !t.names && x->header_gap <= 1;
    take_row_step(&t);
    if (!fits || !(drawn || (all && (named || alone) && (!t.shift || t.names == 1 || t.step[0]))))
        return numbers >= 2 && numbers + 1 == t.row.n && named && !str_ends(t.row.field[0], ":");
    t.seconds = figure_is_time_header(&t.head);
    if (t.seconds && !t.name[0]) /* another clock of the program may have the same title */
        snprintf(t.name, sizeof t.name, "time");
    for (size_t i = t.names + (t.shift && t.step[0]); i < t.row.n && n < FIGURES_MAX; i++)
        n += column_figure(&t, i, &to[n]);
    *ret_n = n;
    x->row_line = 0;
    snprintf(x->row, sizeof x->row, "%.60s", x->belows ? t.name : "");
    return true;
}
