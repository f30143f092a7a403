/* variables.c: names of the environment that resemble a setting and are none. */
#include "plan/variables.h"

#include "plan/server.h"

#include <ctype.h>
#include <string.h>

/* Returns whether the variable is read elsewhere, or set by benchwrap and its repositories' own
 * files. */
static bool is_known_variable(struct str name)
{
    static const char *const others[] = {"BENCHWRAP_RUN_ID",      "BENCHWRAP_SOCKET",  "BENCHWRAP_SHARED_RUN", "BENCHWRAP_SAMPLES",
                                         "BENCHWRAP_NO_INDEX",    "BENCHWRAP_IMAGE",   "BENCHWRAP_SOURCE",     "BENCHWRAP_PAGES",
                                         "BENCHWRAP_JOB_ARCHIVE", "BENCHWRAP_PCRE_JIT"};
    for (size_t i = 0; i < plan_rows_count; i++)
        if (plan_rows[i].env && str_is(name, plan_rows[i].env))
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_is(name, others[i]))
            return true;
    return false;
}

/* Returns the option whose variable was perhaps meant: BENCHWRAP_X where X is nearly, or exactly,
 * an option that takes a value; else NULL. */
static const struct opt_row *option_meant(const struct plan *p, struct str word)
{
    char option[41];
    if (!word.n || word.n >= sizeof option)
        return NULL;
    for (size_t i = 0; i < word.n; i++) {
        if (!isalnum((unsigned char)word.p[i]) && word.p[i] != '_')
            return NULL;
        option[i] = word.p[i] == '_' ? '-' : (char)tolower((unsigned char)word.p[i]);
    }
    const char *near = opt_nearest(&p->opts, (struct str){option, word.n});
    if (near && word.n < 6 && str_distance((struct str){option, word.n}, str_of(near)) > 1) /* another word: home, note */
        return NULL;
    for (size_t i = 0; near && i < plan_rows_count; i++)
        if (strcmp(plan_rows[i].name, near) == 0)
            return plan_rows[i].env || plan_rows[i].kind != OPT_FLAG ? &plan_rows[i] : NULL;
    return NULL;
}

void plan_check_variables(struct plan *p, char **env)
{
    static const char prefix[] = "BENCHWRAP_";
    for (; *env; env++) {
        struct str rest = str_of(*env), name = str_cut(&rest, '=');
        if (!str_starts(name, prefix) || is_known_variable(name))
            continue;
        const struct opt_row *meant = option_meant(p, (struct str){name.p + sizeof prefix - 1, name.n - (sizeof prefix - 1)});
        if (meant)
            plan_warn(p, arena_printf(&p->arena, "there is no variable " STR_FMT "; did you mean %s%s?", STR_ARG(name),
                                      meant->env ? "" : "--", meant->env ? meant->env : meant->name));
    }
}
