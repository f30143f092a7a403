/* figure_titles.h: lines divided into fields, and the titles of columns. */
#ifndef BENCHMARKS_FIGURE_TITLES_H
#define BENCHMARKS_FIGURE_TITLES_H
#include "benchmarks/figure_parts.h"

enum { COLUMNS_MAX = 24, TITLE_MAX = 40 };

struct columns {
    struct str field[COLUMNS_MAX];
    size_t n, bars; /* bars: lines drawn between columns */
};

/* Divides a line into fields at bars and blanks; they point into the line. An empty field between
 * bars counts. Fields beyond COLUMNS_MAX are left out. */
struct columns figure_columns(struct str line);
/* The words of a line as columns, a unit in brackets with the word before it: "Size Rate (MB/s)". Of a line of CSV its fields. */
struct columns figure_word_columns(struct str line);
struct str figure_cell(struct str cell); /* without quotes, and without a bracket that "( 0.05)" left over */
/* A line of column titles: three or more, words all of them but rising percentiles, no sentence. numbers: how many are in the line. */
bool figure_is_title_line(struct str line, size_t numbers);
/* A line of column titles is kept for the rows below. numbers: how many are in the line. False: it is none. */
bool figure_header_note(struct figure_context *x, struct str line, size_t numbers);
/* Directly below a line of titles with one blank, comma or semicolon between them, and as many fields as these? */
bool figure_fits_titles(const struct figure_context *x, struct str line);
/* The title as a part of a name: "97.5%" is p97.5. Returns its length. */
size_t figure_title_name(struct str title, char *to, size_t size);
bool figure_is_time_header(const struct columns *head); /* titles of time(1) and similar programs: the values are seconds */
#endif
