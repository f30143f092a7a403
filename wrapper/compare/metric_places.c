/* metric_places.c: find the metrics of all runs of a comparison in one pass over each run. */
#include "compare/metric_places.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Fills ret->keys with the metrics of all runs, sorted, without duplicates, in the arena; texts are
 * borrowed. Returns false when out of memory. */
static bool collect_metric_keys(const struct compare_group *groups, size_t count, struct arena *a, struct metric_places *ret)
{
    size_t room = 0, unique = 0;
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            for (const struct tree_entry *e = groups[g].members[i].run->metrics; e; e = e->next) {
                if (!ARRAY_FITS_IN(a, ret->keys, room, ret->count + 1))
                    return false;
                ret->keys[ret->count++] = e->key;
            }
    if (ret->count)
        qsort(ret->keys, ret->count, sizeof *ret->keys, str_natural_order);
    for (size_t i = 0; i < ret->count; i++)
        if (!unique || strcmp(ret->keys[unique - 1], ret->keys[i]) != 0)
            ret->keys[unique++] = ret->keys[i];
    ret->count = unique;
    return true;
}

size_t metric_places_find(const struct metric_places *p, const char *key)
{
    const char **found = p->count ? bsearch(&key, p->keys, p->count, sizeof *p->keys, str_natural_order) : NULL;
    return found ? (size_t)(found - p->keys) : p->count;
}

const struct metric_place *metric_places_group(const struct metric_places *p, size_t key, size_t group)
{
    return &p->list[key * p->runs + p->first[group]];
}

/* Enters the run's metrics by key. A key that occurs twice in a run or its record counts as it does
 * for runs_entry and json_get: the first one. */
static void place_metrics(const struct metric_places *p, const struct compare_member *member, size_t run)
{
    for (const struct tree_entry *e = member->run->metrics; e; e = e->next) {
        struct metric_place *to = &p->list[metric_places_find(p, e->key) * p->runs + run];
        to->entry = to->entry ? to->entry : e;
    }
    for (const struct json *m = json_first(json_get(member->detail, "metrics")); m; m = json_next(m)) {
        size_t at = metric_places_find(p, json_key(m));
        struct metric_place *to = at < p->count ? &p->list[at * p->runs + run] : NULL;
        if (to && !to->about)
            to->about = m;
    }
}

bool metric_places_read(const struct compare_group *groups, size_t count, struct arena *a, struct metric_places *ret)
{
    *ret = (struct metric_places){.first = arena_get(a, (count + 1) * sizeof *ret->first)};
    if (!ret->first || !collect_metric_keys(groups, count, a, ret))
        return false;
    for (size_t g = 0; g < count; g++) {
        ret->first[g] = ret->runs;
        ret->runs += groups[g].count;
    }
    ret->list = arena_get(a, (ret->count * ret->runs + 1) * sizeof *ret->list);
    for (size_t g = 0; ret->list && g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            place_metrics(ret, &groups[g].members[i], ret->first[g] + i);
    return ret->list != NULL;
}
