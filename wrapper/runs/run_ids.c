/* run_ids.c: ids of runs: those in the tree of a commit. */
#include "runs/run_ids.h"
#include "base/array.h"

#include "mlruns-format/record.h"

#include <stdlib.h>
#include <string.h>

bool run_ids_is_experiment(struct str name)
{
    return name.n > 0 && name.n < 24 && strspn(name.p, "0123456789") >= name.n;
}

int run_ids_add(struct run_ids *to, const char *id)
{
    if (!ARRAY_FITS(to->id, to->room, to->count + 1))
        return -1;
    memcpy(to->id[to->count++], id, 33);
    return 0;
}

static int compare_run_ids(const void *a, const void *b)
{
    return memcmp(a, b, 32);
}

void run_ids_sort(struct run_ids *ids)
{
    if (ids->count)
        qsort(ids->id, ids->count, sizeof *ids->id, compare_run_ids);
}

struct gathering {
    struct repo *repo;
    struct run_ids *ids;
    struct err *err;
};

static int gather_run(void *context, const struct repo_entry *e)
{
    struct gathering *g = context;
    return e->mode == REPO_MODE_DIR && record_is_id(str_of(e->name)) && run_ids_add(g->ids, e->name)
               ? err_memory(g->err, "the list of runs")
               : 0;
}

static int gather_experiment(void *context, const struct repo_entry *e)
{
    struct gathering *g = context;
    return e->mode == REPO_MODE_DIR && run_ids_is_experiment(str_of(e->name)) ? repo_each(g->repo, &e->id, gather_run, g, g->err) : 0;
}

int run_ids_of(struct repo *repo, const char *prefix, const struct repo_id *commit, struct run_ids *ret, struct err *err)
{
    struct gathering g = {.repo = repo, .ids = ret, .err = err};
    struct repo_entry mlruns;
    *ret = (struct run_ids){0};
    int rc = repo_find(repo, commit, prefix, &mlruns, err);
    if (rc == 0 && mlruns.mode == REPO_MODE_DIR)
        rc = repo_each(repo, &mlruns.id, gather_experiment, &g, err);
    run_ids_sort(ret);
    return rc < 0 ? -1 : 0;
}

bool run_ids_has(const struct run_ids *ids, const char *id)
{
    return ids->count && bsearch(id, ids->id, ids->count, sizeof *ids->id, compare_run_ids);
}

void run_ids_deinit(struct run_ids *ids)
{
    free(ids->id);
    *ids = (struct run_ids){0};
}
