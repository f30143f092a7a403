/* filter_eval.c: evaluates a compiled expression on one run, as MLflow's file store does. A fact that is missing makes every comparison false but IS NULL. */
#include "filter/filter_compiled.h"

#include "filter/filter_parts.h"
#include <math.h>

static bool holds_of_order(enum filter_operator op, int order)
{
    switch (op) {
    case FILTER_EQUAL: return order == 0;
    case FILTER_UNEQUAL: return order != 0;
    case FILTER_LESS: return order < 0;
    case FILTER_LESS_EQUAL: return order <= 0;
    case FILTER_MORE: return order > 0;
    default: return order >= 0;
    }
}

/* Compares values, NaN included: it differs from everything. */
static bool holds_of_number(enum filter_operator op, double x, double y)
{
    if (x != x || y != y)
        return op == FILTER_UNEQUAL;
    return holds_of_order(op, x < y ? -1 : x > y);
}

/* Python compares an integer with a double exactly. */
static bool holds_of_time(const struct filter_clause *c, int64_t ms)
{
    if (c->is_integer)
        return holds_of_order(c->op, ms < c->integer ? -1 : ms > c->integer);
    if (fabs(c->number) >= 0x1p63) /* beyond every time; -2^63 itself is before all of them, too */
        return holds_of_order(c->op, c->number > 0 ? -1 : 1);
    int64_t whole = (int64_t)c->number;
    double rest = c->number - (double)whole;
    return holds_of_order(c->op, ms != whole ? (ms < whole ? -1 : 1) : rest > 0 ? -1 : rest < 0);
}

static bool is_in_list(const struct filter_clause *c, struct str text)
{
    for (const struct filter_item *i = c->list; i; i = i->next)
        if (str_eq(i->text, text))
            return true;
    return false;
}

/* Called for a text of the run: returns whether it meets the clause, by the clause's operator. */
static bool holds_of_text(const void *context, struct str text)
{
    const struct filter_clause *c = context;
    switch (c->op) {
    case FILTER_EQUAL: return str_eq(text, c->text);
    case FILTER_UNEQUAL: return !str_eq(text, c->text);
    case FILTER_LIKE:
    case FILTER_ILIKE: return filter_like(text, c->text, c->op == FILTER_ILIKE);
    case FILTER_IN:
    case FILTER_NOT_IN: return is_in_list(c, text) == (c->op == FILTER_IN);
    default: return false;
    }
}

/* Returns whether the run meets one clause. A missing value meets no comparison. `text` is
 * overwritten. *ret_problem: the run cannot be read. */
static bool clause_holds(const struct filter_clause *c, const struct folder *tree, const struct tree_run *run, struct buf *text,
                         struct arena *a, const char **ret_problem)
{
    const char *problem = NULL;
    if (c->key.kind == FILTER_DATASET)
        return filter_dataset_any(c->key.name, tree, run, a, holds_of_text, c, ret_problem);
    struct filter_value v = filter_value_read(&c->key, tree, run, text, a, &problem);
    if (problem) {
        *ret_problem = problem;
        return false;
    }
    if (c->op == FILTER_NULL || c->op == FILTER_NOT_NULL)
        return (v.is == FILTER_MISSING) == (c->op == FILTER_NULL);
    if (v.is == FILTER_MISSING)
        return false;
    if (v.is == FILTER_NUMBER)
        return holds_of_number(c->op, v.number, c->number);
    return v.is == FILTER_INTEGER ? holds_of_time(c, v.integer) : holds_of_text(c, v.text);
}

bool filter_holds(const struct filter *f, const struct folder *tree, const struct tree_run *run, struct arena *a, const char **ret_problem)
{
    enum { TEXT_MAX = (256 << 20) + (1 << 20) };
    CLEANUP_BUF struct buf text;
    bool holds = true;
    buf_init(&text, TEXT_MAX);
    for (const struct filter_clause *c = f ? f->clauses : NULL; c && holds; c = c->next)
        holds = clause_holds(c, tree, run, &text, a, ret_problem);
    return holds;
}
