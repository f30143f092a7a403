/* line_variables.c: follows the environment from starter to starter of a command line, by the rows of line_variables.def. */
#include "run/line_variables.h"

#include "base/array.h"
#include "base/env.h"
#include "launch/peel.h"
#include "run/shell_line.h"

#include <stdio.h>
#include <string.h>

enum { SEARCHED_MAX = 256 << 10 /* bytes of words that are searched for variables */ };

/* What a starter does. The lists name options, but for the last three. */
struct starter_env {
    const char *starter;
    bool fresh; /* the program gets variables of the starter's choice, */
    const char *passes; /* unless one of these options is given; with a value it names variables that are passed on */
    bool assigns; /* NAME=VALUE words may come before the program */
    bool removes; /* an option of `sets` without "=" removes the variable, instead of passing it on */
    bool carries; /* the environment reaches the program also on another node */
    bool other_root; /* another folder becomes "/" */
    bool image; /* so does an image, in which the working directory is that of the node */
    const char *sets; /* NAME=VALUE, or "NAME VALUE" as two words */
    const char *lists; /* NAME=VALUE,NAME=VALUE */
    const char *exports; /* Slurm's lists: ALL, NONE, NAME, NAME=VALUE, with commas between; */
    const char *exports_by; /* a variable with such a list, which counts without the option */
    const char *unsets, *clears, *chdir, *other_root_by;
    const char *unseen; /* which variables they set is not in the line */
    const char *inside; /* beginnings of variables: the rest of the name is the variable that the program gets */
    const char *chooses; /* variables that it sets itself */
};

static const struct starter_env starter_rows[] = {
#include "run/line_variables.def"
};

struct line_following {
    struct line_changes *to;
    struct arena *a;
    bool sweep;
    struct variable_change *changes;
    size_t room, settings_room;
    char **settings;
    size_t settings_count;
};

static const struct starter_env *find_starter_row(const char *starter)
{
    for (size_t i = 0; i < sizeof starter_rows / sizeof *starter_rows; i++)
        if (strcmp(starter_rows[i].starter, starter) == 0)
            return &starter_rows[i];
    return NULL;
}

static struct str own_line_text(const struct line_following *f, struct str text)
{
    const char *copy = arena_dup(f->a, text.p ? text.p : "", text.n);
    return (struct str){copy, copy ? text.n : 0};
}

/* Appends a change of a variable, copied to the arena. value.p NULL: removed, or with `why` not
 * known. Drops it where memory is used up. */
static void add_line_change(struct line_following *f, struct str name, struct str value, const char *why)
{
    struct variables *v = &f->to->variables;
    if (!name.n || !ARRAY_FITS_IN(f->a, f->changes, f->room, v->count + 1))
        return;
    if (f->sweep && value.p && str_has(value, "{")) {
        value = (struct str){NULL, 0};
        why = "each point of the sweep may set its own";
    }
    f->changes[v->count++] = (struct variable_change){own_line_text(f, name), value.p ? own_line_text(f, value) : value, why};
    v->changes = f->changes;
}

/* Removes all changes so far: the program gets none of what was set before. */
static void forget_changes(struct line_following *f)
{
    f->to->variables.count = 0;
    f->to->variables.cleared = true;
    f->to->variables.unknown = NULL;
    f->settings_count = 0;
}

static void make_unknown(struct line_following *f, const char *why)
{
    forget_changes(f);
    f->to->variables.unknown = why ? why : "out of memory";
}

/* Adds a variable that a starter passes on, as it was before that starter. */
static void pass_variable(struct line_following *f, const struct variables *before, struct str name)
{
    struct str value;
    const char *why;
    variables_at_start(before, name, &value, &why);
    add_line_change(f, name, value, why);
}

/* Applies one NAME or NAME=VALUE of a starter's option: a name alone is passed on, or removed where
 * the starter removes it. A pattern or a file makes the variables unknown. */
static void set_variable(struct line_following *f, const struct starter_env *s, const struct variables *before, struct str text)
{
    struct str value = text, name = str_cut(&value, '=');
    if (!name.n || str_starts(text, "-") || str_has(name, "*") || str_has(name, "/")) /* a pattern, or a file */
        make_unknown(f, arena_printf(f->a, "which variables %s sets is not in the command line", s->starter));
    else if (value.p || s->removes)
        add_line_change(f, name, value, NULL);
    else
        pass_variable(f, before, name);
}

static void set_listed(struct line_following *f, const struct starter_env *s, const struct variables *before, struct str list)
{
    while (list.p) {
        struct str one = str_cut(&list, ',');
        if (one.n)
            set_variable(f, s, before, one);
    }
}

/* Applies a list of Slurm's --export. A list with quotes makes the variables unknown. */
static void set_exported(struct line_following *f, const struct starter_env *s, const struct variables *before, struct str list)
{
    bool all = false;
    for (struct str rest = list; rest.p;)
        all |= str_is_anycase(str_cut(&rest, ','), "ALL");
    if (memchr(list.p, '\'', list.n) || memchr(list.p, '"', list.n)) {
        make_unknown(f, arena_printf(f->a, "%s exports a list with quotes", s->starter));
        return;
    }
    if (!all)
        forget_changes(f);
    while (list.p) {
        struct str one = str_cut(&list, ',');
        if (one.n && !str_is_anycase(one, "ALL") && !str_is_anycase(one, "NONE") && !str_is_anycase(one, "NIL"))
            set_variable(f, s, before, one);
    }
}

/* Adds the variable under the rest of its name where the name begins with one of the words in
 * `begins` (APPTAINERENV_X is X). */
static void set_inside(struct line_following *f, const struct variables *before, struct str name, const char *begins)
{
    for (struct str rest = str_of(begins), begin; (begin = str_word(&rest)).n;)
        if (name.n > begin.n && memcmp(name.p, begin.p, begin.n) == 0) {
            struct str value;
            const char *why;
            variables_at_start(before, name, &value, &why);
            if (value.p || why)
                add_line_change(f, str_sub(name, begin.n, name.n), value, why);
        }
}

static void set_all_inside(struct line_following *f, const struct variables *before, const char *begins)
{
    for (char *const *e = before->env; begins && e && *e; e++) {
        struct str value = str_of(*e);
        set_inside(f, before, str_cut(&value, '='), begins);
    }
    for (size_t i = 0; begins && i < before->count; i++)
        set_inside(f, before, before->changes[i].name, begins);
}

/* ---- the settings of one starter ---- */

static bool is_line_assignment(const char *word)
{
    const char *equals = strchr(word, '=');
    return word[0] != '-' && equals && equals != word;
}

/* Returns whether the setting has one of these options, alone or among letters ("-ce"). */
static bool gives_option(const struct peel_setting *x, const char *word, const char *options)
{
    if (!options || word[0] != '-')
        return false;
    if (x->name.n && str_has_word(options, x->name))
        return true;
    for (const char *p = word + 1; word[1] != '-' && *p && *p != '='; p++) {
        if (str_has_word(options, (struct str){p, 1}))
            return true;
        if (p == x->name.p && x->name.n == 1)
            break; /* its value follows */
    }
    return false;
}

/* Returns whether one of the settings is one of these options; *ret_value: the value of the last
 * one. */
static bool any_gives(const struct peel_setting *list, size_t n, char *const *argv, const char *options, struct str *ret_value)
{
    bool given = false;
    for (size_t i = 0; i < n; i++)
        if (gives_option(&list[i], argv[list[i].at], options)) {
            given = true;
            *ret_value = list[i].value;
        }
    return given;
}

/* Adds a setting's words to those that may name variables in a way that the rows do not know. */
static void add_suspects(struct line_following *f, const struct peel_setting *x, char *const *argv)
{
    for (size_t i = 0; i < x->words; i++)
        if (ARRAY_FITS_IN(f->a, f->settings, f->settings_room, f->settings_count + 2)) {
            f->settings[f->settings_count++] = argv[x->at + i];
            f->settings[f->settings_count] = NULL;
        }
}

/* Adds Open MPI's --mca KEY VALUE as OMPI_MCA_KEY, its variable in the program's environment.
 * False: the option is none of these. */
static bool set_mca(struct line_following *f, const struct peel_setting *x, const char *word)
{
    static const char *const options[][2] = {{"mca", "OMPI_MCA_"}, {"gmca", "OMPI_MCA_"}, {"omca", "OMPI_MCA_"}, {"prtemca", "PRTE_MCA_"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(word + strspn(word, "-"), options[i][0]) == 0) {
            add_line_change(f, str_of(arena_printf(f->a, "%s" STR_FMT, options[i][1], STR_ARG(x->name))), x->value, NULL);
            return true;
        }
    return false;
}

/* Applies one setting of a starter by its row. Words of an option that the row does not know become
 * suspects. */
static void change_by_setting(struct line_following *f, const struct starter_env *s, const struct variables *before,
                              const struct peel_setting *x, char *const *argv)
{
    const char *word = argv[x->at];
    if (s->assigns && is_line_assignment(word))
        add_line_change(f, x->name, x->value, NULL);
    else if (gives_option(x, word, s->unsets))
        add_line_change(f, x->value, (struct str){NULL, 0}, NULL);
    else if (x->words == 3 && set_mca(f, x, word))
        return;
    else if (x->words == 3 && s->sets && str_has_word(s->sets, str_of(word + strspn(word, "-")))) /* -genv NAME VALUE */
        add_line_change(f, x->name, x->value, NULL);
    else if (gives_option(x, word, s->sets))
        set_variable(f, s, before, x->value);
    else if (gives_option(x, word, s->lists))
        set_listed(f, s, before, x->value);
    else if (!gives_option(x, word, s->exports) && !gives_option(x, word, s->passes))
        add_suspects(f, x, argv);
}

/* Applies what the starter changes before its settings count. */
static void begin_starter(struct line_following *f, const struct starter_env *s, const struct variables *before,
                          const struct peel_setting *list, size_t n, char *const *argv)
{
    struct str value = {NULL, 0};
    bool passes = any_gives(list, n, argv, s->passes, &value), bare = false;
    for (size_t i = 0; i < n; i++)
        bare |= s->clears && strcmp(argv[list[i].at], "-") == 0;
    if (s->fresh && (!passes || value.n))
        make_unknown(f, arena_printf(f->a, "%s starts the program with variables of its own", s->starter));
    if (passes && value.n)
        set_listed(f, s, before, value);
    if (bare || any_gives(list, n, argv, s->clears, &value))
        forget_changes(f);
    if (any_gives(list, n, argv, s->unseen, &value))
        make_unknown(f, arena_printf(f->a, "which variables %s sets is not in the command line", s->starter));
    if (any_gives(list, n, argv, s->exports, &value))
        set_exported(f, s, before, value);
    else if (s->exports_by && variables_at_start(before, str_of(s->exports_by), &value, &(const char *){NULL}) == VARIABLE_SET)
        set_exported(f, s, before, value);
    set_all_inside(f, before, s->inside);
}

/* Notes in f->to where the starter changes the root folder or the working directory. cwd NULL: it
 * is not known. */
static void change_line_place(struct line_following *f, const struct starter_env *s, const struct peel_setting *list, size_t n,
                              char *const *argv)
{
    struct str value = {NULL, 0};
    bool other = s->other_root || any_gives(list, n, argv, s->other_root_by, &value);
    if (other || s->image)
        f->to->other_root = arena_printf(f->a, "%s starts the program in another root folder, which is not read", s->starter);
    if (other)
        f->to->other_folder = f->to->other_root;
    if (!any_gives(list, n, argv, s->chdir, &value) || !value.n)
        return;
    f->to->cwd = *value.p == '/' ? arena_dup(f->a, value.p, value.n)
                 : f->to->cwd    ? arena_printf(f->a, "%s/" STR_FMT, strcmp(f->to->cwd, "/") ? f->to->cwd : "", STR_ARG(value))
                                 : NULL;
}

/* Applies what one starter and its settings change to f->to. `before`: the changes up to it. */
static void follow_starter(struct line_following *f, const char *starter, const struct peel_setting *list, size_t n, char *const *argv)
{
    const struct starter_env *s = find_starter_row(starter), none = {.starter = starter};
    struct variables before = f->to->variables;
    struct variable_change *copy = arena_get(f->a, (before.count + 1) * sizeof *copy);
    if (!copy)
        return;
    for (size_t i = 0; i < before.count; i++)
        copy[i] = before.changes[i];
    before.changes = copy;
    if (peel_connects(starter))
        make_unknown(f, arena_printf(f->a, "%s connects to a server, which starts the program with variables of its own", starter));
    s = s ? s : &none;
    begin_starter(f, s, &before, list, n, argv);
    for (size_t i = 0; i < n; i++)
        if (list[i].name.p || list[i].value.p)
            change_by_setting(f, s, &before, &list[i], argv);
    for (struct str rest = str_of(s->chooses), name; (name = str_word(&rest)).n;)
        add_line_change(f, name, (struct str){NULL, 0}, arena_printf(f->a, "%s may set it", starter));
    change_line_place(f, s, list, n, argv);
}

/* Follows each starter before the program in turn. Where memory is used up nothing changes;
 * line_changes_of reports that. */
static void follow_starters(struct line_following *f, char *const *argv)
{
    size_t words = 0, begin = 0;
    while (argv[words])
        words++;
    struct peel_setting *list = arena_get(f->a, (words + 1) * sizeof *list);
    size_t n = list ? peel_settings(argv, list) : 0;
    for (size_t i = 0; i <= n; i++) {
        bool first = i < n && !list[i].name.p && !list[i].value.p; /* the starter itself */
        if (i > begin && (i == n || first)) {
            follow_starter(f, list[begin].starter, list + begin, i - begin, argv);
            begin = i;
        }
    }
}

/* ---- the program's arguments ---- */

/* Notes where an argument of the program is a command whose starter changes the environment (`sh -c
 * "env -i prog"`): variables inside are then unknown. Single variables that it sets are found in
 * its words. */
static void follow_inner(struct line_following *f, char *const *command)
{
    struct line_changes inner = {.variables = {.env = f->to->variables.env}};
    struct line_following g = {.to = &inner, .a = f->a};
    follow_starters(&g, command);
    bool other = inner.variables.cleared;
    for (size_t i = 0; i < inner.variables.count; i++)
        other |= inner.variables.changes[i].why != NULL;
    if (other)
        f->to->variables.unknown_inside = "a command in an argument of the program starts it with other variables";
}

/* Follows the starters in the program's own arguments, also in lines for a shell. Where they are
 * too long, their variables are unknown. */
static void follow_arguments(struct line_following *f, char *const *program)
{
    size_t bytes = 0;
    for (char *const *word = program + 1; *word; word++)
        bytes += strlen(*word);
    if (bytes > SEARCHED_MAX) {
        f->to->variables.unknown_inside = "the command line is too long to be searched for variables";
        return;
    }
    f->to->variables.arguments = program + 1;
    char *const *at = program + 1;
    for (struct str line; (line = shell_line_of(program, &at)).p;)
        for (char **command; (command = shell_line_next(&line, f->a));)
            follow_inner(f, command);
    for (char *const *word = program + 1; *word; word++)
        if (peel_program(word) != word)
            follow_inner(f, word);
}

/* Returns whether the command's launcher passes its environment on to the program on other
 * nodes. */
static bool is_carried(char *const *argv)
{
    const char *launcher = peel_launcher(argv);
    const struct starter_env *s = launcher ? find_starter_row(launcher) : NULL;
    return s && s->carries;
}

struct line_changes line_changes_of(char *const *argv, char *const *env, const char *cwd, bool elsewhere, bool sweep, struct arena *a)
{
    struct line_changes changes = {.variables = {.env = env}, .cwd = cwd};
    struct line_following f = {.to = &changes, .a = a, .sweep = sweep};
    if (!argv || !argv[0])
        return changes;
    follow_starters(&f, argv);
    f.to->variables.settings = f.settings_count ? f.settings : NULL;
    follow_arguments(&f, peel_program(argv));
    if (elsewhere && !is_carried(argv) && !changes.variables.unknown)
        make_unknown(&f, "the program may run on another machine, where its variables may be others");
    if (a->failed)
        make_unknown(&f, "out of memory");
    return changes;
}
