/* figure_compose.h: a result from a number of a line of words: what names it, and whether it is one. */
#ifndef BENCHMARKS_FIGURE_COMPOSE_H
#define BENCHMARKS_FIGURE_COMPOSE_H
#include "benchmarks/figure_parts.h"

struct figure_candidate {
    const struct number *number;
    struct str label;
    bool strong; /* "name:" or "name=" */
    bool column; /* two blanks or a tab part it from its name */
    bool own; /* the label is directly before it */
    bool timed; /* the line begins with "times:" */
    bool sole; /* the line has no other number but in parentheses behind it */
};

/* ---- figure_meaning.c ---- */

/* Returns whether the candidate is a result under this name, with *ret_unit; NULL: it has none. */
bool figure_is_result(const struct figure_context *x, struct str line, const struct figure_candidate *c, const char *name, bool indented,
                      const struct unit **ret_unit);
bool figure_is_saving(struct str line, const struct number *n); /* the word behind shows that a compressor has saved so much */
bool figure_is_ordinal(struct str s); /* "95th percentile" */

/* ---- figure_names.c: the functions with a buffer return the length of the name, 0: there is none ---- */

/* The words behind the number, up to the next comma or the end: "real" of "10541 c/s real, 18223 c/s virtual". */
size_t figure_trailing_name(struct str line, const struct number *n, char *to, size_t size);
/* Where the label of the number begins, if only whole numbers are in it; else the number's place. */
size_t figure_whole_label(struct str line, size_t number);
struct str figure_head(struct str line, size_t first); /* the words before the first colon, which is before `first` */
/* Sets `head` to the words before the first colon of the line, where they are not the label itself.
 * False: they are too long for a name. */
bool figure_head_words(struct str line, const struct number *numbers, size_t count, size_t k, const struct figure_candidate *c,
                       const char *label, char head[64]);
/* Appends the words of "Total time (CPU seconds)" before the unit to the name, and those of a variant: "set (rand)". */
size_t figure_add_bracket_words(struct str clause, char *name, size_t length, size_t size);
struct str figure_behind_dash(struct str text); /* "compression ratio" of "a.txt - compression ratio" */
struct str figure_without_error_name(struct str label); /* "Mean" of "Mean +- std dev" */
bool figure_is_list_of_words(struct str s); /* "write, fsync, close" */
struct str figure_whole_columns_name(struct str text, struct str clause); /* all of "Total   time" */
/* The name of a number without words of its own: those of the first number, or what it is. */
size_t figure_borrowed_name(struct str line, const struct number *numbers, size_t k, struct str between, bool twins, bool tailed, char *to,
                            size_t size);
size_t figure_arrow_before(struct str text); /* length of the arrow that ends the text and stands for a colon; 0: there is none */

/* ---- figure_computed.c ---- */

bool figure_is_computed_value(struct str value); /* a fraction with so many digits that no user has set it */
bool figure_is_computed_name(struct str name); /* neither a condition nor a parameter of a model, and it has no unit */
/* The same of a number with its name: "2.5 +/- 0.1" has an error, "average: 2267891" is no setting. */
bool figure_has_computed_digits(struct str line, const struct number *n, struct str name);
/* Returns whether the candidate, which has no unit, is a computed value under this name if its digits show that. */
bool figure_is_computed(const struct figure_context *x, const struct figure_candidate *c, struct str name, bool indented);
/* "E RMP2" of "E(RMP2)": the argument is a part of a name of one or two letters. Returns the length of all of it. */
size_t figure_add_argument(struct str clause, char *name, size_t length, size_t size);
bool figure_is_late_name(const struct figure_context *x, struct str name); /* of what is known after the work: a statistic, in a summary */
bool figure_is_bare_computed(struct str line, const struct number *n, size_t count); /* "Average (mean) 557.609": all of the line */
/* "rms of residuals" of "rms of residuals = sqrt(WSSR/ndf) :". Empty: the text has no formula. */
struct str figure_without_formula(struct str text);

/* ---- figure_compose.c ---- */

/* Composes the result of number k: its name, unit and value. Returns false where the number is no result. */
bool figure_compose(const struct figure_context *x, struct str line, const struct number *numbers, size_t count, size_t k, bool indented,
                    struct figure *ret);
/* "[READ], AverageLatency(us), 38.5": a tag, a name and a value. Returns how many results it has. */
size_t figure_take_tagged(const struct figure_context *x, struct str line, struct figure *to);

/* ---- figure_pairs.c ---- */

/* Is the line a name and a number alone, which can be a result? */
bool figure_is_bare_score(struct str line, const struct number *n, size_t count); /* "validation accuracy 0.93" */
bool figure_is_bare_time(struct str line, const struct number *n, size_t count); /* "# duration_ms 1135.39" */
bool figure_is_named_time(struct str line, const struct number *n, size_t count); /* "matmul 12.34 ms", "total CPU time 0.05" */
/* "info nodes 30000 nps 116731 time 257": words and numbers in turn, of which rates and scores are results. Returns how many it has. */
size_t figure_take_pairs(const struct figure_context *x, struct str line, size_t count, struct figure *to);
size_t figure_take_clauses(const struct figure_context *x, struct str line, struct figure *to); /* "train loss 1.9643, val loss 2.0599" */
size_t figure_take_boxed(const struct figure_context *x, struct str line, struct figure *to); /* "| fps | 1234 |" alone in its box */
#endif
