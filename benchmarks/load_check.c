/* load_check.c: what a good run must show: checks, required metrics, names for expressions. */
#include "benchmarks/load.h"

int load_check(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name",   "must",   "must_not", "expect", "file", "when", "severity",
                                       "reason", "source", "slice",    "once",   "each", NULL};
    static const char *const severities[] = {"fail", "warn", NULL};
    static const char *const kinds[] = {"must", "must_not", "expect", "file"};
    struct check *c = ARENA_NEW(&rules->arena, struct check);
    const struct yaml *what = NULL;
    (void)unused;
    if (!c)
        return load_no_memory(rules, err);
    if (load_keys(y, keys, rules, err))
        return -1;
    rules->check[rules->checks++] = c;
    for (int i = 0; i < 4; i++) {
        const struct yaml *here = yaml_get(y, kinds[i]);
        if (here && what)
            return rules_complain(here, rules, err, "a check has one of must, must_not, expect, file");
        if (here) {
            what = here;
            c->kind = (enum check_kind)i;
        }
    }
    if (!what)
        return rules_complain(y, rules, err, "a check needs must, must_not, expect or file");
    int severity = load_choice(y, "severity", severities, 0, rules, err);
    if (severity < 0 || load_flag(y, "once", &c->once, rules, err) || load_source(yaml_get(y, "source"), &c->sources, rules, err) ||
        load_slice(y, &c->slice, rules, err) || load_expr(&c->when, yaml_get(y, "when"), rules, err) ||
        (c->kind == CHECK_EXPECT ? load_expr(&c->expect, what, rules, err)
         : c->kind == CHECK_FILE ? load_file(what, &c->file, rules, err)
                                 : load_pattern(&c->pattern, what, rules, err)))
        return -1;
    c->once = c->once || c->kind == CHECK_FILE;
    c->warn = severity == 1;
    c->name = yaml_text(y, "name", "").p;
    c->reason = yaml_text(y, "reason", "").p;
    if (!c->reason[0])
        return rules_complain(y, rules, err, "a check needs a reason (what it means when it does not hold)");
    return 0;
}

/* Loads one item of `required`, and adds it. unused: NULL. -1 with err, which names file and line.
 */
int load_required(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"metric", "when", "each", NULL};
    struct required *q = &rules->required[rules->requireds];
    (void)unused;
    if (load_keys(y, keys, rules, err))
        return -1;
    q->metric = yaml_text(y, "metric", "").p;
    if (!q->metric[0])
        return rules_complain(y, rules, err, "metric (a name without unit) is missing");
    rules->requireds++;
    return load_expr(&q->when, yaml_get(y, "when"), rules, err);
}

/* Loads one item of `derive`, and adds it. unused: NULL. -1 with err, which names file and line. */
int load_derived(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name", "value", "each", NULL};
    struct derived *d = &rules->derived[rules->deriveds];
    (void)unused;
    if (load_keys(y, keys, rules, err))
        return -1;
    d->name = yaml_text(y, "name", "").p;
    if (!d->name[0] || !yaml_get(y, "value"))
        return rules_complain(y, rules, err, "name and value (an expression) are needed");
    if (load_expr(&d->value, yaml_get(y, "value"), rules, err))
        return -1;
    rules->deriveds++; /* only now: a derived name may use those before it, so there are no circles */
    return 0;
}
