/* feed.h: what every fuzzer of an output's readers asks: in one piece and in pieces of every size the same facts come out, and all of them are legal. */
#ifndef FUZZ_FEED_H
#define FUZZ_FEED_H
#include "benchmarks/rules.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <stdlib.h>

static void feed_take(const struct rules *rules, struct record *record, const uint8_t *data, size_t size, size_t piece)
{
    struct rules_run *run;
    struct rules_outcome out;
    if (rules_begin(&run, rules, NULL, NULL, NULL))
        abort();
    for (size_t at = 0; at < size; at += piece)
        rules_feed(run, "stdout", data + at, size - at < piece ? size - at : piece);
    record_init(record, "00000000000000000000000000000000", 1);
    if (rules_end(run, size % 2 ? 0 : -1, 0, 1, record, &out, NULL) == 0 && (out.verdict == VERDICT_FAIL) != (out.reason[0] != 0))
        abort();
}

/* Aborts when what the rules make of the bytes depends on how they come, or is not legal. */
static void feed_both_ways(const struct rules *rules, const uint8_t *data, size_t size)
{
    struct record a, b;
    feed_take(rules, &a, data, size, size ? size : 1);
    feed_take(rules, &b, data, size, size ? 1 + data[0] % 61 : 1);
    const struct fact *x = a.first, *y = b.first;
    for (; x && y; x = x->next, y = y->next)
        if (x->kind != y->kind || !str_eq(x->key, y->key) || !str_eq(x->text, y->text) || memcmp(&x->value, &y->value, sizeof(x->value)) || x->step != y->step ||
            !str_valid_utf8(x->text) || (x->kind == FACT_METRIC && (!isfinite(x->value) || !key_legal(x->key))))
            abort();
    if (x || y)
        abort();
    record_deinit(&a);
    record_deinit(&b);
}
#endif
