/* ini.c: [sections] of `key = value` lines: a section is a row, its keys are the cells, the cell `section` is its name.
 *
 * Keys before the first section belong to a section without a name. A row is complete when the next section begins or the source ends.
 * A key that is twice in a section with different values has none: which of them counts is not
 * known. */
#include "benchmarks/load.h"

enum { ROW_TEXT = 16 << 10 };

struct ini {
    char separator;
    struct str comment;
    int section; /* the cell of that name, -1 */
};
struct ini_reader_state {
    bool begun, any;
    unsigned block;
    struct str cell[CELLS_MAX];
    size_t n;
    char text[ROW_TEXT];
};

/* Reads the specification of an INI reader into r->data, in the rules' arena. -1 with err: a wrong
 * key or value. */
static int ini_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"separator", "comment", NULL};
    struct ini *x = r->data = ARENA_NEW(&rules->arena, struct ini);
    struct str separator = yaml_text(spec, "separator", "=");
    if (!x)
        return load_no_memory(rules, err);
    if (load_keys(spec, keys, rules, err))
        return -1;
    if (separator.n != 1 || separator.p[0] == '[')
        return rules_complain(spec, rules, err, "separator is one character, not [");
    x->separator = separator.p[0];
    x->comment = yaml_text(spec, "comment", "#;");
    return 0;
}

/* Refuses keys that no line can have, and a `where` that names more than the section if a row begins a
 * block. Sets the section's cell and the two literals of which each line it reads has one. 0; -1 with
 * err. */
static int ini_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct ini *x = r->data;
    x->section = -1;
    if (!r->cells)
        return rules_complain(spec, rules, err, "the reader \"%s\" names no key, so it can never find anything", r->name);
    for (size_t i = 0; i < r->cells; i++) {
        if (str_is(r->cell[i], "section"))
            x->section = (int)i;
        if (memchr(r->cell[i].p, x->separator, r->cell[i].n))
            return rules_complain(r->cell_at[i], rules, err, "a key with the separator \"%c\" in it can never be found", x->separator);
    }
    for (const struct where *w = r->where; w && r->begins; w = w->next)
        if (w->cell != x->section)
            return rules_complain(r->at, rules, err, "a block begins at the line [section], so `where` can name `section` alone");
    r->literal[r->literals++] = STR("[");
    r->literal[r->literals++] = (struct str){&x->separator, 1};
    return 0;
}

/* Returns a copy of the text that lives as long as the row. p NULL: the row's texts are over
 * ROW_TEXT bytes. */
static struct str ini_store_text(struct ini_reader_state *s, struct str text)
{
    if (s->n + text.n > ROW_TEXT)
        return (struct str){NULL, 0};
    if (text.n)
        memcpy(s->text + s->n, text.p, text.n);
    s->n += text.n;
    return (struct str){s->text + s->n - text.n, text.n};
}

static void ini_row_done(struct rules_run *run, struct source *source, const struct reader *r, struct ini_reader_state *s)
{
    if (s->begun || s->any)
        row_take(run, source, r, s->cell, NULL, (int)s->block);
    s->begun = s->any = false;
    s->n = 0;
    memset(s->cell, 0, sizeof(s->cell));
}

/* Ends the section before, and begins one of this name, as a block where the reader's rule requires
 * it. */
static void section_begin(struct rules_run *run, struct source *source, const struct reader *r, struct ini_reader_state *s, struct str name)
{
    const struct ini *x = r->data;
    struct str none = {NULL, 0};
    ini_row_done(run, source, r, s);
    s->begun = true;
    if (x->section >= 0)
        s->cell[x->section] = ini_store_text(s, name);
    if (r->begins && row_where(r->where, s->cell))
        row_block(run, source, r->block_id == x->section ? name : none, r->block_label == x->section ? name : none);
    s->block = source->block;
}

/* The value without a comment behind it: "3.5 ; measured twice". */
static struct str value_of(const struct ini *x, struct str text)
{
    for (size_t i = 1; i < text.n && x->comment.n; i++)
        if ((text.p[i - 1] == ' ' || text.p[i - 1] == '\t') && memchr(x->comment.p, text.p[i], x->comment.n))
            return str_trim(str_sub(text, 0, i));
    return str_trim(text);
}

/* Begins a section, or stores the first value of a cell. A later, different value makes the cell a
 * contradiction. */
static void ini_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *memory, struct str text)
{
    const struct ini *x = r->data;
    struct ini_reader_state *s = memory;
    text = str_trim(text);
    if (!text.n || (x->comment.n && memchr(x->comment.p, text.p[0], x->comment.n)))
        return;
    if (text.p[0] == '[') {
        struct str head = value_of(x, text);
        if (head.n > 2 && head.p[head.n - 1] == ']' && !memchr(head.p + 1, '[', head.n - 1) &&
            memchr(head.p, ']', head.n) == head.p + head.n - 1) {
            section_begin(run, source, r, s, str_trim(str_sub(head, 1, head.n - 2)));
            return;
        }
    }
    const char *at = memchr(text.p, x->separator, text.n);
    if (!at)
        return;
    struct str key = str_trim(str_sub(text, 0, (size_t)(at - text.p))),
               value = value_of(x, str_sub(text, (size_t)(at - text.p) + 1, text.n));
    for (size_t i = 0; i < r->cells; i++) {
        if ((int)i == x->section || !str_eq(key, r->cell[i]))
            continue;
        if (!s->begun && !s->any)
            s->block = source->block;
        s->any = true;
        if (!s->cell[i].p)
            s->cell[i] = ini_store_text(s, value);
        else if (!str_eq(s->cell[i], value))
            s->cell[i] = str_of(row_contradiction);
        return;
    }
}

static void ini_reader_end(struct rules_run *run, struct source *source, const struct reader *r, void *memory)
{
    ini_row_done(run, source, r, memory);
}

const struct reader_kind reader_ini = {.name = "ini",
                                       .state_size = sizeof(struct ini_reader_state),
                                       .state_reset = offsetof(struct ini_reader_state, text),
                                       .load = ini_reader_load,
                                       .check = ini_reader_check,
                                       .line = ini_reader_line,
                                       .end = ini_reader_end};
