/* expr.c: conditions of rule files: a recursive-descent parser and an evaluator over a small tree. */
#include "benchmarks/expr.h"

#include <ctype.h>

enum op {
    OP_NUMBER,
    OP_TEXT,
    OP_NAME,
    OP_CALL,
    OP_NOT,
    OP_NEGATE,
    OP_AND,
    OP_OR,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MIN,
    OP_MAX,
    OP_EITHER
};
enum { ARGS_MAX = 4, DEPTH_MAX = 50, TEXT_MAX = 2048 /* bounds the tree's depth too */ };

struct expr {
    enum op op;
    double number;
    struct str text; /* of a text, name or call */
    struct expr *a, *b;
    struct str arg[ARGS_MAX];
    size_t args;
};

struct parser {
    struct str text;
    size_t at;
    int depth;
    struct arena *arena;
    struct err *err;
    bool (*function_ok)(struct str function, size_t n);
};

static struct expr *parse_or(struct parser *p);

/* Sets the error "WHAT is expected at character N". Returns NULL, as the parser's functions do with
 * p->err set. */
static void *expr_complain_expected(struct parser *p, const char *what)
{
    err_set(p->err, ERR_INPUT, "%s is expected at character %zu of \"" STR_FMT "\"", what, p->at + 1, STR_ARG(p->text));
    return NULL;
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->text.n && isspace((unsigned char)p->text.p[p->at]))
        p->at++;
}

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Moves p->at behind blanks and the token. False: another text is there, and only the blanks are
 * behind. A token of letters must end where a name ends. */
static bool take_token(struct parser *p, const char *token)
{
    size_t n = strlen(token);
    skip_blanks(p);
    if (!str_starts(str_sub(p->text, p->at, p->text.n), token))
        return false;
    if (name_char(token[0]) && p->at + n < p->text.n && name_char(p->text.p[p->at + n]))
        return false; /* "order" is not "or" */
    p->at += n;
    return true;
}

/* Returns a node of the tree in p->arena. NULL with p->err: out of memory. */
static struct expr *expr_node_new(struct parser *p, enum op op, struct expr *a, struct expr *b)
{
    struct expr *e = ARENA_NEW(p->arena, struct expr);
    if (!e) {
        err_memory(p->err, "an expression");
        return NULL;
    }
    e->op = op;
    e->a = a;
    e->b = b;
    return e;
}

static struct str read_operand_name(struct parser *p)
{
    size_t from = p->at;
    while (p->at < p->text.n && name_char(p->text.p[p->at]))
        p->at++;
    return str_sub(p->text, from, p->at - from);
}

/* min(a, b), max(a, b), either(a, b): of values, not of names. */
static struct expr *parse_choice(struct parser *p, enum op op)
{
    struct expr *a = parse_or(p), *b = NULL;
    if (!a)
        return NULL;
    if (!take_token(p, ","))
        return expr_complain_expected(p, "\",\"");
    if (!(b = parse_or(p)))
        return NULL;
    return take_token(p, ")") ? expr_node_new(p, op, a, b) : expr_complain_expected(p, "\")\"");
}

/* Parses the arguments of a call up to ")", four at most; `function` is the name before "(". NULL
 * with p->err: the syntax is wrong, or there is no such function. */
static struct expr *parse_call(struct parser *p, struct str function)
{
    struct expr *e = expr_node_new(p, OP_CALL, NULL, NULL);
    if (!e)
        return NULL;
    e->text = arena_str(p->arena, function);
    while (!take_token(p, ")")) {
        if (e->args && !take_token(p, ","))
            return expr_complain_expected(p, "\",\" or \")\"");
        if (e->args == ARGS_MAX)
            return expr_complain_expected(p, "\")\" (four arguments at most)");
        skip_blanks(p);
        size_t from = p->at;
        while (p->at < p->text.n && !strchr(",)", p->text.p[p->at]))
            p->at++;
        struct str arg = str_trim(str_sub(p->text, from, p->at - from));
        if (!arg.n)
            return expr_complain_expected(p, "an argument");
        if (arg.n > 1 && arg.p[0] == '\'' && arg.p[arg.n - 1] == '\'')
            arg = str_sub(arg, 1, arg.n - 2);
        e->arg[e->args++] = arena_str(p->arena, arg);
    }
    if (!p->function_ok(e->text, e->args)) {
        err_set(
            p->err, ERR_INPUT,
            "there is no function " STR_FMT
            " with %zu argument%s (there are defined(NAME), rows(READER), samples(METRIC), value(METRIC), matches(CHECK), min(a, b), max(a, b), either(a, b))",
            STR_ARG(function), e->args, str_plural(e->args));
        return NULL;
    }
    return e;
}

/* Each parse_ function reads one level of the grammar from p->at on, and moves p->at behind it.
 * Returns the tree in p->arena. NULL with p->err: a syntax error, too deep, or out of memory. This
 * one: a number, text, name, call, or expression in brackets. */
static struct expr *parse_primary(struct parser *p)
{
    skip_blanks(p);
    if (p->at == p->text.n)
        return expr_complain_expected(p, "a value");
    char c = p->text.p[p->at];
    if (take_token(p, "(")) {
        struct expr *e = parse_or(p);
        return !e ? NULL : take_token(p, ")") ? e : expr_complain_expected(p, "\")\"");
    }
    if (c == '\'') {
        size_t from = ++p->at;
        while (p->at < p->text.n && p->text.p[p->at] != '\'')
            p->at++;
        if (p->at == p->text.n)
            return expr_complain_expected(p, "a closing quote");
        struct expr *e = expr_node_new(p, OP_TEXT, NULL, NULL);
        if (e)
            e->text = arena_str(p->arena, str_sub(p->text, from, p->at - from));
        p->at++;
        return e;
    }
    struct str w = read_operand_name(p);
    if (!w.n)
        return expr_complain_expected(p, "a value");
    double number;
    if (isdigit((unsigned char)c)) {
        if (!str_double(w, &number))
            return expr_complain_expected(p, "a number before this place");
        struct expr *e = expr_node_new(p, OP_NUMBER, NULL, NULL);
        if (e)
            e->number = number;
        return e;
    }
    if (take_token(p, "("))
        return str_is(w, "min")      ? parse_choice(p, OP_MIN)
               : str_is(w, "max")    ? parse_choice(p, OP_MAX)
               : str_is(w, "either") ? parse_choice(p, OP_EITHER)
                                     : parse_call(p, w);
    struct expr *e = expr_node_new(p, OP_NAME, NULL, NULL);
    if (e)
        e->text = arena_str(p->arena, w);
    return e;
}

static struct expr *parse_unary(struct parser *p)
{
    struct expr *e = NULL;
    if (++p->depth > DEPTH_MAX)
        return expr_complain_expected(p, "less nesting");
    if (take_token(p, "-")) {
        e = parse_unary(p);
        e = e ? expr_node_new(p, OP_NEGATE, e, NULL) : NULL;
    } else
        e = parse_primary(p);
    p->depth--;
    return e;
}

struct binary_operator {
    const char *token;
    enum op op;
};

/* One level of left-associative operators; `once` for comparisons, which do not chain. */
static struct expr *parse_level(struct parser *p, const struct binary_operator *ops, struct expr *(*inner)(struct parser *), bool once)
{
    struct expr *e = inner(p);
    while (e) {
        const struct binary_operator *l = ops;
        while (l->token && !take_token(p, l->token))
            l++;
        if (!l->token)
            return e;
        struct expr *right = inner(p);
        e = right ? expr_node_new(p, l->op, e, right) : NULL;
        if (once)
            return e;
    }
    return NULL;
}

static struct expr *parse_product(struct parser *p)
{
    static const struct binary_operator ops[] = {{"*", OP_MUL}, {"/", OP_DIV}, {NULL, 0}};
    return parse_level(p, ops, parse_unary, false);
}
static struct expr *parse_sum(struct parser *p)
{
    static const struct binary_operator ops[] = {{"+", OP_ADD}, {"-", OP_SUB}, {NULL, 0}};
    return parse_level(p, ops, parse_product, false);
}
static struct expr *parse_comparison(struct parser *p)
{
    static const struct binary_operator ops[] = {{"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE}, {">=", OP_GE},
                                                 {"<", OP_LT},  {">", OP_GT},  {NULL, 0}};
    return parse_level(p, ops, parse_sum, true);
}
static struct expr *parse_not(struct parser *p)
{
    struct expr *e;
    if (!take_token(p, "not"))
        return parse_comparison(p);
    if (++p->depth > DEPTH_MAX)
        return expr_complain_expected(p, "less nesting");
    e = parse_not(p);
    p->depth--;
    return e ? expr_node_new(p, OP_NOT, e, NULL) : NULL;
}
static struct expr *parse_and(struct parser *p)
{
    static const struct binary_operator ops[] = {{"and", OP_AND}, {NULL, 0}};
    return parse_level(p, ops, parse_not, false);
}
static struct expr *parse_or(struct parser *p)
{
    static const struct binary_operator ops[] = {{"or", OP_OR}, {NULL, 0}};
    if (++p->depth > DEPTH_MAX)
        return expr_complain_expected(p, "less nesting");
    struct expr *e = parse_level(p, ops, parse_and, false);
    p->depth--;
    return e;
}

int expr_new(struct expr **ret, struct str text, bool (*function_ok)(struct str function, size_t n), struct arena *a, struct err *err)
{
    struct parser p = {.text = text, .arena = a, .err = err, .function_ok = function_ok};
    if (text.n > TEXT_MAX)
        return err_set(err, ERR_INPUT, "an expression has at most %d characters", TEXT_MAX);
    struct expr *e = parse_or(&p);
    if (!e)
        return -1;
    skip_blanks(&p);
    if (p.at != text.n) {
        expr_complain_expected(&p, "an operator or the end");
        return -1;
    }
    if (a->failed) /* a text in the tree is empty */
        return err_memory(err, "an expression");
    *ret = e;
    return 0;
}

static int value_truth(const struct value *v)
{
    if (v->kind == VALUE_UNDEFINED)
        return -1;
    if (v->kind == VALUE_NUMBER)
        return v->number != 0;
    return v->text.n && !str_is(v->text, "false") && !str_is(v->text, "0");
}

static struct value number_value(double v)
{
    return (struct value){.kind = VALUE_NUMBER, .number = v};
}

/* Makes a text that is a number, true or false a number: params are texts, and expressions compare
 * them as numbers. */
static void as_number(struct value *v)
{
    double n;
    if (v->kind == VALUE_TEXT && (str_is(v->text, "true") || str_is(v->text, "false")))
        *v = number_value(str_is(v->text, "true"));
    else if (v->kind == VALUE_TEXT && str_double(v->text, &n))
        *v = number_value(n);
}

/* Returns the result; undefined where an operand is undefined, where a number is expected and one
 * is a text, and for a division by 0. */
static struct value apply_binary(enum op op, struct value a, struct value b)
{
    as_number(&a);
    as_number(&b);
    if (a.kind == VALUE_UNDEFINED || b.kind == VALUE_UNDEFINED)
        return (struct value){0};
    if (op == OP_EQ || op == OP_NE) {
        bool same = a.kind == b.kind && (a.kind == VALUE_NUMBER ? a.number == b.number : str_eq(a.text, b.text));
        return number_value(op == OP_EQ ? same : !same);
    }
    if (a.kind != VALUE_NUMBER || b.kind != VALUE_NUMBER)
        return (struct value){0};
    switch (op) {
    case OP_LT: return number_value(a.number < b.number);
    case OP_LE: return number_value(a.number <= b.number);
    case OP_GT: return number_value(a.number > b.number);
    case OP_GE: return number_value(a.number >= b.number);
    case OP_ADD: return number_value(a.number + b.number);
    case OP_SUB: return number_value(a.number - b.number);
    case OP_MIN: return number_value(a.number < b.number ? a.number : b.number);
    case OP_MAX: return number_value(a.number > b.number ? a.number : b.number);
    case OP_MUL: return number_value(a.number * b.number);
    default: return b.number == 0 ? (struct value){0} : number_value(a.number / b.number);
    }
}

/* Applies a binary operator. A text in quotes is equal to the same text alone: version 3.10 is not
 * '3.1'. */
static struct value compare_or_apply(const struct expr *e, struct value a, struct value b)
{
    bool quoted = e->a->op == OP_TEXT || e->b->op == OP_TEXT;
    if ((e->op == OP_EQ || e->op == OP_NE) && quoted && a.kind == VALUE_TEXT && b.kind == VALUE_TEXT)
        return number_value(str_eq(a.text, b.text) == (e->op == OP_EQ));
    return apply_binary(e->op, a, b);
}

struct value expr_value(const struct expr *e, const struct expr_names *names)
{
    struct value v = {0}, other;
    switch (e->op) {
    case OP_NUMBER: return number_value(e->number);
    case OP_TEXT: return (struct value){.kind = VALUE_TEXT, .text = e->text};
    case OP_NAME: names->name(names->context, e->text, &v); return v;
    case OP_CALL: names->call(names->context, e->text, e->arg, e->args, &v); return v;
    case OP_NOT: v = expr_value(e->a, names); return number_value(value_truth(&v) != 1);
    case OP_NEGATE: return apply_binary(OP_SUB, number_value(0), expr_value(e->a, names));
    case OP_EITHER: v = expr_value(e->a, names); return v.kind == VALUE_UNDEFINED ? expr_value(e->b, names) : v;
    case OP_AND:
    case OP_OR:
        v = expr_value(e->a, names);
        other = expr_value(e->b, names);
        return number_value(e->op == OP_AND ? value_truth(&v) == 1 && value_truth(&other) == 1
                                            : value_truth(&v) == 1 || value_truth(&other) == 1);
    default: return compare_or_apply(e, expr_value(e->a, names), expr_value(e->b, names));
    }
}

int expr_truth(const struct expr *e, const struct expr_names *names)
{
    struct value v = expr_value(e, names);
    return value_truth(&v);
}
