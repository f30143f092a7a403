/* expr.h: conditions of rule files: numbers, 'texts', names (params), calls, min(a, b), max(a, b), + - * / == != < <= > >= and or not, parentheses.
 *
 * What is not known is undefined; undefined spreads through arithmetic and comparison, counts as false in `and or not`,
 * and can be tested with defined(NAME). */
#ifndef BENCHMARKS_EXPR_H
#define BENCHMARKS_EXPR_H
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum value_kind { VALUE_UNDEFINED, VALUE_NUMBER, VALUE_TEXT };
struct value {
    enum value_kind kind;
    double number;
    struct str text;
};

struct expr; /* lives in the arena it was compiled into */

struct expr_names {
    /* Sets *ret to the value of a name; leaves it undefined if there is none. */
    void (*name)(void *context, struct str name, struct value *ret);
    /* Sets *ret to the value of a call: the function and its n arguments as written. */
    void (*call)(void *context, struct str function, const struct str *args, size_t n, struct value *ret);
    void *context;
};

/* Compiles the text into the arena. `function_ok` returns whether a function exists with that many
 * arguments. 0 with *ret; -1: ERR_INPUT with what was expected at which character, or out of
 * memory. */
int expr_new(struct expr **ret, struct str text, bool (*function_ok)(struct str function, size_t n), struct arena *a, struct err *err);
/* Returns the value, undefined where a name has none. */
struct value expr_value(const struct expr *e, const struct expr_names *names);
/* Returns 1: true, 0: false, -1: undefined. */
int expr_truth(const struct expr *e, const struct expr_names *names);
#endif
