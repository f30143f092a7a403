/* interpreter.c: finds sort.py in `python3 -u sort.py`, by the interpreter's options. */
#include "benchmarks/interpreter.h"
#include "base/str.h"

#include <string.h>

struct interpreter {
    const char *name;
    const char *letters, *names, *module, *hides, *verb;
    bool single_dash;
};

static const struct interpreter interpreters[] = {
#define INTERPRETER(called, ...) {.name = called, __VA_ARGS__},
#include "benchmarks/interpreters.def"
};

/* python3, python3.11 and lua5.4 are python and lua. */
static const struct interpreter *interpreter_of(const char *word)
{
    const char *name = str_base_name(word);
    for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
        size_t n = strlen(interpreters[i].name);
        if (strncmp(name, interpreters[i].name, n) == 0 && !name[n + strspn(name + n, "0123456789.")])
            return &interpreters[i];
    }
    return NULL;
}

enum interpreter_option { OPTION_ALONE, OPTION_TAKES, OPTION_NAMES, OPTION_ENDS };

/* Returns what the interpreter does with an option of this name: an option that it does not have is
 * one without a value. */
static enum interpreter_option kind_of(const struct interpreter *it, struct str name)
{
    if (str_has_word(it->hides, name))
        return OPTION_ENDS;
    if (str_has_word(it->module, name))
        return OPTION_NAMES;
    bool letter = name.n == 1 && it->letters && strchr(it->letters, name.p[0]);
    return letter || str_has_word(it->names, name) ? OPTION_TAKES : OPTION_ALONE;
}

/* The option in the word; *ret_value: its attached value, p NULL: none. */
static enum interpreter_option option_in(const struct interpreter *it, const char *word, struct str *ret_value)
{
    *ret_value = (struct str){0};
    if (word[1] == '-' || it->single_dash) {
        struct str value = str_of(word + (word[1] == '-' ? 2 : 1)), name = str_cut(&value, '=');
        *ret_value = value;
        return kind_of(it, name);
    }
    for (const char *p = word + 1; *p; p++) {
        enum interpreter_option kind = kind_of(it, (struct str){p, 1});
        if (kind == OPTION_ALONE)
            continue;
        if (p[1])
            *ret_value = str_of(p + 1);
        return kind;
    }
    return OPTION_ALONE;
}

/* The word that names the script; *ret_name: its name. NULL: there is none. */
static char *const *find_script(const struct interpreter *it, char *const *argv, const char **ret_name)
{
    char *const *at = argv + 1;
    if (it->verb && (!*at || strcmp(*at++, it->verb) != 0))
        return NULL;
    for (; *at && (**at == '-' || **at == '+'); at++) {
        struct str value;
        if (strcmp(*at, "--") == 0) {
            at++;
            break;
        }
        enum interpreter_option kind = (*at)[1] ? option_in(it, *at, &value) : OPTION_ENDS; /* "-": standard input */
        if (kind == OPTION_ENDS)
            return NULL;
        if (kind == OPTION_NAMES && value.p) {
            *ret_name = value.p;
            return at;
        }
        if (kind != OPTION_ALONE && !value.p && !*++at)
            return NULL;
        if (kind == OPTION_NAMES)
            break;
    }
    *ret_name = *at;
    return *at && **at ? at : NULL;
}

char *const *interpreter_script(char *const *argv)
{
    const struct interpreter *it = argv[0] ? interpreter_of(argv[0]) : NULL;
    const char *name;
    char *const *script = it ? find_script(it, argv, &name) : NULL;
    return script ? script : argv;
}

const char *interpreter_name(char *const *argv)
{
    const struct interpreter *it = interpreter_of(argv[0]);
    const char *name = NULL;
    return str_base_name(it && find_script(it, argv, &name) ? name : argv[0]);
}
