/* filter.c: any bytes as an expression: refused with a message and a place in it, or compiled, and evaluated on a run that lies nowhere. A key that is
 * shown reads back as the same key; "a like b" does not depend on what lies behind the texts. */
#include "filter/filter.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_back(const struct filter_key *key, struct arena *a)
{
    struct filter_key again;
    bool descending;
    struct err err = {0};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    filter_key_show(&b, key);
    buf_puts(&b, " DESC");
    bool quotes = strpbrk(key->name, "`'\"\\");
    if (key->kind > FILTER_TAG || quotes)
        return;
    if (filter_parse_order(b.p, "--sort", a, &again, &descending, &err) < 0 || !descending || again.kind != key->kind || strcmp(again.name, key->name) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct err err = {0};
    const struct filter *f;
    const struct filter_key *keys;
    const char *problem = NULL;
    bool descending;
    struct filter_key key;
    struct tree_run run = {.path = "mlruns/1/00000000000000000000000000000000", .name = "fio", .user = "", .artifact_uri = "x", .start_ms = 5, .status = RUN_FINISHED};
    const struct folder nowhere = folder_disk(-1);
    arena_init(&a, 256 << 20);
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    if (filter_parse(text, &a, &f, &err) == 0) {
        filter_holds(f, &nowhere, &run, &a, &problem);
        for (size_t i = filter_keys(f, &a, &keys); i-- > 0;)
            read_back(&keys[i], &a);
    } else if (!err.text[0] || err.kind == ERR_NONE || (strlen(text) <= FILTER_TEXT_MAX && err.kind == ERR_USAGE && !err.excerpt[0])) {
        abort();
    }
    filter_parse_order(text, "--sort", &a, &key, &descending, &err);
    struct str all = {text, size}, pattern = str_cut(&all, '\n');
    filter_like(all, pattern, size % 2);
    free(text);
    arena_deinit(&a);
    return 0;
}
