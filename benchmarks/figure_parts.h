/* figure_parts.h: what the parts of the grammar share: numbers of a line, words that name them, and lines of a known form. */
#ifndef BENCHMARKS_FIGURE_PARTS_H
#define BENCHMARKS_FIGURE_PARTS_H
#include "benchmarks/figure.h"

#include <string.h>

enum { FIGURE_NUMBERS_MAX = 24 };

struct number {
    size_t from, to, end; /* the digits; end: behind the unit */
    const struct unit *unit;
    char own[32]; /* "0m3.2s" in seconds; empty: the digits as they stand */
    struct str word; /* the unit as printed */
    struct str raw; /* a unit that the record does not have ("MIPS", "MH/s"): it joins the name */
    bool joined, inside, error, plain; /* inside: in parentheses; error: behind ±; plain: cannot be a result, only ends a name */
};

static inline bool is_one_of(char c, const char *set)
{
    while (*set && *set != c) /* sets are short */
        set++;
    return *set;
}

static inline char char_at(struct str s, size_t i)
{
    return i < s.n ? s.p[i] : 0;
}

/* ---- figure_numbers.c ---- */

struct str figure_without_stamp(struct str line); /* without "2026-11-20 10:11:12,123 ", "INFO: " at the beginning */
/* A number of `length` characters begins at i: its value, its unit, and whether it can be a result at all. Returns the place behind it. */
size_t figure_number_take(struct str line, size_t i, size_t length, struct number *n);
size_t figure_numbers_take(struct str line, struct number to[FIGURE_NUMBERS_MAX]); /* all of the line; returns how many */
/* The last part of the text before a number: behind the last comma, bar, tab or pair of blanks, unless these stand right before the number. */
struct str figure_clause(struct str text);
/* The label without quotes, list marks, brackets and small words at its end. Returns its length, 0: nothing is left. */
size_t figure_name_clean(struct str label, char *to, size_t size);
bool figure_has_number(struct str label); /* one of its own: not that of "sha256" */

/* ---- figure_forms.c: each sets `to` and returns how many figures it found ---- */

bool figure_is_range_end(struct str line, const struct number *n, size_t k); /* "68.4 to 127.2 kbit/s": is n[k] the second? */
bool figure_is_header(struct str line, size_t numbers); /* a line of column titles */
/* Rows below the header of the context. True: the line is such a row, with *ret_n figures (perhaps none). */
bool figure_take_columns(const struct figure_context *x, struct str line, struct figure *to, size_t *ret_n);
size_t figure_take_parts(struct str line, struct figure *to); /* "rtt min/avg/max = 0.02/0.03/0.06 ms" */
size_t figure_take_percentile(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
size_t figure_take_lone(struct str line, const struct number *n, size_t count, struct figure *to); /* what a line says without a name */
#endif
