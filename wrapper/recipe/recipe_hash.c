/* recipe_hash.c: hashes that identify roles and points by what they start, and the order of points that follows from them. */
#include "recipe/recipe_point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hash_text(struct sha256 *h, const char *text)
{
    sha256_add(h, text ? text : "", (text ? strlen(text) : 0) + 1); /* with the NUL, so that texts stay separate */
}

static void hash_list(struct sha256 *h, char *const *list)
{
    for (; list && *list; list++)
        hash_text(h, *list);
    hash_text(h, "");
}

void recipe_part_identify(struct recipe_part *part)
{
    struct sha256 h;
    char shape[120];
    sha256_init(&h);
    snprintf(shape, sizeof shape, "%zu %zu %zu %u %u %llu", part->nodes, part->instances, part->tasks, part->gpus, part->cpus,
             (unsigned long long)part->memory_B);
    hash_text(&h, part->role->name);
    if (part->role->nodes_of)
        hash_text(&h, part->role->nodes_of->name);
    hash_text(&h, shape);
    hash_text(&h, part->endpoint);
    hash_list(&h, part->hosts);
    hash_list(&h, part->env);
    hash_list(&h, part->srun);
    for (size_t i = 0; i < part->process_count; i++)
        hash_list(&h, part->processes[i].words);
    hash_list(&h, part->warmup);
    for (size_t i = 0; i < part->request_count; i++) {
        hash_text(&h, part->requests[i].method);
        hash_text(&h, part->requests[i].path);
        hash_text(&h, part->requests[i].body);
    }
    sha256_end(&h, part->hash);
}

static void hash_values(const struct recipe_values *v, char ret[SHA256_HEX])
{
    struct sha256 h;
    sha256_init(&h);
    for (size_t i = 0; i < v->count; i++) {
        hash_text(&h, v->list[i].name);
        hash_text(&h, v->list[i].text);
    }
    sha256_end(&h, ret);
}

int recipe_point_hash(const struct recipe *r, size_t point, char ret[SHA256_HEX], struct arena *a, struct err *err)
{
    struct recipe_values v;
    if (recipe_values_init(&v, r, point, a, err))
        return -1;
    hash_values(&v, ret);
    return 0;
}

void recipe_point_identify(struct recipe_point *p)
{
    struct sha256 all;
    hash_values(&p->values, p->id);
    sha256_init(&all);
    hash_text(&all, p->id);
    for (size_t i = 0; i < p->part_count; i++)
        hash_text(&all, p->parts[i].hash);
    sha256_end(&all, p->hash);
}

/* ---- order ---- */

/* Points of one hash use the same services, which therefore need not be started again between them. */
static void hash_services(const struct recipe_point *p, char ret[SHA256_HEX])
{
    struct sha256 h;
    sha256_init(&h);
    for (size_t i = 0; i < p->part_count; i++)
        if (p->parts[i].role->is_service)
            hash_text(&h, p->parts[i].hash);
    sha256_end(&h, ret);
}

struct service_group {
    char hash[SHA256_HEX];
    size_t point, first; /* first: the group's first point */
};

static int order_by_hash(const void *x, const void *y)
{
    const struct service_group *a = x, *b = y;
    int order = strcmp(a->hash, b->hash);
    return order ? order : a->point < b->point ? -1 : a->point > b->point;
}

static int order_by_first(const void *x, const void *y)
{
    const struct service_group *a = x, *b = y;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

size_t *recipe_order(const struct recipe *r, const struct recipe_point *points, struct arena *a, struct err *err)
{
    size_t n = r->sweep.points;
    struct service_group *g = arena_get(a, n * sizeof *g);
    size_t *order = arena_get(a, n * sizeof *order);
    if (!g || !order) {
        err_memory(err, "the points");
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        hash_services(&points[i], g[i].hash);
        g[i].point = i;
    }
    qsort(g, n, sizeof *g, order_by_hash);
    for (size_t i = 0; i < n; i++)
        g[i].first = i && strcmp(g[i].hash, g[i - 1].hash) == 0 ? g[i - 1].first : g[i].point;
    qsort(g, n, sizeof *g, order_by_first);
    for (size_t i = 0; i < n; i++)
        order[i] = g[i].point;
    return order;
}
