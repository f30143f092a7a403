/* recipe_nodes.c: which nodes of an allocation a point needs. */
#include "base/array.h"
#include "base/hostlist.h"
#include "recipe/recipe_point.h"

bool recipe_has_own_nodes(const struct recipe_part *part)
{
    return !part->endpoint && !part->hosts && !part->role->nodes_of;
}

struct host_names {
    char **list;
    size_t count, room;
    struct arena *a;
};

static int add_host_name(void *context, struct str name)
{
    struct host_names *h = context;
    if (h->count == RECIPE_NODES_MAX || !ARRAY_FITS_IN(h->a, h->list, h->room, h->count + 2))
        return -1;
    h->list[h->count] = arena_dup(h->a, name.p, name.n);
    h->list[h->count + 1] = NULL;
    return h->list[h->count++] ? 0 : -1;
}

char **recipe_host_names(const char *list, struct arena *a)
{
    struct host_names h = {.a = a, .list = arena_get(a, sizeof *h.list)};
    return h.list && hostlist_each(str_of(list), add_host_name, &h) == 0 ? h.list : NULL;
}

/* Is the k-th name of the i-th role that of an earlier role, too, or an earlier name of this one? */
static bool is_host_again(const struct recipe_point *p, size_t i, size_t k)
{
    for (size_t m = 0; m <= i; m++)
        for (size_t n = 0; !p->parts[m].endpoint && p->parts[m].hosts && n < (m == i ? k : p->parts[m].nodes); n++)
            if (strcmp(p->parts[m].hosts[n], p->parts[i].hosts[k]) == 0)
                return true;
    return false;
}

bool recipe_has_host(const struct recipe_point *p, const char *name)
{
    for (size_t i = 0; i < p->part_count; i++)
        for (size_t k = 0; !p->parts[i].endpoint && p->parts[i].hosts && k < p->parts[i].nodes; k++)
            if (strcmp(p->parts[i].hosts[k], name) == 0)
                return true;
    return false;
}

size_t recipe_nodes_of(const struct recipe_point *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->part_count; i++) {
        if (recipe_has_own_nodes(&p->parts[i]))
            n += p->parts[i].nodes;
        for (size_t k = 0; !p->parts[i].endpoint && p->parts[i].hosts && k < p->parts[i].nodes; k++)
            n += !is_host_again(p, i, k);
    }
    return n ? n : 1;
}
