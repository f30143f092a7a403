/* arguments.c: find the arguments of a run's command line that its rules do not explain. */
#include "compare/arguments.h"

#include "benchmarks/rules.h"
#include "compare/argument_list.h"
#include "launch/peel.h"
#include "series/notes.h"

#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 64 << 20, RULES_MAX = 4 << 20 };

/* Returns the first run of a series: its rules apply to the series. Path NULL: the run is no
 * series. */
static struct tree_run first_of_series(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    struct tree_run first = {.path = NULL, .tree = run->tree};
    const char *notes = runs_file(runs, run, "artifacts/" SERIES_NOTES, NOTES_MAX, a);
    struct str rest = str_of(notes);
    struct json *line = NULL;
    struct err err = {0};
    size_t folder = strlen(run->path);
    str_cut(&rest, '\n'); /* the head */
    if (!rest.n || folder < strlen(run->id) || json_parse(&line, str_cut(&rest, '\n'), NULL, &err))
        return first;
    const char *id = json_string(json_get(line, "run"), "");
    if (record_is_id(str_of(id)))
        first.path = arena_printf(a, "%.*s%s", (int)(folder - strlen(run->id)), run->path, id);
    json_free(line);
    return first;
}

static const char *stored_rules(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    const char *text = runs_file(runs, run, "artifacts/rules.yaml", RULES_MAX, a);
    struct tree_run first = {.path = NULL};
    if (!text)
        first = first_of_series(runs, run, a);
    return first.path ? runs_file(runs, &first, "artifacts/rules.yaml", RULES_MAX, a) : text;
}

struct rules *arguments_rules(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    const char *text = stored_rules(runs, run, a);
    struct rules *rules = NULL;
    struct err err = {0};
    if (!text || rules_load_text(&rules, "rules.yaml", str_of(text), &err))
        return NULL;
    return rules;
}

/* Returns the recorded command line, NULL-terminated, in the arena, with texts of `detail`. NULL:
 * none is recorded, or out of memory. */
static char *const *detail_argv(const struct json *detail, struct arena *a)
{
    const struct json *list = json_pointer(detail, "/run/argv");
    char **argv = arena_get(a, (json_count(list) + 1) * sizeof *argv);
    size_t n = 0;
    if (!json_is_array(list) || !argv)
        return NULL;
    for (const struct json *e = json_first(list); e; e = json_next(e))
        argv[n++] = (char *)json_string(e, "");
    argv[n] = NULL;
    return n ? argv : NULL;
}

void arguments_open(struct compare_arguments *ret, const struct runs *runs)
{
    *ret = (struct compare_arguments){.runs = runs};
}

void arguments_close(struct compare_arguments *args)
{
    free(args->rules_text);
    rules_free(args->rules);
    json_free(args->parent);
}

/* Loads the rules that the run stores, unless those of the run before it have the same text.
 * args->rules is NULL where there are none or they are damaged. */
static void load_rules_of(struct compare_arguments *args, const struct tree_run *run, struct arena *a)
{
    struct err err = {0};
    const char *text = stored_rules(args->runs, run, a);
    if (text && args->rules_text && strcmp(text, args->rules_text) == 0)
        return;
    free(args->rules_text);
    rules_free(args->rules);
    args->rules = NULL;
    args->rules_text = text ? strdup(text) : NULL;
    if (args->rules_text && rules_load_text(&args->rules, "rules.yaml", str_of(text), &err))
        args->rules = NULL;
}

/* Returns the record of the parent run where the run is a repetition; it is valid until the next
 * call with another parent. NULL: there is none. */
static const struct json *load_parent_of(struct compare_arguments *args, const struct tree_run *run, struct arena *a)
{
    const char *id = runs_text(run->tags, "benchwrap.repetition", a) ? runs_text(run->tags, "mlflow.parentRunId", a) : NULL, *problem;
    size_t folder = strlen(run->path), own = strlen(run->id);
    if (!id || !record_is_id(str_of(id)) || folder < own)
        return NULL;
    if (strcmp(args->parent_id, id) == 0)
        return args->parent;
    struct tree_run parent = {.path = arena_printf(a, "%.*s%s", (int)(folder - own), run->path, id), .tree = run->tree};
    json_free(args->parent);
    args->parent = parent.path ? runs_detail(args->runs, &parent, &problem, a) : NULL;
    memcpy(args->parent_id, id, sizeof args->parent_id);
    return args->parent;
}

/* Appends an entry, or a value to that of the same key. */
static void add_param(struct tree_entry **list, const char *key, struct str value, struct arena *a)
{
    struct tree_entry **at = list;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    struct tree_entry *e = *at;
    const char *text = e ? arena_printf(a, STR_FMT ", " STR_FMT, STR_ARG(e->value), STR_ARG(value)) : arena_dup(a, value.p, value.n);
    if (!text || (!e && !(e = ARENA_NEW(a, struct tree_entry))))
        return;
    if (!*at)
        *e = (struct tree_entry){.key = key};
    e->value = str_of(text);
    *at = e;
}

struct tree_entry *arguments_params(struct compare_arguments *args, const struct tree_run *run, const struct json *detail, struct arena *a)
{
    struct tree_entry *list = NULL;
    struct argument *arguments;
    size_t count;
    char *const *line = detail_argv(detail, a);
    if (!line)
        return NULL;
    if (!args->shared_rules)
        load_rules_of(args, run, a);
    const struct json *parent = load_parent_of(args, run, a);
    const struct argument_request asked = {.line = line,
                                           .swept = parent ? detail_argv(parent, a) : NULL,
                                           .rules = args->shared_rules ? args->shared_rules : args->rules,
                                           .ignore = args->ignore,
                                           .a = a};
    if (argument_list_make(&asked, &arguments, &count))
        return NULL;
    const char *program = *peel_program(line), *slash = strrchr(program, '/');
    add_param(&list, "program", str_of(slash ? slash + 1 : program), a);
    for (size_t i = 0; i < count; i++)
        add_param(&list, arguments[i].key, arguments[i].value, a);
    return list;
}

/* Returns whether an earlier version has redacted the word: a newer one names it in a tag. */
static bool is_hidden_word(struct str word)
{
    return str_has(word, "[redacted]") || str_has(word, "(redacted)") || str_has(word, "***");
}

const char *arguments_hidden(const struct tree_run *run, const struct json *detail, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    const char *named = runs_text(run->tags, "benchwrap.hidden_arguments", a);
    char *const *argv = named ? NULL : detail_argv(detail, a);
    if (named)
        return named;
    for (size_t i = 1; argv && argv[0] && argv[i]; i++) {
        struct str value = str_of(argv[i]), name = str_cut(&value, '=');
        if (!is_hidden_word(str_of(argv[i])))
            continue;
        if (!value.p && argv[i - 1][0] == '-')
            name = str_of(argv[i - 1]);
        buf_printf(&b, "%s" STR_FMT, b.n ? ", " : "", STR_ARG(name));
    }
    return b.n && !b.failed ? arena_dup(a, b.p, b.n) : NULL;
}
