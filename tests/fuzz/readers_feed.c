/* readers_feed.c: any bytes as an output read by rules that use CSV, INI, JSON behind a prefix, matrices and slices, in one piece and in pieces. */
#include "feed.h"

#include "base/fs.h"

#include <fcntl.h>
#include <stdio.h>
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!rules)
        load();
    feed_both_ways(rules, data, size);
    return 0;
}
