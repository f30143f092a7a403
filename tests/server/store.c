/* store.c: the fault server's memory; see store.h. */
#include "server/store.h"

#include <stdio.h>
#include <stdlib.h>

static void *grown(void *p, size_t n, size_t size)
{
    if (n & (n - 1)) /* room is always a power of two */
        return p;
    p = realloc(p, (n ? 2 * n : 1) * size);
    if (!p)
        abort();
    return p;
}

void pairs_set(struct pairs *pairs, const char *key, const char *value)
{
    size_t i = 0;
    while (i < pairs->n && strcmp(pairs->p[i].key, key) != 0)
        i++;
    if (i == pairs->n) {
        pairs->p = grown(pairs->p, pairs->n, sizeof *pairs->p);
        pairs->p[pairs->n++] = (struct pair){strdup(key), NULL};
    }
    pairs->p[i].value = strdup(value);
}

const char *pairs_get(const struct pairs *pairs, struct str key)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (str_is(key, pairs->p[i].key))
            return pairs->p[i].value;
    return NULL;
}

bool pairs_remove(struct pairs *pairs, const char *key)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (strcmp(pairs->p[i].key, key) == 0) {
            pairs->p[i] = pairs->p[pairs->n - 1];
            pairs->n--;
            return true;
        }
    return false;
}

struct experiment *store_experiment(const struct store *s, const char *id, const char *name)
{
    for (size_t i = 0; i < s->n_experiments; i++)
        if (id ? strcmp(s->experiments[i]->id, id) == 0 : strcmp(s->experiments[i]->name, name) == 0)
            return s->experiments[i];
    return NULL;
}

struct experiment *store_experiment_add(struct store *s, const char *name)
{
    struct experiment *e = calloc(1, sizeof *e);
    snprintf(e->id, sizeof e->id, "%zu", s->n_experiments);
    e->name = strdup(name);
    s->experiments = grown(s->experiments, s->n_experiments, sizeof *s->experiments);
    return s->experiments[s->n_experiments++] = e;
}

struct run *store_run(const struct store *s, const char *id)
{
    for (size_t i = 0; i < s->n_runs; i++)
        if (strcmp(s->runs[i]->id, id) == 0)
            return s->runs[i];
    return NULL;
}

/* The same number gives the same id, so that a journal done again makes the same runs. */
static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct run *store_run_add(struct store *s, const char *experiment, const char *name, const char *user, int64_t start_ms)
{
    struct run *r = calloc(1, sizeof *r);
    snprintf(r->id, sizeof r->id, "%016llx%016llx", (unsigned long long)mixed(s->n_runs), (unsigned long long)mixed(~(uint64_t)s->n_runs));
    r->experiment = strdup(experiment);
    r->name = strdup(*name ? name : "unnamed-1");
    r->user = strdup(user);
    r->status = strdup("RUNNING");
    r->start_ms = start_ms;
    s->runs = grown(s->runs, s->n_runs, sizeof *s->runs);
    return s->runs[s->n_runs++] = r;
}

struct metric *run_metric_find(const struct run *r, const char *key)
{
    for (size_t i = 0; i < r->n_metrics; i++)
        if (strcmp(r->metrics[i].key, key) == 0)
            return &r->metrics[i];
    return NULL;
}

void run_metric(struct run *r, const char *key, struct sample sample)
{
    struct metric *m = run_metric_find(r, key);
    if (!m) {
        r->metrics = grown(r->metrics, r->n_metrics, sizeof *r->metrics);
        m = &r->metrics[r->n_metrics++];
        *m = (struct metric){.key = strdup(key)};
    }
    for (size_t i = 0; i < m->n; i++)
        if (m->p[i].time_ms == sample.time_ms && m->p[i].step == sample.step &&
            (m->p[i].value == sample.value || (m->p[i].value != m->p[i].value && sample.value != sample.value)))
            return;
    m->p = grown(m->p, m->n, sizeof *m->p);
    m->p[m->n++] = sample;
}

struct file *store_file(const struct store *s, const char *path)
{
    for (size_t i = 0; i < s->n_files; i++)
        if (strcmp(s->files[i]->path, path) == 0)
            return s->files[i];
    return NULL;
}

void store_file_put(struct store *s, const char *path, struct str bytes)
{
    struct file *f = store_file(s, path);
    char *copy = malloc(bytes.n + 1);
    if (!f) {
        s->files = grown(s->files, s->n_files, sizeof *s->files);
        f = s->files[s->n_files++] = calloc(1, sizeof *f);
        f->path = strdup(path);
    }
    if (bytes.n)
        memcpy(copy, bytes.p, bytes.n);
    copy[bytes.n] = 0;
    f->bytes = (struct str){copy, bytes.n};
}
