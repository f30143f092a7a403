/* listing_data.c: rows of cells for programs: as JSON or as CSV. */
#include "base/json_out.h"
#include "base/listing_parts.h"

#include <math.h>
#include <string.h>

void listing_json_member(const struct listing *l, const char *key, struct json_out *j)
{
    json_open(j, key, '[');
    for (size_t r = 0; r < listing_rows(l); r++) {
        json_open(j, NULL, '{');
        for (size_t c = 0; c < l->count; c++) {
            const struct listing_cell *cell = listing_cell_at(l, r, c);
            if (cell->number)
                json_double(j, l->columns[c].key, cell->value);
            else
                json_text(j, l->columns[c].key, cell->text);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

void listing_json(const struct listing *l, struct buf *to)
{
    struct json_out j = {.to = to};
    listing_json_member(l, NULL, &j);
}

/* A field with a comma, a quote or a line end stands in quotes. */
static void csv_field(struct buf *to, struct str text)
{
    CLEANUP_BUF struct buf valid;
    buf_init(&valid, 1 << 20);
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

void listing_csv(const struct listing *l, struct buf *to)
{
    for (size_t c = 0; c < l->count; c++) {
        buf_puts(to, c ? "," : "");
        csv_field(to, str_of(l->columns[c].key));
    }
    buf_puts(to, "\r\n");
    for (size_t r = 0; r < listing_rows(l); r++) {
        for (size_t c = 0; c < l->count; c++) {
            const struct listing_cell *cell = listing_cell_at(l, r, c);
            buf_puts(to, c ? "," : "");
            if (cell->number && isfinite(cell->value))
                buf_double(to, cell->value);
            else if (!cell->number)
                csv_field(to, str_of(cell->text));
        }
        buf_puts(to, "\r\n");
    }
}
