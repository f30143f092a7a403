/* yaml.c: any bytes as YAML: a tree or a message with a place; texts stay inside the document's bounds. */
#include "base/yaml.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct yaml *y, int depth)
{
    if (depth > 100 || y->line < 1 || y->column < 1)
        abort();
    if (y->kind == YAML_SCALAR && (memchr(y->text.p, 0, y->text.n) || y->child))
        abort();
    for (const struct yaml *c = y->child; c; c = c->next) {
        if (c->up != y)
            abort();
        if (y->kind == YAML_MAP && yaml_get(y, c->key.p) != c) /* no key stands twice */
            abort();
        walk(c, depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct err err = {0};
    struct yaml *y;
    arena_init(&a, 64 << 20);
    if (yaml_parse(&y, "f", (struct str){(const char *)data, size}, &a, &err) == 0)
        walk(y, 0);
    else if (!err.text[0])
        abort();
    arena_deinit(&a);
    return 0;
}
