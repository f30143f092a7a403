/* campaign_gate.c: is the run of a point valid? The conditions of the recipe and of its service files, on its metrics. */
#include "recipe/campaign.h"
#include "series/values.h"

struct gate_names {
    const struct recipe_values *values;
    const struct series_repetition *run;
    char unknown[100]; /* the first name that is not known */
};

static void gate_name(void *context, struct str name, struct value *ret)
{
    struct gate_names *g = context;
    const char *text = recipe_value_of(g->values, name);
    if (text) {
        *ret = (struct value){.kind = VALUE_TEXT, .text = str_of(text)};
        return;
    }
    for (const struct series_run_value *v = g->run->values; v; v = v->next) {
        char key[600];
        series_value_key(v, key, sizeof key);
        if (str_is(name, v->key) || str_is(name, key)) {
            *ret = (struct value){.kind = VALUE_NUMBER, .number = v->value};
            return;
        }
    }
    if (!g->unknown[0])
        snprintf(g->unknown, sizeof g->unknown, "%.*s", (int)(name.n > 90 ? 90 : name.n), name.p);
}

static void gate_call(void *context, struct str function, const struct str *args, size_t n, struct value *ret)
{
    struct gate_names g = *(struct gate_names *)context;
    struct value value = {0};
    (void)function;
    if (n)
        gate_name(&g, args[0], &value);
    *ret = (struct value){.kind = VALUE_NUMBER, .number = value.kind != VALUE_UNDEFINED};
}

/* The metric of the run that an unknown name probably means, and which others there are. */
static const char *describe_unknown(struct campaign *c, const struct gate_names *g)
{
    const char *nearest = NULL;
    unsigned least = 4;
    CLEANUP_BUF struct buf all;
    buf_init(&all, 600);
    for (const struct series_run_value *v = g->run->values; v; v = v->next) {
        unsigned far = str_distance(str_of(g->unknown), str_of(v->key));
        if (far < least)
            least = far, nearest = v->key;
        if (all.n < 300)
            buf_printf(&all, "%s%.60s", all.n ? ", " : "", v->key);
    }
    return nearest ? arena_printf(c->arena, "the run has no %s; did you mean %s?", g->unknown, nearest)
                   : arena_printf(c->arena, "the run has no %s; it has %s", g->unknown, all.n ? all.p : "no metrics");
}

int campaign_truth(struct campaign *c, const struct expr *condition, const struct recipe_values *values, const struct series_repetition *run,
                   const char **ret_unknown)
{
    struct gate_names g = {.values = values, .run = run};
    const struct expr_names names = {.name = gate_name, .call = gate_call, .context = &g};
    int truth = expr_truth(condition, &names);
    if (truth < 0)
        *ret_unknown = describe_unknown(c, &g);
    return truth;
}

const char *campaign_gate(struct campaign *c, const struct recipe_values *values, const struct series_repetition *run)
{
    const char *benchmark = c->repeat.plan.benchmark;
    bool llm = benchmark && strcmp(benchmark, "llmload") == 0;
    if (strcmp(run->verdict, "fail") == 0)
        return arena_printf(c->arena, "%.300s", run->reason);
    for (size_t i = 0; i < c->recipe->valid.count; i++) {
        const struct recipe_rule *rule = &c->recipe->valid.list[i];
        const char *unknown = "";
        if (rule->of_service && !llm)
            continue;
        int truth = campaign_truth(c, rule->expr, values, run, &unknown);
        if (truth == 1)
            continue;
        return truth == 0 ? arena_printf(c->arena, "not %s", rule->text)
                          : arena_printf(c->arena, "not known: %s (%s)", rule->text, unknown);
    }
    return NULL;
}
