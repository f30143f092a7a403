/* tally.c: values of several equal devices. */
#include "probes/tally.h"

void tally_add(struct tally *t, struct str value)
{
    value = str_trim(value);
    for (size_t i = 0; i < t->n; i++)
        if (str_is(value, t->values[i].text)) {
            t->values[i].count++;
            return;
        }
    if (value.n == 0)
        return;
    if (t->n == sizeof t->values / sizeof *t->values || value.n >= sizeof t->values->text) {
        t->others++;
        return;
    }
    memcpy(t->values[t->n].text, value.p, value.n);
    t->values[t->n].text[value.n] = 0;
    t->values[t->n++].count = 1;
}

void tally_add_number(struct tally *t, double value, int decimals)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 64);
    if (decimals > 0)
        buf_printf(&text, "%.*f", decimals, value);
    else
        buf_double(&text, value);
    tally_add(t, buf_text(&text));
}

void tally_emit_scaled(const struct tally *t, struct host *h, struct record *r, const char *key, double scale)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 2048);
    for (size_t i = 0; i < t->n; i++) {
        double number;
        const char *value = t->values[i].text;
        buf_puts(&text, i == 0 ? "" : strchr(value, ' ') ? ", " : " ");
        if (scale != 1 && str_double(str_of(value), &number))
            buf_double(&text, number * scale);
        else
            buf_puts(&text, value);
        if (t->n > 1 || t->others)
            buf_printf(&text, "*%u", t->values[i].count);
    }
    if (t->others)
        buf_printf(&text, "%sothers*%u", t->n ? ", " : "", t->others);
    emit_buf(h, r, key, &text);
}

void tally_emit(const struct tally *t, struct host *h, struct record *r, const char *key)
{
    tally_emit_scaled(t, h, r, key, 1);
}
