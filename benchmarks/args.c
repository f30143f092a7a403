/* args.c: params from the program's own arguments and environment, by the table of its options in the rule file. */
#include "benchmarks/engine.h"
#include "benchmarks/interpreter.h"
#include "mlruns-format/key.h"

#include <stdio.h>

static const struct option_rule *option_of(const struct rules *rules, struct str flag)
{
    for (size_t i = 0; i < rules->options; i++)
        for (size_t k = 0; k < rules->option[i].flags; k++)
            if (str_eq(rules->option[i].flag[k], flag))
                return &rules->option[i];
    return NULL;
}

const char *rules_param_of(const struct rules *rules, struct str name)
{
    static const char *const dashes[] = {"", "--", "-"};
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++) {
        char flag[KEY_MAX];
        int n = snprintf(flag, sizeof flag, "%s" STR_FMT, dashes[i], STR_ARG(name));
        const struct option_rule *o = n < (int)sizeof flag ? option_of(rules, str_of(flag)) : NULL;
        if (o)
            return o->hidden ? NULL : o->param;
    }
    return NULL;
}

static void option_note(struct rules_run *run, const struct option_rule *o)
{
    size_t i = (size_t)(o - run->rules->option);
    run->option_used[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Adds the value of the option's param. A value that joins is appended to the one before, with a
 * comma. */
static void option_see(struct rules_run *run, const struct option_rule *o, struct str value)
{
    char joined[VALUE_MAX];
    if (!o->param)
        return;
    if (o->join)
        for (const struct value_seen *v = run->values; v; v = v->next)
            if (v->rank == -1 && str_is(v->key, o->param) && !str_eq(v->text, value)) {
                snprintf(joined, sizeof(joined), STR_FMT "," STR_FMT, STR_ARG(v->text), STR_ARG(value));
                value = str_of(joined);
                break;
            }
    value_see(run, str_of(o->param), value, o->type, "arguments", -1, -1, o->hidden, 0);
}

/* A repeated flag counts: -v -v is 2. */
static void count_see(struct rules_run *run, const struct option_rule *o, size_t more)
{
    char text[24];
    int64_t n = 0;
    for (const struct value_seen *v = run->values; v && o->param; v = v->next)
        if (v->rank == -1 && str_is(v->key, o->param))
            str_int(v->text, &n);
    snprintf(text, sizeof(text), "%lld", (long long)n + (long long)more);
    option_see(run, o, str_of(text));
}

/* "checkRead=1,GPUid=2": directives are options written without dashes in the table. */
static void directives_see(struct rules_run *run, struct str text)
{
    while (text.p) {
        struct str value = str_cut(&text, ','), name = str_cut(&value, '=');
        const struct option_rule *o = option_of(run->rules, str_trim(name));
        if (!o || !value.p)
            continue;
        option_note(run, o);
        option_see(run, o, str_trim(value));
    }
}

/* Records an option of the program with its value, as the option's kind requires. Sets run->joined
 * for the words of the argument. */
static void option_record_value(struct rules_run *run, const struct option_rule *o, struct str value)
{
    option_note(run, o);
    run->joined = o->join ? o->param : NULL;
    if (o->kind == OPTION_DIRECTIVES)
        directives_see(run, value);
    else if (o->kind == OPTION_FLAG)
        option_see(run, o, o->value);
    else if (o->kind == OPTION_COUNT)
        count_see(run, o, 1);
    else
        option_see(run, o, value);
}

static bool wants_value(const struct option_rule *o)
{
    return (o->kind == OPTION_VALUE || o->kind == OPTION_DIRECTIVES) && !o->optional;
}

struct operands {
    size_t next;
    bool unknown; /* the option before is not in the table: this word could be its value */
    bool lost; /* which words are operands is not known any more */
    const struct option_rule *words; /* the option before, if its value is all words up to the next option */
};

/* Records an option --name, --name=value or --name value of the program, where the rules know it.
 * Returns whether `next` (NULL: none) was its value. */
static bool long_option(struct rules_run *run, struct str arg, const char *next, struct operands *operands)
{
    struct str value = arg, flag = str_cut(&value, '=');
    const struct option_rule *o = option_of(run->rules, flag);
    operands->unknown = !o && !value.p;
    operands->words = o && o->words && !value.p ? o : NULL;
    run->unexplained = !o || o->input;
    if (!o)
        return false;
    if (value.p) {
        option_record_value(run, o, value);
        return false;
    }
    if (!wants_value(o)) {
        option_record_value(run, o, o->value);
        return false;
    }
    if (next)
        option_record_value(run, o, str_of(next));
    return next != NULL;
}

/* -wrC, -b 1m, -b1m, -b=1m; one whose value is optional has it behind "=" alone. Returns whether the next argument was used. */
static bool short_options(struct rules_run *run, struct str arg, const char *next, struct operands *operands)
{
    for (size_t i = 1; i < arg.n; i++) {
        char flag[3] = {'-', arg.p[i], 0};
        const struct option_rule *o = option_of(run->rules, str_of(flag));
        operands->unknown = !o;
        run->unexplained = run->unexplained || !o || o->input;
        if (!o)
            return false; /* what follows it could be its value */
        operands->words = o->words && i + 1 == arg.n ? o : NULL;
        struct str value = str_sub(arg, i + 1, arg.n);
        bool equals = value.n && value.p[0] == '=';
        if (!wants_value(o) && !(o->optional && equals)) {
            option_record_value(run, o, o->value);
            continue;
        }
        if (equals)
            value = str_sub(value, 1, value.n);
        if (value.n || !next || o->optional) {
            if (value.n)
                option_record_value(run, o, value);
            return false;
        }
        option_record_value(run, o, str_of(next));
        return true;
    }
    return false;
}

/* Stores an operand as the next param of the rules' list `operands` that no option has set:
 * sysbench had --test=cpu before the name became an operand. More operands than params make the
 * command line unexplained. */
static void operand_take(struct rules_run *run, size_t *next, struct str arg)
{
    for (const struct value_seen *v = run->values; v && *next < run->rules->operands;) {
        bool told = v->rank == -1 && str_is(v->key, run->rules->operand[*next]);
        *next += told;
        v = told ? run->values : v->next;
    }
    run->unexplained = *next >= run->rules->operands;
    if (*next < run->rules->operands)
        value_see(run, str_of(run->rules->operand[(*next)++]), arg, PARAM_TEXT, "arguments", -1, -1, false, 0);
}

/* The argument argv[i]; the words that it is. */
static size_t take_argument(struct rules_run *run, char *const *argv, size_t i, struct operands *operands)
{
    struct str arg = str_of(argv[i]);
    run->unexplained = false;
    run->joined = NULL;
    if (arg.n < 2 || arg.p[0] != '-') {
        if (operands->words) {
            option_record_value(run, operands->words, arg);
            run->unexplained = operands->words->input;
            return 1;
        }
        struct str rest = arg, name = str_cut(&rest, '='); /* name=value operands (dd, …) */
        const struct option_rule *o = rest.p ? option_of(run->rules, name) : NULL;
        /* "--rps 1000 set": with an option that the table lacks, 1000 or set could be the first operand. */
        operands->lost = operands->lost || (!o && operands->unknown);
        if (o) {
            option_record_value(run, o, rest);
            run->unexplained = o->input;
        } else if (operands->lost)
            run->unexplained = true;
        else
            operand_take(run, &operands->next, arg);
        operands->unknown = false;
        return 1;
    }
    bool is_long = arg.p[1] == '-' || (run->rules->single_dash_long && arg.n > 2);
    operands->unknown = false;
    operands->words = NULL;
    return (is_long ? long_option(run, arg, argv[i + 1], operands) : short_options(run, arg, argv[i + 1], operands)) ? 2 : 1;
}

void args_take(struct rules_run *run, char *const *argv)
{
    struct operands operands = {0};
    argv = interpreter_script(argv);
    run->arguments = argv[0] != NULL;
    for (size_t i = 1; argv[0] && argv[i] && strcmp(argv[i], "--") != 0;)
        i += take_argument(run, argv, i, &operands);
}

bool rules_has_options(const struct rules *rules)
{
    return rules->options > 0;
}

void rules_explain(const struct rules *rules, char *const *argv, bool *explained, const char **joined)
{
    struct rules_run *run;
    struct operands operands = {0};
    if (rules_begin(&run, rules, NULL, NULL, NULL))
        return;
    explained += interpreter_script(argv) - argv;
    joined += interpreter_script(argv) - argv;
    argv = interpreter_script(argv);
    for (size_t i = 1, n; argv[0] && argv[i] && strcmp(argv[i], "--") != 0; i += n) {
        n = take_argument(run, argv, i, &operands);
        joined[i] = run->unexplained ? NULL : run->joined;
        for (size_t k = i; k < i + n; k++)
            explained[k] = !run->unexplained;
    }
    rules_drop(run);
}

/* Returns the value that the arguments have for a param; NULL: none. */
static const char *argument_of(const struct rules *rules, struct str param, char *const *argv, struct arena *a)
{
    struct rules_run *run;
    const char *text = NULL;
    if (rules_begin(&run, rules, argv, NULL, NULL))
        return NULL;
    for (const struct value_seen *v = run->values; v; v = v->next)
        if (v->rank == -1 && str_eq(v->key, param))
            text = arena_dup(a, v->text.p, v->text.n);
    rules_drop(run);
    return text;
}

const char *rules_file_path(const struct rules *rules, size_t i, char *const *argv, struct arena *a)
{
    const char *pattern = rules_file(rules, i);
    if (rules_file_is_logged(rules, i))
        return NULL;
    if (!pattern || pattern[0] != '{')
        return pattern;
    return argument_of(rules, str_sub(str_of(pattern), 1, strlen(pattern) - 2), argv, a);
}

const char *rules_file_kept(const struct rules *rules, size_t i, char *const *argv, struct arena *a)
{
    const char *path = rules_file_is_logged(rules, i) ? rules_file(rules, i) : rules_file_path(rules, i, argv, a);
    return path ? str_base_name(path) : NULL;
}

const char *rules_input(const struct rules *rules, size_t *i, char *const *argv, struct arena *a)
{
    while (argv && *i < rules->options) {
        const struct option_rule *o = &rules->option[(*i)++];
        const char *path = o->keep ? argument_of(rules, str_of(o->param), argv, a) : NULL;
        if (path)
            return path;
    }
    return NULL;
}

void environment_take(struct rules_run *run, char *const *env)
{
    const struct rules *rules = run->rules;
    for (size_t i = 0; env[i]; i++)
        for (size_t k = 0; k < rules->environments; k++) {
            const struct environment_rule *e = &rules->environment[k];
            struct str value = str_of(env[i]), name = str_cut(&value, '=');
            bool prefix = str_ends(e->name, "*");
            struct str head = str_sub(e->name, 0, e->name.n - (prefix ? 1 : 0));
            if (!value.p || (prefix ? name.n <= head.n || memcmp(name.p, head.p, head.n) : !str_eq(name, head)))
                continue;
            struct buf key;
            buf_init(&key, NAME_MAX_BYTES);
            buf_puts(&key, e->param);
            if (prefix) {
                buf_putc(&key, '.');
                key_segment(&key, str_sub(name, head.n, name.n));
            }
            if (!key.failed)
                value_see(run, buf_text(&key), value, PARAM_TEXT, "environment", -2, -1, false, 0);
            buf_deinit(&key);
        }
}

/* Returns the rule of the first option that sets this param; NULL: none does. */
static const struct option_rule *option_giving(const struct rules *rules, const char *param)
{
    for (size_t i = 0; i < rules->options; i++)
        if (rules->option[i].param && strcmp(rules->option[i].param, param) == 0)
            return &rules->option[i];
    return NULL;
}

void rules_argument(struct rules_run *run, const char *param, const char *value)
{
    const struct option_rule *o = option_giving(run->rules, param);
    run->arguments = true;
    if (o) {
        option_note(run, o);
        value_see(run, str_of(param), str_of(value), o->type, "arguments", -1, -1, o->hidden, 0);
    } else
        value_see(run, str_of(param), str_of(value), PARAM_TEXT, "arguments", -1, -1, false, 0);
}

void rules_argument_printed(struct rules_run *run, const char *param, const char *value)
{
    const struct option_rule *o = option_giving(run->rules, param);
    if (o)
        value_see(run, str_of(param), str_of(value), o->type, "arguments", -1, -1, o->hidden, 0);
}
