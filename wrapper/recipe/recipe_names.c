/* recipe_names.c: what a name in braces that has no value probably means. */
#include "recipe/recipe_names.h"

static bool has_port_named(const struct recipe_part *part, struct str name)
{
    for (size_t i = 0; i < part->port_count; i++)
        if (str_is(name, part->ports[i].name))
            return true;
    return false;
}

/* The nearest name of a known one: one letter in three may differ. */
static void keep_nearer(struct str name, const char *known, unsigned *least, const char **nearest)
{
    unsigned far = str_distance(name, str_of(known));
    if (far < *least)
        *least = far, *nearest = known;
}

/* What a name that begins with that of a role should be. NULL: it is good, or no role's. */
static const char *mistake_of_role(const struct recipe_name_scope *s, struct str name)
{
    static const char *const keys[] = {"url", "urls", "host", "hosts", "port", "addresses"};
    for (size_t i = 0; i < s->r->role_count; i++) {
        const struct recipe_role *role = &s->r->roles[i];
        size_t n = strlen(role->name);
        struct str key = name.n > n && name.p[n] == '.' && str_starts(name, role->name) ? str_sub(name, n + 1, name.n) : (struct str){0};
        if (!key.n)
            continue;
        if (!role->is_service)
            return arena_printf(s->a, "the role \"%s\" is no service", role->name);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (str_is(key, keys[k]))
                return NULL;
        return str_starts(key, "ports.") ? NULL
                                         : arena_printf(s->a, "a service has url, urls, host, hosts, port, addresses and ports.NAME");
    }
    return NULL;
}

const char *recipe_name_mistake(const struct recipe_name_scope *s, struct str name)
{
    static const char *const always[] = {"host", "node", "instance", "campaign", NULL}, *const of_service[] = {"head", "port", NULL};
    const char *nearest = NULL, *meant = mistake_of_role(s, name);
    unsigned least = name.n / 3 < 2 ? (unsigned)name.n / 3 + 1 : 3;
    bool is_service = s->part->role->is_service;
    const char *own = arena_dup(s->a, name.p, name.n);
    for (const char *const *k = always; *k; k++)
        keep_nearer(name, *k, &least, &nearest);
    for (const char *const *k = of_service; *k && is_service; k++)
        keep_nearer(name, *k, &least, &nearest);
    for (size_t i = 0; i < s->values->count; i++)
        keep_nearer(name, s->values->list[i].name, &least, &nearest);
    for (size_t i = 0; i < s->parameter_count; i++)
        keep_nearer(name, s->parameters[i].name, &least, &nearest);
    for (size_t i = 0; i < s->r->role_count; i++) {
        const char *url = arena_printf(s->a, "%s.url", s->r->roles[i].name);
        if (url && s->r->roles[i].is_service)
            keep_nearer(name, url, &least, &nearest);
    }
    if (!meant && is_service && str_starts(name, "ports.") && !has_port_named(s->part, str_sub(name, 6, name.n)))
        meant = arena_printf(s->a, "the role has no port of this name");
    else if (!meant && !is_service && (str_is(name, "port") || str_is(name, "head") || str_starts(name, "ports.")))
        meant = arena_printf(s->a, "a client has no port of its own; {ROLE.port} is that of a service");
    else if (!meant && nearest && least > 0 && own && !recipe_is_reserved(s->r, own))
        meant = arena_printf(s->a, "did you mean {%s}?", nearest);
    return meant;
}
