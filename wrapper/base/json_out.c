/* json_out.c: JSON, written front to back; see json_out.h. */
#include "base/json_out.h"

#include <math.h>
#include <string.h>

static void json_new_line(struct json_out *j, unsigned blanks)
{
    buf_putc(j->to, '\n');
    while (blanks--)
        buf_putc(j->to, ' ');
}

static bool json_is_block(const struct json_out *j)
{
    return j->layout == JSON_BLOCK && !j->row;
}

/* Writes what precedes a value: comma, line end, blanks, its name. */
static void json_before(struct json_out *j, const char *key)
{
    if (j->named) {
        j->named = false;
        return;
    }
    if (j->comma)
        buf_putc(j->to, ',');
    if (j->line_break)
        json_new_line(j, j->line_break - 1);
    else if (json_is_block(j) && j->depth)
        json_new_line(j, 2 * j->depth);
    else if (j->comma && j->layout != JSON_TIGHT)
        buf_putc(j->to, ' ');
    j->line_break = 0;
    j->comma = true;
    if (key) {
        buf_json(j->to, str_of(key));
        buf_puts(j->to, j->layout == JSON_TIGHT ? ":" : ": ");
    }
}

struct json_out json_begin(struct buf *to, enum json_layout layout, char bracket)
{
    struct json_out j = {.to = to, .layout = layout};
    json_open(&j, NULL, bracket);
    return j;
}

void json_open(struct json_out *j, const char *key, char bracket)
{
    json_before(j, key);
    buf_putc(j->to, bracket);
    j->depth++;
    j->comma = false;
}

void json_open_row(struct json_out *j, const char *key, char bracket)
{
    json_open(j, key, bracket);
    j->row = j->row ? j->row : j->depth;
}

void json_close(struct json_out *j, char bracket)
{
    j->depth--;
    if (j->line_break)
        json_new_line(j, j->line_break - 1);
    else if (j->comma && json_is_block(j))
        json_new_line(j, 2 * j->depth);
    if (j->row > j->depth)
        j->row = 0;
    j->line_break = 0;
    buf_putc(j->to, bracket);
    j->comma = true;
    if (!j->depth && j->layout == JSON_BLOCK)
        buf_putc(j->to, '\n');
}

void json_name(struct json_out *j, struct str key)
{
    json_before(j, NULL);
    buf_json(j->to, key);
    buf_puts(j->to, j->layout == JSON_TIGHT ? ":" : ": ");
    j->named = true;
}

void json_line(struct json_out *j, unsigned blanks)
{
    j->line_break = blanks + 1;
}

void json_str(struct json_out *j, const char *key, struct str value)
{
    json_before(j, key);
    buf_json(j->to, value);
}

void json_text(struct json_out *j, const char *key, const char *value)
{
    if (value)
        json_str(j, key, str_of(value));
    else
        json_null(j, key);
}

void json_texts(struct json_out *j, const char *key, const char *const *list, size_t n)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < n; i++)
        json_text(j, NULL, list[i]);
    json_close(j, ']');
}

void json_double(struct json_out *j, const char *key, double value)
{
    const char *quote = isfinite(value) ? "" : "\"";
    json_before(j, key);
    buf_puts(j->to, quote);
    buf_double(j->to, value);
    buf_puts(j->to, quote);
}

void json_known(struct json_out *j, const char *key, double value)
{
    if (isfinite(value))
        json_double(j, key, value);
    else
        json_null(j, key);
}

void json_int(struct json_out *j, const char *key, int64_t value)
{
    json_before(j, key);
    buf_printf(j->to, "%lld", (long long)value);
}

void json_uint(struct json_out *j, const char *key, uint64_t value)
{
    json_before(j, key);
    buf_printf(j->to, "%llu", (unsigned long long)value);
}

void json_flag(struct json_out *j, const char *key, bool value)
{
    json_before(j, key);
    buf_puts(j->to, value ? "true" : "false");
}

void json_null(struct json_out *j, const char *key)
{
    json_before(j, key);
    buf_puts(j->to, "null");
}

void json_raw(struct json_out *j, const char *key, struct str text)
{
    json_before(j, key);
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    for (size_t end; text.n; text = str_sub(text, end, text.n)) { /* indented by its depth */
        const char *line_end = json_is_block(j) ? memchr(text.p, '\n', text.n) : NULL;
        end = line_end ? (size_t)(line_end - text.p) + 1 : text.n;
        buf_str(j->to, str_sub(text, 0, end));
        if (line_end)
            buf_printf(j->to, "%*s", (int)(2 * j->depth), "");
    }
}

void json_printf(struct json_out *j, const char *key, const char *fmt, ...)
{
    va_list ap;
    json_before(j, key);
    va_start(ap, fmt);
    buf_vprintf(j->to, fmt, ap);
    va_end(ap);
}

void json_members(struct json_out *j, struct str text)
{
    if (!text.n)
        return;
    if (j->comma)
        buf_putc(j->to, ',');
    buf_str(j->to, text);
    j->comma = true;
}
