/* annotation.c: any bytes as the file of an annotation: what is accepted is written and read back equal. */
#include "mlruns-format/annotation.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct tree_entry *first, *again;
    struct err err = {0};
    char run[33], run_again[33];
    arena_init(&a, 64 << 20);
    if (annotation_parse((struct str){(const char *)data, size}, &a, run, &first, &err) == 0) {
        CLEANUP_BUF struct buf b;
        struct tree_run shown = {.name = "x"};
        buf_init(&b, 4 << 20);
        annotation_print(run, first, &b);
        if (b.n <= ANNOTATION_MAX && (annotation_parse(buf_text(&b), &a, run_again, &again, &err) < 0 || strcmp(run, run_again) != 0))
            abort();
        for (; b.n <= ANNOTATION_MAX && first && again; first = first->next, again = again->next)
            if (strcmp(first->key, again->key) != 0 || !first->value.p != !again->value.p || !str_eq(first->value, again->value))
                abort();
        tree_annotate(&shown, annotation_merge(first, again, &a), TREE_TAGS, &a);
    }
    arena_deinit(&a);
    return 0;
}
