/* json_out.c: JSON documents, written front to back; see json_out.h. */
#include "base/json_out.h"

#include <math.h>
#include <string.h>

static void json_before(struct json_out *j, const char *key)
{
    if (j->comma)
        buf_putc(j->to, ',');
    if (j->depth) {
        buf_putc(j->to, '\n');
        for (unsigned i = 0; i < j->depth; i++)
            buf_puts(j->to, "  ");
    }
    if (key) {
        buf_json(j->to, str_of(key));
        buf_puts(j->to, ": ");
    }
    j->comma = true;
}

void json_open(struct json_out *j, const char *key, char bracket)
{
    json_before(j, key);
    buf_putc(j->to, bracket);
    j->depth++;
    j->comma = false;
}

void json_close(struct json_out *j, char bracket)
{
    j->depth--;
    if (j->comma) {
        buf_putc(j->to, '\n');
        for (unsigned i = 0; i < j->depth; i++)
            buf_puts(j->to, "  ");
    }
    buf_putc(j->to, bracket);
    j->comma = true;
    if (!j->depth)
        buf_putc(j->to, '\n');
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

void json_double(struct json_out *j, const char *key, double value)
{
    json_before(j, key);
    if (!isfinite(value))
        buf_putc(j->to, '"');
    buf_double(j->to, value);
    if (!isfinite(value))
        buf_putc(j->to, '"');
}

void json_int(struct json_out *j, const char *key, int64_t value)
{
    json_before(j, key);
    buf_printf(j->to, "%lld", (long long)value);
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
    for (size_t i = 0; i < text.n; i++) { /* indented as deep as it stands */
        buf_putc(j->to, text.p[i]);
        for (unsigned d = 0; text.p[i] == '\n' && d < j->depth; d++)
            buf_puts(j->to, "  ");
    }
}
