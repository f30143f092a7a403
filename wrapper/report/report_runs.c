/* report_runs.c: the runs of a document as a table, in the order and with the columns that the user names. */
#include "base/listing_parts.h"
#include "report/report.h"
#include "runs/run_columns.h"
#include "runs/runs_order.h"

#include <string.h>

struct tree_run *const *report_order(const struct runs *runs, struct tree_run *const *list, size_t n, const struct report_options *o,
                                     struct arena *a, struct err *err)
{
    struct runs ordered = *runs;
    if (!o->sort || !o->sort->text)
        return list;
    ordered.all = arena_get(a, (n + 1) * sizeof *ordered.all);
    ordered.count = n;
    if (!ordered.all) {
        err_memory(err, "the order of %zu runs", n);
        return NULL;
    }
    memcpy(ordered.all, list, n * sizeof *list);
    return runs_sort(&ordered, o->sort, a, err) < 0 ? NULL : ordered.all;
}

int report_runs_table(struct doc *d, struct runs *runs, struct tree_run *const *list, const char *const *letters, size_t n,
                      const struct report_options *o, struct err *err)
{
    struct run_columns named;
    struct listing l;
    if (run_columns_read(&named, o->columns, "--columns", runs, (const struct tree_run *const *)list, n, d->a, err) < 0)
        return -1;
    int status = run_columns_listing(&named, runs, list, n, true, d->a, &l, NULL);
    size_t before = letters ? 2 : 1;
    struct doc_column *columns = arena_get(d->a, (named.count + before) * sizeof *columns);
    if (status == 0 && columns) {
        columns[0] = (struct doc_column){.heading = "group"};
        columns[before - 1] = (struct doc_column){.heading = "run"};
        for (size_t k = 0; k < named.count; k++)
            columns[before + k] = (struct doc_column){.heading = l.columns[k].heading, .is_number = l.columns[k].right};
        struct doc_grid *t = doc_table(d, "runs", columns, named.count + before);
        for (size_t i = 0; i < n; i++) {
            if (letters)
                doc_cell_text(t, STYLE_PLAIN, letters[i]);
            doc_cell_text(t, STYLE_PLAIN, arena_printf(d->a, "%.8s", list[i]->id));
            for (size_t k = 0; k < named.count; k++) {
                const struct listing_cell *cell = listing_cell_at(&l, i, k);
                if (cell->number)
                    doc_cell_number(t, STYLE_PLAIN, cell->value, cell->text);
                else
                    doc_cell_text(t, STYLE_PLAIN, cell->text);
            }
        }
    }
    listing_deinit(&l);
    return status < 0 || d->a->failed ? err_memory(err, "the table of runs") : 0;
}
