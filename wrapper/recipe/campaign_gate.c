/* campaign_gate.c: is the run of a point valid? The conditions of the recipe and of its service files, on its metrics,
 * and those of `gate`: the load was reached, no heat, no other job. */
#include "recipe/campaign_monitor.h"
#include "series/figures.h"
#include "series/values.h"

#include <math.h>

struct gate_names {
    struct campaign *c;
    const struct recipe_values *values;
    const struct series_repetition *run;
    char unknown[100]; /* the first name that is not known */
};

/* Finds a name of a condition: first among the values of the point, then the metrics of the run,
 * then "custom.NAME", the mean of that series during the run. Otherwise notes the first unknown
 * name in g->unknown and leaves *ret as it was. */
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
    if (str_starts(name, "custom.")) {
        char series[200];
        snprintf(series, sizeof series, "%.*s", (int)(name.n - 7 < 199 ? name.n - 7 : 199), name.p + 7);
        double mean = campaign_custom_mean(g->c, series, g->run->start_ms, g->run->end_ms);
        if (!isnan(mean)) {
            *ret = (struct value){.kind = VALUE_NUMBER, .number = mean};
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
    size_t more = 0;
    CLEANUP_BUF struct buf all;
    buf_init(&all, 600);
    for (const struct series_run_value *v = g->run->values; v; v = v->next) {
        unsigned far = str_distance(str_of(g->unknown), str_of(v->key));
        if (far < least)
            least = far, nearest = v->key;
        if (all.n < 300)
            buf_printf(&all, "%s%.60s", all.n ? ", " : "", v->key);
        else
            more++;
    }
    if (more)
        buf_printf(&all, " and %zu more", more);
    return nearest ? arena_printf(c->arena, "the run has no %s; did you mean %s?", g->unknown, nearest)
                   : arena_printf(c->arena, "the run has no %s; it has %s", g->unknown, all.n ? all.p : "no metrics");
}

int campaign_truth(struct campaign *c, const struct expr *condition, const struct recipe_values *values,
                   const struct series_repetition *run, const char **ret_unknown)
{
    struct gate_names g = {.c = c, .values = values, .run = run};
    const struct expr_names names = {.name = gate_name, .call = gate_call, .context = &g};
    int truth = expr_truth(condition, &names);
    if (truth < 0)
        *ret_unknown = describe_unknown(c, &g);
    return truth;
}

/* ---- what no metric of the program shows ---- */

static bool is_gate_on(const struct campaign *c, const char *key)
{
    bool on = true;
    yaml_bool(yaml_get(yaml_get(c->recipe->root, "gate"), key), &on);
    return on;
}

void campaign_gate_begin(struct campaign *c)
{
    c->is_shared = c->hosts.is_slurm && is_gate_on(c, "other_jobs") && campaign_slurm_other_jobs(c) == 1;
}

static const char *check_offered_load(struct campaign *c, const struct series_repetition *run)
{
    const struct series_run_value *offered = series_value_of(run, "requests.offered_op_per_s"),
                                  *achieved = series_value_of(run, "requests.achieved_op_per_s");
    double least = 0.95;
    str_double(str_of(recipe_scalar(c->recipe, yaml_get(c->recipe->root, "gate"), "load", "0.95")), &least);
    return offered && achieved && achieved->value < least * offered->value
               ? arena_printf(c->arena, "the load was not reached: %.4g of %.4g requests/s were sent", achieved->value, offered->value)
               : NULL;
}

static const char *check_surroundings(struct campaign *c, const struct series_repetition *run)
{
    if (is_gate_on(c, "throttling")) {
        c->heat_unknown += run->throttled < 0;
        if (run->throttled > 0)
            return arena_printf(c->arena, "the node slowed down for heat (%g times)", run->throttled);
    }
    if (c->hosts.is_slurm && is_gate_on(c, "other_jobs") && (c->is_shared || campaign_slurm_other_jobs(c) == 1))
        return "another job ran on a node of the campaign (gate.other_jobs)";
    return NULL;
}

static bool is_llmload(const struct campaign *c)
{
    const char *benchmark = c->repeat.plan.benchmark;
    return benchmark && strcmp(benchmark, "llmload") == 0;
}

struct condition_results {
    const char *first; /* that does not hold or is not known, in words; NULL: all hold */
    const char *broken; /* the first that does not hold; NULL: none */
    size_t known;
};

/* Evaluates the conditions of the recipe on a run; those of service files only where the client is
 * llmload. The words in the result are in the campaign's arena. */
static struct condition_results check_conditions(struct campaign *c, const struct recipe_values *values,
                                                 const struct series_repetition *run)
{
    struct condition_results r = {0};
    for (size_t i = 0; i < c->recipe->valid.count; i++) {
        const struct recipe_rule *rule = &c->recipe->valid.list[i];
        const char *unknown = "", *words = NULL;
        if (rule->of_service && !is_llmload(c))
            continue;
        int truth = campaign_truth(c, rule->expr, values, run, &unknown);
        r.known += truth >= 0;
        if (truth == 0)
            words = arena_printf(c->arena, "not %s", rule->text);
        else if (truth < 0)
            words = arena_printf(c->arena, "not known: %s (%s)", rule->text, unknown);
        r.first = r.first ? r.first : words;
        r.broken = r.broken || truth ? r.broken : words;
    }
    return r;
}

/* For a service without conditions: llmload has counted no answer, or none with a token. NULL: it has
 * counted such answers, or its counts are not known. */
static const char *reason_unanswered(const struct series_repetition *run)
{
    const struct series_run_value *completed = series_value_of(run, "requests.completed"), *tokens = series_value_of(run, "tokens.output");
    if (!completed)
        return NULL;
    return !(completed->value > 0)           ? "the service answered no request"
           : !tokens || !(tokens->value > 0) ? "the service answered with no token"
                                             : NULL;
}

const char *campaign_unmet(struct campaign *c, const struct recipe_values *values, const struct series_repetition *run)
{
    if (!is_llmload(c) || strcmp(run->status, "FAILED") != 0)
        return NULL;
    const struct condition_results r = check_conditions(c, values, run);
    const char *unmet = r.broken ? r.broken : r.known ? r.first : reason_unanswered(run);
    return unmet ? arena_printf(c->arena, "%s; the client ended with %.200s", unmet, run->reason) : NULL;
}

const char *campaign_gate(struct campaign *c, const struct recipe_values *values, const struct series_repetition *run)
{
    if (strcmp(run->verdict, "fail") == 0)
        return arena_printf(c->arena, "%.300s", run->reason);
    const char *unmet = check_conditions(c, values, run).first;
    const char *load = !unmet && is_llmload(c) ? check_offered_load(c, run) : NULL;
    return unmet ? unmet : load ? load : check_surroundings(c, run);
}
