/* arguments.c: what a run's command line says beside its params: the arguments that its rules do not explain. */
#include "cmd/arguments.h"

#include "benchmarks/reference_parts.h"
#include "benchmarks/rules.h"
#include "launch/peel.h"

#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 4 << 20, TEXT_MAX = 4 << 20, ARGUMENTS_MAX = 4096 };

struct rules *arguments_rules(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    const char *text = runs_file(runs, run, "artifacts/rules.yaml", RULES_MAX, a);
    struct rules *rules = NULL;
    struct err err = {0};
    if (!text || rules_load_text(&rules, "rules.yaml", str_of(text), &err))
        return NULL;
    return rules;
}

static char *const *argv_of(const struct json *detail, struct arena *a)
{
    const struct json *list = json_pointer(detail, "/run/argv");
    char **argv = arena_get(a, (ARGUMENTS_MAX + 1) * sizeof *argv);
    size_t n = 0;
    if (!json_is_array(list) || !argv)
        return NULL;
    for (const struct json *e = json_first(list); e && n < ARGUMENTS_MAX; e = json_next(e))
        argv[n++] = (char *)json_string(e, "");
    argv[n] = NULL;
    return n ? argv : NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "argument.NAME=VALUE" of the word at argv[i]; the words that it takes. An unknown option's value is the next word, unless that begins with a dash. */
static size_t entry_of(char *const *argv, const bool *explained, size_t i, size_t *operand, struct buf *to)
{
    struct str word = str_of(argv[i]), value = word, name = str_cut(&value, '=');
    if (word.n < 2 || word.p[0] != '-') {
        buf_printf(to, "argument.%zu=" STR_FMT, ++*operand, STR_ARG(word));
        return 1;
    }
    while (name.n && name.p[0] == '-')
        name = str_sub(name, 1, name.n);
    bool takes = !value.p && argv[i + 1] && argv[i + 1][0] != '-' && !explained[i + 1];
    buf_printf(to, "argument." STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value.p ? value : takes ? str_of(argv[i + 1]) : STR("")));
    return takes ? 2 : 1;
}

static bool is_ignored(const char *entry, const struct opt_value *ignore)
{
    struct str rest = str_of(entry), key = str_cut(&rest, '=');
    for (const struct opt_value *v = ignore; v && v->text; v = v->next)
        if (reference_fits(str_of(v->text), key))
            return true;
    return false;
}

const char *arguments_unexplained(const struct rules *rules, const struct json *detail, const struct opt_value *ignore, struct arena *a)
{
    char *const *argv = argv_of(detail, a);
    if (!argv)
        return NULL;
    argv = peel(argv);
    size_t n = 0, entries = 0, operand = 0;
    while (argv[n])
        n++;
    bool *explained = arena_get(a, (n + 2) * sizeof *explained);
    char **list = arena_get(a, (n + 1) * sizeof *list);
    if (!explained || !list)
        return NULL;
    memset(explained, 0, (n + 2) * sizeof *explained);
    if (rules)
        rules_explain(rules, argv, explained);
    for (size_t i = 1; i < n;) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, TEXT_MAX);
        if (explained[i]) {
            i++;
            continue;
        }
        i += entry_of(argv, explained, i, &operand, &b);
        char *entry = b.failed ? NULL : arena_dup(a, b.p, b.n);
        if (!entry)
            return NULL;
        if (!is_ignored(entry, ignore))
            list[entries++] = entry;
    }
    if (entries)
        qsort(list, entries, sizeof *list, by_text);
    CLEANUP_BUF struct buf all;
    buf_init(&all, TEXT_MAX);
    for (size_t i = 0; i < entries; i++)
        buf_printf(&all, "%s\n", list[i]);
    return all.failed ? NULL : arena_dup(a, all.p ? all.p : "", all.n);
}

/* The first line of one that the other has not; {NULL, 0}: none. */
static struct str only_in(const char *one, const char *other)
{
    for (struct str rest = str_of(one); rest.p && rest.n;) {
        struct str line = str_cut(&rest, '\n');
        bool found = false;
        for (struct str more = str_of(other); more.p && more.n && !found;)
            found = str_eq(str_cut(&more, '\n'), line);
        if (!found && line.n)
            return line;
    }
    return (struct str){0};
}

const char *arguments_difference(const char *one, const char *other, struct arena *a)
{
    struct str line = only_in(one, other);
    if (!line.p)
        line = only_in(other, one);
    if (!line.p)
        return NULL;
    struct str key = str_cut(&line, '=');
    return arena_dup(a, key.p, key.n);
}
