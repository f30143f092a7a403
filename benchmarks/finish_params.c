/* finish_params.c: params from arguments, output and environment are merged; where they differ, the
 * record states which counts. */
#include "benchmarks/finish.h"

#include <math.h>
#include <stdio.h>

static bool prefers_arguments(const struct rules *rules, struct str key)
{
    for (size_t i = 0; i < rules->prefers; i++)
        if (str_is(key, rules->prefer[i]))
            return true;
    return false;
}

static const struct value_seen *value_from(const struct rules_run *run, struct str key, int rank)
{
    for (const struct value_seen *v = run->values; v; v = v->next)
        if (v->rank == rank && v->block < 0 && str_eq(v->key, key))
            return v;
    return NULL;
}

/* Returns the value that the output has for the block: one of the block itself before one of the
 * run, then that of the earlier reader. NULL: none. */
static const struct value_seen *value_printed(const struct rules_run *run, struct str key, int block)
{
    const struct value_seen *best = NULL;
    for (const struct value_seen *v = run->values; v; v = v->next)
        if (v->rank >= 0 && (v->block == block || v->block < 0) && str_eq(v->key, key) &&
            (!best || v->block > best->block || (v->block == best->block && v->rank < best->rank)))
            best = v;
    return best;
}

/* The value in force in a block. */
const struct value_seen *value_in(const struct rules_run *run, struct str key, int block)
{
    const struct value_seen *printed = value_printed(run, key, block), *argument = value_from(run, key, -1);
    if (argument && (!printed || prefers_arguments(run->rules, key)))
        return argument;
    return printed ? printed : value_from(run, key, -2);
}

/* The same, within the digits that are printed: "1.50 GiB" is rounded. */
static bool params_agree(const struct value_seen *a, const struct value_seen *b)
{
    double x, y;
    if (str_eq(a->text, b->text))
        return true;
    if (!str_double(a->text, &x) || !str_double(b->text, &y))
        return false;
    return a->type == PARAM_SIZE ? fabs(x - y) <= 0.005 * fmax(fabs(x), fabs(y)) : x == y;
}

/* Records the value under the prefix of its test, unless it is hidden. */
static void param_out(struct ending *e, const char *prefix, const struct value_seen *v)
{
    char key[NAME_MAX_BYTES + 64];
    if (v->hidden)
        return;
    snprintf(key, sizeof(key), "%s" STR_FMT, prefix, STR_ARG(v->key));
    ending_source(e, v->origin);
    record_param(e->record, key, v->text);
}

static void params_note_disagreement(struct ending *e, struct str key)
{
    if (e->disagree.n)
        buf_putc(&e->disagree, ' ');
    buf_str(&e->disagree, key);
}

/* Compares the launcher's option (`mpirun -n 4`) with what the program printed: 1 of 4 tasks is a
 * program of another MPI, started four times. */
static void compare_with_launcher(struct ending *e)
{
    static const char *const pairs[][2] = {{"step.tasks", "tasks"}, {"step.nodes", "nodes"}, {"step.tasks_per_node", "tasks_per_node"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct fact *told = record_find(e->record, FACT_PARAM, pairs[i][0]);
        if (!told || !told->source || strcmp(told->source, "launcher") != 0)
            continue;
        for (unsigned b = 0; b < blocks_of(e->run); b++) {
            const struct value_seen *v = value_printed(e->run, str_of(pairs[i][1]), (int)b);
            if (!v || str_eq(v->text, told->text))
                continue;
            ending_source(e, v->origin);
            record_warning(e->record, "%sparam %s: the launcher has " STR_FMT ", the output has " STR_FMT "%s", e->prefix[b], pairs[i][1],
                           STR_ARG(told->text), STR_ARG(v->text), i == 0 && str_is(v->text, "1") ? ": is the program of another MPI?" : "");
            params_note_disagreement(e, str_of(pairs[i][0]));
            break;
        }
    }
}

/* Sets printed[b] to the value that value_printed has for block b, by one pass over all values. */
static void values_printed(const struct rules_run *run, struct str key, const struct value_seen **printed)
{
    const struct value_seen *of_run = NULL;
    unsigned n = blocks_of(run);
    for (unsigned b = 0; b < n; b++)
        printed[b] = NULL;
    for (const struct value_seen *v = run->values; v; v = v->next) {
        const struct value_seen **best = v->block < 0 ? &of_run : v->block < (int)n ? &printed[v->block] : NULL;
        if (best && v->rank >= 0 && (!*best || v->rank < (*best)->rank) && str_eq(v->key, key))
            *best = v;
    }
    for (unsigned b = 0; b < n; b++)
        printed[b] = printed[b] ? printed[b] : of_run;
}

/* Records a param: one value where all tests agree, else one for each test. Warns where arguments
 * and output differ. in_block has a place for each test. */
static void param_merge(struct ending *e, struct str key, const struct value_seen **in_block)
{
    struct rules_run *run = e->run;
    const struct value_seen *argument = value_from(run, key, -1), *first = NULL;
    unsigned n = blocks_of(run), printed = 0;
    bool same = true;
    values_printed(run, key, in_block);
    for (unsigned b = 0; b < n; b++) {
        const struct value_seen *v = in_block[b];
        printed += v != NULL;
        same = same && (!v || !first || str_eq(v->text, first->text));
        first = first ? first : v;
    }
    if (argument && first && same && !params_agree(argument, first) && !argument->hidden && !first->hidden) {
        ending_source(e, first->origin);
        record_warning(e->record, "param " STR_FMT ": the arguments have \"" STR_FMT "\", the output has \"" STR_FMT "\"; the %s counts",
                       STR_ARG(key), STR_ARG(argument->text), STR_ARG(first->text),
                       prefers_arguments(run->rules, key) ? "argument" : "output");
        params_note_disagreement(e, key);
    }
    if (same && (printed == n || argument || !printed)) {
        const struct value_seen *v = first && !(argument && prefers_arguments(run->rules, key)) ? first
                                     : argument                                                 ? argument
                                                                                                : value_from(run, key, -2);
        if (v)
            param_out(e, "", v);
        return;
    }
    for (unsigned b = 0; b < n; b++)
        if (in_block[b])
            param_out(e, e->prefix[b], in_block[b]);
}

int params_out(struct ending *e, struct err *err)
{
    const struct value_seen **in_block = arena_get(&e->run->arena, blocks_of(e->run) * sizeof *in_block);
    if (!in_block) {
        buf_deinit(&e->disagree);
        return err_memory(err, "the params of the output");
    }
    for (const struct value_seen *v = e->run->values; v; v = v->next) {
        const struct value_seen *before = e->run->values;
        while (before != v && !str_eq(before->key, v->key))
            before = before->next;
        if (before == v)
            param_merge(e, v->key, in_block);
    }
    compare_with_launcher(e);
    e->record->source = "rules";
    if (e->disagree.n)
        record_tag(e->record, "benchwrap.disagreement", buf_text(&e->disagree));
    buf_deinit(&e->disagree);
    return 0;
}
