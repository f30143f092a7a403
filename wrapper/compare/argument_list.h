/* argument_list.h: list what a command line says, apart from what its rules explain. */
#ifndef COMPARE_ARGUMENT_LIST_H
#define COMPARE_ARGUMENT_LIST_H
#include "base/arena.h"
#include "base/opt.h"
#include "base/str.h"

struct rules;

/* The key under which the written forms of the options, and their order, stand. */
#define ARGUMENT_ORDER "argument.order"

struct argument {
    const char
        *key; /* "argument.x" of the option -x or --x, "argument.1" of the first word that is no option, "argument.env.A" of a starter's */
    struct str value; /* in quotes where it is empty, looks like several, or has control characters; n 0: none */
    struct str written; /* the option as it was written, without its value: "-x", "--x", "--x="; p NULL: a starter's */
    size_t nth; /* in the command line */
    bool ordered; /* its place among the others counts */
};

struct argument_request {
    char *const *line; /* with starters, NULL-terminated */
    char *const *swept; /* the line of the sweep whose run it is: words that are not as there are the sweep's, and left out. NULL: none */
    const struct rules *rules; /* NULL: none */
    const struct opt_value *ignore; /* patterns of keys whose place in the order does not count; NULL: none */
    struct arena *a; /* of the result */
};
/* The arguments sorted by key, those of one key in their order, and ARGUMENT_ORDER last: two lists are equal only if the lines say the same. Without a
 * table of options in the rules the order of all arguments counts, else that of options such as -O2 and -O3, --x and --no-x, and of those that the
 * rules join. 0; -1: out of memory. */
int argument_list_make(const struct argument_request *asked, struct argument **ret, size_t *ret_count);
/* Removes ARGUMENT_ORDER from the names of facts that differ (NULL-terminated) where another argument is among them: its coming or going changes the order. */
void argument_drop_order(const char **names);
#endif
