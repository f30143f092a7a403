/* prompts.c: any bytes as a file of prompts, for each API and way of scoring: an error names a line, items are text in UTF-8 that lies in them. */
#include "benchmarks/native/llmload/prompts/dataset.h"
#include "benchmarks/native/llmload/prompts/rows.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct str text = {size ? (const char *)data + 1 : "", size ? size - 1 : 0};
    unsigned how = size ? data[0] : 0;
    struct dataset d = {.dialect = (enum dialect)(how % DIALECTS), .score = (enum score)(how / 4 % 3)};
    arena_init(&d.arena, 256 << 20);
    if (rows_parse("f", text, how & 64, dataset_row, &d, &d.skipped, &err) < 0 && !strstr(err.text, ", line "))
        abort();
    for (size_t i = 0; i < d.item_count; i++) {
        const struct item *it = &d.items[i];
        if (!str_valid_utf8(it->text) || !str_valid_utf8(it->messages) || it->row > d.row_count)
            abort();
        if (it->until < it->from || it->until > it->text.n)
            abort();
    }
    arena_deinit(&d.arena);
    free(d.items);
    free(d.answers);
    return 0;
}
