/* finish_names.c: what names and calls in expressions mean at the end of a reading. */
#include "benchmarks/finish.h"

/* Names and calls of expressions, in the scope of block run->block_now. */
static void name_value(void *context, struct str name, struct value *ret)
{
    struct ending *e = context;
    struct rules_run *run = e->run;
    for (size_t i = 0; i < e->derive_limit; i++)
        if (str_is(name, run->rules->derived[i].name)) {
            size_t limit = e->derive_limit;
            e->derive_limit = i; /* a derived name can use those before it */
            struct expr_names names = ending_names(e);
            *ret = expr_value(run->rules->derived[i].value, &names);
            e->derive_limit = limit;
            return;
        }
    *ret = (struct value){.kind = VALUE_NUMBER};
    if (str_is(name, "arguments"))
        ret->number = run->arguments;
    else if (str_is(name, "blocks"))
        ret->number = run->blocks;
    else if (str_is(name, "exit_status") && e->exit_code >= 0)
        ret->number = e->exit_code;
    else if (str_is(name, "signal"))
        ret->number = e->signal;
    else if (str_is(name, "version") && version_of_block(run, run->block_now)[0])
        *ret = (struct value){.kind = VALUE_TEXT, .text = str_of(version_of_block(run, run->block_now))};
    else {
        const struct value_seen *v = value_in(run, name, (int)run->block_now);
        *ret = v ? (struct value){.kind = VALUE_TEXT, .text = v->text} : (struct value){0};
    }
}

size_t samples_of(const struct rules_run *run, struct str name, unsigned block)
{
    size_t most = 0; /* of the readers that found it: the same thing printed twice counts once */
    for (const struct series *s = run->series; s; s = s->next)
        if (s->block == block && !(s->rule->of_run && run->blocks > 1) && str_eq(s->name, name) && s->n > most)
            most = s->n;
    return most;
}

/* In the block, or with `once` in all of them. */
static size_t rows_of(const struct rules_run *run, struct str name, unsigned block)
{
    size_t n = 0;
    unsigned from = run->once_now ? 0 : block, to = run->once_now ? blocks_of(run) : from + 1;
    for (unsigned i = 0; i < run->rules->readers; i++)
        if (str_is(name, run->rules->reader[i]->name)) {
            for (unsigned b = from; b < to; b++)
                n += row_counted(run, i, b, NULL);
            return n;
        }
    return 0;
}

size_t matches_of(const struct rules_run *run, const struct check *check, int block, const char **ret_line)
{
    size_t n = 0;
    unsigned from = block < 0 ? 0 : (unsigned)block, to = block < 0 ? blocks_of(run) : from + 1;
    for (unsigned b = from; b < to; b++)
        n += row_counted(run, check->bit, b, n ? NULL : ret_line);
    return n;
}

/* Evaluates a function of an expression: defined, value, rows or samples; any other one counts the
 * matches of a check. */
static void call_value(void *context, struct str function, const struct str *args, size_t n, struct value *ret)
{
    struct ending *e = context;
    struct rules_run *run = e->run;
    (void)n;
    *ret = (struct value){.kind = VALUE_NUMBER};
    if (str_is(function, "defined")) {
        struct value v = {0};
        name_value(e, args[0], &v);
        ret->number = v.kind != VALUE_UNDEFINED;
    } else if (str_is(function, "value"))
        *ret = metric_value_in(run, args[0], run->block_now);
    else if (str_is(function, "rows"))
        ret->number = (double)rows_of(run, args[0], run->block_now);
    else if (str_is(function, "samples"))
        ret->number = (double)samples_of(run, args[0], run->block_now);
    else
        for (size_t i = 0; i < run->rules->checks; i++)
            if (run->rules->check[i]->pattern && str_is(args[0], run->rules->check[i]->name))
                ret->number = (double)matches_of(run, run->rules->check[i], run->once_now ? -1 : (int)run->block_now, NULL);
}

struct expr_names ending_names(struct ending *e)
{
    return (struct expr_names){.name = name_value, .call = call_value, .context = e};
}

bool ending_holds(struct ending *e, const struct expr *when)
{
    struct expr_names names = ending_names(e);
    e->derive_limit = e->run->rules->deriveds;
    return !when || expr_truth(when, &names) == 1;
}
