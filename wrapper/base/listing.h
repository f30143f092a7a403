/* listing.h: what commands print: tables for people, and JSON for programs, from the same cells.
 *
 * A table is aligned by what characters occupy on a terminal (base/screen.h). Where it is wider than the screen, columns go in this order:
 * those with `drop`, largest first, leave the table. Then columns of text get narrower, unless they
 * are `whole`. Then one blank
 * separates columns, names in the first column that are too wide get a line of their own, and at last numbers leave from the right.
 * So no line is wider than the screen but by a single text that is `whole`.
 * A number that is shown is complete. In a pipe nothing is cut. Foreign text is made harmless on the way: no control character and no tab comes through. */
#ifndef BASE_LISTING_H
#define BASE_LISTING_H
#include "base/json_out.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/screen.h"

#include <stdio.h>

struct listing_column {
    const char *key; /* name in JSON */
    const char *heading; /* NULL: not in the table, JSON only */
    bool right; /* numbers */
    unsigned max; /* columns a cell may occupy in a table, 0: no bound; longer ones are cut visibly */
    unsigned drop; /* 0: stays; else the column leaves a table that is too wide, the largest first */
    unsigned narrow; /* not 0: at this rank among the drops, the column of text gets narrower, down to 12 columns, instead of leaving */
    bool whole; /* its text is never cut: names that the reader has to type, verdicts */
    bool wrap; /* a text that ends its row is broken into lines instead of cut */
    bool tight; /* one blank before it, not two: a unit behind its number */
    bool no_empty; /* leaves the table when no cell has a text */
    const char *common; /* if all cells are equal, the column becomes this phrase and the cell's text above the table; "": it disappears */
    const char *above; /* a further heading, one line higher; may extend over columns that have none */
};

struct listing_cell;
struct listing {
    const struct listing_column *columns;
    size_t count;
    struct arena *arena;
    struct listing_cell *cells;
    size_t used, room;
    size_t indent; /* blanks before each line; the caller may set it */
    bool bare; /* no line of headings, also in CSV and Markdown; the caller may set it */
    const char *missing; /* what stands for a cell that is not known; "-" unless the caller sets it */
    bool failed; /* out of memory: listing_print returns it */
};

/* Begins a listing. The arena keeps the cells' texts; `columns` must outlive the listing. */
void listing_init(struct listing *l, const struct listing_column *columns, size_t count, struct arena *arena);
void listing_deinit(struct listing *l);
/* Adds the next cell, row by row. */
void listing_text(struct listing *l, const char *text); /* NULL: nothing known, "-" and null */
void listing_str(struct listing *l, struct str text);
void listing_number(struct listing *l, double value, const char *shown); /* shown NULL: about six significant digits */
void listing_none(struct listing *l);
void listing_known(struct listing *l, double value); /* a number; nothing known where it is not finite */
void listing_integer(struct listing *l, int64_t value); /* with all digits in a table, too */
/* Adds one text over the next n columns (n >= 1), aligned left; in JSON it is the first cell, the
 * others are null. */
void listing_span(struct listing *l, const char *text, size_t n);
/* Sets the style of the cell added last. */
void listing_style(struct listing *l, enum style style);
size_t listing_rows(const struct listing *l);
/* Removes the last row, which must be complete. */
void listing_drop_row(struct listing *l);
/* Prints the table; nothing at all, not even a heading, without rows. -1: out of memory. */
int listing_print(const struct listing *l, FILE *out);
/* Appends the table for a screen that the caller knows. -1: out of memory. */
int listing_render(const struct listing *l, const struct screen *screen, struct buf *to);
/* Returns whether the table on this screen has a column of this key. A column is left out where the
 * screen is too narrow, or where all its cells are empty. */
bool listing_shows(const struct listing *l, const struct screen *screen, const char *key);
/* Appends the rows as a JSON array of objects. */
void listing_json(const struct listing *l, struct buf *to);
void listing_json_member(const struct listing *l, const char *key, struct json_out *j);
/* Appends the rows as JSON, one object a line. */
void listing_jsonl(const struct listing *l, struct buf *to);
/* Appends one field of CSV. guard: a text that a spreadsheet would evaluate, because it begins with
 * = + - @ or a tab and is no number, gets an apostrophe before it. */
void listing_csv_field(struct buf *to, struct str text, bool guard);
/* Appends the rows as CSV (RFC 4180) with a line of keys. Each number has all digits, a cell that
 * is not known is empty. guard: see listing_csv_field. */
void listing_csv(const struct listing *l, bool guard, struct buf *to);
/* The forms in which commands print rows. */
enum listing_form { LISTING_TABLE, LISTING_CSV, LISTING_MARKDOWN, LISTING_JSONL, LISTING_JSON };
/* Prints what was made in one of these forms. A table has styles, and texts that are harmless on a terminal. */
void listing_put(enum listing_form form, const struct buf *made, FILE *out);
/* Prints the rows in one of them; CSV is guarded (see listing_csv_field). -1: out of memory. */
int listing_write(const struct listing *l, enum listing_form form, FILE *out);
#endif
