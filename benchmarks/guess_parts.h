/* guess_parts.h: what the parts of guessing share: lines of the output, readers and metrics that are proposed, words of names and units. */
#ifndef BENCHMARKS_GUESS_PARTS_H
#define BENCHMARKS_GUESS_PARTS_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/units.h"
#include "benchmarks/guess.h"
#include "mlruns-format/record.h"

enum {
    GUESS_COLUMNS_MAX = 40,
    GUESS_READERS_MAX = 60,
    GUESS_METRICS_MAX = 60,
    GUESS_PARAMS_MAX = 60,
    GUESS_LINES_MAX = 20000,
    GUESS_LINE_MAX = 1000,
    GUESS_LONG_LINE_MAX = 8000
};

struct guess_line {
    struct str text;
    bool used; /* a finder has understood it */
    bool clean; /* valid UTF-8, no control characters, not endless */
    bool plain; /* and short: may have a result */
};
struct guess_metric {
    const char *name, *cell; /* name may have {cells} in it */
    const struct unit *unit; /* of the contract; NULL: none */
    const char *from, *unit_cell, *step; /* NULL: none */
    enum direction better;
    bool suffix; /* 1.54k */
    bool series; /* one output may have several values */
    bool drop; /* the rules did not read it as meant */
    double first; /* to see whether a second one differs */
};
struct guess_reader {
    const char *comment; /* what it was found in */
    const char *name;
    const char *spec; /* "regex: '…'" */
    const char *section; /* pattern of a line before it; NULL: anywhere */
    const char *until; /* pattern of the line that ends that part; NULL: none does */
    const char *version_cell;
    bool dead, muted; /* dead: refused by the loader; muted: not written now */
    struct guess_metric metric[GUESS_METRICS_MAX];
    struct guess_param {
        const char *name, *cell, *type;
    } param[GUESS_PARAMS_MAX];
    size_t metrics, params;
};
struct guess {
    struct arena arena;
    struct str text;
    struct guess_line *line;
    size_t lines;
    struct guess_reader *reader[GUESS_READERS_MAX];
    size_t readers;
};

/* guess.c */
struct guess_reader *guess_reader_add(struct guess *g, const char *kind, size_t line); /* NULL: no more */
/* The next metric of the reader with a name of its own, direction and unit; NULL: no more. label: its words; unit: as printed, may be NULL. */
struct guess_metric *guess_metric_add(struct guess *g, struct guess_reader *r, const char *prefix, struct str label, const char *cell,
                                      const struct unit *unit);
bool guess_name_taken(const struct guess *g, const char *name, const struct unit *unit);
/* Adds a param to the reader. Leaves it out where the reader is full, or the name exists already or
 * is "x" or "value". */
void guess_param_add(struct guess *g, struct guess_reader *r, struct str label, const char *cell, const char *type);
/* Valid UTF-8 of no more than max bytes without control characters, and no row of an HTML table:
 * the content of its tags is no result. */
bool guess_plain_line(struct str s, size_t max);

/* guess_write.c */
bool guess_reader_useful(const struct guess_reader *r); /* is there something of it to be written? */
/* Appends the rule file of what is useful. argv: the program and its arguments, may be NULL; cut: the output is longer than what was read. */
void guess_write(struct buf *b, struct guess *g, const char *name, char *const *argv, bool cut);
/* Readers behind more different lines than a rule file may have slices are not proposed. */
void guess_bury_parts(struct guess *g);

/* guess_words.c */
size_t guess_number(struct str s); /* length of the number that s begins with; 0: none */
bool guess_is_number(struct str s); /* all of s */
const struct unit *guess_unit(struct str text); /* as printed: "MB/s", "(us)", "[ms]", "seconds"; NULL: none */
const struct unit *guess_unit_in(struct str label); /* "Latency (ms)", "Best Rate MB/s", "avg_latency_ms"; NULL */
const struct unit *guess_contract(const struct unit *u); /* the nearest one that a key can have; NULL: there is none of its dimension */
/* A name segment of the label without its unit; never empty, begins with a letter. In the arena. */
const char *guess_segment(struct str label, struct arena *a);
bool guess_letters(struct str s); /* is there one? */
/* Returns the last word of the text, between characters of `marks`, and removes it from the
 * text. */
struct str guess_last_word(struct str *text, const char *marks);
/* Returns whether the label has a word of results: of rates, times, errors or statistics. */
bool guess_is_result(struct str label);
bool guess_is_param(struct str label);
bool guess_is_spread(struct str label); /* a deviation: no direction */
bool guess_is_class(struct str label); /* a column of a histogram: ranges, buckets */
bool guess_is_noise(struct str label); /* dates, ports, seeds: never a metric */
enum direction guess_direction(struct str label, const struct unit *u);
/* text as a pattern: special characters escaped, blanks as \s+, numbers of their own as [\d.]+ (unless keep_numbers). */
void guess_pattern(struct buf *to, struct str text, bool keep_numbers);
#define GUESS_LOOSE_NUMBER "[\\d.]+"
enum { GUESS_LOOSE_MAX = 6 };
struct loose_numbers { /* the first numbers that a pattern leaves open */
    struct str number[GUESS_LOOSE_MAX];
    size_t n;
};
/* The same, and the numbers of their own are added to *ret (NULL: not needed). */
void guess_pattern_numbers(struct buf *to, struct str text, bool keep_numbers, struct loose_numbers *ret);
/* Appends the text as a YAML scalar in single quotes. */
void guess_quoted(struct buf *to, struct str text);

/* Finders; each marks the lines that it has understood. */
void guess_json(struct guess *g);
void guess_csv(struct guess *g);
void guess_matrices(struct guess *g);
void guess_tables(struct guess *g);
void guess_terse(struct guess *g); /* lines of values without names: what the others have left */
void guess_named_numbers(struct guess *g);
void guess_version(struct guess *g, const char *name); /* name: the program's */
#endif
