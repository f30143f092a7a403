/* runs_table.h: runs of one experiment as a table with their headline metrics as columns. */
#ifndef RUNS_RUNS_TABLE_H
#define RUNS_RUNS_TABLE_H
#include "base/listing.h"
#include "base/screen.h"
#include "runs/row.h"
#include "runs/runs.h"

struct table_run {
    const struct tree_run *run;
    const struct run_row *row;
    struct folder tree; /* with the run, borrowed */
    unsigned depth; /* below its parent */
    size_t folded; /* child runs that the table leaves out */
    const char *sweep; /* metrics of a sweep, for example "write.bw best 1067 MiB/s at bs=1m"; NULL: it is none */
    const char *children; /* the folded runs in words: "3 runs", "2 points" of a sweep, "3 child runs"; NULL: there are none */
};

enum { RUNS_TABLE_METRICS = 4 };

/* Returns whether all runs start on one day, in local time. Then the table shows the time alone,
 * and the caller prints the date. */
bool runs_table_one_day(const struct table_run *runs, size_t count);
/* Returns whether the runs come from more than one site. Then the table names it. */
bool runs_table_sites(const struct table_run *runs, size_t count);
/* Appends the table of runs of one experiment. of: the parent of all of them; NULL: each child is
 * below its own. Names leave out that of the parent. one_day: start times without the date; sites:
 * with the site of each. -1: out of memory. */
int runs_table_print(const struct table_run *runs, size_t count, const struct table_run *of, bool one_day, bool sites,
                     const struct screen *screen, struct arena *a, struct buf *to);
/* Appends all runs as CSV with a column for each headline metric that one of them has. The verdict is that of verdict_shown: "pass" only where a value
 * was compared with a reference. Where statistics ignore corrections of child runs (stale.h), a last column has the reason. */
int runs_table_csv(const struct table_run *runs, size_t count, bool guard, struct arena *a, struct buf *to);
/* Counts of child runs that were amended, and of retracted ones, which are not listed. */
struct children_corrected {
    size_t amended, retracted;
};
/* Loads the child runs of `of` that readers see, oldest first, in place of what was loaded. 0; -1
 * with err: it has none, or they cannot be read. */
int runs_table_load_children(struct runs *runs, const struct tree_run *of, struct children_corrected *ret, struct arena *a,
                             struct err *err);
/* Prints the loaded child runs: as a table, with the number of corrected ones, or ids, names, status and what each amends in another form. -1 with err. */
int runs_table_children(struct runs *runs, const struct tree_run *of, const struct children_corrected *corrected, enum listing_form form,
                        FILE *out, struct arena *a, struct err *err);
/* Returns the metrics of a run in words, "rate 3 op/s, wait 2 us", those of a sweep as row_words
 * has them; "no metrics" where there are none but its wall time. */
const char *runs_table_own(const struct table_run *r, struct arena *a);
#endif
