/* figure_parts.h: what the parts of the grammar share: numbers of a line, words that name them, and lines of a known form. */
#ifndef BENCHMARKS_FIGURE_PARTS_H
#define BENCHMARKS_FIGURE_PARTS_H
#include "benchmarks/figure.h"

#include <string.h>

enum { FIGURE_NUMBERS_MAX = 24 };

struct number {
    size_t from, to, end; /* the digits; end: behind the unit */
    const struct unit *unit;
    char own[32]; /* "0m3.2s" in seconds; empty: the unchanged digits */
    struct str word; /* the unit as printed */
    struct str raw; /* a unit that the record does not have ("MIPS", "MH/s"): it joins the name */
    bool joined, inside, error, plain; /* inside: in parentheses; error: behind ±; plain: cannot be a result, only ends a name */
    bool times; /* "3.5x": plain, but what a speedup has */
    bool clock; /* "00:01:02.5": a time of day unless its name means more */
    bool decimal_comma; /* "0,5 s" */
    double multiple; /* 1000 of "12.3k", without a unit behind it; 0: none */
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
bool figure_is_named_rate(const struct number *n); /* "5 runs/s": its unit names what was counted */
size_t figure_error_skip(struct str line,
                         size_t at); /* the place behind the error of "12.5 ± 0.3", `at`: behind the value, returned where there is none */
/* "0m3.203s", "1m23s", "0h0m1s", "0:03.20", "00:01:02.5", "00:01:02" (which may be a time of day): seconds as text. Returns its length, 0: none. */
size_t figure_minutes(struct str s, char *to, size_t size);
/* The last part of the text before a number: behind the last comma, bar, tab or pair of blanks,
 * unless these are directly before the number. */
struct str figure_clause(struct str text);
/* The label without quotes, list marks, brackets and small words at its end. Returns its length, 0: nothing is left. */
size_t figure_name_clean(struct str label, char *to, size_t size);
bool figure_has_number(struct str label); /* one of its own: not that of "sha256" */

/* ---- figure_groups.c ---- */

/* "107 852 015 ops/s", "1'234'567": a number in groups begins at i. False: it is none, and *n is not set. */
bool figure_grouped_take(struct str line, size_t i, struct number *n);
bool figure_is_decimal_comma(struct str line, size_t from, size_t at); /* the comma at `at`, behind the digits from `from` on */
void figure_commas_note(struct figure_context *x, struct str line, const struct number *n,
                        size_t count); /* the line's notation of commas and points */
/* The number's value, unit and place. False: commas in it are ambiguous. */
bool figure_value_set(const struct figure_context *x, struct str text, const struct number *n, const struct unit *unit, struct figure *ret);

/* ---- figure_columns.c ---- */

/* The line without the branches of a drawn tree before its first word, which the context notes. */
struct str figure_without_branches(struct figure_context *x, struct str line);
/* Rows below the header of the context. count: numbers in the line. True: the line is such a row,
 * with *ret_n results (perhaps none). */
bool figure_take_columns(struct figure_context *x, struct str line, size_t count, struct figure *to, size_t *ret_n);

/* ---- figure_counts.c ---- */

void figure_round_note(struct figure_context *x, struct str line); /* keeps the number of "Epoch 3/10", "-- Epoch 3" alone */
/* "loss=0.3" of "Epoch 3/10: loss=0.3", "10/10 loss=0.3" and "[20] loss=0.3". Empty: the line has no such count, or one that continues.
 * *ret_round: the one that the results are of. */
struct str figure_behind_count(const struct figure_context *x, struct str line, struct figure_round *ret_round);

/* "452 tokens processed per second" */
size_t figure_take_counted_rate(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
/* Bars of a loop that is over: "100%|###| 9/9 [00:01<00:00, 9.5it/s, loss=0.3]", "|###| 9/9 [100%] in 1.2s (7.5/s)". */
size_t figure_take_bar(const struct figure_context *x, struct str line, struct figure *to);

/* ---- figure_apart.c ---- */

/* Keeps the line as a heading if it is one, and drops headings that may have ended. `figures`: how
 * many it has; rows of a table count as one. */
void figure_heading_note(struct figure_context *x, struct str line, const struct number *n, size_t count, size_t figures);
/* A longer name of the result at n[k]: with words before the label in its line, with its argument, or with the words that end the line.
 * name: the label, cleaned. */
void figure_variant_set(struct str line, const struct number *n, size_t count, size_t k, struct str label, const char *name,
                        struct figure *ret);

/* ---- figure_forms.c and figure_times.c: each sets `to` and returns how many results it found ---- */

bool figure_is_range_end(struct str line, const struct number *n, size_t k); /* "68.4 to 127.2 kbit/s": is n[k] the second? */
size_t figure_take_parts(const struct figure_context *x, struct str line, struct figure *to); /* "rtt min/avg/max = 0.02/0.03/0.06 ms" */
size_t figure_take_statistics(const struct figure_context *x, struct str line, struct figure *to); /* "time [ms]: min 0.3 avg 2.8" */
/* "Latencies [min, mean, 99]  0.5 ms, 1.6 ms, 9.8 ms". */
size_t figure_take_listed(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
size_t figure_take_reduction(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
size_t figure_take_share(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
bool figure_is_share_of_setting(struct str name); /* "Memory", "Train split" */
bool figure_is_share(struct str amounts, struct str percent); /* "3/5" and "60" */
size_t figure_take_last_share(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
size_t figure_take_column_share(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
size_t figure_take_percentile(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
/* "mem.copy (mean 0.043us, confidence interval +- 1.3%)". */
size_t figure_take_bracketed(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
/* "0.0043 ms (+/- 0.0013 ms) from 200 iterations" below "parse:". */
size_t figure_take_erred(const struct figure_context *x, struct str line, const struct number *n, size_t count, bool indented,
                         struct figure *to);
bool figure_is_past_verb(struct str word); /* means that something is over: "created", "ran" */
/* Results of a line without a name. */
size_t figure_take_lone(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
/* "real 0.30", "0.51user 0.00system 0:00.55elapsed", "Trace Time: 0 minutes 1 seconds (1.009 seconds)". */
size_t figure_take_time(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
/* "created x in 0.06 secs", `Parsing took 87 ms`. */
size_t figure_take_done(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to);
#endif
