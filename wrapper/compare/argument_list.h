/* argument_list.h: list the arguments of a command line that the rules do not explain. */
#ifndef COMPARE_ARGUMENT_LIST_H
#define COMPARE_ARGUMENT_LIST_H
#include "base/arena.h"
#include "base/opt.h"
#include "base/str.h"

struct rules;

/* The key of the options as they are written, in their order. */
#define ARGUMENT_ORDER "argument.order"

struct argument {
    const char
        *key; /* "argument.x" of the option -x or --x, "argument.1" of the first word that is no option, "argument.env.A" of a starter's */
    struct str value; /* in quotes if it is empty, could be read as several values, or has control characters; n 0: none */
    struct str written; /* the option as it was written, without its value: "-x", "--x", "--x="; p NULL: a starter's */
    size_t nth; /* position in the command line */
    bool ordered; /* its position counts */
};

struct argument_request {
    char *const *line; /* with starters, NULL-terminated */
    char *const *swept; /* the line of the sweep that made this run: words that differ from it are swept, and left out. NULL: none */
    const struct rules *rules; /* NULL: none */
    const struct opt_value *ignore; /* patterns of keys whose position does not count; NULL: none */
    struct arena *a; /* of the result */
};
/* The arguments sorted by key, those of one key in their order, and ARGUMENT_ORDER last: lists are equal only if the lines are equivalent. If the rules
 * have no table of options, the order of all arguments counts. Else only the order of opposed options (-O2 and -O3, --x and --no-x) and of those that
 * the rules join counts. 0; -1: out of memory. */
int argument_list_make(const struct argument_request *asked, struct argument **ret, size_t *ret_count);
/* Removes ARGUMENT_ORDER from the names of facts that differ (NULL-terminated) where they include
 * another argument: one that changes also changes the order. */
void argument_drop_order(const char **names);
/* Returns whether two values of ARGUMENT_ORDER also differ without the words of the named keys
 * (NULL-terminated). p NULL: a line without an order. */
bool argument_order_differs(struct str x, struct str y, const char *const *names);
#endif
