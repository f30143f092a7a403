/* filter_compiled.h: an expression after parsing: a list of comparisons that must all hold; private to this module. */
#ifndef FILTER_FILTER_COMPILED_H
#define FILTER_FILTER_COMPILED_H
#include "filter/filter.h"

enum filter_operator {
    FILTER_EQUAL,
    FILTER_UNEQUAL,
    FILTER_LESS,
    FILTER_LESS_EQUAL,
    FILTER_MORE,
    FILTER_MORE_EQUAL /* the last that numbers have */,
    FILTER_LIKE,
    FILTER_ILIKE,
    FILTER_IN,
    FILTER_NOT_IN,
    FILTER_NULL,
    FILTER_NOT_NULL
};
struct filter_item { /* of a list */
    struct str text;
    struct filter_item *next;
};
struct filter_clause {
    struct filter_key key;
    enum filter_operator op;
    struct str text; /* to compare a text with */
    double number; /* to compare a number with; of a time, too, unless is_integer */
    bool is_integer;
    int64_t integer;
    struct filter_item *list;
    struct filter_clause *next, *next_typed;
};
struct filter {
    struct filter_clause *clauses; /* the cheapest first */
    struct filter_clause *typed; /* the same, in the order of the expression */
    size_t count;
};
#endif
