/* columns.h: labels of columns, with their units, as tables and CSV files have them. */
#ifndef BENCHMARKS_COLUMNS_H
#define BENCHMARKS_COLUMNS_H
#include "base/str.h"
#include "base/units.h"

/* Returns the text of a field without its unit, "bw" of "bw(MiB/s)"; *ret_unit is the unit's text, p NULL: there
 * is none. Both point into the field. */
struct str column_label(struct str field, struct str *ret_unit);
/* Returns a cell's name without its number: "StdDev" of "StdDev#2", the second column of that label. */
struct str column_plain(struct str cell);
/* Returns the index of the header field that the cell names ("StdDev#2": the second one with this
 * label), and sets *ret_unit, NULL where the field has no known unit. -1: no such field, *ret_unit is
 * unchanged. */
int column_find(const struct str *fields, size_t n, struct str cell, const struct unit **ret_unit);
/* Returns whether the fields, none of them empty, are a name and its value: "Size = 1400", "Cache
 * Hits: 457". A colon or = in the first field does not count: "Size: 1400" is none. */
bool column_is_statement(const struct str *fields, size_t n);
#endif
