/* matrix.c: a title, a line of column labels, then lines `label value value …`: each value is a row with the cells `row`, `column` and `value`,
 * and the named groups of the title.
 *
 * A matrix counts when it is complete: when the next title, the end line or the end of the source
 * comes: only then it is known whether its row labels
 * continue as they began. A line of another process that has as many numbers, or a row that got
 * lost, makes all its values missing. */
#include "benchmarks/grouped.h"
#include "benchmarks/load.h"
#include "benchmarks/number.h"

enum { COLUMNS_MAX = 256, ROWS_MAX = 1024, TEXT_MAX = 64 << 10, PATIENCE = 200, FOREIGN_LINE_MAX = 4000 };

struct matrix_rule {
    struct pattern *title, *end;
    struct str corner[8];
    size_t corners;
    bool indented; /* the labels are: a word of another process at the margin is none */
    int group[CELLS_MAX]; /* of the title; -1: one of the three */
    int row, column, value;
};
enum matrix_stage { STAGE_NONE, STAGE_TITLE, STAGE_ROWS };
/* How row labels may continue: by one, by a factor, by the step between the first two; all of these
 * until the labels decide. */
enum { GO_BY_SUM = 1, GO_BY_PRODUCT = 2, GO_BY_STEP = 4 };
struct matrix_reader_state {
    enum matrix_stage stage;
    unsigned idle; /* lines since a row or the title */
    bool blank; /* one is behind the last row: what does not fit now is something else */
    bool damaged;
    unsigned go, block;
    uint64_t step;
    size_t columns, rows, n;
    char var[VARS_MAX][104]; /* context of the title */
    struct str cell[CELLS_MAX], column[COLUMNS_MAX], row[ROWS_MAX];
    char text[TEXT_MAX];
};

/* Loads the keys of a reader of kind `matrix` from `spec` into r->data. -1 with err, which names
 * file and line. */
static int matrix_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"title", "corner", "indented", "end", NULL};
    struct matrix_rule *m = r->data = ARENA_NEW(&rules->arena, struct matrix_rule);
    const struct yaml *title = yaml_get(spec, "title"), *end = yaml_get(spec, "end");
    if (!m)
        return load_no_memory(rules, err);
    if (load_keys(spec, keys, rules, err))
        return -1;
    if (!title)
        return rules_complain(spec, rules, err, "title is missing: a pattern for the line before the matrix");
    if (load_pattern(&m->title, title, rules, err) || (end && load_pattern(&m->end, end, rules, err)) ||
        load_texts(yaml_get(spec, "corner"), m->corner, 8, &m->corners, rules, err) ||
        load_flag(spec, "indented", &m->indented, rules, err))
        return -1;
    reader_wants(r, m->title);
    return 0;
}

/* Assigns the cells that metrics use to row, column, value or a group of the title. -1 with err:
 * another cell, or none uses `value`. */
static int matrix_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct matrix_rule *m = r->data;
    (void)spec;
    m->row = m->column = m->value = -1;
    for (size_t i = 0; i < r->cells; i++) {
        m->group[i] = -1;
        int *place = str_is(r->cell[i], "row")      ? &m->row
                     : str_is(r->cell[i], "column") ? &m->column
                     : str_is(r->cell[i], "value")  ? &m->value
                                                    : NULL;
        if (place)
            *place = (int)i;
        else if ((m->group[i] = pattern_group(m->title, r->cell[i])) < 0)
            return rules_complain(r->cell_at[i], rules, err,
                                  "a matrix has the cells row, column and value, and the named groups of its title; none is \"" STR_FMT
                                  "\"",
                                  STR_ARG(r->cell[i]));
    }
    return m->value >= 0
               ? 0
               : rules_complain(r->at, rules, err, "the reader \"%s\" has no use for `value`, so it can never find anything", r->name);
}

/* Returns a copy of the text that lives as long as the matrix. p NULL: its texts are over TEXT_MAX
 * bytes. */
static struct str matrix_store_text(struct matrix_reader_state *s, struct str text)
{
    if (s->n + text.n > TEXT_MAX)
        return (struct str){NULL, 0};
    if (text.n)
        memcpy(s->text + s->n, text.p, text.n);
    s->n += text.n;
    return (struct str){s->text + s->n - text.n, text.n};
}

/* Returns whether the matrix has a column of this label. */
static bool is_column(const struct matrix_reader_state *s, struct str label)
{
    for (size_t i = 0; i < s->columns; i++)
        if (str_eq(s->column[i], label))
            return true;
    return false;
}

static struct str first_word(struct str line)
{
    return str_word(&line);
}

/* The values of the matrix become rows, in the context of its title. */
static void matrix_done(struct rules_run *run, struct source *source, const struct reader *r, struct matrix_reader_state *s)
{
    const struct matrix_rule *m = r->data;
    char var[VARS_MAX][104];
    s->stage = STAGE_NONE;
    if (!s->rows)
        return;
    memcpy(var, source->var, sizeof(var));
    memcpy(source->var, s->var, sizeof(var));
    for (size_t i = 0; i < s->rows; i++) {
        struct str rest = s->row[i], label = str_word(&rest);
        for (size_t k = 0; k < s->columns; k++) {
            struct str value = str_word(&rest);
            if (m->row >= 0)
                s->cell[m->row] = label;
            if (m->column >= 0)
                s->cell[m->column] = s->column[k];
            s->cell[m->value] = s->damaged ? str_of(row_doubtful) : value;
            row_take(run, source, r, s->cell, NULL, (int)s->block);
        }
    }
    memcpy(source->var, var, sizeof(var));
    s->rows = 0; /* the end line came: not once more at the end of the source */
}

/* Begins a matrix at its title, with the title's groups as cells. */
static void title_take(struct rules_run *run, struct source *source, const struct reader *r, struct matrix_reader_state *s,
                       const struct match *match)
{
    const struct matrix_rule *m = r->data;
    struct str none = {NULL, 0};
    s->stage = STAGE_TITLE;
    s->idle = 0;
    s->blank = s->damaged = false;
    s->columns = s->rows = s->n = 0;
    for (size_t i = 0; i < r->cells; i++)
        s->cell[i] = m->group[i] >= 0 && match->group[m->group[i]].p ? matrix_store_text(s, match->group[m->group[i]]) : none;
    if (r->begins)
        row_block(run, source, r->block_id >= 0 ? s->cell[r->block_id] : none, r->block_label >= 0 ? s->cell[r->block_label] : none);
    row_set(source, r, s->cell);
    s->block = source->block;
    memcpy(s->var, source->var, sizeof(s->var));
}

/* The line's labels, if it is nothing but column labels: behind the corner's words, or indented; of one kind and ascending, or all different. */
static bool labels_take(const struct matrix_rule *m, struct matrix_reader_state *s, struct str line)
{
    struct str rest = line, trimmed = str_trim(line);
    bool named = line.n && (line.p[0] == ' ' || line.p[0] == '\t'), corner = m->corners == 0;
    size_t n = 0, from = s->n;
    for (size_t i = 0; i < m->corners && !corner; i++)
        if ((corner = str_starts(trimmed, m->corner[i].p)))
            rest = str_sub(trimmed, m->corner[i].n, trimmed.n);
    bool good = corner && (named || !m->indented), numbered = true;
    named = named || m->corners;
    for (struct str word; good && (word = str_word(&rest)).n; n++) {
        struct numbered l = numbered_of(word), before = n ? numbered_of(s->column[n - 1]) : l;
        numbered = numbered && l.good && str_eq(l.head, before.head) && (!n || l.number > before.number);
        good = n < COLUMNS_MAX;
        for (size_t i = 0; i < n && good; i++)
            good = !str_eq(s->column[i], word);
        if (good)
            good = (s->column[n] = matrix_store_text(s, word)).p != NULL;
    }
    if (!good || !n || !(numbered || (named && n > 1))) {
        s->n = from;
        return false;
    }
    s->columns = n;
    s->stage = STAGE_ROWS;
    s->idle = 0;
    return true;
}

/* How one can come from label a to b: 0, 1, 2 … or 1, 2, 4 …, 1, 10, 100 … */
static unsigned label_steps(uint64_t a, uint64_t b)
{
    bool product = b == 2 * a || b == 10 * a || (a == 0 && b == 1);
    return (b == a + 1 ? GO_BY_SUM : 0) | (b > a && product ? GO_BY_PRODUCT : 0);
}

/* Chooses how the labels of the rows may continue, from the first row's label: if it equals that of
 * the first column, as the columns do, else in every way. */
static void first_label(struct matrix_reader_state *s, struct numbered l)
{
    struct numbered column = numbered_of(s->column[0]);
    s->go = GO_BY_SUM | GO_BY_PRODUCT | GO_BY_STEP;
    if (!l.good || !column.good || !str_eq(l.head, column.head) || l.number != column.number)
        return;
    s->go = GO_BY_SUM | GO_BY_PRODUCT;
    for (size_t i = 1; i < s->columns; i++)
        s->go &= label_steps(numbered_of(s->column[i - 1]).number, numbered_of(s->column[i]).number);
    s->go = s->go ? s->go : GO_BY_STEP;
}

/* True if the label continues those before it. */
static bool goes_on(struct matrix_reader_state *s, struct str word)
{
    struct numbered l = numbered_of(word);
    if (!s->rows) {
        first_label(s, l);
        return true;
    }
    struct numbered before = numbered_of(first_word(s->row[s->rows - 1]));
    if (l.good != before.good || (l.good && !str_eq(l.head, before.head)))
        return false;
    if (!l.good) {
        for (size_t i = 0; i < s->rows; i++)
            if (str_eq(first_word(s->row[i]), word))
                return false;
        return !s->blank && is_column(s, word) == is_column(s, first_word(s->row[0]));
    }
    if (l.number <= before.number)
        return false;
    unsigned go = label_steps(before.number, l.number) & s->go;
    if (s->go & GO_BY_STEP && (s->rows == 1 || l.number - before.number == s->step))
        go |= GO_BY_STEP;
    s->step = l.number - before.number;
    s->go = go ? go : s->go;
    return go != 0;
}

/* A label and as many numbers as there are columns. */
static bool is_row_line(const struct matrix_reader_state *s, struct str line)
{
    struct str rest = line, word;
    size_t n = 0;
    double unused;
    str_word(&rest);
    for (; (word = str_word(&rest)).n; n++)
        if (n == s->columns || number_parse(word, 0, &unused) == NUMBER_NOT)
            return false;
    return n == s->columns;
}

/* True for a line that would be a row with numbers in plain notation. */
static bool is_foreign_line(const struct matrix_reader_state *s, struct str line)
{
    char plain[FOREIGN_LINE_MAX];
    for (int comma = 0; comma < COMMA_READINGS && line.n <= sizeof plain; comma++) {
        size_t n = grouped_plain(line, (enum grouped_comma)comma, plain);
        if (n && is_row_line(s, (struct str){plain, n}))
            return true;
    }
    return false;
}

/* Stores a line that continues the rows. A row out of order, or one too many, marks the matrix as
 * damaged. */
static void row_line(struct rules_run *run, const struct reader *r, struct matrix_reader_state *s, struct str line)
{
    struct str rest = line, label = str_word(&rest);
    if (!is_row_line(s, line)) {
        if (is_foreign_line(s, line))
            unread_mark(run, r, line);
        return;
    }
    if (!goes_on(s, label)) {
        s->damaged = s->damaged || !s->blank;
        return;
    }
    struct str kept = s->rows < ROWS_MAX ? matrix_store_text(s, line) : (struct str){NULL, 0};
    if (!kept.p) {
        s->damaged = true;
        return;
    }
    s->row[s->rows++] = kept;
    s->blank = false;
    s->idle = 0;
}

/* Reads a line as title, column labels or row. The matrix ends at the next title, at the end line,
 * or after PATIENCE lines without a row. */
static void matrix_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *memory, struct str text)
{
    const struct matrix_rule *m = r->data;
    struct matrix_reader_state *s = memory;
    struct match match;
    int found = pattern_match(m->title, text, &match);
    run->gave_up += found < 0;
    if (found == 1) {
        matrix_done(run, source, r, s);
        title_take(run, source, r, s, &match);
        return;
    }
    if (s->stage == STAGE_NONE)
        return;
    if ((m->end && pattern_match(m->end, text, NULL) == 1) || ++s->idle > PATIENCE) {
        matrix_done(run, source, r, s);
        return;
    }
    if (s->stage == STAGE_TITLE)
        labels_take(m, s, text);
    else if (!str_trim(text).n)
        s->blank = s->blank || s->rows;
    else
        row_line(run, r, s, text);
}

static bool matrix_reader_hungry(const struct reader *r, const void *memory)
{
    (void)r;
    return ((const struct matrix_reader_state *)memory)->stage != STAGE_NONE;
}

static void matrix_reader_end(struct rules_run *run, struct source *source, const struct reader *r, void *memory)
{
    matrix_done(run, source, r, memory);
}

static void matrix_reader_free(struct reader *r)
{
    struct matrix_rule *m = r->data;
    if (m) {
        pattern_free(m->title);
        pattern_free(m->end);
    }
}

const struct reader_kind reader_matrix = {.name = "matrix",
                                          .state_size = sizeof(struct matrix_reader_state),
                                          .state_reset = offsetof(struct matrix_reader_state, var),
                                          .load = matrix_reader_load,
                                          .check = matrix_reader_check,
                                          .line = matrix_reader_line,
                                          .hungry = matrix_reader_hungry,
                                          .end = matrix_reader_end,
                                          .free = matrix_reader_free};
