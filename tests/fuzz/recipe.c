/* recipe.c: any bytes as a recipe, in its own form or the toolkit's: it is refused, or each of its first points has commands. */
#include "recipe/recipe_point.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct recipe_places nowhere;
    struct arena a;
    struct recipe r;
    struct err err = {0};
    arena_init(&a, 256 << 20);
    if (recipe_read(&r, "recipe.yaml", (struct str){size ? (const char *)data : "", size}, &nowhere, NULL, &a, &err) == 0) {
        for (size_t i = 0; i < r.sweep.points && i < 3; i++) {
            struct recipe_point p;
            if (recipe_point_init(&p, &r, i, NULL, NULL, &a, &err))
                break;
            for (size_t k = 0; k < p.part_count; k++)
                if (!p.parts[k].endpoint && (!p.parts[k].process_count || !p.parts[k].processes[0].words[0]))
                    abort();
        }
    } else if (!err.text[0])
        abort();
    arena_deinit(&a);
    return 0;
}
