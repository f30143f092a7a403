/* rules.c: which rule file reads the output of a run: --rules, else by the name of the program, else the generic reader. */
#include "plan/rules.h"

#include "benchmarks/interpreter.h"
#include "benchmarks/rules.h"
#include "plan/paths.h"
#include "plan/server.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool is_count(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* Loads the rules that an option or variable names: an entry of the catalogue, a file, or "none".
 * -1 with err: neither exists, or the file is not valid. */
static int named_rules(struct plan *p, const struct opt_value *given, struct err *err)
{
    struct arena *a = &p->arena;
    p->rules_why = given->where;
    if (strcmp(given->text, "none") == 0)
        return 0;
    p->rules = catalogue_find(&p->catalogue, given->text, a);
    if (p->rules && access(p->rules, F_OK) == 0)
        p->rules = plan_absolute(p->cwd, p->rules, a);
    if (!p->rules)
        return err_set(
            err, ERR_USAGE, "%s: \"%s\" is neither an entry of the catalogue (\"benchwrap benchmarks\") nor a file that can be read: %s%s",
            given->where, given->text, strerror(errno), is_count(given->text) ? "; to run the program several times: --repeat N" : "");
    if (rules_load(&p->loaded, p->rules, err) < 0) {
        if (err && err->kind != ERR_INPUT)
            err->kind = ERR_USAGE;
        return err_wrap(err, "%s", given->where);
    }
    const char *name = rules_name(p->loaded);
    p->benchmark = name ? arena_dup(a, name, strlen(name)) : catalogue_name(p->rules, a);
    return 0;
}

/* Warns of a number as name: `-n 4` is the number of tasks to srun and mpirun, and here the name of
 * the run. */
static void warn_numeric_name(struct plan *p)
{
    const struct opt_value *name = opt_find(&p->opts, OPTION_NAME);
    if (name->text && name->origin == OPT_COMMAND_LINE && is_count(name->text))
        plan_warn(p,
                  arena_printf(&p->arena,
                               "the run is named \"%s\" (-n is --name); tasks: srun -n %s benchwrap -- PROGRAM, repetitions: --repeat %s",
                               name->text, name->text, name->text));
}

int plan_rules(struct plan *p, struct err *err)
{
    warn_numeric_name(p);
    const struct opt_value *given = opt_find(&p->opts, OPTION_RULES);
    if (given->text && strcmp(given->text, "none") == 0) {
        p->rules_why = arena_printf(&p->arena, "%s: none", given->where);
        return 0;
    }
    if (given->text && *given->text) {
        if (given->origin == OPT_COMMAND_LINE)
            return named_rules(p, given, err);
        struct err why = {0}; /* not typed for this run: the program runs whatever is wrong */
        if (named_rules(p, given, &why) == 0)
            return 0;
        plan_warn(p, arena_printf(&p->arena, "%s; ignored", why.text));
        p->rules = NULL;
    }
    if (!p->program[0]) {
        p->rules_why = "no program";
        return 0;
    }
    const char *base = interpreter_name(p->program);
    p->rules = catalogue_for_command(&p->catalogue, p->program, &p->arena);
    if (p->rules) {
        p->benchmark = catalogue_name(p->rules, &p->arena);
        p->rules_why = arena_printf(&p->arena, "by the program's name, %s", base);
    } else {
        p->rules = catalogue_by_name(&p->catalogue, "generic", &p->arena);
        p->rules_why = arena_printf(&p->arena, "the catalogue knows no program %s%s", base,
                                    p->rules ? ": guesses from lines like \"name: value unit\"; --rules none switches them off" : "");
    }
    return 0;
}
