/* figure.h: results in a line of a program that no rules know: "Bandwidth: 12.5 MB/s", "executed in 2.3 seconds".
 *
 * The grammar prefers no result to a wrong one. A line yields a result only where a name, a number
 * and a unit (or a name that implies one) leave no
 * doubt. Conditions, errors behind ±, text in parentheses, dates, progress and rows of tables without a header yield none. */
#ifndef BENCHMARKS_FIGURE_H
#define BENCHMARKS_FIGURE_H
#include "base/str.h"
#include "base/units.h"

#include <stdint.h>

enum {
    FIGURE_TREE_MAX = 4,
    FIGURES_MAX = 12,
    FIGURE_LINE_MAX = 400,
    FIGURE_NAME_MAX = 120,
    FIGURE_HEADER_MAX = 400,
    FIGURE_HEADERS_MAX = 2,
    FIGURE_HEADING_MAX = 64,
    FIGURE_DOUBTS_MAX = 128
};

struct figure_round { /* of a loop: "3/10" */
    char number[24]; /* empty: none */
    bool more; /* it is not the last one of those that the loop has */
};

struct figure {
    char name[FIGURE_NAME_MAX]; /* words, as printed; not a key yet */
    char value[32]; /* a decimal number */
    const struct unit *unit; /* NULL: a count, a ratio or a score */
    struct str digits, printed; /* places of value and unit in the line; digits empty: computed ("1m2s"), printed empty: the name has it */
    bool lone; /* a time that is all of its line: where more follows, nothing shows that it is the result */
    bool bare; /* a statistic without a known unit: for a draft of rules, which a person reads */
    bool unsure; /* "1,234": a fraction or thousands, which nothing before has shown */
    bool is_computed; /* nothing but its digits shows that it is a result, which has no unit */
    bool is_early; /* the same, and no time or rate precedes it: where one of a part of the work follows, it may be a setting */
    bool has_few_digits; /* computed values have more */
    char variant
        [FIGURE_NAME_MAX]; /* a longer name: "AES rate" of "AES: 5 threads, rate: 5 MB/s", "fib 30" of "fib(30): 5 ms"; empty: none */
    char step[24]; /* the size, or the number of threads, that begins its row, or the round of a loop: a whole number; empty: none */
    bool is_score_of_round, more_rounds; /* a score; that of the last round is the result of the loop, unless more rounds follow */
    size_t section; /* length of the words in `name` from a line above or a tag in brackets; 0: none */
};
/* Headings above results: "=== AES ===" of a test, "copy:" of a part of it. */
enum heading_level { HEADING_PART, HEADING_TEST, HEADING_LEVELS };
/* What the lines before mean for the next: all zero at the beginning. */
struct figure_context {
    char section[64]; /* "Latency (ms):" above indented lines; empty: none */
    size_t section_indent;
    unsigned section_age; /* lines since */
    const struct unit *section_unit;
    bool section_heads; /* it is a heading with the unit of all values below: "Compute (GFLOPS)" */
    char title[100]; /* the last line of words alone: above percentiles and statistics */
    unsigned title_age; /* lines since */
    char heading[HEADING_LEVELS][FIGURE_HEADING_MAX]; /* the last one of each level; empty: none */
    unsigned heading_age[HEADING_LEVELS]; /* lines since */
    size_t indent, heading_indent; /* of this line, and of the last heading of a test */
    bool heads_deeper; /* that one has no mark: it counts for lines that are indented further */
    bool after_text; /* the line before is not empty */
    bool has_result; /* a time or a rate has been found */
    bool has_part; /* the same, and it is not the time of all of the work, which is printed last */
    char header[FIGURE_HEADER_MAX]; /* the last line that could name the columns of the rows below; empty: none */
    char below[FIGURE_HEADERS_MAX][FIGURE_HEADER_MAX]; /* the lines below it that continue its titles, or have units */
    unsigned belows;
    char row[64]; /* the name of a row whose values continue in the next lines, as the header does; empty: none */
    unsigned row_line;
    char branch[FIGURE_TREE_MAX][32]; /* the last row at each depth of a drawn tree ("|- copy" above "|  |- 1024") */
    size_t depth; /* of this line in it; 0: it is no row of a tree */
    struct figure_round round; /* the last "Epoch 3/10" that is all of its line */
    unsigned header_age; /* lines since */
    unsigned header_gap; /* those of them that were no rows */
    uint32_t doubt[FIGURE_DOUBTS_MAX]; /* hashes of names without a unit, of which a value may be a setting */
    size_t doubts;
    bool has_point, has_decimal_comma; /* numbers so far that show what begins a fraction */
    bool passed_over; /* the last line has a number with a unit, and no result */
    bool passed_size; /* the same, and the first such number is a size */
};
/* Finds the results of one line (without its end) and updates the context. Returns how many of `to`
 * are set; they refer to the line. */
size_t figure_find(struct figure_context *context, struct str line, struct figure to[FIGURES_MAX]);
/* Notes a name without a unit that came with a value that may be a setting. After FIGURE_DOUBTS_MAX names every name is doubted. */
void figure_doubt_note(struct figure_context *x, const char *name);
/* Returns whether the name was noted, so that no value of it is a result. */
bool figure_is_doubted(const struct figure_context *x, const char *name);
/* The heading of this level above the last line; empty: none. */
const char *figure_heading(const struct figure_context *context, enum heading_level level);
#endif
