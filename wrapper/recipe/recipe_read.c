/* recipe_read.c: a recipe's YAML becomes roles, rules and points, checked with line and column. */
#include "recipe/recipe.h"

#include "base/fs.h"
#include "base/place.h"
#include "logs/logs_format.h"
#include "plan/plan.h"
#include "recipe/campaign_network.h"
#include "recipe/recipe_keys.h"

#include <errno.h>
#include <stdio.h>

enum { NAME_BYTES_MAX = 100 };

const char *recipe_scalar(const struct recipe *r, const struct yaml *map, const char *key, const char *otherwise)
{
    const struct yaml *y = yaml_get(map, key);
    if (!y || y->kind != YAML_SCALAR || yaml_is_null(y))
        return otherwise;
    const char *text = arena_dup(r->arena, y->text.p, y->text.n);
    return text ? text : otherwise;
}

/* ---- expressions ---- */

static bool is_function(struct str function, size_t n)
{
    return str_is(function, "defined") && n == 1;
}

int recipe_expression(const struct recipe *r, const struct yaml *at, struct expr **ret, struct err *err)
{
    struct err why = {0};
    if (expr_new(ret, at->text, is_function, r->arena, &why))
        return why.kind == ERR_SYSTEM ? err_memory(err, "the recipe") : yaml_complain(at, r->file, err, "%s", why.text);
    return 0;
}

static int add_rule(struct recipe *r, struct recipe_rules *rules, const struct yaml *at, const char *name, struct err *err)
{
    struct recipe_rule *rule = &rules->list[rules->count++];
    *rule = (struct recipe_rule){.name = name, .at = at, .text = arena_dup(r->arena, at->text.p, at->text.n)};
    if (!rule->text)
        return err_memory(err, "the recipe");
    return recipe_expression(r, at, &rule->expr, err);
}

static size_t count_children(const struct yaml *y)
{
    size_t n = 0;
    for (const struct yaml *c = y ? y->child : NULL; c; c = c->next)
        n++;
    return n;
}

/* Conditions: a list of expressions, or one. */
static int read_conditions(struct recipe *r, struct recipe_rules *rules, const struct yaml *list, struct err *err)
{
    if (!list || yaml_is_null(list))
        return 0;
    if (list->kind == YAML_SCALAR)
        return add_rule(r, rules, list, NULL, err);
    for (const struct yaml *y = list->child; y; y = y->next)
        if (add_rule(r, rules, y, NULL, err))
            return -1;
    return 0;
}

static int read_vars(struct recipe *r, struct err *err)
{
    const struct yaml *vars = yaml_get(r->root, "vars");
    r->vars.list = arena_get(r->arena, (count_children(vars) + 1) * sizeof *r->vars.list);
    if (!r->vars.list)
        return err_memory(err, "the recipe");
    for (const struct yaml *y = vars ? vars->child : NULL; y; y = y->next) {
        const char *name = arena_dup(r->arena, y->key.p, y->key.n);
        if (!name || add_rule(r, &r->vars, y, name, err))
            return name ? -1 : err_memory(err, "the recipe");
    }
    return 0;
}

/* The recipe's own conditions and those of the service files, which each have one role at least. */
static int read_valid(struct recipe *r, struct err *err)
{
    const struct yaml *own = yaml_get(r->root, "valid");
    size_t n = 1 + count_children(own);
    for (size_t i = 0; i < r->role_count; i++)
        n += r->roles[i].service ? 1 + count_children(yaml_get(r->roles[i].service->root, "valid")) : 0;
    r->valid.list = arena_get(r->arena, n * sizeof *r->valid.list);
    if (!r->valid.list)
        return err_memory(err, "the recipe");
    if (read_conditions(r, &r->valid, own, err))
        return -1;
    for (size_t i = 0; i < r->role_count && !own; i++) {
        const struct recipe_service *s = r->roles[i].service;
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= r->roles[k].service && s && strcmp(r->roles[k].service->name, s->name) == 0;
        size_t first = r->valid.count;
        if (s && !again && read_conditions(r, &r->valid, yaml_get(s->root, "valid"), err))
            return -1;
        while (first < r->valid.count)
            r->valid.list[first++].of_service = true;
    }
    return 0;
}

/* ---- roles ---- */

static int read_role_service(struct recipe *r, struct recipe_role *role, const struct recipe_places *places, struct err *err)
{
    const struct yaml *at = yaml_get(role->at, "service");
    const char *name = recipe_scalar(r, role->at, "service", NULL);
    if (!name)
        return 0;
    return recipe_service_require(&role->service, name, at, r->file, places, r->arena, err);
}

/* Is the key of `with` a parameter of the service? */
static int check_parameters(struct recipe *r, const struct recipe_role *role, struct err *err)
{
    const struct yaml *with = yaml_get(role->at, "with"), *known = role->service ? yaml_get(role->service->root, "parameters") : NULL;
    if (with && !role->service)
        return yaml_complain(with, r->file, err, "`with` sets parameters of a service file, and the role names no service");
    for (const struct yaml *y = with ? with->child : NULL; y; y = y->next) {
        const struct yaml *nearest = NULL, *p = known ? known->child : NULL;
        unsigned least = 4;
        for (; p && !str_eq(p->key, y->key); p = p->next)
            if (str_distance(y->key, p->key) < least)
                least = str_distance(y->key, p->key), nearest = p;
        struct yaml at = *y;
        at.line = y->key_line, at.column = y->key_column;
        if (!p && nearest)
            return yaml_complain(&at, r->file, err, "the service %s has no parameter \"%.60s\"; did you mean \"%.60s\"?",
                                 role->service->name, arena_dup(r->arena, y->key.p, y->key.n),
                                 arena_dup(r->arena, nearest->key.p, nearest->key.n));
        if (!p)
            return yaml_complain(&at, r->file, err, "the service %s has no parameter \"%.60s\"", role->service->name,
                                 arena_dup(r->arena, y->key.p, y->key.n));
    }
    for (const struct yaml *p = known ? known->child : NULL; p; p = p->next) {
        bool required = false;
        const char *name = arena_dup(r->arena, p->key.p, p->key.n);
        yaml_bool(yaml_get(p, "required"), &required);
        if (required && name && !yaml_get(with, name))
            return yaml_complain(role->at, r->file, err, "the service %s needs with.%s: %s", role->service->name, name,
                                 recipe_scalar(r, p, "help", ""));
    }
    return 0;
}

static int read_words_of(struct recipe *r, const struct yaml *map, const char *key, char ***ret, struct err *err)
{
    const struct yaml *y = yaml_get(map, key);
    *ret = NULL;
    if (!y || yaml_is_null(y))
        return 0;
    return (*ret = recipe_words(y, r->file, r->arena, err)) ? 0 : -1;
}

static bool is_legal_name(const char *name)
{
    return name[0] && name[0] != '.' && name[0] != '-' && strlen(name) <= NAME_BYTES_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == strlen(name);
}

/* Reads one role into r->roles. -1 with err, which names file and line: a wrong name or key, or
 * keys that exclude each other. */
static int read_role(struct recipe *r, const struct yaml *at, const struct recipe_places *places, struct err *err)
{
    struct recipe_role *role = &r->roles[r->role_count];
    const char *kind;
    if (r->role_count == RECIPE_ROLES_MAX)
        return yaml_complain(at, r->file, err, "more than %d roles", RECIPE_ROLES_MAX);
    *role = (struct recipe_role){.name = arena_dup(r->arena, at->key.p, at->key.n), .at = at};
    if (!role->name)
        return err_memory(err, "the recipe");
    if (!is_legal_name(role->name) || strchr(role->name, '.'))
        return yaml_complain(at, r->file, err, "a role's name has letters, digits, _ and -");
    if (read_role_service(r, role, places, err) || check_parameters(r, role, err) || read_words_of(r, at, "command", &role->command, err) ||
        read_words_of(r, at, "args", &role->args, err) || read_words_of(r, at, "warmup", &role->warmup, err))
        return -1;
    kind = recipe_scalar(r, at, "kind", NULL);
    const char *endpoint = recipe_scalar(r, at, "endpoint", NULL);
    role->is_service = kind ? strcmp(kind, "service") == 0 : role->service || endpoint || yaml_get(at, "ready") || yaml_get(at, "ports");
    if (role->command && role->service)
        return yaml_complain(yaml_get(at, "command"), r->file, err, "a role has a service file or a command, not both");
    if (role->command && endpoint)
        return yaml_complain(yaml_get(at, "endpoint"), r->file, err,
                             "a role starts a command, or names the endpoint of a service that runs already, not both");
    if (role->command && !role->command[0][0])
        return yaml_complain(yaml_get(at, "command"), r->file, err, "expected the name of a program, got \"\"");
    if (!role->command && !role->service && !endpoint)
        return yaml_complain(at, r->file, err, "the role \"%s\" has neither a command nor a service nor an endpoint", role->name);
    r->role_count++;
    return 0;
}

/* `nodes_of`: a role that has nodes of its own. */
static int read_nodes_of(struct recipe *r, struct err *err)
{
    for (size_t i = 0; i < r->role_count; i++) {
        const struct yaml *on = yaml_get(r->roles[i].at, "nodes_of");
        size_t k = 0;
        if (!on || yaml_is_null(on))
            continue;
        while (k < r->role_count && !str_is(on->text, r->roles[k].name))
            k++;
        if (k == r->role_count || k == i || yaml_get(r->roles[k].at, "nodes_of") || yaml_get(r->roles[k].at, "endpoint"))
            return yaml_complain(on, r->file, err, "`nodes_of` names another role that has nodes of its own");
        r->roles[i].nodes_of = &r->roles[k];
    }
    return 0;
}

static int check_after(struct recipe *r, struct err *err)
{
    for (size_t i = 0; i < r->role_count; i++) {
        const struct yaml *after = yaml_get(r->roles[i].at, "after"), *y = after && after->kind == YAML_LIST ? after->child : after;
        for (; y && !yaml_is_null(y); y = y == after ? NULL : y->next) {
            size_t k = 0;
            while (k < r->role_count && !str_is(y->text, r->roles[k].name))
                k++;
            if (k >= i || !r->roles[k].is_service)
                return yaml_complain(y, r->file, err, "`after` names a service that stands before this role");
        }
    }
    return 0;
}

/* Reads the roles and chooses the measured client: the one that `measure` names, else the first
 * one. 0; -1 with err. */
static int read_roles(struct recipe *r, const struct recipe_places *places, struct err *err)
{
    const struct yaml *roles = yaml_get(r->root, "roles"), *measure = yaml_get(r->root, "measure");
    if (!roles || !roles->child)
        return yaml_complain(roles ? roles : r->root, r->file, err, "there is no role");
    for (const struct yaml *y = roles->child; y; y = y->next)
        if (read_role(r, y, places, err))
            return -1;
    for (size_t i = 0; i < r->role_count; i++) {
        const struct recipe_role *role = &r->roles[i];
        if (!role->is_service && (measure ? str_is(measure->text, role->name) : !r->measured))
            r->measured = role;
    }
    if (measure && !r->measured)
        return yaml_complain(measure, r->file, err, "no client has the name \"%.*s\"", measure->text.n > 60 ? 60 : (int)measure->text.n,
                             measure->text.p);
    if (!r->measured)
        return yaml_complain(roles, r->file, err, "there is no client: a role with a command that ends");
    return read_nodes_of(r, err) || check_after(r, err) ? -1 : 0;
}

/* ---- the document ---- */

bool recipe_is_toolkit(const struct yaml *root)
{
    static const char *const keys[] = {"scenario", "orchestration", "workload", "servers", "artifacts"};
    if (root->kind != YAML_MAP || yaml_get(root, "version") || yaml_get(root, "roles"))
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (yaml_get(root, keys[i]))
            return true;
    return false;
}

/* Refuses Kubernetes as the mode or scheduler of a recipe, and reports what to do instead. */
static int refuse_kubernetes(const struct recipe *r, const struct yaml *y, struct err *err)
{
    if (!str_is(y ? y->text : STR(""), "kubernetes"))
        return 0;
    yaml_complain(y, r->file, err, "Kubernetes is not supported: benchwrap starts roles by Slurm, PBS or LSF, or on one machine");
    return err_hint(err, "start the services there, name them by `endpoint`, and run the recipe with --local");
}

/* Replaces r->root by the translation of a recipe of the toolkit; remarks are in r->remarks. -1
 * with err. */
static int translate_toolkit(struct recipe *r, const struct recipe_places *places, struct err *err)
{
    struct yaml *own;
    if (refuse_kubernetes(r, yaml_get(yaml_get(r->root, "orchestration"), "mode"), err) ||
        recipe_keys_check(r->root, "toolkit", r->file, err))
        return -1;
    r->text = recipe_of_toolkit(r->root, r->file, places, r->arena, &r->remarks, err);
    if (!r->text)
        return -1;
    r->file = arena_printf(r->arena, "%s (translated)", r->file);
    if (!r->file)
        return err_memory(err, "the recipe");
    if (yaml_parse(&own, r->file, str_of(r->text), r->arena, err))
        return -1;
    r->root = own;
    return 0;
}

static int check_recipe_version(const struct recipe *r, struct err *err)
{
    const struct yaml *y = yaml_get(r->root, "version");
    int64_t version = 0;
    if (y && str_int(y->text, &version) && version == RECIPE_VERSION)
        return 0;
    struct str got = y ? y->text : STR("none");
    return yaml_complain(y ? y : r->root, r->file, err, "expected version: %d, the only one that this benchwrap reads, got %.*s",
                         RECIPE_VERSION, (int)(got.n > 20 ? 20 : got.n), got.p);
}

/* Reads name, description and experiment; the name is the file's by default. -1 with err: an
 * illegal one. */
static int read_recipe_name(struct recipe *r, const char *file, struct err *err)
{
    const char *base = str_base_name(file), *dot = strrchr(base, '.');
    const char *from_file = arena_dup(r->arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
    r->name = recipe_scalar(r, r->root, "name", from_file);
    r->description = recipe_scalar(r, r->root, "description", "");
    r->experiment = recipe_scalar(r, r->root, "experiment", r->name);
    if (!r->name || !r->experiment)
        return err_memory(err, "the recipe");
    if (!is_legal_name(r->name))
        return yaml_complain(yaml_get(r->root, "name"), r->file, err, "expected a name of letters, digits, . _ -, got \"%.60s\"", r->name);
    const char *legal = plan_experiment_legal(r->experiment, r->arena);
    if (!legal || !r->experiment[0] || strcmp(legal, r->experiment) != 0)
        return yaml_complain(yaml_get(r->root, "experiment"), r->file, err,
                             "an experiment's name has 1 to 128 characters of A-Z a-z 0-9 . _ - and blank, got \"%.60s\"", r->experiment);
    return 0;
}

/* Numbers whose bounds the kinds of keys do not have. */
static int check_numbers(const struct recipe *r, struct err *err)
{
    const struct yaml *repeat = yaml_get(r->root, "repeat"), *until = yaml_get(r->root, "until_stable"),
                      *load = yaml_get(yaml_get(r->root, "gate"), "load"),
                      *gateway = yaml_get(yaml_get(r->root, "monitoring"), "pushgateway");
    const struct yaml *limit = yaml_get(yaml_get(r->root, "batch"), "time");
    int64_t runs = 1, seconds;
    double number;
    if (limit && !yaml_is_null(limit) && !recipe_time_limit(limit->text, &seconds))
        return yaml_complain(limit, r->file, err, "expected a time limit as of sbatch, such as 30 (minutes), 01:30:00 or 1-12");
    if (repeat && str_int(repeat->text, &runs) && runs < 1)
        return yaml_complain(repeat, r->file, err, "expected an integer >= 1, got \"0\"");
    if (until && !yaml_is_null(until) &&
        (!str_ends(until->text, "%") || !str_double(str_sub(until->text, 0, until->text.n - 1), &number) || !(number > 0 && number < 100)))
        return yaml_complain(until, r->file, err, "expected a percentage between 0%% and 100%%, for example 2%%");
    const char *network = recipe_scalar(r, r->root, "network", NULL), *asked = recipe_scalar(r, yaml_get(r->root, "batch"), "nodes", NULL);
    int64_t nodes;
    if (network && !campaign_network_is_legal(network))
        return yaml_complain(yaml_get(r->root, "network"), r->file, err,
                             "expected an interface such as ib0, or a network such as 10.1.0.0/16");
    if (asked && (!str_int(str_of(asked), &nodes) || nodes < 1 || nodes > RECIPE_NODES_MAX))
        return yaml_complain(yaml_get(yaml_get(r->root, "batch"), "nodes"), r->file, err, "expected a number from 1 to %d, got \"%.60s\"",
                             RECIPE_NODES_MAX, asked);
    if (load && !yaml_is_null(load) && (!str_double(load->text, &number) || !(number >= 0 && number <= 1)))
        return yaml_complain(load, r->file, err, "expected a share from 0 to 1");
    if (gateway && !yaml_is_null(gateway) && !str_starts(gateway->text, "http://") && !str_starts(gateway->text, "https://"))
        return yaml_complain(gateway, r->file, err, "expected an address such as http://monitor:9091");
    return 0;
}

/* Two merged files of one name would write over each other, and over what the folder of the logs has otherwise. */
static int check_outputs(const struct recipe *r, struct err *err)
{
    static const char *const keys[] = {"stdout", "stderr", "aggregated"};
    static const struct logs_outputs usual;
    const struct logs_paths names = logs_paths_of(&usual);
    const char *paths[] = {names.out, names.error, names.lines};
    const struct yaml *outputs = yaml_get(r->root, "outputs");
    for (size_t i = 0; i < 3; i++) {
        const struct yaml *y = yaml_get(outputs, keys[i]);
        paths[i] = recipe_scalar(r, outputs, keys[i], paths[i]);
        if (y && !logs_path_is_free(paths[i]))
            return yaml_complain(y, r->file, err, "a merged log cannot have the path \"%.60s\"", paths[i]);
    }
    for (size_t i = 1; i < 3; i++)
        for (size_t k = 0; k < i; k++)
            if (paths[i][0] && strcmp(paths[i], paths[k]) == 0)
                return yaml_complain(yaml_get(outputs, keys[i]) ? yaml_get(outputs, keys[i]) : yaml_get(outputs, keys[k]), r->file, err,
                                     "outputs.%s and outputs.%s have the same path", keys[k], keys[i]);
    return 0;
}

/* Numbers of the user's own: a legal name, and one source. */
#define MONITOR_LEAST_S 0.1
/* Checks the intervals and the custom series of `monitoring`. 0; -1 with err. */
static int check_monitoring(const struct recipe *r, struct err *err)
{
    const struct yaml *m = yaml_get(r->root, "monitoring"), *list = yaml_get(m, "custom");
    static const char *const times[] = {"interval", "push_interval"};
    for (size_t i = 0; i < 2; i++) {
        double seconds = 1;
        if (str_duration(yaml_text(m, times[i], "1s"), &seconds) && seconds < MONITOR_LEAST_S)
            return yaml_complain(yaml_get(m, times[i]), r->file, err, "expected at least %g s", MONITOR_LEAST_S);
    }
    for (const struct yaml *y = list ? list->child : NULL; y; y = y->next) {
        const char *name = arena_dup(r->arena, y->key.p, y->key.n);
        if (!name)
            return err_memory(err, "the recipe");
        if (!is_legal_name(name) || strpbrk(name, ".-"))
            return yaml_complain(y, r->file, err, "expected a name of letters, digits and _, got \"%.60s\"", name);
        if (!yaml_get(y, "command") == !yaml_get(y, "file"))
            return yaml_complain(y, r->file, err, "expected either command or file");
    }
    return 0;
}

int recipe_read(struct recipe *ret, const char *file, struct str text, const struct recipe_places *places, const struct recipe_nodes *nodes,
                struct arena *a, struct err *err)
{
    static const char *const no_remarks[] = {NULL};
    struct yaml *root;
    *ret = (struct recipe){.arena = a, .file = file, .remarks = no_remarks};
    if (nodes) {
        ret->server_nodes = nodes->servers;
        ret->client_nodes = nodes->clients;
        ret->each_node = nodes->each;
    }
    if (yaml_parse(&root, file, text, a, err))
        return -1;
    ret->root = root;
    ret->text = arena_dup(a, text.p ? text.p : "", text.n);
    if (!ret->text)
        return err_memory(err, "the recipe");
    if (recipe_is_toolkit(root) && translate_toolkit(ret, places, err))
        return -1;
    if (refuse_kubernetes(ret, yaml_get(yaml_get(ret->root, "batch"), "scheduler"), err) ||
        recipe_keys_check(ret->root, "recipe", ret->file, err) || check_recipe_version(ret, err) || read_recipe_name(ret, file, err) ||
        check_monitoring(ret, err) || check_outputs(ret, err) || check_numbers(ret, err))
        return -1;
    return read_roles(ret, places, err) || read_vars(ret, err) || read_valid(ret, err) || recipe_read_sweep(ret, err) ? -1 : 0;
}

int recipe_open(struct recipe *ret, const char *name_or_path, const struct recipe_places *places, const struct recipe_nodes *nodes,
                struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct recipe_file file;
    buf_init(&text, RECIPE_FILE_MAX + 1);
    int rc = strchr(name_or_path, '/') || str_ends(str_of(name_or_path), ".yaml") || str_ends(str_of(name_or_path), ".yml")
                 ? 1
                 : recipe_file_find(&file, "recipes", name_or_path, places, a, err);
    if (rc < 0)
        return -1;
    if (rc == 0) {
        const char *shown = arena_printf(a, "%s%srecipes/%s.yaml", file.from ? file.from : "shipped:", file.from ? "/" : "", name_or_path);
        return shown ? recipe_read(ret, shown, (struct str){file.text, file.n}, places, nodes, a, err) : err_memory(err, "the recipe");
    }
    CLEANUP_FD int fd = place_open_named(name_or_path);
    if (fd < 0 && errno == ENOENT && !strchr(name_or_path, '/')) {
        const char *nearest = recipe_file_nearest("recipes", name_or_path, places, a);
        err_set(err, ERR_USAGE, "there is no recipe \"%.200s\"", name_or_path);
        return nearest ? err_hint(err, "benchwrap recipe check %s", nearest) : err_hint(err, "benchwrap recipe list");
    }
    if (fd < 0)
        return err_sys(err, "cannot read the recipe %.300s", name_or_path);
    const char *kept = arena_dup(a, name_or_path, strlen(name_or_path));
    if (fs_read_open(fd, name_or_path, RECIPE_FILE_MAX, 0, &text, err))
        return -1;
    const char *copy = arena_dup(a, text.p ? text.p : "", text.n);
    return kept && copy ? recipe_read(ret, kept, (struct str){copy, text.n}, places, nodes, a, err) : err_memory(err, "the recipe");
}
