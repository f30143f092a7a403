/* load_slice.c: slices of outputs, and the readers and checks that are bound to one. */
#include "benchmarks/load.h"

int load_slices(const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"after", "until", "which", "open_end", NULL}, *const which[] = {"each", "first", "last", NULL};
    if (y && y->kind != YAML_MAP)
        return rules_complain(y, rules, err, "slices is a map {name: {after: PATTERN, until: PATTERN}}");
    for (const struct yaml *c = y ? y->child : NULL; c; c = c->next) {
        struct slice *s = &rules->slice[rules->slices];
        const struct yaml *after = yaml_get(c, "after"), *until = yaml_get(c, "until");
        if (rules->slices == SLICES_MAX)
            return rules_complain(c, rules, err, "%d slices are allowed at most", SLICES_MAX);
        if (load_keys(c, keys, rules, err))
            return -1;
        if (!after && !until)
            return rules_complain(c, rules, err,
                                  "a slice needs after, until, or both (patterns of the line before it and of the line behind it)");
        int choice = load_choice(c, "which", which, WHICH_EACH, rules, err);
        if (choice < 0 || load_flag(c, "open_end", &s->open_end, rules, err))
            return -1;
        if (!after && choice != WHICH_EACH)
            return rules_complain(c, rules, err, "which has no effect without after: there is one such slice");
        if (s->open_end && !until)
            return rules_complain(c, rules, err, "open_end has no effect without until: the end of the output ends the slice");
        s->name = c->key;
        s->which = (enum which)choice;
        rules->slices++; /* from here on rules_free ends it */
        if ((after && load_pattern(&s->after, after, rules, err)) || (until && load_pattern(&s->until, until, rules, err)))
            return -1;
    }
    return 0;
}

int load_slice(const struct yaml *map, int *ret, const struct rules *rules, struct err *err)
{
    const struct yaml *y = yaml_get(map, "slice");
    *ret = -1;
    if (!y)
        return 0;
    for (size_t i = 0; i < rules->slices && y->kind == YAML_SCALAR; i++)
        if (str_eq(y->text, rules->slice[i].name))
            *ret = (int)i;
    return *ret >= 0 ? 0 : rules_complain(y, rules, err, "there is no slice of this name (`slices` in the head names them)");
}

static bool is_of_run(const struct reader *r)
{
    for (size_t i = 0; i < r->params; i++)
        if (!r->param[i].of_run)
            return false;
    return r->metrics == 0 && !r->begins;
}

/* Tests that are dropped with their part of the output must be dropped with all that belongs to
 * them. */
int load_slices_check(struct rules *rules, struct err *err)
{
    for (size_t i = 0; i < rules->readers; i++) {
        const struct reader *r = rules->reader[i];
        if (r->slice < 0)
            continue;
        for (size_t k = 0; k < r->sets; k++)
            rules->slice[r->slice].vars |= 1u << r->set[k].var;
        if (!r->begins || rules->slice[r->slice].which != WHICH_LAST)
            continue;
        rules->slice[r->slice].begins = true;
        for (size_t k = 0; k < rules->readers; k++)
            if (rules->reader[k]->slice != r->slice && !is_of_run(rules->reader[k]))
                return rules_complain(
                    rules->reader[k]->at, rules, err,
                    "reader \"%s\" begins tests in a slice of which the last counts, so this reader must be bound to that "
                    "slice too (or have nothing but params with `scope: run`)",
                    r->name);
        for (size_t k = 0; k < rules->checks; k++)
            if (rules->check[k]->pattern && rules->check[k]->slice != r->slice && !rules->check[k]->once)
                return err_set(
                    err, ERR_INPUT,
                    "%s: the check \"%s\" must be bound to the slice of reader \"%s\", which begins tests, or be of the whole output (once)",
                    rules->path, rules->check[k]->reason, r->name);
    }
    return 0;
}
