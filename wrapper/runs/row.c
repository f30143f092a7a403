/* row.c: the data of a run in a listing, read from its small files: all of tags/, then all of
 * metrics/ (a folder of a commit is read again where another was in between). */
#include "runs/row.h"
#include "runs/stale.h"

const struct run_row *row_read(const struct folder *tree, const struct tree_run *run, size_t headlines, struct arena *a)
{
    struct run_row *row = ARENA_NEW(a, struct run_row);
    if (!row)
        return NULL;
    row->verdict = tree_file(tree, run, "tags/benchwrap.verdict", 64, a);
    row->parent = tree_file(tree, run, "tags/mlflow.parentRunId", 64, a);
    row->benchmark = tree_file(tree, run, "tags/benchmark", 256, a);
    row->incomplete = tree_file(tree, run, "tags/benchwrap.incomplete", 64, a);
    row->stale = tree_file(tree, run, "tags/" STALE_TAG, 200, a);
    row->site = tree_file(tree, run, "tags/site", 64, a);
    row->headlines = headlines_of(tree, run, headlines < HEADLINES_MAX ? headlines : HEADLINES_MAX, a, row->headline);
    row->wall = run->end_ms ? (double)(run->end_ms - run->start_ms) / 1e3 : 0;
    row->is_series = headline_value(tree, run, "series.wall_s", a, &row->wall);
    row->has_wall_metric = row->is_series || headline_value(tree, run, "run.wall_s", a, &row->wall);
    row->wall_known = row->has_wall_metric || run->end_ms > run->start_ms;
    return row;
}
