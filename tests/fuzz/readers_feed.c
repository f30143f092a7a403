/* readers_feed.c: any bytes as an output read by rules that use CSV, INI, JSON behind a prefix, matrices and slices. In one piece and in pieces
 * of every size the same facts come out, and all of them are legal. */
#include "base/fs.h"
#include "benchmarks/rules.h"
#include "mlruns-format/key.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "name: x\nversion: '1'\nblocks: {name: t, runs: true}\n"
    "slices: {l: {after: '^begin', which: last}, e: {after: '^<', until: '^>'}, f: {after: '^first', which: first}}\n"
    "readers:\n"
    "- {name: b, slice: l, regex: '^test (?<l>\\S+)', block: {label: l}}\n"
    "- {name: c, slice: l, csv: {header: '^n,', comment: '#'}, params: [{param: who, cell: who}], metrics: [{name: c, cell: v, unit: s, better: lower, step: n, headline: min}]}\n"
    "- {name: i, slice: l, ini: {}, set: {s: section}, metrics: [{name: '{section}.i', cell: v, better: higher, missing: ['-1']}]}\n"
    "- {name: j, slice: l, json: {prefix: ':::L', rows: [''], documents: last}, metrics: [{name: j, cell: v, better: none, many: sum}]}\n"
    "- {name: k, slice: l, json: {prefix: 'L \\{', rows: ['', '/a/*']}, metrics: [{name: 'k.{key}', cell: v, better: none, range: [-5, 1e9], many: last}]}\n"
    "- {name: m, slice: l, matrix: {title: '^T (?<u>\\S+)', corner: [D], end: '^E'}, metrics: [{name: 'm.{row}.{column}', cell: value, unit_cell: u, unit: MB_per_s, better: higher}]}\n"
    "checks:\n- {must_not: '^BAD', slice: l, reason: bad}\n- {expect: 'value(c.min) < max(3, value(j))', reason: slow}\n";

static struct rules *rules;

static void load(void)
{
    char path[64];
    struct err err = {0};
    snprintf(path, sizeof(path), "/dev/shm/bw-fuzz-readers.%d", (int)getpid());
    if (fs_write(AT_FDCWD, path, STR(text), 0600, false, &err) < 0 || rules_load(&rules, path, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    unlink(path);
}

static void take(struct record *record, const uint8_t *data, size_t size, size_t piece)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record a, b;
    if (!rules)
        load();
    take(&a, data, size, size ? size : 1);
    take(&b, data, size, size ? 1 + data[0] % 61 : 1);
    const struct fact *x = a.first, *y = b.first;
    for (; x && y; x = x->next, y = y->next)
        if (x->kind != y->kind || !str_eq(x->key, y->key) || !str_eq(x->text, y->text) || memcmp(&x->value, &y->value, sizeof(x->value)) || x->step != y->step ||
            !str_valid_utf8(x->text) || (x->kind == FACT_METRIC && (!isfinite(x->value) || !key_legal(x->key))))
            abort();
    if (x || y)
        abort();
    record_deinit(&a);
    record_deinit(&b);
    return 0;
}
