/* filter_parse.c: compiles an expression: comparisons that AND joins. There is no nesting, so nothing recurses. */
#include "filter/filter_compiled.h"

#include "filter/filter_parts.h"

#include <string.h>

static const char *const operator_names[] = {
    [FILTER_EQUAL] = "=", [FILTER_UNEQUAL] = "!=",    [FILTER_LESS] = "<",       [FILTER_LESS_EQUAL] = "<=",
    [FILTER_MORE] = ">",  [FILTER_MORE_EQUAL] = ">=", [FILTER_LIKE] = "LIKE",    [FILTER_ILIKE] = "ILIKE",
    [FILTER_IN] = "IN",   [FILTER_NOT_IN] = "NOT IN", [FILTER_NULL] = "IS NULL", [FILTER_NOT_NULL] = "IS NOT NULL"};

static bool is_time(const struct filter_key *key)
{
    return key->kind == FILTER_ATTRIBUTE && (key->attribute == FILTER_START_TIME || key->attribute == FILTER_END_TIME);
}

static bool is_numeric(const struct filter_key *key)
{
    return key->kind == FILTER_METRIC || is_time(key);
}

static bool takes_list(const struct filter_key *key)
{
    return key->kind == FILTER_DATASET || key->kind == FILTER_ENVIRONMENT ||
           (key->kind == FILTER_ATTRIBUTE && key->attribute == FILTER_RUN_ID);
}

/* ---- operators ---- */

/* Returns the operator of = != < <= > >=; -1: none of them. */
static int scan_symbols(struct filter_scan *s, struct str *ret_typed)
{
    size_t from = s->at;
    while (s->at < s->text.n && strchr("<>=~!", s->text.p[s->at]))
        s->at++;
    *ret_typed = str_sub(s->text, from, s->at - from);
    for (int op = FILTER_EQUAL; op <= FILTER_MORE_EQUAL; op++)
        if (str_is(*ret_typed, operator_names[op]))
            return op;
    return -1;
}

static int scan_null(struct filter_scan *s)
{
    filter_scan_blanks(s);
    size_t at = s->at;
    bool negated = filter_scan_word(s, "not");
    if (negated && s->at < s->text.n && s->text.p[s->at] == ' ') /* one blank: MLflow compares with the text "NOT NULL" */
        s->at++;
    if (!filter_scan_word(s, "null"))
        return filter_scan_refuse(s, at, "expected NULL or NOT NULL");
    return negated ? FILTER_NOT_NULL : FILTER_NULL;
}

/* Returns the operator (enum filter_operator) at this place, or -1 with err. */
static int scan_operator(struct filter_scan *s)
{
    struct str typed;
    size_t at = s->at;
    int op = scan_symbols(s, &typed);
    if (op >= 0)
        return op;
    if (typed.n)
        return filter_scan_refuse(s, at, "expected = != < <= > >= LIKE ILIKE IN or IS NULL, got \"" STR_FMT "\"%s", STR_ARG(typed),
                                  str_is(typed, "==")   ? "; write one ="
                                  : str_is(typed, "<>") ? "; write !="
                                                        : "");
    if (filter_scan_word(s, "like"))
        return FILTER_LIKE;
    if (filter_scan_word(s, "ilike"))
        return FILTER_ILIKE;
    if (filter_scan_word(s, "in"))
        return FILTER_IN;
    if (filter_scan_word(s, "is"))
        return scan_null(s);
    if (filter_scan_word(s, "not")) {
        filter_scan_blanks(s);
        return filter_scan_word(s, "in") ? FILTER_NOT_IN : filter_scan_refuse(s, at, "expected NOT IN; MLflow has no other negation");
    }
    if (at < s->text.n && strchr("-/:+*%#", s->text.p[at]))
        return filter_scan_refuse(
            s, at, "expected a comparison; write a key with other characters than letters, digits, \"_\" and \".\" in backticks");
    return filter_scan_refuse(s, at, "expected a comparison: = != < <= > >= LIKE ILIKE IN or IS NULL");
}

/* Returns whether MLflow knows this comparison for the kind of fact. */
static bool operator_fits(const struct filter_key *key, enum filter_operator op)
{
    if (is_numeric(key))
        return op <= FILTER_MORE_EQUAL;
    if (op == FILTER_NULL || op == FILTER_NOT_NULL)
        return key->kind == FILTER_PARAM || key->kind == FILTER_TAG || key->kind == FILTER_ENVIRONMENT;
    if (op == FILTER_IN || op == FILTER_NOT_IN)
        return takes_list(key);
    return op == FILTER_EQUAL || op == FILTER_UNEQUAL || op == FILTER_LIKE || op == FILTER_ILIKE;
}

static int refuse_operator(const struct filter_scan *s, size_t at, const struct filter_key *key, enum filter_operator op)
{
    const char *name = operator_names[op];
    if (is_numeric(key))
        return filter_scan_refuse(s, at, "numbers have = != < <= > >=, got %s", name);
    if (op == FILTER_NULL || op == FILTER_NOT_NULL)
        return filter_scan_refuse(s, at, "%s is for params, tags and variables", name);
    if (op == FILTER_IN || op == FILTER_NOT_IN)
        return filter_scan_refuse(s, at, "%s is for run_id, datasets and variables", name);
    return filter_scan_refuse(s, at, "texts have = != LIKE ILIKE%s, got %s", takes_list(key) ? " IN" : "", name);
}

/* ---- values ---- */

static int scan_text(struct filter_scan *s, struct str *ret)
{
    size_t at = s->at;
    char quote = at < s->text.n ? s->text.p[at] : 0;
    if (quote != '\'' && quote != '"')
        return filter_scan_refuse(s, at, "expected a text in quotes, 'like this'");
    size_t end = filter_scan_quoted(s, at);
    if (!end)
        return filter_scan_refuse(s, at, "the quote %c is never closed", quote);
    ret->n = end - at - 2;
    ret->p = arena_dup(s->a, s->text.p + at + 1, ret->n);
    s->at = end;
    return ret->p ? 0 : err_memory(s->err, "the filter");
}

/* ('a', 'b'): MLflow's client reads a list as Python does, so that a backslash would be an escape. */
static int scan_list(struct filter_scan *s, struct filter_clause *c)
{
    struct filter_item **to = &c->list;
    filter_scan_blanks(s);
    if (filter_scan_peek(s) != '(')
        return filter_scan_refuse(s, s->at, "expected a list: ('a', 'b')");
    for (s->at++;;) {
        filter_scan_blanks(s);
        size_t at = s->at;
        if (c->list && filter_scan_peek(s) == ')')
            break;
        struct filter_item *item = ARENA_NEW(s->a, struct filter_item);
        if (!item || scan_text(s, &item->text) < 0)
            return item ? -1 : err_memory(s->err, "the filter");
        if (item->text.n && (memchr(item->text.p, '\\', item->text.n) || memchr(item->text.p, s->text.p[at], item->text.n)))
            return filter_scan_refuse(s, at, "a list has no texts with backslashes or quotes");
        *to = item;
        to = &item->next;
        filter_scan_blanks(s);
        if (filter_scan_peek(s) == ')')
            break;
        if (filter_scan_peek(s) != ',')
            return filter_scan_refuse(s, s->at, "expected \",\" or \")\"");
        s->at++;
    }
    s->at++;
    return 0;
}

/* Reads the value behind the operator, a number or a text as the key requires; IS NULL has none.
 * Returns -1 with err. */
static int scan_value(struct filter_scan *s, struct filter_clause *c)
{
    struct str number;
    if (c->op == FILTER_NULL || c->op == FILTER_NOT_NULL)
        return 0;
    if (c->op == FILTER_IN || c->op == FILTER_NOT_IN)
        return scan_list(s, c);
    filter_scan_blanks(s);
    if (!is_numeric(&c->key))
        return scan_text(s, &c->text);
    size_t at = s->at;
    if (filter_scan_number(s, &number, &c->is_integer) || !str_double(number, &c->number)) {
        char first = at < s->text.n ? s->text.p[at] : 0;
        return filter_scan_refuse(s, at, "expected a number%s",
                                  first == '\'' || first == '"' ? " without quotes"
                                  : first == '+'                ? " without a plus"
                                                                : "");
    }
    if (c->is_integer && !str_int(number, &c->integer)) /* as great as no time is */
        c->is_integer = false;
    return 0;
}

/* ---- complete filters ---- */

static int parse_clause(struct filter_scan *s, struct filter_clause *c)
{
    struct str raw;
    if (filter_scan_key(s, &c->key, &raw) < 0)
        return -1;
    filter_scan_blanks(s);
    size_t at = s->at;
    int op = scan_operator(s);
    if (op < 0)
        return -1;
    c->op = (enum filter_operator)op;
    if (!operator_fits(&c->key, c->op))
        return refuse_operator(s, at, &c->key, c->op);
    return scan_value(s, c);
}

/* Clauses of lower cost are evaluated first: attributes have been read with meta.yaml, datasets need several files, the environment is a long one. */
static unsigned clause_cost(const struct filter_clause *c)
{
    return c->key.kind == FILTER_ATTRIBUTE && c->key.attribute != FILTER_RUN_NAME ? 0 : c->key.kind >= FILTER_DATASET ? 2 : 1;
}

/* Inserts the clause behind those that cost no more to check, and at the end of the list in typed
 * order. */
static void filter_add_clause(struct filter *f, struct filter_clause *c)
{
    struct filter_clause **at = &f->clauses, **as_typed = &f->typed;
    while (*at && clause_cost(*at) <= clause_cost(c))
        at = &(*at)->next;
    c->next = *at;
    *at = c;
    while (*as_typed)
        as_typed = &(*as_typed)->next_typed;
    *as_typed = c;
    f->count++;
}

/* Reads comparisons with AND between them, up to CLAUSES_MAX. Returns -1 with err. */
static int parse_clauses(struct filter_scan *s, struct filter *f)
{
    enum { CLAUSES_MAX = 1000 };
    for (;;) {
        struct filter_clause *c = ARENA_NEW(s->a, struct filter_clause);
        if (!c)
            return err_memory(s->err, "the filter");
        filter_scan_blanks(s);
        size_t begin = s->at;
        if (filter_scan_word(s, "and"))
            return filter_scan_refuse(s, begin, "expected a comparison before AND");
        if (f->count == CLAUSES_MAX)
            return filter_scan_refuse(s, s->at, "expected at most %d comparisons", CLAUSES_MAX);
        if (parse_clause(s, c) < 0)
            return -1;
        filter_add_clause(f, c);
        filter_scan_blanks(s);
        if (s->at == s->text.n)
            return 0;
        size_t at = s->at;
        if (!filter_scan_word(s, "and"))
            return filter_scan_refuse(s, at,
                                      filter_scan_word(s, "or") ? "expected AND; the language has no OR" : "expected AND or the end");
    }
}

int filter_parse(const char *text, struct arena *a, const struct filter **ret, struct err *err)
{
    struct filter_scan s = {.text = str_of(text), .a = a, .option = "--filter", .err = err};
    *ret = NULL;
    if (!s.text.n)
        return 0;
    if (s.text.n > FILTER_TEXT_MAX)
        return err_set(err, ERR_USAGE, "--filter: expected at most %d bytes, got %zu", FILTER_TEXT_MAX, s.text.n);
    struct filter *f = ARENA_NEW(a, struct filter);
    if (!f)
        return err_memory(err, "the filter");
    if (parse_clauses(&s, f) < 0)
        return -1;
    *ret = f;
    return 0;
}

size_t filter_keys(const struct filter *f, struct arena *a, const struct filter_key **ret)
{
    size_t n = 0;
    struct filter_key *keys = f ? arena_get(a, f->count * sizeof *keys) : NULL;
    for (const struct filter_clause *c = keys ? f->typed : NULL; c; c = c->next_typed)
        keys[n++] = c->key;
    *ret = keys;
    return n;
}
