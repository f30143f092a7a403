/* load_arguments.c: the table of the program's options and the environment that it reads. */
#include "benchmarks/load.h"

/* Reads one item of `arguments` into the rules. -1 with err, which names file and line: a wrong key
 * or value. */
static int load_option(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"flags", "kind", "param", "type",  "hidden", "optional", "value",
                                       "join",  "keep", "words", "input", "each",   NULL};
    static const char *const kinds[] = {"value", "flag", "count", "directives", NULL};
    struct option_rule *o = &rules->option[rules->options];
    (void)unused;
    *o = (struct option_rule){0}; /* one that could not be loaded may have left something here */
    if (load_keys(y, keys, rules, err))
        return -1;
    if (load_texts(yaml_get(y, "flags"), o->flag, 4, &o->flags, rules, err))
        return -1;
    if (!o->flags)
        return rules_complain(y, rules, err, "flags is missing: [-b, --block-size]; a bare name is a directive (name=value)");
    int kind = load_choice(y, "kind", kinds, OPTION_VALUE, rules, err);
    int type = load_choice(y, "type", load_types, PARAM_TEXT, rules, err);
    if (kind < 0 || type < 0 || load_flag(y, "hidden", &o->hidden, rules, err) || load_flag(y, "optional", &o->optional, rules, err) ||
        load_flag(y, "join", &o->join, rules, err) || load_flag(y, "keep", &o->keep, rules, err) ||
        load_flag(y, "words", &o->words, rules, err) || load_flag(y, "input", &o->input, rules, err))
        return -1;
    o->kind = (enum option_kind)kind;
    o->type = (enum param_type)type;
    o->value = yaml_text(y, "value", "true");
    const struct yaml *param = yaml_get(y, "param");
    o->param = param && param->kind == YAML_SCALAR && !yaml_is_null(param) ? param->text.p : NULL;
    if (o->keep && (!o->param || o->kind != OPTION_VALUE))
        return rules_complain(y, rules, err, "keep: expected an option with a value and a param");
    if (o->input && o->param)
        return rules_complain(y, rules, err, "input: expected an option without a param, which is an input by its param");
    if (o->words && (o->kind != OPTION_VALUE || o->optional))
        return rules_complain(y, rules, err, "words: expected an option with a value");
    rules->options++;
    return 0;
}

int load_environment(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name", "param", "each", NULL};
    struct environment_rule *e = &rules->environment[rules->environments];
    (void)unused;
    if (load_keys(y, keys, rules, err))
        return -1;
    e->name = yaml_text(y, "name", "");
    e->param = yaml_text(y, "param", "").p;
    if (!e->name.n || !e->param[0])
        return rules_complain(y, rules, err, "name (ends in * for a prefix) and param are needed");
    rules->environments++;
    return 0;
}

int load_arguments(const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"single_dash_long", "options", "operands", NULL};
    const struct yaml *options = y ? yaml_get(y, "options") : NULL;
    struct str operands[OPERANDS_MAX];
    if (!y)
        return 0;
    if (load_keys(y, keys, rules, err) || load_texts(yaml_get(y, "operands"), operands, OPERANDS_MAX, &rules->operands, rules, err))
        return -1;
    for (size_t i = 0; i < rules->operands; i++)
        rules->operand[i] = operands[i].p;
    if (!(rules->option = arena_get(&rules->arena, load_items_count(options, OPTIONS_MAX) * sizeof(*rules->option))))
        return load_no_memory(rules, err);
    return load_flag(y, "single_dash_long", &rules->single_dash_long, rules, err) ||
                   load_items(options, OPTIONS_MAX, load_option, NULL, rules, err)
               ? -1
               : 0;
}
