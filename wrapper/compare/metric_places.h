/* metric_places.h: where the runs of a comparison have each of their metrics: found once, since a run may have thousands. */
#ifndef COMPARE_METRIC_PLACES_H
#define COMPARE_METRIC_PLACES_H
#include "compare/compare.h"

struct metric_place {
    const struct tree_entry *entry; /* NULL: the run lacks the metric */
    const struct json *about; /* its entry in benchwrap.json, or NULL */
};
struct metric_places {
    const char **keys; /* of all runs, sorted by str_natural */
    size_t count;
    size_t *first; /* of each group: the index of its first run among the runs of all groups */
    size_t runs;
    struct metric_place *list; /* for each key one for each run */
};

/* Reads the metrics of all runs of the groups. In the arena. False: out of memory. */
bool metric_places_read(const struct compare_group *groups, size_t count, struct arena *a, struct metric_places *ret);
/* Returns the index of a key; ->count: no run has it. */
size_t metric_places_find(const struct metric_places *p, const char *key);
/* The metric with that index of the runs of one group. */
const struct metric_place *metric_places_group(const struct metric_places *p, size_t key, size_t group);
#endif
