/* store.h: experiments, runs and files in memory, for the fault server. Everything is copied and nothing freed. */
#ifndef SERVER_STORE_H
#define SERVER_STORE_H
#include "base/str.h"

struct pair {
    char *key, *value;
};
struct pairs {
    struct pair *p;
    size_t n;
};
/* The value of a key is put or replaced; got (NULL: none); removed (false: there was none). */
void pairs_set(struct pairs *pairs, const char *key, const char *value);
const char *pairs_get(const struct pairs *pairs, struct str key);
bool pairs_remove(struct pairs *pairs, const char *key);

struct sample {
    double value;
    int64_t time_ms, step;
};
struct metric {
    char *key;
    struct sample *p;
    size_t n, room;
};
struct experiment {
    char id[24], *name;
    bool deleted;
    struct pairs tags;
};
struct run {
    char id[40];
    const char *experiment;
    char *name, *user, *status;
    int64_t start_ms, end_ms;
    bool deleted;
    struct pairs params, tags, inputs;
    struct metric *metrics;
    size_t n_metrics;
};
struct file {
    char *path;
    struct str bytes;
};
struct store {
    bool unfiltered; /* searches overlook their filter */
    struct experiment **experiments;
    struct run **runs;
    struct file **files;
    size_t n_experiments, n_runs, n_files, uploads, aborted;
};

struct experiment *store_experiment(const struct store *s, const char *id, const char *name); /* by id if it is given */
struct experiment *store_experiment_add(struct store *s, const char *name);
struct run *store_run(const struct store *s, const char *id);
struct run *store_run_add(struct store *s, const char *experiment, const char *name, const char *user, int64_t start_ms);
struct metric *run_metric_find(const struct run *r, const char *key);
void run_metric(struct run *r, const char *key, struct sample sample); /* one that is there already is left out, as SQL stores do */
struct file *store_file(const struct store *s, const char *path);
void store_file_put(struct store *s, const char *path, struct str bytes);
#endif
