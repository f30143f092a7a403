/* table.h: the statistics over repetitions and sweeps, as a table for people and as JSON for programs. */
#ifndef SERIES_TABLE_H
#define SERIES_TABLE_H
#include "base/json_out.h"
#include "base/screen.h"
#include "series/figures.h"

/* Appends tables for people. Repetitions: one row for each metric with median, range and interval
 * of the mean. A sweep: for each metric a block with a bar for each point. all: not only the
 * headline metrics; at most `most` metrics (0: any number), then how many more there are. Lines
 * begin with two blanks. */
void series_table(struct series_notes *n, const struct series_figure *figures, bool all, size_t most, const struct screen *screen, struct buf *to);
/* Appends a sweep in a few words, by its first headline metric (wall time only where there is no
 * other): "write.bw best 1067 MiB/s at bs=1m", or "rate 100 … 300 op/s" where the intervals do not
 * show that one value is the best. Nothing where there are none. */
void series_brief(struct series_notes *n, const struct series_figure *figures, struct buf *to);
/* Appends the tables for programs: the member "repetitions" of the open object, an array of all
 * statistics; what so few values do not yield is null. */
void series_table_json(struct series_notes *n, const struct series_figure *figures, struct json_out *j);
#endif
