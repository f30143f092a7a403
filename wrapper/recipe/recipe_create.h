/* recipe_create.h: write a first recipe from answers: of a terminal, or of a file. */
#ifndef RECIPE_RECIPE_CREATE_H
#define RECIPE_RECIPE_CREATE_H
#include "recipe/recipe.h"

#include <stdio.h>

/* Appends the recipe. answers: a YAML map (name: answer), checked against the questions, or NULL: the
 * questions are printed to `ask`, each with its default, and answers are read from `in`, a line each.
 * 0; -1 with err. */
int recipe_create(const struct yaml *answers, const char *file, FILE *in, FILE *ask, const struct recipe_places *places, struct arena *a,
                  struct buf *to, struct err *err);
#endif
