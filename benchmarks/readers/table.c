/* table.c: whitespace tables found by their header: columns by label in any order, units from the
 * header.
 *
 * A line is the header if its cells are labels and all that the rule requires are among them. From
 * there on a line with as many fields as
 * the header is a row (if its cells make sense, see row_take); others are noise of other processes and left alone. A new header ends the table. */
#include "benchmarks/columns.h"
#include "benchmarks/load.h"

enum { FIELDS_MAX = 200 };

struct table_rule {
    struct str header[32]; /* labels that must be there; the first begins the line */
    size_t headers;
    struct str optional[32];
    size_t optionals;
    struct str words[16]; /* labels with blanks in them: "Std Dev" */
    size_t nwords;
    struct str extra[8]; /* fields that may follow a row: "EXCEL" */
    size_t extras;
    struct pattern *end;
    const struct where *first; /* the condition on the first column, if there is one: then rows are known by their first word */
};
struct table_reader_state {
    bool active;
    size_t fields;
    int column[CELLS_MAX]; /* field of each cell, -1: not in this header */
    const struct unit *unit[CELLS_MAX];
};

/* Loads the keys of a reader of kind `table` from `spec` into r->data. -1 with err. */
static int table_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"header", "optional", "words", "extra", "end", NULL};
    struct table_rule *t = r->data = ARENA_NEW(&rules->arena, struct table_rule);
    const struct yaml *end = yaml_get(spec, "end");
    if (!t)
        return err_memory(err, "a reader");
    if (load_keys(spec, keys, rules, err) || load_texts(yaml_get(spec, "header"), t->header, 32, &t->headers, rules, err) ||
        load_texts(yaml_get(spec, "optional"), t->optional, 32, &t->optionals, rules, err) ||
        load_texts(yaml_get(spec, "words"), t->words, 16, &t->nwords, rules, err) ||
        load_texts(yaml_get(spec, "extra"), t->extra, 8, &t->extras, rules, err) || (end && load_pattern(&t->end, end, rules, err)))
        return -1;
    if (t->headers < 2)
        return rules_complain(spec, rules, err, "header is missing: the labels, two or more, that the table's first line must have");
    return 0;
}

static bool is_listed_label(const struct str *list, size_t n, struct str label)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i], label))
            return true;
    return false;
}

/* Checks that the table has all columns that the reader uses, and collects the words by which a
 * line can be recognised fast. -1 with err, which names file and line. */
static int table_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct table_rule *t = r->data;
    (void)spec;
    for (size_t i = 0; i < r->cells; i++) {
        struct str label = column_plain(r->cell[i]);
        if (!is_listed_label(t->header, t->headers, label) && !is_listed_label(t->optional, t->optionals, label))
            return rules_complain(r->cell_at[i], rules, err,
                                  "the table of reader \"%s\" has no column \"" STR_FMT "\" (columns are those of header and optional)",
                                  r->name, STR_ARG(r->cell[i]));
    }
    struct str first = t->header[0];
    r->literal[r->literals++] = str_word(&first);
    for (const struct where *w = r->where; w; w = w->next)
        if (str_eq(r->cell[w->cell], t->header[0]) && !w->negated && w->n && w->n <= 32)
            t->first = w;
    for (size_t i = 0; t->first && i < t->first->n; i++)
        r->literal[r->literals++] = t->first->any[i];
    if (t->end)
        reader_wants(r, t->end);
    return 0;
}

static bool is_header(const struct table_rule *t, struct str line)
{
    struct str first = t->header[0];
    size_t blank = 0;
    while (blank < line.n && (line.p[blank] == ' ' || line.p[blank] == '\t'))
        blank++;
    return line.n - blank > first.n && !memcmp(line.p + blank, first.p, first.n);
}

/* The cells of a header line: words, with "(unit)" joined to what precedes, and labels with blanks
 * as one. */
static size_t header_fields(const struct table_rule *t, struct str line, struct str *fields)
{
    struct str rest = line;
    size_t n = 0;
    for (;;) {
        struct str trimmed = str_trim(rest), field = {NULL, 0};
        for (size_t i = 0; i < t->nwords && !field.p; i++)
            if (trimmed.n >= t->words[i].n && !memcmp(trimmed.p, t->words[i].p, t->words[i].n)) {
                field = str_sub(trimmed, 0, t->words[i].n);
                rest = str_sub(trimmed, field.n, trimmed.n);
            }
        if (!field.p)
            field = str_word(&rest);
        if (!field.n)
            return n;
        if (field.p[0] == '(' && n) { /* "Max (MiB)" */
            fields[n - 1].n = (size_t)(field.p + field.n - fields[n - 1].p);
            continue;
        }
        if (n == FIELDS_MAX)
            return 0;
        fields[n++] = field;
    }
}

/* Starts a table where the line has all labels of the rule's header: stores the column and the unit of
 * each cell. Returns whether it does. */
static bool match_table_header(const struct reader *r, struct table_reader_state *s, struct str line)
{
    const struct table_rule *t = r->data;
    const struct unit *unit;
    struct str fields[FIELDS_MAX];
    size_t n = header_fields(t, line, fields);
    struct str first_unit;
    if (!n || n < t->headers || !str_eq(column_label(fields[0], &first_unit), t->header[0]))
        return false;
    for (size_t i = 0; i < t->headers; i++)
        if (column_find(fields, n, t->header[i], &unit) < 0)
            return false;
    s->fields = n;
    s->active = true;
    for (size_t i = 0; i < r->cells; i++) {
        s->unit[i] = NULL;
        s->column[i] = column_find(fields, n, r->cell[i], &s->unit[i]);
    }
    return true;
}

/* Reads a header, or a row of the table that is open. */
static void table_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *memory, struct str text)
{
    const struct table_rule *t = r->data;
    struct table_reader_state *s = memory;
    struct str fields[FIELDS_MAX + 1], cells[CELLS_MAX], rest = text;
    size_t n = 0;
    if (is_header(t, text) && match_table_header(r, s, text))
        return;
    if (!s->active)
        return;
    if (t->first) { /* most lines with a "write" in them are no rows */
        struct str word = str_word(&rest);
        if (!is_listed_label(t->first->any, t->first->n, word) && !t->end)
            return;
        rest = text;
    }
    if (t->end && pattern_match(t->end, text, NULL) == 1) {
        s->active = false;
        return;
    }
    for (struct str f = str_word(&rest); f.n; f = str_word(&rest)) {
        if (n == s->fields && is_listed_label(t->extra, t->extras, f) && !str_trim(rest).n)
            continue;
        if (n == s->fields)
            return;
        fields[n++] = f;
    }
    if (n != s->fields || column_is_statement(fields, n))
        return;
    for (size_t i = 0; i < r->cells; i++)
        cells[i] = s->column[i] < 0 ? (struct str){NULL, 0} : fields[s->column[i]];
    row_take(run, source, r, cells, s->unit, -1);
}

static bool table_reader_hungry(const struct reader *r, const void *memory)
{
    const struct table_rule *t = r->data;
    const struct table_reader_state *s = memory;
    return s->active && !t->first;
}

static void table_reader_free(struct reader *r)
{
    struct table_rule *t = r->data;
    if (t)
        pattern_free(t->end);
}

const struct reader_kind reader_table = {.name = "table",
                                         .by_line = true,
                                         .state_size = sizeof(struct table_reader_state),
                                         .load = table_reader_load,
                                         .check = table_reader_check,
                                         .line = table_reader_line,
                                         .hungry = table_reader_hungry,
                                         .free = table_reader_free};
