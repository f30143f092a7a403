/* active_table.h: runs in progress as a table, as JSON and as lines. */
#ifndef CMD_ACTIVE_TABLE_H
#define CMD_ACTIVE_TABLE_H
#include "base/screen.h"
#include "cmd/cmd.h"
#include "run/active.h"

/* Which runs are shown; NULL: all. */
struct active_choice {
    const char *experiment, *job;
    char *const *ids; /* beginnings of ids; count 0: all */
    int count;
};
/* Opens the running runs of the tree that the command reads (--tree), and reads their first facts.
 * The caller calls active_runs_free. NULL with c->err. */
struct active_runs *active_table_open(struct cmd_context *c);
size_t active_table_count(const struct active_runs *a, const struct active_choice *of);
/* Appends a table with a heading for each column, at most `rows` of the runs (then a line with the number of the others). 0; -1: out of memory. */
int active_table_print(const struct active_runs *a, const struct active_choice *of, size_t rows, const struct screen *screen,
                       struct buf *to);
/* Appends one JSON array. */
void active_table_json(const struct active_runs *a, const struct active_choice *of, struct buf *to);
/* Appends a line for each run, with the time. */
void active_table_lines(const struct active_runs *a, const struct active_choice *of, struct buf *to);
#endif
