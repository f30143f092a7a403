/* tables_text.c: tables as CSV and as JSON lines. */
#include "tables/tables.h"

#include "base/json_out.h"
#include "base/listing.h"
#include "base/screen.h"

#include <string.h>

static int tables_write_line(struct tables_writer *w)
{
    if (w->line.failed)
        return -1;
    screen_write_data(w->out, buf_text(&w->line));
    buf_clear(&w->line);
    return 0;
}

static int tables_text_end(struct tables_writer *w)
{
    (void)w;
    return 0;
}

/* Writes the line of names. Returns -1 when out of memory. */
static int tables_csv_begin(struct tables_writer *w)
{
    for (size_t i = 0; i < w->count; i++) {
        buf_puts(&w->line, i ? "," : "");
        listing_csv_field(&w->line, str_of(w->columns[i].name), true);
    }
    buf_puts(&w->line, "\r\n");
    return tables_write_line(w);
}

/* Writes a row; what is missing is an empty field. Returns -1 when out of memory. */
static int tables_csv_row(struct tables_writer *w, const struct filter_value *values)
{
    for (size_t i = 0; i < w->count; i++) {
        buf_puts(&w->line, i ? "," : "");
        if (values[i].is == FILTER_TEXT)
            listing_csv_field(&w->line, values[i].text, true);
        else if (values[i].is == FILTER_NUMBER)
            buf_double(&w->line, values[i].number);
        else if (values[i].is == FILTER_INTEGER)
            buf_printf(&w->line, "%lld", (long long)values[i].integer);
    }
    buf_puts(&w->line, "\r\n");
    return tables_write_line(w);
}

static int tables_jsonl_begin(struct tables_writer *w)
{
    (void)w;
    return 0;
}

/* A fact that the run lacks has no member. */
static int tables_jsonl_row(struct tables_writer *w, const struct filter_value *values)
{
    struct json_out j = {.to = &w->line, .layout = JSON_ROW};
    json_open(&j, NULL, '{');
    for (size_t i = 0; i < w->count; i++)
        if (values[i].is == FILTER_TEXT)
            json_str(&j, w->columns[i].name, values[i].text);
        else if (values[i].is == FILTER_NUMBER)
            json_double(&j, w->columns[i].name, values[i].number);
        else if (values[i].is == FILTER_INTEGER)
            json_int(&j, w->columns[i].name, values[i].integer);
    json_close(&j, '}');
    buf_putc(&w->line, '\n');
    return tables_write_line(w);
}

const struct tables_form tables_csv = {"csv", false, tables_csv_begin, tables_csv_row, tables_text_end};
const struct tables_form tables_jsonl = {"jsonl", false, tables_jsonl_begin, tables_jsonl_row, tables_text_end};

const struct tables_form *tables_form_find(const char *name)
{
    static const struct tables_form *const forms[] = {&tables_csv, &tables_jsonl, &tables_parquet, &tables_sqlite};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i]->name, name) == 0)
            return forms[i];
    return NULL;
}
