/* listing.h: what commands print: tables for people, and JSON for programs, from the same cells.
 *
 * A table is aligned by what characters occupy on a terminal. On a terminal the heading is bold (unless NO_COLOR is set), and where the table is
 * wider (COLUMNS, else the window) columns of text give way, then lines are cut; in a pipe nothing is cut. Foreign text is made harmless on the way: no control character and no tab comes through. */
#ifndef BASE_LISTING_H
#define BASE_LISTING_H
#include "base/arena.h"
#include "base/buf.h"

#include <stdio.h>

struct listing_column {
    const char *key;      /* name in JSON */
    const char *heading;  /* NULL: not in the table, JSON only */
    bool right;           /* numbers */
    unsigned max;         /* columns a cell may take in a table, 0: no bound; longer ones are cut visibly */
};

struct listing_cell;
struct listing {
    const struct listing_column *columns;
    size_t count;
    struct arena *arena;
    struct listing_cell *cells;
    size_t used, room;
    bool failed;          /* out of memory: listing_print says so by its return */
};

/* The arena keeps the cells' texts; `columns` must outlive the listing. */
void listing_init(struct listing *l, const struct listing_column *columns, size_t count, struct arena *arena);
void listing_deinit(struct listing *l);
/* The next cell, row by row. */
void listing_text(struct listing *l, const char *text);               /* NULL: nothing known, "-" and null */
void listing_str(struct listing *l, struct str text);
void listing_number(struct listing *l, double value, const char *shown); /* shown NULL: the number itself */
void listing_none(struct listing *l);
size_t listing_rows(const struct listing *l);
/* The table; nothing at all, not even a heading, without rows. -1: memory ran out on the way. */
int listing_print(const struct listing *l, FILE *out);
/* The rows as a JSON array of objects. */
void listing_json(const struct listing *l, struct buf *to);

/* Columns that text occupies on a terminal (UTF-8; combining marks 0, wide characters 2). */
size_t listing_width(struct str text);
bool listing_colour(FILE *out); /* out is a terminal and NO_COLOR is not set */
#endif
