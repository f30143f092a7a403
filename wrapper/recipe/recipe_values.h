/* recipe_values.h: the values of a point by name: swept, then vars, with overrides; and texts in which
 * {NAME} stands for them. */
#ifndef RECIPE_RECIPE_VALUES_H
#define RECIPE_RECIPE_VALUES_H
#include "recipe/recipe.h"

struct recipe_binding {
    const char *name, *text;
};

/* Those of a point: the axes in their order, then the vars. */
struct recipe_values {
    struct recipe_binding *list;
    size_t count;
};

/* Is it a name that only a running point has (host, port, node, ROLE.url …)? */
bool recipe_is_reserved(const struct recipe *r, const char *name);
/* Is it the name of an axis or of a var? */
bool recipe_is_value(const struct recipe *r, struct str name);
/* Checks the names of vars: legal, none twice, none reserved. 0; -1 with err. */
int recipe_check_values(const struct recipe *r, struct err *err);
/* Computes the values of a point, in the arena. 0; -1 with ERR_INPUT at the expression that has no value. */
int recipe_values_init(struct recipe_values *ret, const struct recipe *r, size_t point, struct arena *a, struct err *err);
/* The text of the name; NULL: it has none. */
const char *recipe_value_of(const struct recipe_values *v, struct str name);

/* Finds what {NAME} stands for; NULL: it stays as it is written. */
typedef const char *recipe_lookup(void *context, struct str name);
/* text with each {NAME} replaced once, in the arena. {{NAME}} becomes {NAME}; other braces stay. NULL: out of memory, or longer than 1 MiB. */
char *recipe_expand_text(const char *text, recipe_lookup *find, void *context, struct arena *a);
/* The same of each word; {ROLE.urls} alone becomes a word for each address. */
char **recipe_expand_words(char *const *words, recipe_lookup *find, void *context, struct arena *a);
/* Sets the error after one of these returned NULL. what: whose text it was. Returns -1. */
int recipe_expand_fail(const struct arena *a, const char *what, struct err *err);
#endif
