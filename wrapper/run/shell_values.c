/* shell_values.c: replaces variables in a shell text by the values that the text assigns, so that `$LAUNCHER prog` shows what it starts. */
#include "run/shell_values.h"

#include "base/buf.h"
#include "base/env.h"
#include "launch/peel.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, NAME_MAX_BYTES = 64, ROUNDS = 3 /* values that name other variables */, LOOKUPS_MAX = 100 /* of a text */ };

static size_t shell_name_length(struct str s)
{
    size_t n = 0;
    while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_') && !(n == 0 && isdigit((unsigned char)*s.p)))
        n++;
    return n;
}

static struct str shell_rest(struct str s, size_t from)
{
    return str_sub(s, from, s.n);
}

/* Returns whether a word begins at this offset of the text. */
static bool begins_shell_word(struct str text, size_t at)
{
    return at == 0 || strchr(" \t\n;|&({", text.p[at - 1]) != NULL;
}

/* Returns the value that begins at s, behind "NAME=", without quotes or parentheses. It points into
 * s. */
static struct str shell_value_at(struct str s)
{
    const char *ends = " \t\n;|&)`";
    size_t n = 0;
    if (str_starts(s, "$(") || str_starts(s, "${")) {
        while (n < s.n && s.p[n] != (s.p[1] == '(' ? ')' : '}'))
            n++;
        return str_sub(s, 0, s.p[1] == '(' ? n + 1 : n);
    }
    if (s.n && strchr("\"'(", *s.p)) {
        ends = *s.p == '(' ? ")" : *s.p == '"' ? "\"" : "'";
        s = shell_rest(s, 1);
    }
    while (n < s.n && !strchr(ends, s.p[n]))
        n++;
    return str_trim(str_sub(s, 0, n));
}

static bool starts_outside(struct str value, char *const *env, struct arena *a)
{
    struct str word = str_word(&value);
    bool away;
    const char *first = arena_dup(a, word.p ? word.p : "", word.n);
    return first && peel_starts_outside(first, env, &away);
}

/* Returns the default of a value such as ${MPI:-mpirun} that names its own variable, "" where that
 * has none; every other value as it is. */
static struct str shell_default_of(struct str name, struct str value)
{
    struct str rest = shell_rest(value, 2);
    if (!str_starts(value, "${") || !str_eq(str_sub(rest, 0, name.n), name))
        return value;
    rest = shell_rest(rest, name.n);
    return str_starts(rest, ":-") || str_starts(rest, ":=") ? shell_rest(rest, 2) : STR("");
}

/* Returns the last value that the shell text assigns to the variable `name` (NAME=VALUE), unless
 * that assignment would start the program elsewhere; else the value in env. A default such as
 * ${NAME:-x} counts only where env has none. p NULL: there is no value. The result points into
 * `text` or env. */
static struct str shell_value_of(struct str text, struct str name, char *const *env, struct arena *a)
{
    struct str found = {NULL, 0};
    char variable[NAME_MAX_BYTES];
    bool is_default = false;
    for (size_t at = 0; at + name.n + 1 < text.n; at++) {
        struct str rest = shell_rest(text, at);
        if (*rest.p != *name.p || !str_eq(str_sub(rest, 0, name.n), name) || rest.p[name.n] != '=' || !begins_shell_word(text, at))
            continue;
        struct str given = shell_value_at(shell_rest(rest, name.n + 1)), value = shell_default_of(name, given);
        if (!value.n || (found.n && starts_outside(found, env, a)))
            continue;
        found = value;
        is_default = value.p != given.p;
    }
    if ((found.n && !is_default) || name.n >= sizeof variable)
        return found;
    snprintf(variable, sizeof variable, STR_FMT, STR_ARG(name));
    const char *set = env_text(env, variable);
    return set ? str_of(set) : found;
}

/* Reads `$(command -v X)`, `$(which X)`: X. Returns the length of that text in bytes. 0: it is
 * another substitution. */
static size_t read_shell_which(struct str s, struct str *ret)
{
    static const char *const begins[] = {"$(command -v ", "$(which ", "$(type -p ", "$(type -P "};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (str_starts(s, begins[i])) {
            struct str rest = shell_rest(s, strlen(begins[i])), word = str_cut(&rest, ')');
            *ret = str_trim(word);
            return rest.p && word.n < NAME_MAX_BYTES ? strlen(begins[i]) + word.n + 1 : 0;
        }
    return 0;
}

/* Reads the value of `$NAME`, `${NAME}`, `${NAME[@]}`, `${NAME:-WORD}`. Returns the length of that
 * text in bytes. 0: there is none, or the value is not known. */
static size_t read_shell_variable(struct str text, struct str s, char *const *env, struct arena *a, struct str *ret)
{
    bool braces = s.n > 1 && s.p[1] == '{';
    struct str inner = shell_rest(s, braces ? 2 : 1);
    size_t n = shell_name_length(inner);
    if (n == 0 || n >= NAME_MAX_BYTES)
        return 0;
    struct str rest = shell_rest(inner, n);
    if (!braces) {
        *ret = shell_value_of(text, str_sub(inner, 0, n), env, a);
        return ret->n ? n + 1 : 0;
    }
    struct str tail = str_cut(&rest, '}');
    if (!rest.p || tail.n >= NAME_MAX_BYTES)
        return 0;
    *ret = shell_value_of(text, str_sub(inner, 0, n), env, a);
    if (!ret->n && (str_starts(tail, ":-") || str_starts(tail, ":=")))
        *ret = shell_rest(tail, 2);
    return ret->n ? 2 + n + tail.n + 1 : 0;
}

struct str shell_values_replace(struct str text, char *const *env, struct arena *a)
{
    for (int round = 0; round < ROUNDS && text.n && memchr(text.p, '$', text.n); round++) {
        struct buf to CLEANUP_BUF;
        bool any = false;
        int left = LOOKUPS_MAX;
        buf_init(&to, TEXT_MAX);
        for (size_t at = 0; at < text.n;) {
            struct str s = shell_rest(text, at), value = {NULL, 0};
            bool looks = *s.p == '$' && left > 0;
            size_t taken = looks ? read_shell_which(s, &value) : 0;
            left -= looks;
            if (looks && !taken)
                taken = read_shell_variable(text, s, env, a, &value);
            any |= taken > 0;
            if (taken)
                buf_str(&to, value);
            else
                buf_putc(&to, *s.p);
            at += taken ? taken : 1;
        }
        const char *kept = any && !to.failed ? arena_dup(a, to.p, to.n) : NULL;
        if (!kept)
            break;
        text = (struct str){kept, to.n};
    }
    return text;
}

bool shell_values_defines(struct str text, struct str name)
{
    for (size_t at = 0; name.n && at + name.n < text.n; at++) {
        struct str rest = shell_rest(text, at);
        if (*rest.p != *name.p || !str_eq(str_sub(rest, 0, name.n), name) || !begins_shell_word(text, at))
            continue;
        rest = shell_rest(rest, name.n);
        bool keyword = at >= 9 && str_eq(str_sub(text, at - 9, 9), STR("function "));
        while (rest.n && (*rest.p == ' ' || *rest.p == '\t'))
            rest = shell_rest(rest, 1);
        if (str_starts(rest, "()") || (keyword && str_starts(rest, "{")))
            return true;
    }
    return false;
}
