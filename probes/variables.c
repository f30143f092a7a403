/* variables.c: finds a variable in what the command line changes of the environment, then in the environment. */
#include "probes/variables.h"

static bool is_name_character(char c)
{
    return str_is_letter(c) || str_is_digit(c) || c == '_';
}

/* Returns whether the name from `at` to `end` is only read: "$NAME" and "${NAME}" are,
 * "${NAME:=VALUE}" also sets it. */
static bool is_only_read(struct str text, size_t at, size_t end)
{
    if (at >= 1 && text.p[at - 1] == '$')
        return true;
    if (at < 2 || text.p[at - 1] != '{' || text.p[at - 2] != '$')
        return false;
    struct str rest = str_sub(text, end, text.n);
    return !str_starts(rest, ":=") && !str_starts(rest, "=");
}

/* Returns whether the text has the variable's name as a complete word in a place where it is not
 * only read. */
static bool may_set_variable(struct str text, struct str name)
{
    for (size_t from = 0; from < text.n;) {
        ptrdiff_t found = str_find(str_sub(text, from, text.n), name);
        if (found < 0)
            return false;
        size_t at = from + (size_t)found, end = at + name.n;
        bool whole = (at == 0 || !is_name_character(text.p[at - 1])) && (end == text.n || !is_name_character(text.p[end]));
        if (whole && !is_only_read(text, at, end))
            return true;
        from = end;
    }
    return false;
}

static bool may_words_set(char *const *words, struct str name)
{
    for (; words && *words; words++)
        if (may_set_variable(str_of(*words), name))
            return true;
    return false;
}

static bool fits_change(const struct variable_change *c, struct str name)
{
    return str_ends(c->name, "*") ? name.n >= c->name.n - 1 && memcmp(name.p, c->name.p, c->name.n - 1) == 0 : str_eq(c->name, name);
}

const struct variable_change *variables_change_of(const struct variables *v, struct str name)
{
    for (size_t i = v->count; i-- > 0;)
        if (fits_change(&v->changes[i], name))
            return &v->changes[i];
    return NULL;
}

/* Returns the value in env; p NULL: it has none. */
static struct str value_of_job(const struct variables *v, struct str name)
{
    for (char *const *e = v->env; e && *e; e++)
        if (strncmp(*e, name.p, name.n) == 0 && (*e)[name.n] == '=')
            return str_of(*e + name.n + 1);
    return (struct str){NULL, 0};
}

bool variables_is_of_job(const struct variables *v, struct str name)
{
    return value_of_job(v, name).p != NULL;
}

enum variable_state variables_at_start(const struct variables *v, struct str name, struct str *ret_value, const char **ret_why)
{
    const struct variable_change *change = variables_change_of(v, name);
    *ret_value = (struct str){NULL, 0};
    *ret_why = may_words_set(v->settings, name) ? "an option of a starter in the command line may set it"
               : change                         ? change->why
                                                : v->unknown;
    if (*ret_why)
        return VARIABLE_UNKNOWN;
    *ret_value = change ? change->value : v->cleared ? *ret_value : value_of_job(v, name);
    return ret_value->p ? VARIABLE_SET : VARIABLE_UNSET;
}

enum variable_state variables_find(const struct variables *v, struct str name, struct str *ret_value, const char **ret_why)
{
    *ret_value = (struct str){NULL, 0};
    *ret_why = may_words_set(v->arguments, name) ? "an argument of the program may set it" : v->unknown_inside;
    if (*ret_why)
        return VARIABLE_UNKNOWN;
    return variables_at_start(v, name, ret_value, ret_why);
}

struct str variables_next_assigned(const struct variables *v, size_t *word, size_t *at)
{
    size_t n = 0;
    char *const *lists[] = {v->settings, v->arguments};
    for (size_t i = 0; i < 2; i++)
        for (char *const *w = lists[i]; w && *w; w++, n++) {
            struct str text = str_of(*w);
            if (n < *word)
                continue;
            for (size_t from = n == *word ? *at : 0; from < text.n; from++) {
                size_t end = from;
                while (end < text.n && is_name_character(text.p[end]))
                    end++;
                if (end > from && end < text.n && text.p[end] == '=' && !str_is_digit(text.p[from])) {
                    *word = n;
                    *at = end + 1;
                    return str_sub(text, from, end - from);
                }
                from = end;
            }
        }
    return (struct str){NULL, 0};
}
