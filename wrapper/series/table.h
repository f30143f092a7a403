/* table.h: the figures of a series, as a table for people and as JSON for programs. */
#ifndef SERIES_TABLE_H
#define SERIES_TABLE_H
#include "base/json_out.h"
#include "series/figures.h"

/* A table for people: point, metric, n, median, mean, interval. all: not only the headlines; at most `most`
 * lines (0: any number), then how many more there are. With line ends. */
void series_table(struct series_notes *n, const struct series_figure *figures, bool all, size_t most, struct buf *to);
/* The same for programs: the member "repetitions" of the open object, an array of all figures; what so few samples do not tell is null. */
void series_json(struct series_notes *n, const struct series_figure *figures, struct json_out *j);
#endif
