/* guess_table.c: tables (a header, then rows with as many fields) and comma-separated lines. */
#include "benchmarks/columns.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

enum { COLUMNS_MAX = GUESS_COLUMNS_MAX, ROWS_MAX = 2000, GAP_MAX = 4, TEXT_MAX = 4000 };

struct column {
    struct str label; /* the text of the header, unit in brackets included */
    const struct unit *unit;
    bool own_unit; /* the reader finds it by itself: in brackets behind the label */
    bool numeric, whole, distinct, varied, again; /* again: its first text is in a later row, too */
    struct str first, last; /* its text in the first row and in the one before */
    size_t middle; /* its place in the line */
};
struct guessed_table {
    struct column column[COLUMNS_MAX];
    size_t columns, rows;
    size_t header, end; /* lines */
    bool wide; /* labels are parted by two blanks or more, and have blanks in them */
};

/* The fields of a line, parted by blanks, or (wide) by two of them. 0: too many. */
static size_t fields_of(struct str line, bool wide, struct str *to)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n;) {
        while (i < line.n && str_is_blank(line.p[i]))
            i++;
        size_t from = i;
        while (i < line.n && !(str_is_blank(line.p[i]) && (!wide || line.p[i] == '\t' || i + 1 == line.n || str_is_blank(line.p[i + 1]))))
            i++;
        if (i == from)
            break;
        if (n == COLUMNS_MAX)
            return 0;
        to[n++] = str_sub(line, from, i - from);
    }
    return n;
}

static struct column column_of(struct str label)
{
    return (struct column){.label = label, .unit = guess_unit_in(label), .numeric = true, .whole = true, .distinct = true};
}

/* Its text in the next row. */
static void column_see(struct column *c, struct str text, bool first, bool number)
{
    int64_t whole;
    c->numeric = c->numeric && number;
    c->whole = c->whole && str_int(text, &whole);
    c->varied = c->varied || (!first && !str_eq(text, c->first));
    c->again = c->again || (!first && str_eq(text, c->first));
    c->distinct = c->distinct && (first || !str_eq(text, c->last));
    c->first = first ? text : c->first;
    c->last = text;
}

/* Labels: "(unit)" belongs to the text before it, a leading # to the text behind. */
static size_t guess_labels(struct str line, bool wide, struct str to[GUESS_COLUMNS_MAX])
{
    struct str f[COLUMNS_MAX];
    size_t n = fields_of(line, wide, f), count = 0;
    for (size_t i = 0; i < n; i++) {
        if (count && f[i].p[0] == '(')
            to[count - 1].n = (size_t)(f[i].p + f[i].n - to[count - 1].p);
        else if (count == 1 && str_is(to[0], "#"))
            to[0].n = (size_t)(f[i].p + f[i].n - to[0].p);
        else
            to[count++] = f[i];
    }
    return count;
}

static bool none_word(struct str s)
{
    return str_is(s, "-") || str_is(s, "N/A") || str_is(s, "NA") || str_is(s, "nan") || str_is(s, "inf") || str_is(s, "--");
}

/* Returns whether the line has two words or more, and nothing that headers do not contain. */
static bool could_be_header(struct str line)
{
    struct str f[COLUMNS_MAX];
    size_t n = fields_of(line, false, f), words = 0;
    for (size_t i = 0; i < n; i++) {
        if ((f[i].p[0] >= '0' && f[i].p[0] <= '9') || str_ends(f[i], ":") || memchr(f[i].p, '=', f[i].n) || f[i].n > 60 ||
            memchr(f[i].p, '{', f[i].n))
            return false;
        words += guess_letters(f[i]);
    }
    return n >= 2 && words >= 2 && !str_ends(str_trim(line), ".") && !memchr(f[0].p, '<', f[0].n) && f[0].p[0] != '[';
}

/* Is the line a row of so many fields with a number among them? */
static size_t numbers_in_row(struct str line, size_t fields, struct str *f)
{
    size_t n = fields_of(line, false, f), numbers = 0;
    if (n != fields || column_is_statement(f, n))
        return 0;
    for (size_t i = 0; i < n; i++)
        numbers += guess_is_number(f[i]);
    return numbers;
}

/* Divides the header into `fields` labels, at single blanks or at wide gaps. Returns false where
 * neither has so many. */
static bool table_read_labels(struct guessed_table *t, struct str line, size_t fields)
{
    struct str label[COLUMNS_MAX];
    for (int wide = 0; wide < 2; wide++) {
        size_t n = guess_labels(line, wide, label);
        if (n != fields || n < 2)
            continue;
        t->wide = wide;
        t->columns = n;
        for (size_t i = 0; i < n; i++) {
            struct str l = label[i];
            const char *open = memchr(l.p, '(', l.n);
            t->column[i] = column_of(l);
            t->column[i].own_unit = open && open > l.p && l.p[l.n - 1] == ')' &&
                                    units_find(str_sub(l, (size_t)(open + 1 - l.p), (size_t)(l.p + l.n - 2 - open)));
            t->column[i].middle = (size_t)(l.p - line.p) + l.n / 2;
        }
        return true;
    }
    return false;
}

/* A line of units below the header: "(us)  (GB/s)", each belongs to the column next to it. */
static void take_units(struct guessed_table *t, struct str line)
{
    struct str f[COLUMNS_MAX];
    size_t n = fields_of(line, false, f);
    for (size_t i = 0; i < n; i++) {
        const struct unit *u = f[i].p[0] == '(' ? guess_unit(f[i]) : NULL;
        size_t middle = (size_t)(f[i].p - line.p) + f[i].n / 2, best = 0, away = SIZE_MAX;
        for (size_t k = 0; k < t->columns && u; k++) {
            size_t d = t->column[k].middle > middle ? t->column[k].middle - middle : middle - t->column[k].middle;
            if (d < away) {
                away = d;
                best = k;
            }
        }
        if (u && away < 8 && !t->column[best].unit)
            t->column[best].unit = u;
    }
}

/* "Zeta is 8.59" below rows whose first two columns were numbers so far. */
static bool is_other_row(const struct guessed_table *t, const struct str *f)
{
    enum { SURE = 3, DIFFERENT = 2 };
    size_t words = 0;
    for (size_t k = 0; k < t->columns; k++)
        words += t->column[k].numeric && !guess_is_number(f[k]) && !none_word(f[k]);
    return t->rows >= SURE && words >= DIFFERENT;
}

/* Reads the rows below the header, and what is known of each column. */
static void table_read_rows(struct guess *g, struct guessed_table *t)
{
    struct str f[COLUMNS_MAX];
    size_t gap = 0;
    for (size_t i = t->header + 1; i < g->lines && gap <= GAP_MAX && t->rows < ROWS_MAX; i++) {
        struct str line = g->line[i].text;
        if (!g->line[i].plain || !numbers_in_row(line, t->columns, f)) {
            gap++;
            if (!t->rows && g->line[i].plain)
                take_units(t, line);
            if (t->rows && !str_trim(line).n)
                break;
            continue;
        }
        if (is_other_row(t, f))
            break;
        gap = 0;
        for (size_t k = 0; k < t->columns; k++)
            column_see(&t->column[k], f[k], !t->rows, guess_is_number(f[k]) || none_word(f[k]));
        t->rows++;
        t->end = i;
    }
}

/* Returns the label without a text in parentheses at its end. */
static struct str without_parenthesis(struct str label)
{
    const char *open = memchr(label.p, '(', label.n);
    return open && open > label.p && label.p[label.n - 1] == ')' ? str_trim(str_sub(label, 0, (size_t)(open - label.p))) : label;
}

/* Returns the column as the reader names it, in the arena: its label, with "#2" for the second
 * column of that label. NULL: no such name is possible, or out of memory. */
static const char *cell_of(struct guess *g, const struct guessed_table *t, size_t k)
{
    struct str label = t->column[k].own_unit || memchr(t->column[k].label.p, '(', t->column[k].label.n)
                           ? without_parenthesis(t->column[k].label)
                           : t->column[k].label;
    size_t nth = 1;
    for (size_t i = 0; i < k; i++)
        nth += str_eq(without_parenthesis(t->column[i].label), without_parenthesis(t->column[k].label));
    if (label.n > 1 && memchr(label.p + 1, '#', label.n - 1)) /* the reader would read what follows as a number */
        return NULL;
    return nth > 9 ? NULL : nth > 1 ? arena_printf(&g->arena, STR_FMT "#%zu", STR_ARG(label), nth) : arena_dup(&g->arena, label.p, label.n);
}

/* Returns the YAML of the table's reader, which the arena owns, or NULL when it does not fit. */
static const char *table_spec(struct guess *g, const struct guessed_table *t)
{
    CLEANUP_BUF struct buf b;
    bool words = false;
    buf_init(&b, 2 * TEXT_MAX);
    buf_puts(&b, "table: {header: [");
    for (size_t i = 0; i < t->columns; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again = again || str_eq(without_parenthesis(t->column[k].label), without_parenthesis(t->column[i].label));
        if (again)
            continue;
        buf_puts(&b, i ? ", " : "");
        buf_json(&b, without_parenthesis(t->column[i].label));
    }
    buf_putc(&b, ']');
    for (size_t i = 0; i < t->columns; i++) {
        struct str label = without_parenthesis(t->column[i].label);
        if (!memchr(label.p, ' ', label.n) && !memchr(label.p, '\t', label.n))
            continue;
        buf_puts(&b, words ? ", " : ", words: [");
        buf_json(&b, label);
        words = true;
    }
    buf_puts(&b, words ? "]}" : "}");
    return b.failed ? NULL : arena_dup(&g->arena, b.p, b.n);
}

static bool is_nameable(struct str label)
{
    return label.n && label.n < 60 && !memchr(label.p, '{', label.n) && !memchr(label.p, '}', label.n);
}

/* Adds the columns that can be results as metrics. A column of words names them, a column of whole
 * numbers is their step. */
static void columns_to_metrics(struct guess *g, struct guess_reader *r, const struct guessed_table *t, const char *const *cell)
{
    size_t label = t->columns, step = t->columns;
    for (size_t k = 0; k < t->columns && label == t->columns; k++)
        if (!t->column[k].numeric && t->column[k].varied && is_nameable(without_parenthesis(t->column[k].label)))
            label = k;
    bool labelled = label < t->columns;
    for (size_t k = 0; k < t->columns && step == t->columns && (!labelled || t->column[label].again); k++)
        if (t->column[k].numeric && t->column[k].whole && t->column[k].distinct && t->rows > 1 &&
            ((k == 0 && !labelled) || guess_is_param(t->column[k].label)))
            step = k;
    const char *prefix = label < t->columns && cell[label] ? arena_printf(&g->arena, "{%s}.", cell[label]) : "";
    for (size_t k = 0; k < t->columns; k++) {
        const struct column *c = &t->column[k];
        bool result = guess_is_result(c->label) || (c->unit && strcmp(c->unit->dimension, "byte"));
        if (!c->numeric || k == step || !cell[k] || guess_is_noise(c->label) || (c->whole && !result) ||
            (guess_is_param(c->label) && c->whole))
            continue;
        struct guess_metric *m = guess_metric_add(g, r, prefix, c->label, cell[k], c->unit);
        if (!m)
            return;
        if (c->unit && m->unit && !c->own_unit)
            m->from = c->unit->name;
        m->step = step < t->columns ? cell[step] : NULL;
        m->series = t->rows > 1 && (!*prefix || m->step);
    }
    for (size_t k = 0; k < t->columns && t->rows == 1; k++)
        if (t->column[k].numeric && t->column[k].whole && guess_is_param(t->column[k].label) && cell[k])
            guess_param_add(g, r, t->column[k].label, cell[k], "integer");
}

/* The classes of a histogram are no results: their lines are understood, and nothing is made of them. */
static bool take_histogram(struct guess *g, const struct guessed_table *t)
{
    size_t i = 0;
    while (i < t->columns && !guess_is_class(t->column[i].label))
        i++;
    for (size_t k = t->header; i < t->columns && t->rows && k <= t->end; k++)
        g->line[k].used = true;
    return i < t->columns;
}

/* Few numbers below a sentence are no table. */
static bool is_table_useful(const struct guessed_table *t)
{
    size_t numeric = 0, results = 0;
    for (size_t i = 0; i < t->columns; i++) {
        numeric += t->column[i].numeric;
        results += t->column[i].numeric && (guess_is_result(t->column[i].label) || t->column[i].unit || !t->column[i].whole);
    }
    return t->rows && results && (numeric * 2 >= t->columns || t->rows > 2 || t->wide) && (t->columns > 2 || t->rows > 1);
}

/* Adds a reader for the table with its header in line `at`. Returns false where it finds no
 * metric. */
static bool take_table(struct guess *g, size_t at)
{
    struct guessed_table *t = ARENA_NEW(&g->arena, struct guessed_table);
    struct str f[COLUMNS_MAX];
    if (!t)
        return false;
    for (size_t i = at + 1; i < g->lines && i <= at + GAP_MAX && !t->columns; i++) {
        size_t n = g->line[i].plain && !g->line[i].used ? fields_of(g->line[i].text, false, f) : 0;
        if (n >= 2 && numbers_in_row(g->line[i].text, n, f))
            table_read_labels(t, g->line[at].text, n);
        else if (n >= 2 && could_be_header(g->line[i].text) && f[0].p[0] != '(' && guess_letters(f[1]))
            return false; /* that one is nearer to the rows */
    }
    t->header = at;
    if (!t->columns)
        return false;
    table_read_rows(g, t);
    struct guess_reader *r = !take_histogram(g, t) && is_table_useful(t) ? guess_reader_add(g, "table", at) : NULL;
    const char *cell[COLUMNS_MAX];
    if (!r)
        return false;
    for (size_t k = 0; k < t->columns; k++)
        cell[k] = cell_of(g, t, k);
    r->spec = table_spec(g, t);
    columns_to_metrics(g, r, t, cell);
    for (size_t i = at; i <= t->end && r->metrics; i++)
        g->line[i].used = g->line[i].used || i == at || numbers_in_row(g->line[i].text, t->columns, f);
    return r->metrics > 0;
}

/* ---- rows that begin with words: "File creation   100.1  99.2  99.9  0.1" below "Operation   Max   Min   Mean   Std Dev" ---- */

/* Numbers at the end of a line whose beginning is words; *ret_words: length of these. */
static size_t tail_of_numbers(struct str line, size_t *ret_words, struct str *numbers)
{
    struct str f[COLUMNS_MAX];
    size_t n = fields_of(line, false, f), from = n;
    while (from && (guess_is_number(f[from - 1]) || none_word(f[from - 1])))
        from--;
    if (!from || from == n || !guess_letters(str_sub(line, 0, (size_t)(f[from].p - line.p))))
        return 0;
    *ret_words = (size_t)(f[from].p - line.p);
    for (size_t i = from; i < n; i++)
        numbers[i - from] = f[i];
    return n - from;
}

/* Returns how many rows below line `at` end with so many numbers. *ret_end: the last one;
 * *ret_words: how many labels have blanks. */
static size_t worded_rows(const struct guess *g, size_t at, size_t columns, size_t *ret_end, size_t *ret_words)
{
    struct str numbers[COLUMNS_MAX];
    size_t rows = 0, gap = 0, words, labels = 0;
    for (size_t i = at + 1; i < g->lines && gap <= 2 && rows < ROWS_MAX; i++) {
        bool row = g->line[i].plain && !g->line[i].used && tail_of_numbers(g->line[i].text, &words, numbers) == columns && words < 60;
        if (!row) {
            gap++;
            continue;
        }
        struct str label = str_trim(str_sub(g->line[i].text, 0, words));
        labels += memchr(label.p, ' ', label.n) != NULL;
        gap = 0;
        rows++;
        *ret_end = i;
    }
    *ret_words = labels;
    return rows;
}

/* Adds a reader for a table whose first column has labels of several words. Returns false where
 * there is none. */
static bool take_worded(struct guess *g, size_t at)
{
    struct str label[COLUMNS_MAX], line = g->line[at].text, numbers[COLUMNS_MAX];
    size_t wide = guess_labels(line, true, label), end = at, with_blanks = 0, rows = 0, columns = 0, words;
    if (wide < 3) /* one column of words, two of numbers at least: else lines of named numbers do it */
        return false;
    columns = wide - 1;
    rows = worded_rows(g, at, columns, &end, &with_blanks);
    if (rows < 2 || !with_blanks)
        return false;
    struct guess_reader *r = guess_reader_add(g, "table", at);
    if (!r)
        return false;
    CLEANUP_BUF struct buf spec, pattern, header;
    buf_init(&spec, 2 * TEXT_MAX);
    buf_init(&pattern, TEXT_MAX);
    buf_init(&header, TEXT_MAX);
    buf_puts(&header, "^\\s*");
    guess_pattern(&header, str_trim(line), true);
    buf_puts(&pattern, "^\\s*(?<what>[A-Za-z].*?)");
    for (size_t k = 0; k < columns; k++)
        buf_printf(&pattern, "\\s+(?<c%zu>[-+\\d.eE]+|-|N/?A|nan|inf)", k + 1);
    buf_puts(&pattern, "\\s*$");
    buf_puts(&spec, "regex: ");
    guess_quoted(&spec, buf_text(&pattern));
    r->spec = arena_dup(&g->arena, spec.p, spec.n);
    r->section = arena_dup(&g->arena, header.p, header.n);
    for (size_t k = 0; k < columns; k++) {
        const struct unit *u = guess_unit_in(label[k + 1]);
        struct guess_metric *m = guess_metric_add(g, r, "{what}.", label[k + 1], arena_printf(&g->arena, "c%zu", k + 1), u);
        if (m && u && m->unit)
            m->from = u->name;
    }
    for (size_t i = at; i <= end; i++)
        g->line[i].used = g->line[i].used || i == at || (g->line[i].plain && tail_of_numbers(g->line[i].text, &words, numbers) == columns);
    return true;
}

void guess_tables(struct guess *g)
{
    for (size_t i = 0; i + 1 < g->lines && g->readers < GUESS_READERS_MAX; i++)
        if (g->line[i].plain && !g->line[i].used && could_be_header(g->line[i].text) && !take_table(g, i))
            take_worded(g, i);
}

/* ---- CSV ---- */

static struct str without_quotes(struct str s)
{
    s = str_trim(s);
    return s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"' ? str_sub(s, 1, s.n - 2) : s;
}

/* Cuts a line of a CSV into fields without quotes. Returns 0 where there are too many, or a quote
 * does not end. */
static size_t csv_fields(struct str line, char separator, struct str *to)
{
    size_t n = 0, from = 0;
    bool quoted = false;
    for (size_t i = 0; i <= line.n; i++) {
        if (i < line.n && line.p[i] == '"')
            quoted = !quoted;
        if (i < line.n && (quoted || line.p[i] != separator))
            continue;
        if (n == COLUMNS_MAX)
            return 0;
        to[n++] = without_quotes(str_sub(line, from, i - from));
        from = i + 1;
    }
    return quoted ? 0 : n;
}

/* The header's names; false: it is none. */
static bool csv_header(struct guess *g, struct guessed_table *t, size_t at, char separator, const char **cell)
{
    struct str f[COLUMNS_MAX];
    t->header = at;
    t->columns = csv_fields(g->line[at].text, separator, f);
    if (t->columns < 3)
        return false;
    for (size_t k = 0; k < t->columns; k++) {
        if (guess_is_number(f[k]) || !guess_letters(f[k]) || f[k].n > 50)
            return false;
        for (size_t i = 0; i < k; i++)
            if (str_eq(f[i], f[k]))
                return false;
        t->column[k] = column_of(f[k]);
        cell[k] = arena_dup(&g->arena, without_parenthesis(f[k]).p, without_parenthesis(f[k]).n);
    }
    return true;
}

/* Returns the reader's specification for CSV whose header is line `at`, in the arena; NULL: too
 * long, or out of memory. */
static const char *csv_spec(struct guess *g, size_t at, char separator)
{
    CLEANUP_BUF struct buf spec, header;
    buf_init(&spec, 2 * TEXT_MAX);
    buf_init(&header, TEXT_MAX);
    buf_putc(&header, '^');
    guess_pattern(&header, str_sub(g->line[at].text, 0, 100), true);
    buf_puts(&spec, "csv: {header: ");
    guess_quoted(&spec, buf_text(&header));
    if (separator != ',')
        buf_printf(&spec, ", separator: %s", separator == '\t' ? "\"\\t\"" : "\";\"");
    buf_putc(&spec, '}');
    return spec.failed ? NULL : arena_dup(&g->arena, spec.p, spec.n);
}

/* Adds a reader for the CSV with its header in line `at`. Returns false where it finds no
 * metric. */
static bool take_csv(struct guess *g, size_t at, char separator)
{
    struct guessed_table *t = ARENA_NEW(&g->arena, struct guessed_table);
    struct str f[COLUMNS_MAX] = {{NULL, 0}};
    const char *cell[COLUMNS_MAX];
    if (!t || !csv_header(g, t, at, separator, cell))
        return false;
    for (size_t i = at + 1; i < g->lines && g->line[i].plain && t->rows < ROWS_MAX; i++) {
        if (csv_fields(g->line[i].text, separator, f) != t->columns)
            break;
        for (size_t k = 0; k < t->columns; k++)
            column_see(&t->column[k], f[k], !t->rows, guess_is_number(f[k]) || none_word(f[k]) || !f[k].n);
        t->rows++;
        t->end = i;
    }
    struct guess_reader *r = !take_histogram(g, t) && is_table_useful(t) ? guess_reader_add(g, "csv", at) : NULL;
    if (!r)
        return false;
    r->spec = csv_spec(g, at, separator);
    columns_to_metrics(g, r, t, cell);
    for (size_t i = at; i <= t->end && r->metrics; i++)
        g->line[i].used = true;
    return r->metrics > 0;
}

void guess_csv(struct guess *g)
{
    for (size_t i = 0; i + 1 < g->lines && g->readers < GUESS_READERS_MAX; i++)
        for (const char *s = ",;\t"; g->line[i].plain && !g->line[i].used && *s; s++)
            if (memchr(g->line[i].text.p, *s, g->line[i].text.n) && take_csv(g, i, *s))
                break;
}
