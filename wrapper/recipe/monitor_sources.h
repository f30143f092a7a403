/* monitor_sources.h: where the samples of a monitor come from. */
#ifndef RECIPE_MONITOR_SOURCES_H
#define RECIPE_MONITOR_SOURCES_H
#include "base/arena.h"
#include "base/http.h"
#include "base/json.h"
#include "base/query.h"

#include <stdint.h>

/* Receives a sample. metric: of a node "system/…", of a service a name of Prometheus with its labels. */
typedef void monitor_sample(void *context, const char *node, const char *component, struct str metric, double value);

/* The collectors of all nodes, behind one process. */
struct monitor_nodes {
    struct query step;
    struct monitor_series {
        char *node, *name; /* name NULL: none has this number */
    } *series;
    size_t count, room;
    int64_t asked_ns;
    char why[400]; /* it did not start, or has ended early; "" neither */
};
/* srun: campaign_slurm_watch; NULL: this machine alone. 0; -1 with err. */
int monitor_nodes_begin(struct monitor_nodes *ret, const char *core, char *const *srun, double interval_s, struct err *err);
/* Reads what has come. */
void monitor_nodes_read(struct monitor_nodes *n, monitor_sample *to, void *context);
/* Waits for their end, at most two seconds. */
void monitor_nodes_end(struct monitor_nodes *n);

/* Reads a page in Prometheus's text format, without samples of buckets and quantiles, and without values that are no numbers. */
void monitor_page_read(struct str page, const char *node, const char *component, monitor_sample *to, void *context);
/* Requests the metrics of each service of live.json that has a path for them. The number of those that did not answer. */
size_t monitor_services_read(struct http *http, const struct json *live, monitor_sample *to, void *context);

/* A number of the user's own: of a command, or of a file. */
struct monitor_custom {
    const char *name, *file; /* file NULL: the command */
    char **words;
    struct query query;
    size_t missed; /* times without a number */
    bool has_sample;
};
/* Reads the number, or starts the command for it and reads the answer of the one before. True: *ret has a new one. */
bool monitor_custom_read(struct monitor_custom *m, double limit_s, double *ret);
#endif
