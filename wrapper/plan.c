/* plan.c: what was asked: options with their origins, and the places that follow from them. */
#include "plan.h"

#include "base/fs.h"
#include "base/yaml.h"
#include "benchmarks/rules.h"
#include "launch/peel.h"
#include "plan_server.h"
#include "sinks/mlflow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLAN_FILE_MAX = 1 << 20, PLAN_WARNINGS_MAX = 50, EXPERIMENT_MAX = 128 };

const struct opt_row plan_rows[] = {
#define OPTION(name, letter, kind, arg, env, value, group, help, flags) {name, letter, kind, arg, env, value, group, help, flags},
#include "launch/options.def"
#undef OPTION
};
const size_t plan_rows_count = sizeof plan_rows / sizeof plan_rows[0];

const char *plan_env(char **env, const char *name)
{
    size_t n = strlen(name);
    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return (*env)[n + 1] ? *env + n + 1 : NULL;
    return NULL;
}

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

/* ---- paths ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* XDG base directory with its default below HOME; relative values are to be ignored (XDG base directory specification). */
static const char *xdg(char **env, const char *name, const char *below_home, struct arena *a)
{
    const char *dir = plan_env(env, name), *home = plan_env(env, "HOME");
    if (dir && dir[0] == '/')
        return arena_printf(a, "%s/benchwrap", dir);
    return home && home[0] == '/' ? arena_printf(a, "%s/%s/benchwrap", home, below_home) : NULL;
}

static const char *absolute(const char *cwd, const char *path, struct arena *a)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 2 && path[0] == '.' && path[1] == '/')
        path += 2, n -= 2;
    if (path[0] == '/')
        return arena_dup(a, path, n);
    if (n == 1 && path[0] == '.')
        return arena_dup(a, cwd, strlen(cwd));
    return arena_printf(a, "%s/%.*s", strcmp(cwd, "/") ? cwd : "", (int)n, path);
}

/* The folder is always called mlruns: a directory of another name is the one that holds it. */
static const char *tree_named(const char *path, struct arena *a)
{
    if (!path || strcmp(base_name(path), "mlruns") == 0)
        return path;
    char real[PATH_MAX];
    if (realpath(path, real) && strcmp(base_name(real), "mlruns") == 0)
        return arena_dup(a, real, strlen(real));
    return arena_printf(a, "%s/mlruns", strcmp(path, "/") ? path : "");
}

/* A file: URI as a path, decoded; NULL if it names another host or is broken. */
static const char *file_uri_path(const char *uri, struct arena *a)
{
    const char *p = uri + strlen("file:");
    if (p[0] == '/' && p[1] == '/') {
        p += 2;
        if (strncmp(p, "localhost/", 10) == 0)
            p += 9;
        if (p[0] != '/')
            return NULL;
    }
    char *path = arena_get(a, strlen(p) + 1), *to = path;
    for (; path && *p; p++) {
        unsigned hi, lo;
        if (*p != '%') {
            *to++ = *p;
            continue;
        }
        const char *hex = "0123456789abcdef";
        const char *h = p[1] ? strchr(hex, p[1] | 0x20) : NULL, *l = h && p[2] ? strchr(hex, p[2] | 0x20) : NULL;
        if (!h || !l)
            return NULL;
        hi = (unsigned)(h - hex), lo = (unsigned)(l - hex);
        if (hi * 16 + lo == 0)
            return NULL;
        *to++ = (char)(hi * 16 + lo);
        p += 2;
    }
    return path && *path ? path : NULL;
}

/* MLFLOW_TRACKING_URI as a path, or NULL with the reason in *ret_why (both NULL: not set). */
static const char *tracking_path(char **env, struct arena *a, const char **ret_why)
{
    const char *uri = plan_env(env, "MLFLOW_TRACKING_URI");
    *ret_why = NULL;
    if (!uri)
        return NULL;
    if (strncmp(uri, "file:", 5) == 0) {
        const char *path = file_uri_path(uri, a);
        if (!path)
            *ret_why = "MLFLOW_TRACKING_URI is a file: URI that names no local folder; it is not used";
        return path;
    }
    size_t scheme = strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    if (scheme && uri[scheme] == ':') {
        if (!mlflow_is_server(uri)) /* a server gets the run as well: plan_server.c */
            *ret_why = "MLFLOW_TRACKING_URI names no folder: recorded to the tree instead";
        return NULL;
    }
    if (strcmp(uri, "databricks") == 0 || strcmp(uri, "databricks-uc") == 0) {
        *ret_why = "MLFLOW_TRACKING_URI names a Databricks workspace: recorded to the tree instead";
        return NULL;
    }
    return uri;
}

/* The nearest folder upwards that holds benchwrap.yaml beside mlruns/ or .git: a results repository. */
static const char *find_repository(const char *cwd, struct arena *a)
{
    char path[PATH_MAX + 32];
    size_t n = strlen(cwd);
    if (n >= PATH_MAX)
        return NULL;
    memcpy(path, cwd, n + 1);
    for (;;) {
        struct stat st;
        size_t root = n == 1 ? 0 : n; /* "/" */
        strncpy(path + root, "/benchwrap.yaml", 16);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            strncpy(path + root, "/mlruns", 8);
            bool found = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
            strncpy(path + root, "/.git", 6);
            found = found || stat(path, &st) == 0;
            if (found)
                return arena_dup(a, root ? path : "/", root ? n : 1);
        }
        if (n <= 1)
            return NULL;
        path[n] = 0;
        char *slash = strrchr(path, '/');
        n = slash == path ? 1 : (size_t)(slash - path);
        path[n] = 0;
    }
}

/* <parent of realpath(tree)>/.benchwrap/spool. What does not exist yet of the tree is taken as it is written. */
static const char *spool_of(const char *tree, struct arena *a)
{
    char path[PATH_MAX], real[PATH_MAX];
    size_t n = strlen(tree);
    if (n >= sizeof path)
        return arena_printf(a, "%.*s/.benchwrap/spool", (int)(base_name(tree) - tree - 1), tree);
    memcpy(path, tree, n + 1);
    if (realpath(path, real)) {
        char *slash = strrchr(real, '/');
        *slash = 0;
        return arena_printf(a, "%s/.benchwrap/spool", real);
    }
    char *cut = strrchr(path, '/'); /* the parent as written, resolved as far as it exists */
    *cut = 0;
    const char *parent = path;
    for (char *at = cut; at; at = strrchr(path, '/')) {
        *at = 0;
        if (realpath(*path ? path : "/", real))
            return arena_printf(a, "%s%s/.benchwrap/spool", strcmp(real, "/") ? real : "",
                                arena_dup(a, tree + (at - path), (size_t)(cut - at)));
    }
    return arena_printf(a, "%s/.benchwrap/spool", parent);
}

/* ---- configuration files ---- */

static void assign(struct plan *p, const struct yaml *key, const char *text, enum opt_origin origin, const char *file)
{
    struct err err = {0};
    const char *where = arena_printf(&p->arena, "%s:%d", file, key->line);
    const char *name = arena_dup(&p->arena, key->key.p, key->key.n);
    if (where && name && text && opt_assign(&p->opts, name, text, origin, where, &err) != 0)
        plan_warn(p, arena_printf(&p->arena, "%s; ignored", err.text));
}

/* One entry of a file: a text, a list of texts, or for KEY=VALUE options a map. */
static void take_entry(struct plan *p, const struct yaml *entry, enum opt_origin origin, const char *file)
{
    if (yaml_is_null(entry))
        return;
    if (entry->kind == YAML_SCALAR) {
        assign(p, entry, arena_dup(&p->arena, entry->text.p, entry->text.n), origin, file);
        return;
    }
    for (const struct yaml *y = entry->child; y; y = y->next) {
        if (y->kind != YAML_SCALAR) {
            plan_warn(p, arena_printf(&p->arena, "%s:%d:%d: a text is wanted here; ignored", file, y->line, y->column));
            continue;
        }
        const char *text = entry->kind == YAML_LIST ? arena_dup(&p->arena, y->text.p, y->text.n)
                                                    : arena_printf(&p->arena, STR_FMT "=" STR_FMT, STR_ARG(y->key), STR_ARG(y->text));
        assign(p, entry, text, origin, file);
    }
}

static void read_file(struct plan *p, const char *path, enum opt_origin origin)
{
    struct plan_file *f = path ? ARENA_NEW(&p->arena, struct plan_file) : NULL, **at = &p->files;
    if (!f)
        return;
    while (*at)
        at = &(*at)->next;
    *f = (struct plan_file){.path = path, .origin = origin};
    *at = f;
    CLEANUP_BUF struct buf text;
    buf_init(&text, PLAN_FILE_MAX);
    struct err err = {0};
    if (fs_read(AT_FDCWD, path, PLAN_FILE_MAX, 0, &text, &err) < 0) {
        if (err.sys != ENOENT && err.sys != ENOTDIR)
            plan_warn(p, arena_printf(&p->arena, "%s; ignored", err.text));
        return;
    }
    f->found = true;
    struct yaml *doc = NULL;
    char *copy = arena_dup(&p->arena, text.p ? text.p : "", text.n);
    if (!copy || yaml_parse(&doc, path, (struct str){copy, text.n}, &p->arena, &err) < 0) {
        plan_warn(p, arena_printf(&p->arena, "%s; the file is ignored", err.text));
        return;
    }
    if (!doc || yaml_is_null(doc))
        return;
    if (doc->kind != YAML_MAP) {
        plan_warn(p, arena_printf(&p->arena, "%s:%d:%d: \"option: value\" lines are wanted; the file is ignored", path, doc->line, doc->column));
        return;
    }
    for (const struct yaml *y = doc->child; y; y = y->next)
        take_entry(p, y, origin, path);
}

/* ---- tree, rules, experiment ---- */

static int choose_tree(struct plan *p, char **env, struct err *err)
{
    struct arena *a = &p->arena;
    const struct opt_value *given = opt_find(&p->opts, "tree");
    const char *why = NULL, *uri = tracking_path(env, a, &why), *path;
    bool strong = given->text && *given->text && given->origin >= OPT_ENVIRONMENT;
    if (given->text && !*given->text && given->origin == OPT_COMMAND_LINE)
        return err_set(err, ERR_USAGE, "--tree: the name of a folder is wanted, got an empty text");
    if (strong) {
        path = absolute(p->cwd, given->text, a);
        p->tree_where = given->where;
    } else if (uri) {
        path = absolute(p->cwd, uri, a);
        p->tree_where = "MLFLOW_TRACKING_URI";
    } else if (given->text && *given->text) { /* from a file: relative to the file's folder */
        const char *colon = strrchr(given->where, ':');
        size_t n = colon ? (size_t)(colon - given->where) : strlen(given->where);
        while (n > 1 && given->where[n - 1] != '/')
            n--;
        path = absolute(arena_dup(a, given->where, n > 1 ? n - 1 : n), given->text, a);
        p->tree_where = given->where;
    } else {
        path = arena_printf(a, "%s/mlruns", p->repository ? p->repository : strcmp(p->cwd, "/") ? p->cwd : "");
        p->tree_where = p->repository ? "results repository" : "default";
    }
    if (why && !strong)
        plan_warn(p, why);
    p->tree = tree_named(path, a);
    p->spool = p->tree ? spool_of(p->tree, a) : NULL;
    return 0;
}

/* Folders of rule files: those asked for (several in one text have colons between), then the user's, then the site's. */
static void find_catalogue(struct plan *p)
{
    struct arena *a = &p->arena;
    for (const struct opt_value *v = opt_find(&p->opts, "catalogue"); v && v->text; v = v->next)
        for (struct str rest = str_of(v->text); rest.p;) {
            struct str one = str_cut(&rest, ':');
            const char *path = one.n ? arena_dup(a, one.p, one.n) : NULL;
            if (path)
                catalogue_add(&p->catalogue, absolute(p->cwd, path, a));
        }
    catalogue_add(&p->catalogue, p->config_dir ? arena_printf(a, "%s/catalogue", p->config_dir) : NULL);
    catalogue_add(&p->catalogue, "/etc/benchwrap/catalogue");
}

static int named_rules(struct plan *p, const struct opt_value *given, struct err *err)
{
    struct arena *a = &p->arena;
    p->rules_why = given->where;
    if (strcmp(given->text, "none") == 0)
        return 0;
    p->rules = catalogue_find(&p->catalogue, given->text, a);
    if (p->rules && access(p->rules, F_OK) == 0)
        p->rules = absolute(p->cwd, p->rules, a);
    if (!p->rules)
        return err_set(err, ERR_USAGE, "%s: \"%s\" is neither an entry of the catalogue nor a file that can be read: %s", given->where,
                       given->text, strerror(errno));
    if (rules_load(&p->loaded, p->rules, err) < 0) {
        if (err && err->kind != ERR_INPUT)
            err->kind = ERR_USAGE;
        return err_wrap(err, "%s", given->where);
    }
    const char *name = rules_name(p->loaded);
    p->benchmark = name ? arena_dup(a, name, strlen(name)) : catalogue_name(p->rules, a);
    return 0;
}

static int choose_rules(struct plan *p, struct err *err)
{
    const struct opt_value *given = opt_find(&p->opts, "rules");
    if (given->text && strcmp(given->text, "none") == 0) {
        p->rules_why = arena_printf(&p->arena, "%s: none", given->where);
        return 0;
    }
    if (given->text && *given->text) {
        if (given->origin >= OPT_ENVIRONMENT)
            return named_rules(p, given, err);
        struct err why = {0}; /* not named for this run: what is wrong is only said */
        if (named_rules(p, given, &why) == 0)
            return 0;
        plan_warn(p, arena_printf(&p->arena, "%s; ignored", why.text));
        p->rules = NULL;
    }
    if (!p->program[0]) {
        p->rules_why = "no program";
        return 0;
    }
    const char *base = base_name(p->program[0]);
    p->rules = catalogue_for_program(&p->catalogue, base, &p->arena);
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

/* ---- references ---- */

static void add_references(struct plan *p, const char *path, const char *where)
{
    struct reference_files *f = &p->references;
    if (!path || !where || f->count == REFERENCE_FILES_MAX)
        return;
    p->references_where[f->count] = where;
    f->path[f->count++] = path;
}

/* --reference FILE: that file alone. One that cannot be read ends the line before anything starts, unless a configuration file named it. */
static int named_references(struct plan *p, const struct opt_value *given, struct err *err)
{
    struct arena *a = &p->arena;
    struct references *refs = NULL;
    const char *folder = p->cwd;
    if (given->origin < OPT_ENVIRONMENT) { /* relative to the file that says it */
        const char *slash = strrchr(given->where, '/');
        folder = slash ? arena_dup(a, given->where, (size_t)(slash - given->where)) : p->cwd;
    }
    const char *path = folder ? absolute(folder, given->text, a) : NULL;
    if (!path)
        return err_set(err, ERR_SYSTEM, "out of memory");
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

/* Else the references of the results repository, the user's and the site's, for each metric the strongest that speaks of it. */
static int choose_references(struct plan *p, struct err *err)
{
    struct arena *a = &p->arena;
    const struct opt_value *given = opt_find(&p->opts, "reference");
    if (given->text && strcmp(given->text, "none") == 0)
        return 0;
    if (given->text && *given->text) {
        struct err why = {0};
        if (named_references(p, given, &why) == 0)
            return 0;
        if (given->origin >= OPT_ENVIRONMENT) {
            if (err)
                *err = why;
            return -1;
        }
        plan_warn(p, arena_printf(a, "%s; ignored", why.text));
    }
    const char *places[] = {p->repository ? arena_printf(a, "%s/references.yaml", strcmp(p->repository, "/") ? p->repository : "") : NULL,
                            p->config_dir ? arena_printf(a, "%s/references.yaml", p->config_dir) : NULL, "/etc/benchwrap/references.yaml"};
    static const char *const whose[] = {"results repository", "user", "site"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] && access(places[i], F_OK) == 0)
            add_references(p, places[i], whose[i]);
    return 0;
}

/* What was typed and could not be recorded as it was meant ends the line before anything starts. */
static int check_pairs(const struct plan *p, const char *option, struct err *err)
{
    for (const struct opt_value *v = opt_find(&p->opts, option); v && v->text; v = v->next)
        if (v->origin == OPT_COMMAND_LINE && (v->text[0] == '=' || !strchr(v->text, '=')))
            return err_set(err, ERR_USAGE, "%s: \"%.80s\": KEY=VALUE is wanted", v->where, v->text);
    return 0;
}

static bool experiment_legal(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!s.p[i] || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._ -", s.p[i]))
            return false;
    return s.n >= 1 && s.n <= EXPERIMENT_MAX;
}

static int choose_experiment(struct plan *p, struct err *err)
{
    const struct opt_value *given = opt_find(&p->opts, "experiment");
    struct str name = str_of(given->text);
    if (given->origin == OPT_COMMAND_LINE && given->text && !experiment_legal(name))
        return err_set(err, ERR_USAGE, "%s: an experiment's name has 1 to %d characters of A-Z a-z 0-9 . _ - and blank", given->where,
                       EXPERIMENT_MAX);
    p->experiment_where = given->where;
    if (!name.n) {
        p->experiment = p->benchmark ? p->benchmark : "default";
        p->experiment_where = p->benchmark ? "the benchmark's name" : "default";
        name = str_of(p->experiment);
    }
    if (experiment_legal(name)) {
        p->experiment = arena_dup(&p->arena, name.p, name.n);
        return 0;
    }
    char *made = arena_dup(&p->arena, name.p, name.n < EXPERIMENT_MAX ? name.n : EXPERIMENT_MAX);
    for (size_t i = 0; made && made[i]; i++)
        if (!experiment_legal((struct str){made + i, 1}))
            made[i] = '_';
    p->experiment = made;
    plan_warn(p, arena_printf(&p->arena, "%s: not a legal name of an experiment, made \"%s\"", p->experiment_where, made));
    return 0;
}

static int check_line(struct plan *p, struct err *err)
{
    for (size_t i = 0; i < plan_rows_count; i++) {
        struct err why = {0};
        struct opt_value *head = &p->opts.values[i];
        bool bad = false;
        for (const struct opt_value *v = head; !bad && v && v->text; v = v->next)
            bad = opt_check(&plan_rows[i], v, &why) < 0;
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

static int make(struct plan *p, int argc, char **argv, char **env, struct err *err)
{
    struct arena *a = &p->arena;
    char cwd[PATH_MAX];
    if (!getcwd(cwd, sizeof cwd))
        return err_sys(err, "finding the working directory");
    p->cwd = arena_dup(a, cwd, strlen(cwd));
    p->opts = (struct opt_set){.rows = plan_rows, .count = plan_rows_count};
    p->opts.values = arena_get(a, plan_rows_count * sizeof *p->opts.values);
    if (!p->cwd || !p->opts.values)
        goto memory;
    int next = argc;
    opt_defaults(&p->opts, getenv);
    if (opt_parse(&p->opts, argc, argv, &next, err) < 0 || check_line(p, err) < 0)
        return -1;
    p->argv = argv + (next < argc ? next : argc);
    p->program = peel(p->argv);
    p->config_dir = xdg(env, "XDG_CONFIG_HOME", ".config", a);
    const char *state = xdg(env, "XDG_STATE_HOME", ".local/state", a);
    p->spool_fallback = state ? arena_printf(a, "%s/spool", state) : NULL;
    p->repository = find_repository(p->cwd, a);
    read_file(p, "/etc/benchwrap.yaml", OPT_SYSTEM);
    read_file(p, p->config_dir ? arena_printf(a, "%s/config.yaml", p->config_dir) : NULL, OPT_USER);
    read_file(p, p->repository ? arena_printf(a, "%s/benchwrap.yaml", strcmp(p->repository, "/") ? p->repository : "") : NULL,
              OPT_REPOSITORY);
    if (check_pairs(p, "param", err) || check_pairs(p, "tag", err))
        return -1;
    find_catalogue(p);
    if (plan_server(p, env, err) < 0 || choose_tree(p, env, err) < 0 || choose_rules(p, err) < 0 || choose_experiment(p, err) < 0 || choose_references(p, err) < 0)
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
    arena_init(&p.arena, 64 << 20); /* three configuration files of at most 1 MiB, parsed */
    if (make(&p, argc, argv, env, err) < 0) {
        plan_deinit(&p);
        return -1;
    }
    *ret = p;
    return 0;
}

void plan_deinit(struct plan *plan)
{
    if (plan->loaded)
        rules_free(plan->loaded);
    plan->loaded = NULL;
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
    return *ret ? 0 : err_set(err, ERR_SYSTEM, "out of memory");
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
    return a->failed ? err_set(err, ERR_SYSTEM, "out of memory") : 0;
}
