/* chosen_runs.c: the runs that a plot or report is about. */
#include "cmd/chosen_runs.h"
#include "benchmarks/rules.h"
#include "cmd/selection.h"
#include "compare/arguments.h"
#include "mlruns-format/key.h"
#include "runs/inherit.h"
#include "runs/run_columns.h"

#include <string.h>

enum { FACT_MAX = 8192 };

static const unsigned chosen_parts = TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE;

static void chosen_append(struct chosen_runs *ret, struct tree_run *run, const char *group)
{
    ret->list[ret->n] = run;
    ret->groups[ret->n++] = group;
}

static int choose_named_run(struct cmd_context *c, struct runs *runs, const char *name, const char *group, struct chosen_runs *ret)
{
    struct tree_run *run = NULL;
    if (!name || runs_find(runs, name, chosen_parts, c->arena, &run, c->err) != 0)
        return name ? -1 : err_memory(c->err, "the chosen runs");
    chosen_append(ret, run, group);
    return 0;
}

/* Another process may delete runs while they are read: those are left out. */
static int choose_listed_run(struct cmd_context *c, struct runs *runs, const struct tree_run *listed, struct chosen_runs *ret)
{
    struct tree_run *run = NULL;
    int got = runs_find_listed(runs, listed, chosen_parts, c->arena, &run, c->err);
    if (got == 0)
        chosen_append(ret, run, "runs");
    return got < 0 ? -1 : 0;
}

static bool chosen_make(struct chosen_runs *ret, size_t room, struct arena *a)
{
    *ret = (struct chosen_runs){.list = arena_get(a, (room + 1) * sizeof *ret->list),
                                .groups = arena_get(a, (room + 1) * sizeof *ret->groups)};
    return ret->list && ret->groups;
}

int chosen_operands(struct cmd_context *c, struct runs *runs, char *const *operands, int count, struct chosen_runs *ret)
{
    size_t room = 0;
    for (int i = 0; i < count; i++)
        for (const char *p = operands[i]; p; p = strchr(p + 1, ','))
            room++;
    if (!chosen_make(ret, room, c->arena))
        return err_memory(c->err, "the chosen runs");
    for (int i = 0; i < count; i++) {
        if (strcmp(operands[i], "vs") == 0)
            continue;
        for (struct str rest = str_of(operands[i]); rest.p;) {
            struct str one = str_cut(&rest, ',');
            if (!one.n)
                return err_set(c->err, ERR_USAGE, "\"%.60s\": expected the id of a run before and after each comma", operands[i]);
            if (choose_named_run(c, runs, arena_dup(c->arena, one.p, one.n), operands[i], ret) < 0)
                return -1;
        }
    }
    return 0;
}

static bool is_part_of_series(struct cmd_context *c, const struct runs *runs, const struct tree_run *run)
{
    return runs_file(runs, run, "tags/benchwrap.repetition", 64, c->arena) || runs_file(runs, run, "tags/benchwrap.warmup", 64, c->arena);
}

int chosen_filtered(struct cmd_context *c, struct runs *runs, size_t last, struct chosen_runs *ret)
{
    struct runs_filter filter;
    const char *given = opt_text(&c->opts, OPTION_LAST);
    if (given && opt_integer(&c->opts, OPTION_LAST) < 1)
        return err_set(c->err, ERR_USAGE, "--last: expected an integer >= 1, got \"%.40s\"", given);
    last = given ? (size_t)opt_integer(&c->opts, OPTION_LAST) : last;
    if (selection_filter(c, &filter) < 0 || runs_load(runs, &filter, c->arena, c->err) < 0)
        return -1;
    if (!chosen_make(ret, runs->count < last ? runs->count : last, c->arena))
        return err_memory(c->err, "the chosen runs");
    for (size_t i = 0; i < runs->count; i++) {
        if (is_part_of_series(c, runs, runs->all[i]))
            continue;
        if (ret->n >= last)
            ret->beyond++;
        else if (choose_listed_run(c, runs, runs->all[i], ret) < 0)
            return -1;
    }
    if (ret->beyond)
        fprintf(c->notes, "benchwrap: %s: uses the newest %zu of %zu runs; --last N uses more\n", c->cmd->name, ret->n,
                ret->n + ret->beyond);
    return ret->n ? 0 : err_set(c->err, ERR_INPUT, "%s", runs_explain_none(runs, &filter, c->arena));
}

/* Returns whether the run has a param or a tag of that name, or is the parent of a sweep over it. */
static bool has_fact(const struct runs *runs, const struct tree_run *run, const char *name, struct arena *a)
{
    const char *param = arena_printf(a, "params/%s", name), *swept = arena_printf(a, "params/sweep.%s", name),
               *tag = arena_printf(a, "tags/%s", name);
    return !param || !swept || !tag || inherit_file(runs, run, param, FACT_MAX, a) || runs_file(runs, run, swept, FACT_MAX, a) ||
           runs_file(runs, run, tag, FACT_MAX, a);
}

const char *chosen_key(struct cmd_context *c, const struct runs *runs, struct tree_run *const *list, size_t count, const char *option,
                       const char *typed)
{
    static const char *const attributes[] = {"experiment", "name", "status", "program"};
    for (size_t i = 0; typed && i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(typed, attributes[i]) == 0)
            return typed;
    if (!typed || strchr(typed, '/') || strstr(typed, "..") || strlen(typed) > KEY_MAX)
        return typed;
    for (size_t i = 0; i < count; i++)
        if (has_fact(runs, list[i], typed, c->arena))
            return typed;
    struct key_list benchmarks = {.a = c->arena}; /* the rules of one run of each are enough */
    const char *key = NULL;
    for (size_t i = 0; i < count && !key; i++) {
        const char *of = runs_file(runs, list[i], "tags/benchmark", FACT_MAX, c->arena);
        size_t known = benchmarks.count;
        if (of)
            key_list_put(&benchmarks, of);
        if (benchmarks.count == known)
            continue;
        struct rules *rules = arguments_rules(runs, list[i], c->arena);
        const char *param = rules ? rules_param_of(rules, str_of(typed)) : NULL;
        key = param ? arena_printf(c->arena, "%s", param) : NULL;
        rules_free(rules);
    }
    key_list_deinit(&benchmarks);
    if (!key || strcmp(key, typed) == 0)
        return typed;
    fprintf(c->notes, "benchwrap: --%s %s: recorded as %s\n", option, typed, key);
    return key;
}
