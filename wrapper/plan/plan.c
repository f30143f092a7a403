/* plan.c: what was requested: options with their origins, and the places that follow from them. */
#include "plan/plan.h"

#include "base/fs.h"
#include "base/place.h"
#include "base/profile.h"
#include "benchmarks/rules.h"
#include "launch/options.h"
#include "launch/peel.h"
#include "launch/words.h"
#include "plan/configuration.h"
#include "plan/paths.h"
#include "plan/rules.h"
#include "plan/server.h"
#include "plan/variables.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAN_WARNINGS_MAX = 50, EXPERIMENT_MAX = 128 };

const struct opt_row plan_rows[] = {
#define OPTION(name, letter, kind, arg, env, value, group, help, flags) {name, letter, kind, arg, env, value, group, help, flags},
#include "launch/options.def"
#undef OPTION
};
const size_t plan_rows_count = sizeof plan_rows / sizeof plan_rows[0];

const char *plan_warn(struct plan *p, const char *text)
{
    struct plan_warning **at = &p->warnings;
    size_t n = 0;
    for (; *at; at = &(*at)->next)
        n++;
    if (!text || n == PLAN_WARNINGS_MAX)
        return NULL;
    struct plan_warning *w = ARENA_NEW(&p->arena, struct plan_warning);
    if (w) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 4096);
        buf_plain(&b, str_of(text), 1000);
        w->text = arena_dup(&p->arena, b.p ? b.p : "", b.n);
        *at = w;
    }
    return NULL;
}

/* ---- tree, rules, experiment ---- */

/* Sets tree, spool, and where the tree's path is from: option or environment, MLFLOW_TRACKING_URI,
 * file, then repository or working directory. A path through another user's link is replaced by one
 * below `state`. Returns -1 with err only for an empty --tree. */
static int choose_tree(struct plan *p, char **env, const char *state, struct err *err)
{
    struct arena *a = &p->arena;
    const struct opt_value *given = opt_find(&p->opts, OPTION_TREE);
    const char *why = NULL, *uri = plan_tracking_path(env, a, &why), *path;
    bool strong = given->text && *given->text && given->origin >= OPT_ENVIRONMENT;
    if (given->text && !*given->text && given->origin == OPT_COMMAND_LINE)
        return err_set(err, ERR_USAGE, "--tree: expected the name of a folder, got an empty text");
    if (strong) {
        path = plan_absolute(p->cwd, given->text, a);
        p->tree_where = given->where;
    } else if (uri) {
        path = plan_absolute(p->cwd, uri, a);
        p->tree_where = "MLFLOW_TRACKING_URI";
    } else if (given->text && *given->text) { /* from a file: relative to the file's folder */
        const char *colon = strrchr(given->where, ':');
        size_t n = colon ? (size_t)(colon - given->where) : strlen(given->where);
        while (n > 1 && given->where[n - 1] != '/')
            n--;
        path = plan_absolute(arena_dup(a, given->where, n > 1 ? n - 1 : n), given->text, a);
        p->tree_where = given->where;
    } else {
        path = arena_printf(a, "%s/mlruns", p->repository ? p->repository : strcmp(p->cwd, "/") ? p->cwd : "");
        p->tree_where = p->repository ? "results repository" : "default";
    }
    if (why && !strong)
        plan_warn(p, why);
    const char *named = plan_tree_named(path, a);
    bool is_named = strong || uri || p->tree_where == given->where;
    p->tree = named && is_named ? plan_resolved(named, a) : named;
    if (named && state && (!p->tree || (!is_named && plan_is_foreign_link(named)))) {
        plan_warn(p, arena_printf(a,
                                  "%s leads through a link that another user made; the run is recorded in %s (to use the folder behind "
                                  "the link: --tree with its own path)",
                                  named, state));
        p->tree = arena_printf(a, "%s/mlruns", state);
        p->tree_where = "a link of another user is in the way";
    } else if (named && !p->tree) {
        p->tree = named; /* whoever opens it refuses the link */
    }
    p->spool = p->tree ? plan_spool_of(p->tree, a) : NULL;
    return 0;
}

/* Adds the folders of rule files: those requested (several in one text have colons between), then
 * the user's, then the site's. */
static void find_catalogue(struct plan *p)
{
    struct arena *a = &p->arena;
    for (const struct opt_value *v = opt_find(&p->opts, OPTION_CATALOGUE); v && v->text; v = v->next)
        for (struct str rest = str_of(v->text); rest.p;) {
            struct str one = str_cut(&rest, ':');
            const char *path = one.n ? arena_dup(a, one.p, one.n) : NULL;
            if (!path || !(path = plan_absolute(p->cwd, path, a)))
                continue;
            CLEANUP_FD int folder = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
            if (folder < 0)
                plan_warn(p, arena_printf(a, "%s: cannot read a catalogue folder: %s; rules of other folders are used", v->where,
                                          err_words(errno))); /* without the path: the warning is recorded */
            catalogue_add(&p->catalogue, path);
        }
    catalogue_add(&p->catalogue, p->config_dir ? arena_printf(a, "%s/catalogue", p->config_dir) : NULL);
    catalogue_add(&p->catalogue, "/etc/benchwrap/catalogue");
}

/* ---- references ---- */

static void add_references(struct plan *p, const char *path, const char *where)
{
    struct reference_files *f = &p->references;
    if (!path || !where || f->count == REFERENCE_FILES_MAX)
        return;
    p->references_where[f->count] = where;
    f->path[f->count++] = path;
}

/* Loads and adds --reference FILE, that file alone. Returns -1 with err where it cannot be read. */
static int named_references(struct plan *p, const struct opt_value *given, struct err *err)
{
    struct arena *a = &p->arena;
    struct references *refs = NULL;
    const char *folder = p->cwd;
    if (given->origin < OPT_ENVIRONMENT) { /* relative to the file that sets it */
        const char *slash = strrchr(given->where, '/');
        folder = slash ? arena_dup(a, given->where, (size_t)(slash - given->where)) : p->cwd;
    }
    const char *path = folder ? plan_absolute(folder, given->text, a) : NULL;
    if (!path)
        return err_memory(err, "the plan");
    if (references_load(&refs, path, err) < 0) {
        if (err)
            err->kind = ERR_USAGE;
        return err_wrap(err, "%s", given->where);
    }
    references_free(refs);
    add_references(p, path, given->where);
    p->references.named = true;
    return 0;
}

/* Sets the reference files: the one that the option `reference` names; else those of the
 * results repository, the user and the site, of which for each metric the strongest counts. Returns
 * -1 with err only where the command line names a file that cannot be read; elsewhere a warning
 * names it. */
static int choose_references(struct plan *p, struct err *err)
{
    struct arena *a = &p->arena;
    const struct opt_value *given = opt_find(&p->opts, OPTION_REFERENCE);
    if (given->text && strcmp(given->text, "none") == 0)
        return 0;
    if (given->text && *given->text) {
        struct err why = {0};
        if (named_references(p, given, &why) == 0)
            return 0;
        if (given->origin == OPT_COMMAND_LINE) {
            if (err)
                *err = why;
            return -1;
        }
        plan_warn(p, arena_printf(a, "%s; ignored", why.text));
        if (given->origin == OPT_ENVIRONMENT) {
            add_references(p, plan_absolute(p->cwd, given->text, a), given->where);
            p->references.named = true;
            return 0;
        }
    }
    const char *places[] = {p->repository ? arena_printf(a, "%s/references.yaml", strcmp(p->repository, "/") ? p->repository : "") : NULL,
                            p->config_dir ? arena_printf(a, "%s/references.yaml", p->config_dir) : NULL, "/etc/benchwrap/references.yaml"};
    static const char *const whose[] = {"results repository", "user", "site"};
    CLEANUP_FD int root = p->repository ? place_open_folder(p->repository, 0) : -1;
    CLEANUP_FD int inside = root >= 0 ? place_open(root, "references.yaml", O_RDONLY, 0) : -1; /* a link could lead out of it */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] && (i == 0 ? inside >= 0 && !plan_is_planted(p, root, "references.yaml", inside) : access(places[i], F_OK) == 0))
            add_references(p, places[i], whose[i]);
    return 0;
}

static bool experiment_legal(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!s.p[i] || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._ -", s.p[i]))
            return false;
    return s.n >= 1 && s.n <= EXPERIMENT_MAX;
}

char *plan_experiment_legal(const char *name, struct arena *a)
{
    char *made = arena_dup(a, name, strnlen(name, EXPERIMENT_MAX));
    for (size_t i = 0; made && made[i]; i++)
        if (!experiment_legal((struct str){made + i, 1}))
            made[i] = '_';
    return made;
}

/* Sets the experiment: by option, else the benchmark's name. Returns -1 with err for a name on the
 * command line that is not legal; one from elsewhere is made legal with a warning. */
static int choose_experiment(struct plan *p, struct err *err)
{
    const struct opt_value *given = opt_find(&p->opts, OPTION_EXPERIMENT);
    struct str name = str_of(given->text);
    if (given->origin == OPT_COMMAND_LINE && given->text && !experiment_legal(name))
        return err_set(err, ERR_USAGE, "%s: an experiment's name has 1 to %d characters of A-Z a-z 0-9 . _ - and blank", given->where,
                       EXPERIMENT_MAX);
    p->experiment_where = given->where;
    if (!name.n) {
        name = str_of(p->benchmark ? p->benchmark : "default");
        p->experiment_where = p->benchmark ? "the benchmark's name" : "default";
    }
    p->experiment_given = arena_dup(&p->arena, name.p, name.n);
    p->experiment = plan_experiment_legal(name.p, &p->arena);
    if (!experiment_legal(name))
        plan_warn(p, arena_printf(&p->arena,
                                  "%s: not a legal name of an experiment; its first %d characters are used, with _ for others than "
                                  "A-Z a-z 0-9 . _ - and blank",
                                  p->experiment_where, EXPERIMENT_MAX));
    return 0;
}

/* Makes "public" the default where the repository has a remote: others will read it. */
static void choose_profile(struct plan *p)
{
    for (size_t i = 0; p->repository && i < plan_rows_count; i++)
        if (strcmp(plan_rows[i].name, "profile") == 0 && p->opts.values[i].origin == OPT_DEFAULT &&
            profile_is_public(NULL, plan_has_remote(p->repository)))
            p->opts.values[i] =
                (struct opt_value){.text = "public", .origin = OPT_REPOSITORY, .where = "the results repository has a remote"};
}

/* Checks the values of all options. Returns -1 with err for one of the command line; one from
 * elsewhere becomes the default with a warning. err may be NULL. */
static int plan_check_values(struct plan *p, struct err *err)
{
    for (size_t i = 0; i < plan_rows_count; i++) {
        struct err why = {0};
        struct opt_value *head = &p->opts.values[i];
        bool bad = false;
        for (const struct opt_value *v = head; !bad && v && v->text; v = v->next)
            bad = options_check(&plan_rows[i], v, &why) < 0;
        if (!bad)
            continue;
        if (head->origin == OPT_COMMAND_LINE) {
            if (err)
                *err = why;
            return -1;
        }
        plan_warn(p, arena_printf(&p->arena, "%s; ignored", why.text));
        *head = (struct opt_value){.text = plan_rows[i].value, .origin = OPT_DEFAULT, .where = "default"};
    }
    return 0;
}

/* Finds the working directory. Where it was removed, the folder that keeps what has no other place
 * stands for it. Returns -1 with err. */
static int find_cwd(struct plan *p, const char *state, struct err *err)
{
    char cwd[PATH_MAX];
    bool there = getcwd(cwd, sizeof cwd);
    if (!there && (errno != ENOENT || !state))
        return err_sys(err, "finding the working directory");
    if (!there)
        plan_warn(p, arena_printf(&p->arena, "the working directory was removed; %s is used instead", state));
    p->cwd = there ? arena_dup(&p->arena, cwd, strlen(cwd)) : state;
    return p->cwd ? 0 : err_memory(err, "the plan");
}

/* Returns the results repository that holds the tree that is named; else that of the working
 * directory. */
static const char *find_repository(struct plan *p, char **env)
{
    const struct opt_value *given = opt_find(&p->opts, OPTION_TREE);
    const char *why = NULL, *found = NULL;
    const char *tree =
        given->text && *given->text && given->origin >= OPT_ENVIRONMENT ? given->text : plan_tracking_path(env, &p->arena, &why);
    tree = tree ? plan_absolute(p->cwd, tree, &p->arena) : NULL;
    char *path = tree ? arena_dup(&p->arena, tree, strlen(tree)) : NULL, *slash, *real = NULL;
    while (path && !(real = realpath(path, NULL)) && (slash = strrchr(path, '/')) && slash > path) /* the tree is made later */
        *slash = 0;
    if (real)
        found = plan_find_repository(real, &p->arena);
    free(real);
    return found ? found : plan_find_repository(p->cwd, &p->arena);
}

/* Fills the plan from command line, environment, repository, the user's and the system's file; of
 * these the one named first wins. Returns -1 with err; the caller frees the plan's arena. */
static int plan_make_into(struct plan *p, int argc, char **argv, char **env, struct err *err)
{
    struct arena *a = &p->arena;
    const char *state = plan_xdg(env, "XDG_STATE_HOME", ".local/state", a);
    state = state ? plan_resolved(state, a) : NULL;
    if (find_cwd(p, state, err))
        return -1;
    p->opts = (struct opt_set){.rows = plan_rows, .count = plan_rows_count, .words = words_typed, .place = WORDS_PROGRAM};
    p->opts.values = arena_get(a, plan_rows_count * sizeof *p->opts.values);
    if (!p->opts.values)
        goto memory;
    int next = argc;
    opt_defaults(&p->opts, getenv);
    if (opt_parse(&p->opts, argc, argv, &next, err) < 0 || plan_check_values(p, err) < 0)
        return -1;
    plan_check_variables(p, env);
    p->argv = argv + (next < argc ? next : argc);
    p->program = peel_program(p->argv);
    p->config_dir = plan_xdg(env, "XDG_CONFIG_HOME", ".config", a);
    p->spool_fallback = state ? arena_printf(a, "%s/spool", state) : NULL;
    p->repository = find_repository(p, env);
    plan_read_configuration(p);
    choose_profile(p);
    find_catalogue(p);
    if (plan_server(p, env, err) < 0 || choose_tree(p, env, state, err) < 0 || plan_rules(p, err) < 0 || choose_experiment(p, err) < 0 ||
        choose_references(p, err) < 0)
        return -1;
    if (!a->failed)
        return 0;
memory:
    errno = ENOMEM;
    return err_sys(err, "reading the options");
}

int plan_make(struct plan *ret, int argc, char **argv, char **env, struct err *err)
{
    struct plan p = {0};
    arena_init(&p.arena, 64 << 20); /* the configuration files, four of at most 1 MiB each, parsed */
    if (plan_make_into(&p, argc, argv, env, err) < 0) {
        plan_deinit(&p);
        return -1;
    }
    *ret = p;
    return 0;
}

int plan_make_with(struct plan *ret, const struct opt_set *given, char **env, struct arena *a, const char *const *names, struct err *err)
{
    static char program[] = "benchwrap";
    size_t count = 0;
    int n = 1;
    while (names[count])
        count++;
    char **line = arena_get(a, (count + 2) * sizeof *line); /* the plan refers to its end */
    for (size_t i = 0; line && i < count; i++) {
        const struct opt_value *v = opt_find(given, names[i]);
        if (v->text && v->origin == OPT_COMMAND_LINE)
            line[n++] = arena_printf(a, "--%s=%s", names[i], v->text);
    }
    if (!line || a->failed)
        return err_memory(err, "the plan");
    line[0] = program;
    return plan_make(ret, n, line, env, err);
}

void plan_deinit(struct plan *plan)
{
    if (plan->loaded)
        rules_free(plan->loaded);
    plan->loaded = NULL;
    exporter_configs_deinit(plan->exporters);
    opt_deinit(&plan->opts);
    arena_deinit(&plan->arena);
}

int plan_tree(const char *tree_option, char **env, struct arena *a, const char **ret, struct err *err)
{
    struct plan p;
    char arg[PATH_MAX + 16];
    if (tree_option && strlen(tree_option) >= PATH_MAX)
        return err_set(err, ERR_USAGE, "--tree: the name is longer than the system's %d bytes", PATH_MAX);
    snprintf(arg, sizeof arg, "--tree=%s", tree_option ? tree_option : "");
    char none[] = "", end[] = "--", *argv[] = {none, tree_option ? arg : end, NULL};
    if (plan_make(&p, 2, argv, env, err) < 0)
        return -1;
    *ret = arena_dup(a, p.tree, strlen(p.tree));
    plan_deinit(&p);
    return *ret ? 0 : err_memory(err, "the plan");
}

int plan_catalogue(char **env, struct arena *a, struct catalogue *ret, struct err *err)
{
    struct plan p;
    char none[] = "", end[] = "--", *argv[] = {none, end, NULL};
    if (plan_make(&p, 2, argv, env, err) < 0)
        return -1;
    *ret = (struct catalogue){0};
    for (size_t i = 0; i < p.catalogue.folders; i++)
        catalogue_add(ret, arena_printf(a, "%s", p.catalogue.folder[i]));
    plan_deinit(&p);
    return a->failed ? err_memory(err, "the plan") : 0;
}
