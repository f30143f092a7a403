/* detail_facts.c: the facts of a run as bytes; see detail_facts.h. */
#include "history/detail_facts.h"

#include <string.h>

static void put_detail_text(struct buf *to, struct str text)
{
    uint32_t n = text.p ? (uint32_t)text.n + 1 : 0;
    buf_add(to, &n, sizeof n);
    if (text.n)
        buf_str(to, text);
}

void detail_fact_put(struct buf *to, const struct detail_fact *f)
{
    buf_putc(to, (char)f->kind);
    put_detail_text(to, f->key);
    put_detail_text(to, f->value);
    put_detail_text(to, f->source);
    if (f->kind != DETAIL_METRIC)
        return;
    put_detail_text(to, f->unit);
    put_detail_text(to, f->direction);
    buf_add(to, &f->number, sizeof f->number);
    buf_add(to, &f->samples, sizeof f->samples);
}

static bool take_detail_bytes(struct str *from, void *to, size_t n)
{
    if (from->n < n)
        return false;
    memcpy(to, from->p, n);
    *from = (struct str){from->p + n, from->n - n};
    return true;
}

/* Reads a text from the beginning of *from and moves behind it; *ret points into it, p NULL: none
 * was stored. False: *from is truncated. */
static bool take_detail_text(struct str *from, struct str *ret)
{
    uint32_t n;
    *ret = (struct str){0};
    if (!take_detail_bytes(from, &n, sizeof n) || (n && n - 1 > from->n))
        return false;
    if (n) {
        *ret = (struct str){from->p, n - 1};
        *from = (struct str){from->p + (n - 1), from->n - (n - 1)};
    }
    return true;
}

bool detail_numbers_take(struct str *from, double *ret_number, double *ret_samples)
{
    return take_detail_bytes(from, ret_number, sizeof *ret_number) && take_detail_bytes(from, ret_samples, sizeof *ret_samples);
}

bool detail_fact_take(struct str *from, struct detail_fact *ret)
{
    unsigned char kind;
    *ret = (struct detail_fact){0};
    if (!take_detail_bytes(from, &kind, 1) || kind > DETAIL_ARGV || !take_detail_text(from, &ret->key) ||
        !take_detail_text(from, &ret->value) || !take_detail_text(from, &ret->source))
        return false;
    ret->kind = (enum detail_kind)kind;
    return kind != DETAIL_METRIC || (take_detail_text(from, &ret->unit) && take_detail_text(from, &ret->direction) &&
                                     detail_numbers_take(from, &ret->number, &ret->samples));
}
