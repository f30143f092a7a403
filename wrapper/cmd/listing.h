/* listing.h: what commands print: tables for people, and JSON for programs, from the same cells.
 *
 * A table is aligned by what characters occupy on a terminal. On a terminal the heading is bold (unless NO_COLOR is set), and where the table is
 * wider (COLUMNS, else the window) columns of text give way, then lines are cut; in a pipe nothing is cut. Foreign text is made harmless on the way: no control character and no tab comes through. */
#ifndef CMD_LISTING_H
#define CMD_LISTING_H
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

/* ---- JSON documents, written front to back ---- */
struct json_out {
    struct buf *to;
    unsigned depth;
    bool comma;           /* something stands before in this object or array */
};
/* key NULL: in an array, or the document itself. */
void json_open(struct json_out *j, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json_out *j, char bracket);                 /* '}' or ']' */
void json_text(struct json_out *j, const char *key, const char *value); /* NULL: null */
void json_str(struct json_out *j, const char *key, struct str value);
void json_double(struct json_out *j, const char *key, double value); /* not finite: the strings "NaN", "Infinity", "-Infinity", as MLflow's */
void json_int(struct json_out *j, const char *key, int64_t value);
void json_flag(struct json_out *j, const char *key, bool value);
void json_null(struct json_out *j, const char *key);
void json_raw(struct json_out *j, const char *key, struct str text); /* is JSON already */

/* ---- values as people read them; all append ---- */
void show_double(struct buf *to, double value);        /* about 6 significant digits */
void show_size(struct buf *to, uint64_t bytes);        /* 12.3 MiB */
void show_duration(struct buf *to, double seconds);    /* 812 ms, 12.3 s, 4 min 5 s, 2 h 3 min */
void show_time(struct buf *to, int64_t ms);            /* 2026-11-20 17:03:12, local */
void show_time_utc(struct buf *to, int64_t ms);        /* 2026-11-20T17:03:12.345Z */
#endif
