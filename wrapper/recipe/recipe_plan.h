/* recipe_plan.h: print what a recipe would do: points, nodes, commands, the batch script. Nothing is started. */
#ifndef RECIPE_RECIPE_PLAN_H
#define RECIPE_RECIPE_PLAN_H
#include "base/screen.h"
#include "recipe/recipe_point.h"

struct recipe_planned {
    const struct recipe *recipe;
    struct recipe_point *points; /* of the sweep, by index */
    size_t *order; /* in which they are measured */
    size_t count, nodes; /* nodes: the most that a point needs */
    size_t starts; /* how often services start */
};

/* Resolves all points. 0; -1 with err. */
int recipe_planned_init(struct recipe_planned *ret, const struct recipe *r, struct arena *a, struct err *err);
/* For people: roles and commands of the first point, then a table of points. all: the commands of every
 * point. 0; -1: out of memory. */
int recipe_plan_print(const struct recipe_planned *p, bool all, struct arena *a, FILE *out);
/* One JSON document; script: the batch script. */
void recipe_plan_json(const struct recipe_planned *p, const char *script, struct buf *to);
#endif
