/* recipe_names.h: what a name in braces that has no value probably means. */
#ifndef RECIPE_RECIPE_NAMES_H
#define RECIPE_RECIPE_NAMES_H
#include "recipe/recipe_point.h"

/* What the texts of a role may name. */
struct recipe_name_scope {
    const struct recipe *r;
    const struct recipe_part *part; /* whose texts these are, as far as it is read */
    const struct recipe_values *values;
    const struct recipe_binding *parameters; /* of its service file */
    size_t parameter_count;
    struct arena *a;
};
/* Why the name is a mistake, in words: it is near one that has a value, or begins with that of a role. In the arena. NULL: it may stay as it is,
 * since shells and awk have braces, too. */
const char *recipe_name_mistake(const struct recipe_name_scope *s, struct str name);
#endif
