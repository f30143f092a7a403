/* arguments.c: find the arguments of a run's command line that its rules do not explain. */
#include "compare/arguments.h"

#include "benchmarks/rules.h"
#include "launch/peel.h"
#include "probes/secret_names.h"
#include "series/notes.h"

#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 64 << 20, RULES_MAX = 4 << 20, TEXT_MAX = 16 << 20 };

/* The first run of a series: what its rules say holds for the series. Path NULL: it is none. */
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

static size_t count_words_of(char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    return n;
}

/* "argument.NAME=VALUE", the nth of the command line. */
struct argument_entry {
    const char *text;
    size_t nth;
};

static int compare_keys(struct str one, struct str other)
{
    struct str a = str_cut(&one, '='), b = str_cut(&other, '=');
    int order = strncmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* The order of different options says nothing, that of one option's values does: the last often counts. */
static int compare_argument_entries(const void *a, const void *b)
{
    const struct argument_entry *x = a, *y = b;
    int order = compare_keys(str_of(x->text), str_of(y->text));
    return order ? order : (x->nth > y->nth) - (x->nth < y->nth);
}

/* "argument.NAME=VALUE" of the word at argv[i]; the words that it takes. An unknown option's value is the next word, unless that begins with a dash. */
static size_t print_argument_entry(char *const *argv, const bool *explained, size_t i, size_t *operand, struct buf *to)
{
    struct str word = str_of(argv[i]), value = word, name = str_cut(&value, '=');
    if (word.n < 2 || word.p[0] != '-') {
        buf_printf(to, "argument.%zu=" STR_FMT, ++*operand, STR_ARG(word));
        return 1;
    }
    while (name.n && name.p[0] == '-')
        name = str_sub(name, 1, name.n);
    if (!name.n)
        name = word; /* "--" */
    if (value.p && !value.n)
        value = STR("\"\""); /* --x= is another option than --x */
    bool takes = !value.p && argv[i + 1] && argv[i + 1][0] != '-' && !explained[i + 1];
    buf_printf(to, "argument." STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value.p ? value : takes ? str_of(argv[i + 1]) : STR("")));
    return takes ? 2 : 1;
}

/* "argument.STARTER.NAME=VALUE" of what a starter before the program says, with the number of an operand as its name; "argument.STARTER=" of the starter itself. */
static void print_setting_entry(const struct peel_setting *s, size_t *operand, struct buf *to)
{
    buf_printf(to, "argument.%s", s->starter);
    if (s->name.n)
        buf_printf(to, "." STR_FMT, STR_ARG(s->name));
    else if (s->value.p)
        buf_printf(to, ".%zu", ++*operand);
    else
        *operand = 0;
    buf_printf(to, "=" STR_FMT, STR_ARG(s->value));
}

/* A line end within an argument becomes its symbol, U+240A: entries are lines. */
static const char *argument_line(struct str text, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4 * TEXT_MAX);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\n')
            buf_puts(&b, "␊");
        else
            buf_putc(&b, text.p[i]);
    return b.failed ? NULL : arena_dup(a, b.p ? b.p : "", b.n);
}

/* The entries of a command line. swept (NULL: none): the line of the sweep whose run it is; words that are not as there are the sweep's. */
struct argument_list {
    char *const *line, *const *swept;
    struct argument_entry *entries;
    size_t count;
    struct arena *a;
};

static bool is_swept_word(const struct argument_list *l, size_t at)
{
    return l->swept && strcmp(l->line[at], l->swept[at]) != 0;
}

static bool add_argument_entry(struct argument_list *l, const struct buf *b)
{
    const char *text = b->failed ? NULL : argument_line(buf_text(b), l->a);
    if (text)
        l->entries[l->count] = (struct argument_entry){text, l->count};
    l->count += text != NULL;
    return text;
}

static bool add_settings(struct argument_list *l)
{
    struct peel_setting *settings = arena_get(l->a, (count_words_of(l->line) + 1) * sizeof *settings);
    size_t n = settings ? peel_settings(l->line, settings) : 0, operand = 0;
    for (size_t i = 0; i < n; i++) {
        CLEANUP_BUF struct buf b;
        bool swept = false;
        buf_init(&b, TEXT_MAX);
        for (size_t k = 0; k < settings[i].words; k++)
            swept |= is_swept_word(l, settings[i].at + k);
        print_setting_entry(&settings[i], &operand, &b);
        if (!swept && !add_argument_entry(l, &b))
            return false;
    }
    return settings;
}

static bool add_arguments(struct argument_list *l, char *const *argv, const bool *explained)
{
    size_t operand = 0;
    for (size_t i = 1; argv[i];) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, TEXT_MAX);
        if (explained[i]) {
            i++;
            continue;
        }
        i += print_argument_entry(argv, explained, i, &operand, &b);
        if (!add_argument_entry(l, &b))
            return false;
    }
    return true;
}

static struct str argument_name(const struct argument_entry *e)
{
    struct str rest = str_sub(str_of(e->text), strlen("argument."), strlen(e->text));
    return str_cut(&rest, '=');
}

/* "O2" and "O3", "color" and "no-color": of such options the last one counts. */
static bool are_opposed(struct str x, struct str y)
{
    if (str_starts(x, "no-") || str_starts(y, "no-"))
        return str_eq(str_starts(x, "no-") ? str_sub(x, 3, x.n) : x, str_starts(y, "no-") ? str_sub(y, 3, y.n) : y) && !str_eq(x, y);
    return x.n > 1 && y.n > 1 && x.p[0] == y.p[0] && !str_is_digit(x.p[0]) && !str_eq(x, y) && str_is_digit(x.p[1]) && str_is_digit(y.p[1]);
}

static bool is_opposed_to_any(const struct argument_list *l, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (are_opposed(argument_name(&l->entries[i]), argument_name(&l->entries[k])))
            return true;
    return false;
}

/* "argument.order=O2 O3": the order of opposed options, which says something. */
static bool add_order(struct argument_list *l)
{
    enum { SEARCHED_MAX = 200 };
    CLEANUP_BUF struct buf b;
    size_t n = l->count;
    buf_init(&b, TEXT_MAX);
    for (size_t i = 0; i < n && n <= SEARCHED_MAX; i++)
        if (is_opposed_to_any(l, n, i))
            buf_printf(&b, "%s" STR_FMT, b.n ? " " : "argument.order=", STR_ARG(argument_name(&l->entries[i])));
    return !b.n || add_argument_entry(l, &b);
}

/* The arguments that the rules do not explain, one a line as "argument.NAME=VALUE", after those of starters. parent: the sweep whose run it is.
 * NULL: the command line is not known, or out of memory. */
static const char *unexplained_text(const struct rules *rules, const struct json *detail, const struct json *parent, struct arena *a)
{
    char *const *full = detail_argv(detail, a), *const *swept = parent ? detail_argv(parent, a) : NULL,
                *const *argv = full ? peel_program(full) : NULL;
    if (!argv)
        return NULL;
    size_t n = count_words_of(full);
    bool *explained = arena_get(a, (n + 2) * sizeof *explained);
    struct argument_list l = {.line = full,
                              .swept = swept && count_words_of(swept) == n ? swept : NULL,
                              .entries = arena_get(a, (2 * n + 2) * sizeof *l.entries),
                              .a = a};
    if (!explained || !l.entries)
        return NULL;
    memset(explained, 0, (n + 2) * sizeof *explained);
    if (rules)
        rules_explain(rules, argv, explained);
    for (size_t i = 0; argv[i]; i++)
        explained[i] |= is_swept_word(&l, (size_t)(argv - full) + i);
    if (!add_settings(&l) || !add_arguments(&l, argv, explained) || !add_order(&l))
        return NULL;
    if (l.count)
        qsort(l.entries, l.count, sizeof *l.entries, compare_argument_entries);
    CLEANUP_BUF struct buf all;
    buf_init(&all, TEXT_MAX);
    for (size_t i = 0; i < l.count; i++)
        buf_printf(&all, "%s\n", l.entries[i].text);
    return all.failed ? NULL : arena_dup(a, all.p ? all.p : "", all.n);
}

/* ---- as params ---- */

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

/* The record of the run whose repetition this is; NULL: there is none. */
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

/* Appends an entry, or a value to that of the same key. Quotes a value that would look like several. */
static void add_param(struct tree_entry **list, const char *key, struct str value, struct arena *a)
{
    CLEANUP_BUF struct buf quoted = {0};
    if (str_has(value, ", ") || str_starts(value, "\"")) {
        buf_init(&quoted, 4 * TEXT_MAX);
        buf_json(&quoted, value);
        value = buf_text(&quoted);
    }
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
    if (!args->shared_rules)
        load_rules_of(args, run, a);
    const char *text = unexplained_text(args->shared_rules ? args->shared_rules : args->rules, detail, load_parent_of(args, run, a), a);
    char *const *argv = text ? peel_program(detail_argv(detail, a)) : NULL;
    if (!argv)
        return NULL;
    const char *slash = strrchr(argv[0], '/');
    add_param(&list, "program", str_of(slash ? slash + 1 : argv[0]), a);
    for (struct str rest = str_of(text); rest.n;) {
        struct str value = str_cut(&rest, '\n'), key = str_cut(&value, '=');
        const char *name = arena_dup(a, key.p, key.n);
        if (name)
            add_param(&list, name, value, a);
    }
    return list;
}

const char *arguments_hidden(const struct json *detail, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    char *const *argv = detail_argv(detail, a);
    buf_init(&b, 1 << 16);
    for (size_t i = 1; argv && argv[0] && argv[i]; i++) {
        struct str value = str_of(argv[i]), name = str_cut(&value, '=');
        bool attached = value.p && secret_is_redacted(value), alone = !value.p && secret_is_redacted(name);
        if (alone && argv[i - 1][0] == '-')
            name = str_of(argv[i - 1]);
        if (attached || alone)
            buf_printf(&b, "%s" STR_FMT, b.n ? ", " : "", STR_ARG(name));
    }
    return b.n && !b.failed ? arena_dup(a, b.p, b.n) : NULL;
}
