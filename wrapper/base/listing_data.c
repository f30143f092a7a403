/* listing_data.c: rows of cells for programs: as JSON or as CSV. */
#include "base/json_out.h"
#include "base/listing_parts.h"
#include "base/markdown.h"

#include <math.h>
#include <string.h>

/* Appends a row as an object; a column that is not in the table is in it, too. */
static void listing_json_row(const struct listing *l, size_t row, struct json_out *j)
{
    json_open(j, NULL, '{');
    for (size_t c = 0; c < l->count; c++) {
        const struct listing_cell *cell = listing_cell_at(l, row, c);
        if (cell->number)
            json_double(j, l->columns[c].key, cell->value);
        else
            json_text(j, l->columns[c].key, cell->text);
    }
    json_close(j, '}');
}

void listing_json_member(const struct listing *l, const char *key, struct json_out *j)
{
    json_open(j, key, '[');
    for (size_t r = 0; r < listing_rows(l); r++)
        listing_json_row(l, r, j);
    json_close(j, ']');
}

void listing_jsonl(const struct listing *l, struct buf *to)
{
    for (size_t r = 0; r < listing_rows(l); r++) {
        struct json_out j = {.to = to, .layout = JSON_ROW};
        listing_json_row(l, r, &j);
        buf_putc(to, '\n');
    }
}

void listing_json(const struct listing *l, struct buf *to)
{
    struct json_out j = {.to = to};
    listing_json_member(l, NULL, &j);
}

/* Spreadsheets evaluate a field that begins so, with or without quotes. */
static bool is_formula(struct str text)
{
    double ignored;
    return text.n && memchr("=+-@\t\r", text.p[0], 6) && !str_double(text, &ignored);
}

/* Appends a field, in quotes if it has a comma, a quote or a line end. */
void listing_csv_field(struct buf *to, struct str text, bool guard)
{
    CLEANUP_BUF struct buf valid;
    buf_init(&valid, (4 << 20) + text.n * 3);
    if (guard && is_formula(text))
        buf_putc(&valid, '\'');
    buf_utf8(&valid, text);
    text = buf_text(&valid);
    bool quoted = false;
    for (size_t i = 0; i < text.n; i++)
        quoted = quoted || memchr(",\"\r\n", text.p[i], 4);
    if (!quoted) {
        buf_str(to, text);
        return;
    }
    buf_putc(to, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"')
            buf_putc(to, '"');
        buf_putc(to, text.p[i]);
    }
    buf_putc(to, '"');
}

void listing_csv(const struct listing *l, bool guard, struct buf *to)
{
    for (size_t c = 0; c < l->count && !l->bare; c++) {
        buf_puts(to, c ? "," : "");
        listing_csv_field(to, str_of(l->columns[c].key), guard);
    }
    buf_puts(to, l->bare ? "" : "\r\n");
    for (size_t r = 0; r < listing_rows(l); r++) {
        for (size_t c = 0; c < l->count; c++) {
            const struct listing_cell *cell = listing_cell_at(l, r, c);
            buf_puts(to, c ? "," : "");
            if (cell->number && isfinite(cell->value))
                buf_double(to, cell->value);
            else if (!cell->number)
                listing_csv_field(to, str_of(cell->text), guard);
        }
        buf_puts(to, "\r\n");
    }
}

/* Appends the headings, or the keys of columns without one, and the line below them. max:
 * characters of one. */
static void put_markdown_headings(const struct listing *l, size_t max, struct buf *to)
{
    buf_puts(to, "|");
    for (size_t c = 0; c < l->count; c++) {
        buf_putc(to, ' ');
        markdown_text(to, l->columns[c].heading ? l->columns[c].heading : l->columns[c].key, max);
        buf_puts(to, " |");
    }
    buf_puts(to, "\n|");
    for (size_t c = 0; c < l->count; c++)
        buf_puts(to, l->columns[c].right ? "---:|" : "---|");
    buf_putc(to, '\n');
}

/* Appends a table of Markdown, texts as code that cannot do anything, each cut behind 200 bytes. */
static void listing_markdown(const struct listing *l, struct buf *to)
{
    enum { CELL_MAX = 200 };
    if (!l->bare)
        put_markdown_headings(l, CELL_MAX, to);
    for (size_t r = 0; r < listing_rows(l); r++) {
        buf_putc(to, '|');
        for (size_t c = 0; c < l->count; c++) {
            const struct listing_cell *cell = listing_cell_at(l, r, c);
            buf_putc(to, ' ');
            if (cell->number)
                buf_puts(to, cell->text ? cell->text : "");
            else
                markdown_text(to, cell->text, CELL_MAX);
            buf_puts(to, " |");
        }
        buf_putc(to, '\n');
    }
}

void listing_put(enum listing_form form, const struct buf *made, FILE *out)
{
    if (form == LISTING_TABLE)
        fwrite(made->p ? made->p : "", 1, made->n, out);
    else
        screen_write_data(out, buf_text(made));
}

int listing_write(const struct listing *l, enum listing_form form, FILE *out)
{
    CLEANUP_BUF struct buf to;
    const struct screen screen = screen_of_file(out);
    int status = l->failed ? -1 : 0;
    buf_init(&to, 1u << 30);
    switch (form) {
    case LISTING_TABLE: status = status ? status : listing_render(l, &screen, &to); break;
    case LISTING_CSV: listing_csv(l, true, &to); break;
    case LISTING_MARKDOWN: listing_markdown(l, &to); break;
    case LISTING_JSONL: listing_jsonl(l, &to); break;
    case LISTING_JSON: listing_json(l, &to); break;
    }
    if (status < 0 || to.failed)
        return -1;
    listing_put(form, &to, out);
    return 0;
}
