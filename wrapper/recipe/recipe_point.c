/* recipe_point.c: resolve a point: templates become the commands, nodes, ports and environment of each role. */
#include "recipe/recipe_point.h"

#include "recipe/recipe_keys.h"
#include "recipe/recipe_names.h"

#include <stdio.h>
#include <stdlib.h>

/* What the texts of a role may name: its service's parameters, the point's values, what is known while it runs. */
struct part_scope {
    const struct recipe *r;
    const struct recipe_values *values;
    struct recipe_binding *parameters;
    size_t parameter_count;
    recipe_lookup *find;
    void *context;
    struct arena *a;
    struct err *err;
    const char *file; /* of the map that is read */
    const struct recipe_part *part; /* whose texts these are */
    struct str mistaken; /* the first name in braces that has no value, and probably means another one */
    const char *meant; /* in words */
    bool is_failed; /* a text could not be expanded */
};

static void note_mistaken_name(struct part_scope *s, struct str name)
{
    const struct recipe_name_scope names = {
        .r = s->r, .part = s->part, .values = s->values, .parameters = s->parameters, .parameter_count = s->parameter_count, .a = s->a};
    const char *meant = s->part ? recipe_name_mistake(&names, name) : NULL;
    if (meant) {
        s->mistaken = (struct str){arena_dup(s->a, name.p, name.n), name.n};
        s->meant = meant;
    }
}

static const char *scope_lookup(void *context, struct str name)
{
    const struct part_scope *s = context;
    for (size_t i = 0; i < s->parameter_count; i++)
        if (str_is(name, s->parameters[i].name))
            return s->parameters[i].text;
    const char *text = recipe_value_of(s->values, name);
    if (!text && !s->find && !s->mistaken.n)
        note_mistaken_name((struct part_scope *)s, name);
    return text ? text : s->find ? s->find(s->context, name) : NULL;
}

static int scope_fail(struct part_scope *s)
{
    return recipe_expand_fail(s->a, s->file, s->err);
}

/* Returns the expanded scalar child of a map, `otherwise` where it is absent. NULL with s->is_failed:
 * it cannot be expanded. */
static const char *scope_text(struct part_scope *s, const struct yaml *map, const char *key, const char *otherwise)
{
    const char *text = recipe_scalar(s->r, map, key, NULL);
    const char *expanded = text ? recipe_expand_text(text, scope_lookup, s, s->a) : otherwise;
    s->is_failed |= text && !expanded;
    return expanded;
}

static int scope_count(struct part_scope *s, const struct yaml *map, const char *key, size_t otherwise, size_t least, size_t *ret)
{
    int64_t n;
    const char *text = scope_text(s, map, key, NULL);
    *ret = otherwise;
    if (!text)
        return 0;
    if (!str_int(str_of(text), &n) || n < (int64_t)least || n > RECIPE_NODES_MAX)
        return yaml_complain(yaml_get(map, key), s->file, s->err, "expected a number from %zu to %d, got \"%.60s\"", least,
                             RECIPE_NODES_MAX, text);
    *ret = (size_t)n;
    return 0;
}

/* The expanded scalars of a list, or the one scalar, with NULL at the end. Absent: *ret is NULL. */
static int scope_list(struct part_scope *s, const struct yaml *map, const char *key, char ***ret)
{
    const struct yaml *y = yaml_get(map, key);
    size_t n = 0;
    *ret = NULL;
    if (!y || yaml_is_null(y))
        return 0;
    for (const struct yaml *c = y->child; c; c = c->next)
        n++;
    char **list = arena_get(s->a, (n + 2) * sizeof *list);
    if (!list)
        return scope_fail(s);
    n = 0;
    for (const struct yaml *c = y->kind == YAML_LIST ? y->child : y; c; c = y->kind == YAML_LIST ? c->next : NULL) {
        const char *text = arena_dup(s->a, c->text.p, c->text.n);
        if (!text || !(list[n++] = recipe_expand_text(text, scope_lookup, s, s->a)))
            return scope_fail(s);
    }
    *ret = list;
    return 0;
}

static int scope_words(struct part_scope *s, const struct yaml *map, const char *key, char ***ret)
{
    const struct yaml *y = yaml_get(map, key);
    *ret = NULL;
    if (!y || yaml_is_null(y))
        return 0;
    char **words = recipe_words(y, s->file, s->a, s->err);
    if (!words)
        return -1;
    *ret = recipe_expand_words(words, scope_lookup, s, s->a);
    return *ret ? 0 : scope_fail(s);
}

/* ---- parts of a role ---- */

/* Reads `hosts` of a role into part->hosts. -1 with err: a name that is none, or too many. */
static int read_hosts(struct part_scope *s, struct recipe_part *part)
{
    char **given;
    CLEANUP_BUF struct buf all;
    buf_init(&all, 1 << 20);
    if (scope_list(s, part->role->at, "hosts", &given))
        return -1;
    if (!given)
        return 0;
    for (; *given; given++)
        buf_printf(&all, "%s%s", all.n ? "," : "", *given);
    if (all.failed)
        return scope_fail(s);
    part->hosts = all.n ? recipe_host_names(all.p, s->a) : NULL;
    for (char **name = part->hosts; name && *name; name++)
        if (strpbrk(*name, "[] \t/")) /* a range that cannot be parsed stays as it is written */
            return yaml_complain(yaml_get(part->role->at, "hosts"), s->file, s->err,
                                 "expected names of nodes, such as n[1-3], got \"%.60s\"", *name);
    return part->hosts && *part->hosts ? 0
                                       : yaml_complain(yaml_get(part->role->at, "hosts"), s->file, s->err,
                                                       "expected 1 to %d names of nodes, such as n[1-3]", RECIPE_NODES_MAX);
}

/* Reads a map `ready` into ret, with defaults for its times; ret->is_set is false without a map. 0; -1 with err. */
static int read_ready(struct part_scope *s, const struct yaml *map, struct recipe_ready *ret)
{
    struct str timeout = yaml_text(map, "timeout", "300s"), interval = yaml_text(map, "interval", "0.1s");
    *ret = (struct recipe_ready){.timeout_s = 300, .interval_s = 0.1};
    if (!map || yaml_is_null(map))
        return 0;
    ret->is_set = true;
    str_duration(timeout, &ret->timeout_s);
    str_duration(interval, &ret->interval_s);
    ret->http = scope_text(s, map, "http", NULL);
    if (ret->http && (ret->http[0] != '/' || ret->http[strcspn(ret->http, " \t\r\n")]))
        return yaml_complain(yaml_get(map, "http"), s->file, s->err, "expected a path that begins with / and has no blank, got \"%.60s\"",
                             ret->http);
    ret->tcp = scope_text(s, map, "tcp", NULL);
    return scope_words(s, map, "command", &ret->command);
}

/* Sets s->parameters to the values of the service's parameters: those of `with`, else their
 * defaults; a parameter without either is left out. In the arena. 0; -1 with err. */
static int read_parameters(struct part_scope *s, const struct recipe_role *role)
{
    const struct yaml *known = yaml_get(role->service->root, "parameters"), *with = yaml_get(role->at, "with");
    struct part_scope outer = *s;
    size_t n = 0;
    for (const struct yaml *p = known ? known->child : NULL; p; p = p->next)
        n++;
    s->parameters = arena_get(s->a, (n + 1) * sizeof *s->parameters);
    if (!s->parameters)
        return scope_fail(s);
    for (const struct yaml *p = known ? known->child : NULL; p; p = p->next) {
        const char *name = arena_dup(s->a, p->key.p, p->key.n);
        const char *text = name ? scope_text(&outer, with, name, NULL) : NULL;
        if (name && !text)
            text = recipe_scalar(s->r, p, "default", NULL);
        if (text)
            s->parameters[s->parameter_count++] = (struct recipe_binding){name, text};
    }
    s->mistaken = outer.mistaken;
    s->meant = outer.meant;
    s->is_failed |= outer.is_failed;
    return s->a->failed ? scope_fail(s) : 0;
}

/* Adds a port of the part, or replaces the one of the same name. Port 0 means any free one. 0; -1
 * with err. */
static int add_port(struct part_scope *s, struct recipe_part *part, const struct yaml *y)
{
    const char *text = arena_dup(s->a, y->text.p, y->text.n), *name = arena_dup(s->a, y->key.p, y->key.n);
    int64_t number;
    text = text ? recipe_expand_text(text, scope_lookup, s, s->a) : NULL;
    if (!text || !name)
        return scope_fail(s);
    if (!str_int(str_of(text), &number) || number < 0 || number > 65535)
        return yaml_complain(y, s->file, s->err, "expected a port from 0 (any free one) to 65535, got \"%.60s\"", text);
    size_t i = 0;
    while (i < part->port_count && strcmp(part->ports[i].name, name) != 0)
        i++;
    if (i == RECIPE_PORTS_MAX)
        return yaml_complain(y, s->file, s->err, "more than %d ports", RECIPE_PORTS_MAX);
    part->ports[i] = (struct recipe_port){name, (unsigned)number};
    part->port_count += i == part->port_count;
    return 0;
}

static int read_ports(struct part_scope *s, struct recipe_part *part, const struct yaml *map)
{
    for (const struct yaml *y = map && map->kind == YAML_MAP ? map->child : NULL; y; y = y->next)
        if (add_port(s, part, y))
            return -1;
    return 0;
}

static bool is_variable_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!str_is_letter(name.p[i]) && name.p[i] != '_' && !(i && str_is_digit(name.p[i])))
            return false;
    return name.n > 0;
}

struct env_list {
    char **list;
    size_t count, room;
};

static int add_env(struct part_scope *s, struct env_list *l, const char *name, const char *value)
{
    if (l->count + 1 >= l->room)
        return err_set(s->err, ERR_INPUT, "%s: more than %zu variables", s->file, l->room - 1);
    l->list[l->count] = arena_printf(s->a, "%s=%s", name, value);
    return l->list[l->count++] ? 0 : scope_fail(s);
}

static int add_env_map(struct part_scope *s, struct env_list *l, const struct yaml *map)
{
    for (const struct yaml *y = map && map->kind == YAML_MAP ? map->child : NULL; y; y = y->next) {
        const char *name = arena_dup(s->a, y->key.p, y->key.n), *text = arena_dup(s->a, y->text.p, y->text.n);
        if (!is_variable_name(y->key))
            return yaml_complain(y, s->file, s->err, "expected the name of a variable, got \"%.60s\"", name ? name : "");
        const char *value = text ? recipe_expand_text(text, scope_lookup, s, s->a) : NULL;
        if (!name || !value)
            return scope_fail(s);
        if (add_env(s, l, name, value))
            return -1;
    }
    return 0;
}

/* Sets part->env, NULL-terminated, in the arena: the service file's env, then parameters that name
 * a variable, then the role's env. Changes s->file to the recipe's. 0; -1 with err. */
static int read_env(struct part_scope *s, struct recipe_part *part)
{
    struct env_list l = {.list = arena_get(s->a, 513 * sizeof(char *)), .room = 513};
    const struct recipe_service *service = part->role->service;
    const struct yaml *known = service ? yaml_get(service->root, "parameters") : NULL;
    if (!l.list)
        return scope_fail(s);
    if (service && add_env_map(s, &l, yaml_get(service->root, "env")))
        return -1;
    for (const struct yaml *p = known ? known->child : NULL; p; p = p->next) {
        const char *variable = recipe_scalar(s->r, p, "env", NULL);
        for (size_t i = 0; variable && i < s->parameter_count; i++)
            if (str_is(p->key, s->parameters[i].name) && add_env(s, &l, variable, s->parameters[i].text))
                return -1;
    }
    s->file = s->r->file;
    if (add_env_map(s, &l, yaml_get(part->role->at, "env")))
        return -1;
    part->env = l.list;
    return 0;
}

enum { SECRETS_MAX = 64 };

/* Sets part->secrets, NULL-terminated, in the arena: names of variables from `secrets` of service
 * file and role, and of `secret_files`. 0; -1 with err, also for more than SECRETS_MAX. */
static int read_secrets(struct part_scope *s, struct recipe_part *part)
{
    const struct yaml *lists[] = {part->role->service ? part->role->service->root : NULL, part->role->at};
    char **all = arena_get(s->a, (SECRETS_MAX + 1) * sizeof *all);
    size_t n = 0;
    for (int i = 0; all && i < 2; i++) {
        char **list;
        if (scope_list(s, lists[i], "secrets", &list))
            return -1;
        for (; list && *list; list++) {
            if (n == SECRETS_MAX)
                return yaml_complain(yaml_get(lists[i], "secrets"), s->file, s->err, "more than %d secrets of a role", SECRETS_MAX);
            if (!is_variable_name(str_of(*list)))
                return yaml_complain(yaml_get(lists[i], "secrets"), s->file, s->err, "expected names of variables, got \"%.60s\"", *list);
            all[n++] = *list;
        }
    }
    const struct yaml *files = yaml_get(part->role->at, "secret_files");
    for (const struct yaml *y = all && files ? files->child : NULL; y; y = y->next) {
        if (n == SECRETS_MAX)
            return yaml_complain(y, s->file, s->err, "more than %d secrets of a role", SECRETS_MAX);
        if (!is_variable_name(y->key))
            return yaml_complain(y, s->file, s->err, "expected the name of a variable, got \"%.*s\"", (int)(y->key.n > 60 ? 60 : y->key.n),
                                 y->key.p);
        all[n] = arena_dup(s->a, y->key.p, y->key.n);
        n += all[n] != NULL;
    }
    part->secrets = all;
    return all && !s->a->failed ? 0 : scope_fail(s);
}

/* Reads `then` of the service file into part->requests. 0; -1 with err. */
static int read_part_requests(struct part_scope *s, struct recipe_part *part)
{
    const struct yaml *then = part->role->service ? yaml_get(part->role->service->root, "then") : NULL;
    size_t n = 0;
    for (const struct yaml *y = then ? then->child : NULL; y; y = y->next)
        n++;
    struct recipe_request *list = arena_get(s->a, (n + 1) * sizeof *list);
    if (!list)
        return scope_fail(s);
    for (const struct yaml *y = then ? then->child : NULL; y; y = y->next) {
        struct recipe_request *q = &list[part->request_count++];
        q->method = recipe_scalar(s->r, y, "method", "POST");
        q->path = scope_text(s, y, "path", NULL);
        q->body = scope_text(s, y, "body", NULL);
        q->timeout_s = 1800;
        str_duration(yaml_text(y, "timeout", "30m"), &q->timeout_s);
    }
    part->requests = list;
    return 0;
}

static int read_resources(struct part_scope *s, struct recipe_part *part)
{
    const struct yaml *map = yaml_get(part->role->at, "resources");
    size_t gpus, cpus;
    const char *memory = scope_text(s, map, "memory", NULL);
    if (scope_count(s, map, "gpus", 0, 0, &gpus) || scope_count(s, map, "cpus", 0, 0, &cpus))
        return -1;
    if (memory && !str_size(str_of(memory), &part->memory_B))
        return yaml_complain(yaml_get(map, "memory"), s->file, s->err, "expected a size such as 64G, got \"%.60s\"", memory);
    part->gpus = (unsigned)gpus;
    part->cpus = (unsigned)cpus;
    return 0;
}

/* Reads the role's container, whose image may be that of the service file. 0; -1 with err. */
static int read_container(struct part_scope *s, struct recipe_part *part)
{
    const struct yaml *map = yaml_get(part->role->at, "container"), *service = part->role->service ? part->role->service->root : NULL;
    struct recipe_container *c = &part->container;
    bool gpu = false;
    const char *runtime = recipe_scalar(s->r, map, "runtime", "none");
    if (strcmp(runtime, "none") == 0)
        return 0;
    c->runtime = runtime;
    c->image = scope_text(s, map, "image", NULL);
    if (!c->image)
        c->image = scope_text(s, service, "image", NULL);
    if (!c->image)
        return yaml_complain(map, s->file, s->err, "the container has no image, and the service file names none");
    yaml_bool(yaml_get(service, "gpu"), &gpu);
    c->gpus = part->gpus > 0 || gpu;
    return scope_list(s, map, "binds", &c->binds) || scope_words(s, map, "options", &c->options) ? -1 : 0;
}

/* srun separates mounts and names by commas, and knows no quotation. */
static int read_pyxis(struct part_scope *s, struct recipe_part *part)
{
    for (char **bind = part->container.binds; bind && *bind; bind++)
        if (strchr(*bind, ','))
            return yaml_complain(yaml_get(part->role->at, "container"), s->file, s->err, "a mount of pyxis has no comma, got \"%.60s\"",
                                 *bind);
    part->srun = recipe_pyxis_options(&part->container, part->env, part->secrets, s->a);
    return part->srun ? 0 : scope_fail(s);
}

/* ---- processes ---- */

/* The command, the options of parameters that are set, the role's further arguments. */
static char **full_command(struct part_scope *s, const struct recipe_part *part, char **command, bool with_options)
{
    const struct yaml *known = part->role->service ? yaml_get(part->role->service->root, "parameters") : NULL;
    char **args = with_options ? recipe_expand_words(part->role->args, scope_lookup, s, s->a) : NULL;
    size_t n = 0, more = 0;
    if (with_options && part->role->args && !args)
        return NULL;
    while (command[n])
        n++;
    while (args && args[more])
        more++;
    char **words = arena_get(s->a, (n + more + 2 * s->parameter_count + 1) * sizeof *words);
    if (!words)
        return NULL;
    memcpy(words, command, n * sizeof *words);
    for (const struct yaml *p = with_options && known ? known->child : NULL; p; p = p->next) {
        const char *option = recipe_scalar(s->r, p, "option", NULL);
        for (size_t i = 0; option && i < s->parameter_count; i++)
            if (str_is(p->key, s->parameters[i].name)) {
                words[n++] = (char *)option;
                words[n++] = (char *)s->parameters[i].text;
            }
    }
    for (size_t i = 0; i < more; i++)
        words[n++] = args[i];
    return words;
}

static int add_process(struct part_scope *s, struct recipe_part *part, const char *component, char **command, bool with_options)
{
    struct recipe_process *p = &part->processes[part->process_count];
    if (part->process_count == RECIPE_PROCESSES_MAX)
        return err_set(s->err, ERR_INPUT, "%s: more than %d processes", s->file, RECIPE_PROCESSES_MAX);
    *p = (struct recipe_process){.component = component, .bare = full_command(s, part, command, with_options)};
    p->words = p->bare ? recipe_container_words(&part->container, part->env, part->secrets, p->bare, s->a) : NULL;
    if (!p->words || !component)
        return scope_fail(s);
    while (command[p->own])
        p->own++;
    part->process_count++;
    return 0;
}

/* The command of a service or of one of its processes, which a file may name without a value. */
static int read_process_command(struct part_scope *s, const struct yaml *map, char ***ret)
{
    if (scope_words(s, map, "command", ret))
        return -1;
    return *ret && **ret ? 0 : yaml_complain(map, s->file, s->err, "expected the key command with a program");
}

/* Adds the processes of the part: the client's command, the service's one command, or each of
 * `processes`. A role with neither service nor command has none. Changes s->file to the service
 * file's. 0; -1 with err. */
static int read_processes(struct part_scope *s, struct recipe_part *part)
{
    const struct recipe_service *service = part->role->service;
    const struct yaml *list = service ? yaml_get(service->root, "processes") : NULL;
    char **command = NULL;
    if (!service && !part->role->command)
        return 0;
    if (!service) {
        command = recipe_expand_words(part->role->command, scope_lookup, s, s->a);
        return command ? add_process(s, part, part->role->name, command, true) : scope_fail(s);
    }
    s->file = service->file;
    if ((!list || !list->child) &&
        (read_process_command(s, service->root, &command) || add_process(s, part, part->role->name, command, true)))
        return -1;
    for (const struct yaml *y = list ? list->child : NULL; y; y = y->next) {
        const char *name = recipe_scalar(s->r, y, "name", "process"), *where = recipe_scalar(s->r, y, "where", "all");
        if (read_process_command(s, y, &command) ||
            add_process(s, part, arena_printf(s->a, "%s-%s", part->role->name, name), command, !y->next))
            return -1;
        struct recipe_process *p = &part->processes[part->process_count - 1];
        p->where = strcmp(where, "first") == 0 ? RECIPE_FIRST : strcmp(where, "rest") == 0 ? RECIPE_REST : RECIPE_ALL;
        if (read_ready(s, yaml_get(y, "ready"), &p->ready))
            return -1;
    }
    return 0;
}

/* The role's readiness is that of its last process, the recipe's before the service file's. */
static int read_last_ready(struct part_scope *s, struct recipe_part *part)
{
    const struct yaml *own = yaml_get(part->role->at, "ready"),
                      *of_service = part->role->service ? yaml_get(part->role->service->root, "ready") : NULL;
    struct recipe_ready base, ready;
    if (part->endpoint) {
        if (read_ready(s, own, &part->ready))
            return -1;
        return part->ready.tcp ? yaml_complain(own, s->file, s->err, "ready.tcp names a port of a service that benchwrap starts; use http")
                               : 0;
    }
    if (!part->process_count)
        return 0;
    struct recipe_ready *to = &part->processes[part->process_count - 1].ready;
    if (read_ready(s, of_service, &base))
        return -1;
    s->file = s->r->file;
    if (read_ready(s, own, &ready))
        return -1;
    if (own && !ready.http && !ready.tcp && !ready.command)
        ready.http = base.http, ready.tcp = base.tcp, ready.command = base.command;
    if (own || base.is_set)
        *to = own ? ready : base;
    if (to->tcp) {
        size_t i = 0;
        while (i < part->port_count && strcmp(part->ports[i].name, to->tcp) != 0)
            i++;
        if (i == part->port_count)
            return yaml_complain(own ? own : of_service, s->file, s->err, "ready.tcp: the role has no port \"%.60s\"", to->tcp);
    }
    if (to->http && !part->port_count)
        return yaml_complain(own ? own : of_service, s->file, s->err, "ready.http: the role has no port; add `ports: {http: 8000}`");
    return 0;
}

/* ---- a role, a point ---- */

/* [http[s]://]HOST[:PORT][/PATH]; a host in brackets may have colons. */
static bool is_endpoint(const char *text)
{
    struct str rest = str_of(text);
    int64_t port;
    if (strchr(text, '{')) /* a name that only a running campaign has */
        return true;
    if (str_starts(rest, "http://") || str_starts(rest, "https://"))
        rest = str_of(strstr(text, "://") + 3);
    else if (str_has(rest, "://"))
        return false;
    struct str host = str_sub(rest, 0, strcspn(rest.p, "/"));
    const char *colon = memrchr(host.p, ':', host.n), *bracket = memrchr(host.p, ']', host.n);
    size_t n = colon && (!bracket || colon > bracket) ? (size_t)(colon - host.p) : host.n;
    for (size_t i = 0; i < n; i++)
        if (!str_is_letter(host.p[i]) && !str_is_digit(host.p[i]) && !strchr("-._[]:%", host.p[i]))
            return false;
    return n && (n == host.n || (str_int(str_sub(host, n + 1, host.n), &port) && port >= 1 && port <= 65535));
}

int recipe_part_init(struct recipe_part *ret, const struct recipe *r, const struct recipe_role *role, const struct recipe_values *values,
                     recipe_lookup *find, void *context, struct arena *a, struct err *err)
{
    struct part_scope s = {.r = r, .values = values, .find = find, .context = context, .a = a, .err = err, .file = r->file};
    *ret = (struct recipe_part){.role = role, .nodes = 1};
    s.part = ret;
    size_t hosts = 0;
    if ((role->service && read_parameters(&s, role)) || read_hosts(&s, ret))
        return -1;
    if (role->is_service ? r->server_nodes : r->client_nodes)
        ret->hosts = role->is_service ? r->server_nodes : r->client_nodes;
    if (r->each_node) {
        struct str rest = str_of(recipe_value_of(values, STR("each_node")));
        if (!(ret->hosts = arena_get(a, 3 * sizeof *ret->hosts)))
            return err_memory(err, "a point");
        for (size_t i = 0; i < 2 && rest.p; i++) {
            struct str name = str_cut(&rest, RECIPE_PAIR);
            ret->hosts[i] = arena_dup(a, name.p, name.n);
        }
    }
    while (ret->hosts && ret->hosts[hosts])
        hosts++;
    ret->endpoint = scope_text(&s, role->at, "endpoint", NULL);
    if (ret->endpoint && !s.mistaken.n && !is_endpoint(ret->endpoint))
        return yaml_complain(yaml_get(role->at, "endpoint"), r->file, err, "expected an address such as http://node7:8000, got \"%.200s\"",
                             ret->endpoint);
    ret->restart = strcmp(recipe_scalar(r, role->at, "restart", "change"), "point") == 0;
    if (scope_count(&s, role->at, "nodes", hosts ? hosts : 1, 1, &ret->nodes) ||
        scope_count(&s, role->at, "instances", 1, 1, &ret->instances) || scope_count(&s, role->at, "tasks", 0, 1, &ret->tasks) ||
        read_resources(&s, ret))
        return -1;
    if (hosts && ret->nodes > hosts)
        return yaml_complain(role->at, r->file, err, "the role \"%s\" has %zu nodes, and %zu names are given", role->name, ret->nodes,
                             hosts);
    if (role->service) {
        s.file = role->service->file;
        ret->token = scope_text(&s, role->service->root, "token", NULL);
        if (read_ports(&s, ret, yaml_get(role->service->root, "ports")))
            return -1;
        s.file = r->file;
    }
    if (read_ports(&s, ret, yaml_get(role->at, "ports")) || read_container(&s, ret) || read_secrets(&s, ret) || read_env(&s, ret) ||
        (!ret->endpoint && read_processes(&s, ret)) || read_part_requests(&s, ret) || read_last_ready(&s, ret))
        return -1;
    if (ret->container.runtime && strcmp(ret->container.runtime, "pyxis") == 0 && read_pyxis(&s, ret))
        return -1;
    ret->warmup = role->warmup ? recipe_expand_words(role->warmup, scope_lookup, &s, a) : NULL;
    if (s.is_failed || (role->warmup && !ret->warmup))
        return scope_fail(&s);
    recipe_part_identify(ret);
    if (!a->failed && s.mistaken.n) {
        yaml_complain(role->at, r->file, err, "the role \"%s\": {%.60s} has no value; %s", role->name, s.mistaken.p, s.meant);
        return err_hint(err, "write {{%.60s}} for this text itself", s.mistaken.p);
    }
    return a->failed ? err_memory(err, "a point") : 0;
}

int recipe_point_init(struct recipe_point *ret, const struct recipe *r, size_t point, recipe_lookup *find, void *context, struct arena *a,
                      struct err *err)
{
    CLEANUP_BUF struct buf label;
    *ret = (struct recipe_point){.index = point};
    buf_init(&label, SWEEP_AXES_MAX * (SWEEP_VALUE_MAX + 256));
    sweep_label(&r->sweep, point, &label);
    ret->label = arena_dup(a, label.p ? label.p : "", label.n);
    ret->parts = arena_get(a, r->role_count * sizeof *ret->parts);
    if (!ret->label || !ret->parts)
        return err_memory(err, "a point");
    if (recipe_values_init(&ret->values, r, point, a, err))
        return -1;
    for (size_t i = 0; i < r->role_count; i++)
        if (recipe_part_init(&ret->parts[ret->part_count++], r, &r->roles[i], &ret->values, find, context, a, err))
            return -1;
    for (size_t i = 0; i < r->role_count; i++) {
        const struct recipe_role *on = r->roles[i].nodes_of;
        if (on && ret->parts[i].nodes > ret->parts[on - r->roles].nodes)
            return yaml_complain(r->roles[i].at, r->file, err, "the role \"%s\" has %zu nodes, and \"%s\", on whose nodes it runs, %zu",
                                 r->roles[i].name, ret->parts[i].nodes, on->name, ret->parts[on - r->roles].nodes);
    }
    recipe_point_identify(ret);
    return 0;
}
