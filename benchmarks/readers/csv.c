/* csv.c: lines of fields with a separator between them, quoted by RFC 4180; columns are named by a
 * header line or by the rule.
 *
 * A line is a row if it has as many fields as there are columns (and if its cells make sense, see row_take); all others are left alone.
 * A quoted field may go over several lines; one that never ends is dropped after RECORD_MAX bytes. */
#include "benchmarks/columns.h"
#include "benchmarks/load.h"

enum { FIELDS_MAX = 200, RECORD_MAX = 16 << 10 };

struct csv {
    struct str column[CELLS_MAX]; /* without a header */
    size_t columns;
    struct pattern *header;
    char separator;
    bool quotes; /* false: quotes are characters like others */
    struct str comment; /* characters that begin a line which is none */
};
struct csv_reader_state {
    bool active, open, named_end; /* open: a quoted field has not ended; named_end: the last column has a name */
    size_t fields, n; /* n: bytes of the record so far */
    int column[CELLS_MAX];
    const struct unit *unit[CELLS_MAX];
    char record[RECORD_MAX];
};

/* Reads the specification of a CSV reader into r->data, in the rules' arena. -1 with err: a wrong
 * key or value. */
static int csv_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"separator", "columns", "header", "comment", "quotes", NULL};
    struct csv *c = r->data = ARENA_NEW(&rules->arena, struct csv);
    const struct yaml *header = yaml_get(spec, "header");
    struct str separator = yaml_text(spec, "separator", ",");
    if (!c)
        return load_no_memory(rules, err);
    c->quotes = true;
    if (load_keys(spec, keys, rules, err) || load_texts(yaml_get(spec, "columns"), c->column, CELLS_MAX, &c->columns, rules, err) ||
        load_flag(spec, "quotes", &c->quotes, rules, err) || (header && load_pattern(&c->header, header, rules, err)))
        return -1;
    if (!c->header == !c->columns)
        return rules_complain(spec, rules, err,
                              "a CSV has either header (a pattern for the line that names the columns) or columns (their names)");
    if (c->columns == 1)
        return rules_complain(spec, rules, err, "a CSV has two columns or more: any line is one field");
    if (separator.n != 1 || separator.p[0] == '"' || separator.p[0] == ' ')
        return rules_complain(spec, rules, err, "separator is one character, not a quote or a blank (use table for these)");
    c->separator = separator.p[0];
    c->comment = yaml_text(spec, "comment", "");
    return 0;
}

/* Checks that the reader has the columns that its rules name, and sets the texts that a line must
 * contain. -1 with err. */
static int csv_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct csv *c = r->data;
    const struct unit *unit;
    (void)spec;
    if (!r->cells)
        return rules_complain(r->at, rules, err, "the reader \"%s\" names no column, so it can never find anything", r->name);
    for (size_t i = 0; i < r->cells && !c->header; i++)
        if (column_find(c->column, c->columns, r->cell[i], &unit) < 0)
            return rules_complain(r->cell_at[i], rules, err, "the reader \"%s\" has no column \"" STR_FMT "\"", r->name,
                                  STR_ARG(r->cell[i]));
    if (c->header)
        reader_wants(r, c->header);
    else {
        r->literal[r->literals++] = (struct str){&c->separator, 1};
        r->literal[r->literals++] = STR("\"");
    }
    return 0;
}

/* Begins the table: stores the column and the unit of each cell. n >= 1. */
static void name_columns(const struct reader *r, struct csv_reader_state *s, const struct str *fields, size_t n)
{
    s->active = true;
    s->fields = n;
    s->named_end = fields[n - 1].n > 0;
    for (size_t i = 0; i < r->cells; i++) {
        s->unit[i] = NULL;
        s->column[i] = column_find(fields, n, r->cell[i], &s->unit[i]);
    }
}

/* The field that begins at *at, which moves behind it; quotes are removed in place (a field only
 * gets shorter). False: it is quoted and the quote does not end, or other text follows the quote.
 * *ret_open: the former. */
static bool field_take(const struct csv *c, char *text, size_t n, size_t *at, struct str *ret, bool *ret_open)
{
    size_t from = *at, to;
    while (from < n && (text[from] == ' ' || (text[from] == '\t' && c->separator != '\t')))
        from++;
    if (from == n || text[from] != '"' || !c->quotes) {
        const char *end = memchr(text + *at, c->separator, n - *at);
        to = end ? (size_t)(end - text) : n;
        *ret = str_trim((struct str){text + *at, to - *at});
        *at = to;
        return true;
    }
    to = ++from;
    *ret = (struct str){text + from, 0};
    for (; from < n; from++) {
        if (text[from] == '"' && !(from + 1 < n && text[from + 1] == '"'))
            break;
        from += text[from] == '"';
        text[to++] = text[from];
    }
    *ret_open = from >= n;
    ret->n = (size_t)(text + to - ret->p);
    for (from++; from < n && (text[from] == ' ' || (text[from] == '\t' && c->separator != '\t')); from++)
        ;
    *at = from;
    return !*ret_open && (from == n || text[from] == c->separator);
}

/* All fields; 0 if the text is no record. It is altered. */
static size_t fields_take(const struct csv *c, char *text, size_t n, struct str *fields, bool *ret_open)
{
    size_t count = 0, at = 0;
    *ret_open = false;
    for (;;) {
        if (count == FIELDS_MAX || !field_take(c, text, n, &at, &fields[count++], ret_open))
            return 0;
        if (at == n)
            return count;
        at++;
    }
}

static bool only_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

/* "1,756.5" and "12,345": up to three digits, then three. */
static bool grouped_fields(struct str a, struct str b)
{
    return a.n <= 3 && only_digits(a) && a.p[0] != '0' && b.n >= 3 && only_digits(str_sub(b, 0, 3)) && (b.n == 3 || b.p[3] == '.');
}

/* More fields than columns, because commas part the digits of numbers. */
static bool grouped_record(const struct str *fields, size_t n, size_t columns)
{
    size_t joined = 0;
    for (size_t i = 1; i < n; i++)
        joined += grouped_fields(fields[i - 1], fields[i]);
    return joined >= n - columns;
}

/* Reads the record that is complete in s->record as a header or a row. Returns without reading
 * where a quote is open: the next line belongs to the record. */
static void record_take(struct rules_run *run, struct source *source, const struct reader *r, struct csv_reader_state *s, bool header)
{
    const struct csv *c = r->data;
    struct str fields[FIELDS_MAX], cells[CELLS_MAX];
    char text[RECORD_MAX]; /* the record itself may have to be read again, when its next line is there */
    memcpy(text, s->record, s->n);
    size_t n = fields_take(c, text, s->n, fields, &s->open);
    if (s->open) {
        run->torn_rows += run->last_line;
        return;
    }
    bool more = run->last_line && s->named_end && s->n && s->record[s->n - 1] == c->separator; /* a row that ends before its last field */
    s->n = 0;
    if (header && n > 1)
        name_columns(r, s, fields, n);
    if (!header && n > s->fields && s->fields && c->separator == ',' && grouped_record(fields, n, s->fields))
        unread_mark(run, r, fields[0]);
    more = more || (n < s->fields && run->last_line);
    if (!header && (n > 1 || text[0] == '"') && more)
        run->torn_rows++;
    if (header || !n || n != s->fields || more)
        return;
    for (size_t i = 0; i < r->cells; i++)
        cells[i] = s->column[i] < 0 ? (struct str){NULL, 0} : fields[s->column[i]];
    row_take(run, source, r, cells, s->unit, -1);
}

/* Appends a line to the record that is open, or begins one. */
static void csv_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *memory, struct str text)
{
    const struct csv *c = r->data;
    struct csv_reader_state *s = memory;
    bool header = c->header && pattern_match(c->header, text, NULL) == 1;
    if (c->columns && !s->active)
        name_columns(r, s, c->column, c->columns);
    if (header)
        s->open = false;
    if (!header && !s->active)
        return;
    if (run->unterminated) {
        run->torn_rows += s->open || (!header && (memchr(text.p, c->separator, text.n) || (c->quotes && text.n && text.p[0] == '"')));
        source->unended = true;
        return;
    }
    if (!s->open) {
        s->n = 0;
        if (text.n && c->comment.n && memchr(c->comment.p, text.p[0], c->comment.n))
            return;
        if (!header && (!text.n || (!memchr(text.p, c->separator, text.n) && !memchr(text.p, '"', text.n))))
            return;
    }
    if (s->n + text.n + 1 > RECORD_MAX) {
        run->torn_records += s->open;
        s->open = false;
        return;
    }
    if (s->open)
        s->record[s->n++] = '\n';
    memcpy(s->record + s->n, text.p, text.n);
    s->n += text.n;
    record_take(run, source, r, s, header);
}

static bool csv_reader_hungry(const struct reader *r, const void *memory)
{
    const struct csv *c = r->data;
    const struct csv_reader_state *s = memory;
    return s->open || (c->header && s->active);
}

static void csv_reader_end(struct rules_run *run, struct source *source, const struct reader *r, void *memory)
{
    (void)source;
    (void)r;
    run->torn_records += ((const struct csv_reader_state *)memory)->open;
}

static void csv_reader_free(struct reader *r)
{
    struct csv *c = r->data;
    if (c)
        pattern_free(c->header);
}

const struct reader_kind reader_csv = {.name = "csv",
                                       .by_line = true,
                                       .delimits = true,
                                       .state_size = sizeof(struct csv_reader_state),
                                       .state_reset = offsetof(struct csv_reader_state, record),
                                       .load = csv_reader_load,
                                       .check = csv_reader_check,
                                       .line = csv_reader_line,
                                       .hungry = csv_reader_hungry,
                                       .end = csv_reader_end,
                                       .free = csv_reader_free};
