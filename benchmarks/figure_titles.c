/* figure_titles.c: the fields of a line, and lines of titles that name the columns of the rows below. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_titles.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* Length of a bar that parts columns: "|", or one that box drawing has for it; 0: there is none. */
static size_t bar_length(struct str line, size_t i)
{
    static const char *const drawn[] = {"\xe2\x94\x82", "\xe2\x94\x83", "\xe2\x95\x91"};
    if (line.p[i] == '|')
        return 1;
    for (size_t k = 0; line.p[i] == '\xe2' && k < sizeof drawn / sizeof *drawn; k++)
        if (str_starts(str_sub(line, i, line.n), drawn[k]))
            return 3;
    return 0;
}

/* Does a field end before i? At a bar, a tab, two blanks, or before "( 0.05)". */
static bool is_field_end(struct str line, size_t i)
{
    char next = char_at(line, i + 1);
    return bar_length(line, i) || line.p[i] == '\t' ||
           (line.p[i] == ' ' && (!next || str_is_blank(next) || (next == '(' && str_is_blank(char_at(line, i + 2)))));
}

/* Divides a line into fields at bars and blanks; they point into the line. An empty field between
 * bars counts. Fields beyond COLUMNS_MAX are left out. */
struct columns figure_columns(struct str line)
{
    struct columns c;
    bool filled = false; /* a field since the last bar */
    c.n = c.bars = 0;
    for (size_t i = 0; i < line.n && c.n < COLUMNS_MAX;) {
        size_t bar = bar_length(line, i);
        if (bar) {
            if (!filled && (c.bars || c.n)) /* an empty field keeps its place */
                c.field[c.n++] = (struct str){"", 0};
            filled = false;
            c.bars++;
        }
        if (bar || str_is_blank(line.p[i]) || (line.p[i] == '(' && str_is_blank(char_at(line, i + 1)))) {
            i += bar ? bar : 1;
            continue;
        }
        size_t from = i;
        while (i < line.n && !is_field_end(line, i))
            i++;
        if (i == from) /* a bracket or a byte that begins no field */
            i++;
        c.field[c.n++] = str_trim(str_sub(line, from, i - from));
        filled = true;
    }
    return c;
}

/* Without quotes, and without a bracket that "( 0.05)" left over. */
struct str figure_cell(struct str cell)
{
    cell = str_trim(cell);
    while (cell.n > 1 && is_one_of(cell.p[0], "\"'`") && cell.p[cell.n - 1] == cell.p[0])
        cell = str_trim(str_sub(cell, 1, cell.n - 2));
    if (cell.n && cell.p[cell.n - 1] == ')' && !memchr(cell.p, '(', cell.n))
        cell.n--;
    return cell;
}

/* What parts the fields of a line of CSV; 0: it is none. */
static char separator_of(struct str line)
{
    return memchr(line.p, ',', line.n) ? ',' : memchr(line.p, ';', line.n) ? ';' : 0;
}

/* The words of a line as columns, a unit in brackets with the word before it: "Size Rate (MB/s)". Of a line of CSV its fields. */
struct columns figure_word_columns(struct str line)
{
    struct columns c = {.n = 0, .bars = 0};
    char separator = separator_of(line);
    while (separator && line.p && c.n < COLUMNS_MAX)
        c.field[c.n++] = str_trim(str_cut(&line, separator));
    for (struct str word; !separator && (word = str_word(&line)).n && c.n < COLUMNS_MAX;)
        if (is_one_of(word.p[0], "([") && c.n && is_one_of(word.p[word.n - 1], ")]"))
            c.field[c.n - 1].n = (size_t)(word.p + word.n - c.field[c.n - 1].p);
        else
            c.field[c.n++] = word;
    return c;
}

/* "50%", "97.5%": a title that names a percentile. */
static bool is_percent_title(struct str s, double *ret)
{
    size_t n = guess_number(s);
    return n && n + 1 == s.n && s.p[n] == '%' && str_double(str_sub(s, 0, n), ret) && *ret >= 0 && *ret <= 100;
}

/* "Fold 2": a title of a column that is one of several, and its number. */
static bool is_numbered_title(struct str s, int64_t *ret)
{
    struct str word = str_word(&s);
    return guess_letters(word) && !figure_has_number(word) && str_int(str_trim(s), ret);
}

/* A line of column titles: three or more, words all of them but rising percentiles, no sentence. numbers: how many are in the line. */
bool figure_is_title_line(struct str line, size_t numbers)
{
    if (line.n >= FIGURE_HEADER_MAX || line.n < sizeof "n  MB/s" - 1)
        return false;
    struct columns c = figure_columns(line);
    size_t percents = 0, numbered = 0;
    double before = -1, percent;
    int64_t last = 0, number;
    bool pair = c.n == 2 && figure_is_step(c.field[0]) && figure_unit_of_label(c.field[1]); /* "Size   Bandwidth (MB/s)" */
    if (c.n < 3 && !pair)
        return false;
    for (size_t i = 0; i < c.n; i++) {
        if (!i && c.bars && !c.field[0].n) /* "|      | short | long |" */
            continue;
        if (is_percent_title(c.field[i], &percent)) {
            percents++;
            if (percent <= before)
                return false;
            before = percent;
        } else if (is_numbered_title(c.field[i], &number) && number == last + 1) {
            numbered++;
            last = number;
        } else if (!guess_letters(c.field[i]) || c.field[i].n > TITLE_MAX || str_ends(c.field[i], ":"))
            return false;
    }
    return numbers == percents + numbered && (!numbered || (numbered >= 2 && numbered < c.n)) &&
           (!percents || (percents >= 2 && c.n >= percents + 2));
}

/* "Size Time(us) MB/s": titles with one blank between them, of which one has a unit. A sentence has words that no title has. */
static bool is_line_of_titles(struct str line, size_t numbers)
{
    if (numbers || line.n >= FIGURE_HEADER_MAX || memchr(line.p, ':', line.n) || memchr(line.p, '=', line.n))
        return false;
    struct columns c = figure_word_columns(line);
    if (c.n < 2)
        return false;
    for (size_t i = 0; i < c.n; i++) { /* of a sentence this ends before units are searched, which costs most */
        struct str title = figure_cell(c.field[i]);
        if (!guess_letters(title) || figure_is_small(title) || is_one_of(title.p[title.n - 1], ".,;!?"))
            return false;
    }
    bool unit = false;
    for (size_t i = 1; i < c.n && !unit && (c.n > 2 || figure_is_step(c.field[0])); i++)
        unit = figure_unit_of_label(figure_cell(c.field[i]));
    return unit || figure_is_time_header(&c);
}

bool figure_fits_titles(const struct figure_context *x, struct str line)
{
    return x->header[0] && !x->header_gap && is_line_of_titles(str_of(x->header), 0) &&
           separator_of(line) == separator_of(str_of(x->header)) && figure_word_columns(line).n == figure_word_columns(str_of(x->header)).n;
}

bool figure_header_note(struct figure_context *x, struct str line, size_t numbers)
{
    if (!figure_is_title_line(line, numbers) && !is_line_of_titles(line, numbers))
        return false;
    struct columns first = figure_columns(str_of(x->header)), more = figure_columns(line);
    bool below = x->header[0] && !x->header_gap && !x->row[0] && !str_is_blank(x->header[0]) && str_is_blank(line.p[0]) && !more.bars &&
                 more.n + 1 == first.n && x->belows < FIGURE_HEADERS_MAX;
    if (below)
        snprintf(x->below[x->belows++], sizeof x->below[0], STR_FMT, STR_ARG(line));
    else {
        snprintf(x->header, sizeof x->header, STR_FMT, STR_ARG(line));
        x->belows = 0;
    }
    x->header_age = x->header_gap = 0;
    x->row[0] = 0;
    return true;
}

/* The title as a part of a name: "97.5%" is p97.5. */
size_t figure_title_name(struct str title, char *to, size_t size)
{
    double unused;
    if (is_percent_title(title, &unused))
        return (size_t)snprintf(to, size, "p" STR_FMT, (int)(title.n > 8 ? 8 : title.n - 1), title.p);
    return figure_name_clean(title, to, size);
}

/* Titles of time(1) and similar programs: the values are seconds. */
bool figure_is_time_header(const struct columns *head)
{
    bool user = false, real = false;
    for (size_t i = 0; i < head->n; i++) {
        user = user || str_is(head->field[i], "user");
        real = real || str_is(head->field[i], "real") || str_is(head->field[i], "elapsed");
    }
    return user && real;
}
