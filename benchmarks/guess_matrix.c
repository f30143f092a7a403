/* guess_matrix.c: matrices: a line of column labels (CPUs, nodes, GPUs, names), then lines of a label and as many values, below a title. */
#include "benchmarks/guess_parts.h"
#include "benchmarks/number.h"

enum { COLUMNS_MAX = 128, KEYED_MAX = 64 /* values that get a key each */, ABOVE_MAX = 12, NONE_MAX = 4, END_MAX = 60, TEXT_MAX = 4000 };

struct guessed_matrix {
    struct str column[COLUMNS_MAX], corner, none[NONE_MAX];
    size_t columns, rows, nones;
    size_t title, labels, end; /* lines */
    bool numbered; /* columns are 0 1 2, GPU0 GPU1 */
    bool rows_numbered, rows_bare; /* bare: digits and nothing before them */
    bool fraction, indented;
    const struct unit *unit;
};

static bool number_follows(struct numbered a, struct numbered b)
{
    return a.good && b.good && str_eq(a.head, b.head) && b.number > a.number;
}

/* Returns whether the labels of the columns are different names, as the header of a matrix without
 * a corner has them. */
static bool all_names(const struct guessed_matrix *m)
{
    for (size_t i = 0; i < m->columns; i++) {
        struct str c = m->column[i];
        if (!guess_letters(c) || str_is_digit(c.p[0]) || c.p[0] == '(' || c.n > 40 || memchr(c.p, '=', c.n) || memchr(c.p, '{', c.n) ||
            str_ends(c, ":") || str_ends(c, ".") || str_ends(c, ","))
            return false;
        for (size_t k = 0; k < i; k++)
            if (str_eq(m->column[k], c))
                return false;
    }
    return m->columns >= 2 && m->indented;
}

/* Column labels: numbers that rise, behind up to four words at most; or, indented, names alone. */
static bool matrix_read_labels(struct guessed_matrix *m, struct str line)
{
    struct str rest = line, word;
    size_t n = 0, from;
    for (; (word = str_word(&rest)).n; m->column[n++] = word)
        if (n == COLUMNS_MAX)
            return false;
    for (from = n; from && numbered_of(m->column[from - 1]).good; from--)
        if (from < n && !number_follows(numbered_of(m->column[from - 1]), numbered_of(m->column[from])))
            break;
    m->indented = line.n && (line.p[0] == ' ' || line.p[0] == '\t');
    m->columns = n;
    m->numbered = from < n;
    if (!m->numbered)
        return all_names(m);
    if (from > 4 || (from && n - from < 2) || (n - from == 1 && numbered_of(m->column[0]).head.n))
        return false;
    if (from)
        m->corner =
            str_sub(line, (size_t)(m->column[0].p - line.p), (size_t)(m->column[from - 1].p + m->column[from - 1].n - m->column[0].p));
    if (from && (str_ends(m->corner, ":") || str_ends(m->corner, "=") || !guess_letters(m->corner)))
        return false;
    m->columns = n - from;
    memmove(m->column, m->column + from, m->columns * sizeof(*m->column));
    return true;
}

static void see_none(struct guessed_matrix *m, struct str word)
{
    for (size_t i = 0; i < m->nones; i++)
        if (str_eq(m->none[i], word))
            return;
    if (m->nones < NONE_MAX)
        m->none[m->nones++] = word;
}

/* Is the line a label and as many values? */
static bool row_of(struct guessed_matrix *m, struct str line, struct str *ret_label)
{
    struct str rest = line, word;
    size_t n = 0, numbers = 0;
    double unused;
    *ret_label = str_word(&rest);
    for (; (word = str_word(&rest)).n; n++) {
        enum number_kind kind = n < m->columns ? number_parse(word, 0, &unused) : NUMBER_NOT;
        if (kind == NUMBER_NOT)
            return false;
        numbers += kind == NUMBER_GOOD;
    }
    return ret_label->n && n == m->columns && numbers;
}

/* Counts the row, and notes whether its values have fractions and words for none. */
static void see_row(struct guessed_matrix *m, struct str line)
{
    double unused;
    struct str word;
    for (str_word(&line); (word = str_word(&line)).n;) {
        m->fraction = m->fraction || memchr(word.p, '.', word.n);
        if (number_parse(word, 0, &unused) == NUMBER_MISSING)
            see_none(m, word);
    }
    m->rows++;
}

/* Reads the rows below the labels, up to the first line that does not continue them. */
static void matrix_read_rows(const struct guess *g, struct guessed_matrix *m)
{
    struct str label, before = {NULL, 0};
    for (size_t i = m->labels + 1; i < g->lines; i++) {
        if (!g->line[i].plain || g->line[i].used || !row_of(m, g->line[i].text, &label)) {
            struct str text = str_trim(g->line[i].text);
            if (m->rows || i > m->labels + 1 || !text.n || !strchr("-=+_", text.p[0])) /* one line may part labels and rows */
                break;
            continue;
        }
        struct numbered l = numbered_of(label);
        bool first = !m->rows;
        if (!first && (l.good != m->rows_numbered || (l.good ? !number_follows(numbered_of(before), l) : str_eq(before, label))))
            break;
        m->rows_numbered = l.good;
        m->rows_bare = str_is_digit(label.p[0]);
        before = label;
        m->end = i;
        see_row(m, g->line[i].text);
    }
}

/* Returns the unit that a line names as a word, such as "(in ns)", "in MB/sec" or "GB/s"; NULL: no
 * word of it is certainly a unit. */
static const struct unit *unit_said(struct str line)
{
    const struct unit *u = guess_unit_in(line);
    struct str before = {"", 0}, word;
    for (; !u && (word = str_word(&line)).n; before = word) {
        struct str bare = word;
        while (bare.n && strchr("([", bare.p[0]))
            bare = str_sub(bare, 1, bare.n);
        while (bare.n && strchr(")].,:;", bare.p[bare.n - 1]))
            bare.n--;
        if (bare.n && (bare.p != word.p || str_is(before, "in") || str_is(before, "(in") || memchr(bare.p, '/', bare.n)))
            u = guess_unit(bare);
    }
    return u && guess_contract(u) ? u : NULL;
}

static bool stands_once(const struct guess *g, size_t line)
{
    for (size_t i = 0; i < g->lines; i++)
        if (i != line && str_eq(str_trim(g->line[i].text), str_trim(g->line[line].text)))
            return false;
    return true;
}

/* Could the line name a matrix? The program's own name and single words are the last choice. */
static bool title_like(const struct guess *g, size_t line)
{
    struct str text = str_trim(g->line[line].text);
    return line > 0 && memchr(text.p, ' ', text.n) && !str_has(text, "ersion") && stands_once(g, line);
}

/* Chooses as title the first of the lines right above the labels that distinguishes this matrix
 * from others. False: there is none. Also sets the unit that such a line names. */
static bool take_title(const struct guess *g, struct guessed_matrix *m)
{
    bool any = false, good = false;
    for (size_t i = m->labels; i > 0 && m->labels - i < ABOVE_MAX; i--) {
        const struct guess_line *l = &g->line[i - 1];
        struct str text = str_trim(l->text);
        if (!l->plain || l->used || !guess_letters(text) || text.n > 200)
            break;
        if (text.n < 3 || str_eq(text, m->corner))
            continue;
        if (!m->unit)
            m->unit = unit_said(text);
        if (!any || title_like(g, i - 1)) {
            m->title = i - 1;
            good = title_like(g, i - 1) || stands_once(g, i - 1);
        }
        any = true;
    }
    return good;
}

/* Returns the reader's specification in YAML for the guessed matrix, in the arena; NULL: out of
 * memory. */
static const char *matrix_spec(struct guess *g, const struct guessed_matrix *m)
{
    CLEANUP_BUF struct buf b, title, end;
    buf_init(&b, 2 * TEXT_MAX);
    buf_init(&title, TEXT_MAX);
    buf_init(&end, TEXT_MAX);
    buf_puts(&title, "^\\s*");
    guess_pattern(&title, str_trim(g->line[m->title].text), true);
    buf_puts(&title, "\\s*$");
    buf_puts(&end, "^\\s*$");
    if (m->end + 1 < g->lines && str_trim(g->line[m->end + 1].text).n) {
        buf_puts(&end, "|^\\s*");
        guess_pattern(&end, str_sub(str_trim(g->line[m->end + 1].text), 0, END_MAX), false);
    }
    buf_puts(&b, "matrix: {title: ");
    guess_quoted(&b, buf_text(&title));
    if (m->corner.n) {
        buf_puts(&b, ", corner: [");
        buf_json(&b, m->corner);
        buf_putc(&b, ']');
    } else if (m->indented)
        buf_puts(&b, ", indented: true");
    buf_puts(&b, ", end: ");
    guess_quoted(&b, buf_text(&end));
    buf_putc(&b, '}');
    for (size_t i = 0; i < m->nones; i++) {
        buf_puts(&b, i ? ", " : "\n    where: {value: {not: [");
        buf_json(&b, m->none[i]);
    }
    buf_puts(&b, m->nones ? "]}}" : "");
    return b.failed || title.failed || end.failed ? NULL : arena_dup(&g->arena, b.p, b.n);
}

/* Few values have a key each; many are a series, or one of each column where rows are sizes. */
static void add_metric(struct guess *g, struct guess_reader *r, const struct guessed_matrix *m)
{
    struct str title = g->line[m->title].text;
    const char *base = guess_segment(title, &g->arena), *tail = "", *name;
    bool by_size = !m->numbered && m->rows_numbered && m->rows_bare, bare = m->numbered && !numbered_of(m->column[0]).head.n;
    if (by_size)
        tail = ".{column}";
    else if (m->rows * m->columns <= KEYED_MAX)
        tail = arena_printf(&g->arena, ".%s{row}.%s{column}", m->rows_bare ? "row" : "", bare ? "column" : "");
    const struct unit *contract = guess_contract(m->unit);
    name = arena_printf(&g->arena, "%s%s", base, tail);
    for (int i = 2; name && guess_name_taken(g, name, contract) && i < 100; i++)
        name = arena_printf(&g->arena, "%s_%d%s", base, i, tail);
    if (!name)
        return;
    r->metric[r->metrics++] = (struct guess_metric){.name = name,
                                                    .cell = "value",
                                                    .unit = contract,
                                                    .from = contract ? m->unit->name : NULL,
                                                    .step = by_size ? "row" : NULL,
                                                    .series = by_size || !*tail,
                                                    .better = guess_direction(title, m->unit)};
}

/* Adds a reader for the matrix with its labels in line `at`. Returns false where no matrix of
 * results is there. */
static bool take_matrix(struct guess *g, size_t at, struct guessed_matrix *m)
{
    *m = (struct guessed_matrix){.labels = at};
    if (!matrix_read_labels(m, g->line[at].text))
        return false;
    matrix_read_rows(g, m);
    if (m->rows && m->end + 1 < g->lines && str_trim(g->line[m->end + 1].text).n && !g->line[m->end + 1].plain)
        return false; /* its end is not known */
    if (!m->rows || (m->rows < 2 && !m->numbered) || !take_title(g, m))
        return false;
    bool result = m->unit || guess_is_result(g->line[m->title].text);
    if (!(result || m->fraction) || (m->rows < 2 && !(m->fraction && m->unit)))
        return false;
    const char *spec = matrix_spec(g, m);
    struct guess_reader *r = spec ? guess_reader_add(g, "matrix", m->title) : NULL;
    if (!r)
        return false;
    r->name = arena_printf(&g->arena, "matrix_%zu", at + 1);
    r->spec = spec;
    add_metric(g, r, m);
    for (size_t i = m->title; i <= m->end; i++)
        g->line[i].used = true;
    return true;
}

void guess_matrices(struct guess *g)
{
    struct guessed_matrix *m = ARENA_NEW(&g->arena, struct guessed_matrix);
    for (size_t i = 1; m && i + 1 < g->lines && g->readers < GUESS_READERS_MAX; i++)
        if (g->line[i].plain && !g->line[i].used)
            take_matrix(g, i, m);
}
