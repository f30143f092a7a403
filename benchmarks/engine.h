/* engine.h: what the parts of the engine share: the compiled rule file (constant) and one reading of one output.
 *
 * Every reader yields rows: named cells of text. Tables name them by column, regular expressions by group, `key: value` by key, JSON by
 * pointer. What becomes of a row (params, metrics, context, blocks) is the same for all and lives in rows.c.
 * A *block* is one test of several in the same output (IOR's tests, fio's jobs); samples of different blocks never mix. */
#ifndef BENCHMARKS_ENGINE_H
#define BENCHMARKS_ENGINE_H
#include "base/units.h"
#include "base/yaml.h"
#include "benchmarks/expr.h"
#include "benchmarks/number.h"
#include "benchmarks/pattern.h"
#include "benchmarks/prefilter.h"
#include "benchmarks/rules.h"
#include "benchmarks/wrapped.h"

enum {
    CELLS_MAX = 128, /* named cells of one reader */
    READERS_MAX = 120, /* together with the checks they must fit the prefilter's bits */
    READER_METRICS_MAX = 256,
    READER_PARAMS_MAX = 128,
    CHECKS_MAX = 100,
    OPTIONS_MAX = 500, /* of the program that the rules know */
    VARS_MAX = 16, /* context variables */
    SOURCES_MAX = 12, /* stdout, stderr and files */
    PARTS_MAX = 8, /* of a name with {cells} in it */
    BLOCKS_MAX = 1000, /* tests in one output; more are counted and not read */
    NAME_MAX_BYTES = 200,
    HEADLINES_MAX = 8,
    VERSIONS_MAX = 32,
    COMPUTED_MAX = 16,
    SLICES_MAX = 16,
    OPERANDS_MAX = 8,
    WHERE_MAX = 160, /* texts of one condition */
    GUESSES_MAX = 64, /* metrics that rules which guess may make of one output */
    PARAM_VALUES_MAX = 8000, /* values of params in one reading; more are counted and not recorded */
    VALUE_MAX = 4096, /* bytes of a param's text that are kept */
};

struct name_part {
    struct str text; /* literal, if cell and var are -1 */
    int cell, var;
};
struct name {
    struct name_part part[PARTS_MAX];
    size_t n;
};

/* Rows count only where every condition holds: the cell is one of (or, negated, none of) these texts. */
struct where {
    int cell;
    struct str *any;
    size_t n;
    bool negated;
    struct where *next;
};

enum many { MANY_ERROR, MANY_FIRST, MANY_LAST, MANY_SERIES, MANY_MIN, MANY_MAX, MANY_MEAN, MANY_SUM };
enum zero { ZERO_KEEP, ZERO_MISSING, ZERO_ABSENT };

struct metric_rule {
    struct name name;
    const struct unit *unit; /* of the record; NULL: a count or ratio */
    const struct unit *from; /* of the cell, if the rule sets it; NULL: the column's, the unit cell's, or `unit` */
    int cell, unit_cell, step_cell; /* -1: none */
    int unit_var; /* context variable that holds the unit's text; -1 */
    enum direction better;
    enum many many;
    enum zero zero;
    const char *headline; /* "max"; NULL: the last value alone is the metric (no statistics) */
    bool is_headline; /* the rule has the word; with "last" `headline` is NULL */
    const char *stat; /* the cell is already this statistic of something not printed */
    struct name values; /* the param with the number of values behind a percentile; n 0: the rule does not name it */
    int values_cell; /* the cell with that number; -1: none */
    unsigned number; /* NUMBER_… */
    double low, high; /* values outside are not believed; infinite: open */
    struct str none[8]; /* texts that mean missing, besides the usual words; numbers by value */
    size_t nones;
    bool of_run; /* of all of the output, whatever tests it has */
    double scale; /* value is multiplied by this first */
    struct where *where;
    struct expr *when; /* holds at the end, or the values are no values of this metric */
    unsigned index;
};

/* A metric that no line prints: an expression over what was read, evaluated at the end for each
 * block. */
struct computed {
    struct metric_rule rule;
    struct expr *value;
};

enum param_type { PARAM_TEXT, PARAM_SIZE, PARAM_INTEGER, PARAM_NUMBER, PARAM_BOOL, PARAM_DURATION };
struct param_rule {
    struct name name;
    enum param_type type;
    int cell;
    bool hidden; /* for conditions only */
    bool of_run; /* holds for all blocks */
    const struct where *where;
};

/* A part of an output: behind a line that matches `after` (NULL: the beginning), before one that matches `until` (NULL: the end). open_end:
 * the end of the output ends it too. */
enum which { WHICH_EACH, WHICH_FIRST, WHICH_LAST };
struct slice {
    struct str name;
    struct pattern *after, *until;
    enum which which;
    unsigned vars; /* context that its readers set, by bits */
    bool open_end;
    bool begins; /* a reader in it begins blocks and the last part counts: then they are forgotten with it */
};
/* Bits of the prefilter: readers, checks, then two for each slice. */
#define SLICE_BIT(i) (READERS_MAX + CHECKS_MAX + 2 * (unsigned)(i))

struct reader;
struct rules_run;
struct source;

struct reader_kind {
    const char *name; /* key in the rule file */
    size_t state_size; /* per reading and source, zeroed */
    size_t state_reset; /* of these, so many must be zeroed to begin again; 0: all */
    bool by_line; /* a row is one line */
    bool delimits; /* knows by itself where its data end: accepts a last line without end */
    /* Reads the kind's own map of the rule file. */
    int (*load)(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err);
    /* All cells that the rules name are known now: can they exist? */
    int (*check)(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err);
    /* One cleaned line without its end. */
    void (*line)(struct rules_run *run, struct source *source, const struct reader *r, void *state, struct str line);
    /* Requests the next line even if none of its literals is in it. NULL: never. */
    bool (*hungry)(const struct reader *r, const void *state);
    /* The source is over. May be NULL. */
    void (*end)(struct rules_run *run, struct source *source, const struct reader *r, void *state);
    void (*free)(struct reader *r);
};
extern const struct reader_kind *const reader_kinds[];

/* Does a row begin a block: each one; if the current block has values already (of several head lines the first begins it); if its id is not
 * that of the rows before it; never (it adds to the label). */
enum block_begin { BLOCK_ALWAYS, BLOCK_USED, BLOCK_CHANGED, BLOCK_NEVER };
struct reader {
    const struct reader_kind *kind;
    const struct yaml *at;
    const char *name;
    unsigned index;
    unsigned sources; /* bits: 0 stdout, 1 stderr, 2 + index in rules->file */
    struct str cell[CELLS_MAX];
    const struct yaml *cell_at[CELLS_MAX];
    size_t cells;
    struct where *where;
    struct metric_rule *metric;
    struct param_rule *param;
    size_t metrics, params;
    struct {
        int var, cell;
    } set[VARS_MAX];
    size_t sets;
    int slice; /* it reads only there; -1: everywhere */
    bool begins; /* a row begins a block, or has to do with where one begins */
    enum block_begin block_begin;
    int block_id, block_label; /* cells, -1 */
    struct pattern *version; /* only where the program's version matches */
    int version_cell; /* this cell is the program's version; -1 */
    bool last_document; /* only the rows of the last complete document count (kind json) */
    struct str literal[64]; /* a line that matters has one of them; 0: any line may */
    size_t literals;
    bool any_line; /* any line may matter, whatever the literals are */
    void *data; /* the kind's own, in the rules' arena */
};

enum check_kind { CHECK_MUST, CHECK_MUST_NOT, CHECK_EXPECT, CHECK_FILE };
struct check {
    const char *name;
    enum check_kind kind;
    struct pattern *pattern;
    struct expr *expect, *when;
    bool warn, once; /* once: over all of the output instead of each block */
    const char *reason;
    unsigned sources; /* as of a reader */
    int slice;
    size_t file; /* CHECK_FILE: index in rules->file */
    unsigned bit;
};

struct required {
    const char *metric;
    struct expr *when;
};
struct derived {
    const char *name;
    struct expr *value;
};

enum option_kind { OPTION_VALUE, OPTION_FLAG, OPTION_COUNT, OPTION_DIRECTIVES };
struct option_rule {
    struct str flag[4];
    size_t flags;
    enum option_kind kind;
    const char *param; /* NULL: known, so that its value is not read as another option, but not recorded */
    enum param_type type;
    bool hidden, optional; /* optional: its value must be attached (--x=1) */
    bool input; /* without a param, but runs that differ in it differ in an input */
    struct str value; /* what a flag means; default "true" */
    bool join; /* several: joined by commas; else the last wins */
    bool keep; /* the value names a file that is kept with the run */
    bool words; /* its values are all words up to the next option */
};
struct environment_rule {
    struct str name; /* "IOR_HINT__*": a prefix */
    const char *param;
};

struct rules {
    struct arena arena;
    const char *path, *name, *version, *summary, *block_name;
    struct str text;
    struct str program[16];
    size_t programs;
    struct reader *reader[READERS_MAX];
    struct check *check[CHECKS_MAX];
    struct required required[64];
    struct derived derived[32];
    struct slice slice[SLICES_MAX];
    struct computed computed[COMPUTED_MAX];
    struct reader computed_reader; /* the voice of these: after all readers */
    struct option_rule *option;
    struct environment_rule environment[16];
    struct str var[VARS_MAX];
    const char *file[SOURCES_MAX];
    bool file_logged[SOURCES_MAX]; /* the program hands it over itself, under this name */
    struct str headline[HEADLINES_MAX]; /* metrics to show first: "write.bw", "read.clat.p99" */
    struct str verified[VERSIONS_MAX], reproduced[VERSIONS_MAX]; /* versions whose real output is a sample, or only a reproduced one */
    const char *prefer[64]; /* params for which the argument wins over the output */
    const char *operand[OPERANDS_MAX]; /* params of the arguments that are no options, in their order */
    size_t operands;
    size_t readers, checks, requireds, deriveds, computeds, options, environments, vars, files, prefers, headlines, slices, verifieds,
        reproduceds;
    bool guess; /* for unknown programs: no verdict, few metrics, and what is doubtful is missing */
    bool single_dash_long, keep_prefix, block_runs; /* block_runs: each test becomes a child run */
    unsigned metric_count;
    void (*tell)(void *context, const struct err *complaint); /* loading continues behind a complaint; NULL: it ends there */
    void *tell_context;
    size_t complaints;
    struct recognise *recognise; /* NULL: an output is not known by its form */
    struct prefilter *prefilter;
    struct prefilter_mask always; /* readers and checks without literals */
};

/* One reading. */
struct sample {
    int64_t step;
    double value;
};
struct series {
    struct str name; /* "write.bw" */
    struct str values; /* "issued.write": the param of the rule's `values`; empty: none */
    const struct metric_rule *rule;
    const struct reader *reader;
    const struct source *source;
    unsigned block;
    struct sample *sample;
    size_t n, room;
    size_t missing; /* values that were none */
    char why[64]; /* the text there */
    char outside[96]; /* a value that cannot be: the whole series is not believed */
    uint64_t needs; /* values that its percentile needs; 0: not known yet */
    unsigned generation, report; /* of its slice, of its block */
    bool forgotten; /* it came from a part of the output that does not count */
    bool dropped; /* its rule's `when` does not hold, or it is forgotten */
    bool overflow, steps; /* steps: they come from the output, so the same twice is a contradiction */
    struct series *next, *chain, *same_next; /* same_next: of the same bucket of rules_run.same */
};
struct value_seen { /* a param's value */
    struct str key, text; /* key without unit suffix handling: final */
    const char *origin; /* "arguments", "environment", reader's name */
    int rank; /* lower wins within the output: the reader's number; -1 arguments, -2 environment */
    int block; /* -1: the run's */
    enum param_type type;
    bool hidden;
    unsigned generation;
    struct value_seen *next;
};
struct count { /* rows of a reader or matches of a check in a block */
    unsigned what, block, generation;
    size_t n;
    char line[160]; /* the first one */
    struct count *next;
};
struct staged_row {
    struct str *cell;
    struct source *source;
    int block;
    struct staged_row *next;
};
struct slice_state {
    bool open, begun, rows; /* rows: it had one since it began */
    bool endless; /* at the end: the line that ends it never came */
    bool torn; /* the same, of a program that was killed or failed */
    unsigned generation;
};
struct source {
    const char *name;
    int index;
    struct wrapped wrapped;
    char *line; /* a line not ended yet */
    size_t line_n, line_room;
    bool cut_line; /* the rest of this line is thrown away */
    bool fragment; /* the line began in a gap */
    uint64_t lost; /* bytes that were not kept */
    size_t long_lines;
    void *state[READERS_MAX];
    bool touched[READERS_MAX]; /* the reader got a line since its slice began */
    struct slice_state slice[SLICES_MAX];
    struct prefilter_mask hungry; /* readers that get the next line whatever is in it */
    char var[VARS_MAX][104]; /* context; empty: not set */
    char version[64]; /* of the program, as this source printed it last: values from here on are that one's */
    unsigned blocks, block; /* begun so far; the current one */
    bool fed, found; /* found: the file is there */
    bool unended; /* the last line has no end and was not read, though a reader might have had use for it */
};
struct block {
    struct str id, label;
    char version[64]; /* that printed its first value; empty: none was printed before it */
    bool used; /* has values */
    unsigned report; /* how often it began again with the same id: what it had is superseded */
    bool untitled; /* begun by a line that may precede the one that always begins a test (BLOCK_USED): that one continues it */
};
/* Rows that a reader would have accepted, or with other values, if their numbers had plain notation
 * (unread.c). */
enum { UNREAD_VALUES_MAX = 256 };
struct unread {
    bool recording, probing; /* recording: values of the line being read are noted; probing: rows are noted and not used */
    size_t n;
    struct unread_value {
        const struct reader *reader;
        double value;
    } value[UNREAD_VALUES_MAX];
    bool reader[READERS_MAX]; /* it has such a row: its metrics are missing */
    size_t lines; /* the first of each reader */
    char line[120]; /* the first of all */
};
struct coverage;
struct rules_run {
    const struct rules *rules;
    struct coverage *coverage; /* counts what is of use; NULL: not counted */
    uint64_t option_used[8]; /* bits by option: it is in the arguments */
    struct arena arena;
    struct source source[SOURCES_MAX];
    struct series *series, *series_last, *bucket[1024];
    struct {
        struct series *first, *last;
    } same[4096]; /* by name: of one metric all sources are in one bucket, in their order */
    struct value_seen *values, **values_tail;
    struct count *count_bucket[256];
    struct staged {
        struct staged_row *open, **tail, *whole;
        struct arena open_arena, whole_arena;
        size_t rows;
        bool open_cut, cut; /* the rows do not fit: those of `open`, those of `whole` */
        bool superseded; /* the last complete document is followed by a truncated one: what is held is an earlier report */
    } staged[READERS_MAX];
    struct unread unread;
    bool unterminated; /* the line being read has no end: its last part may be truncated */
    bool last_line; /* the line being read has no end, and no exit status 0 shows that it is complete */
    struct block *block; /* [BLOCKS_MAX + 1] */
    unsigned blocks, generation;
    char version[64]; /* the first that any source printed */
    int64_t slow_ns; /* spent on long lines */
    bool hopeless; /* the lines are too hard for the patterns: no more are read */
    bool files_known; /* a file that is not found is not there */
    bool arguments; /* argv was given */
    bool unexplained; /* the argument that was read last is in part unknown */
    const char *joined; /* the param whose values that argument joins; NULL: none */
    struct ignored_lines ignored; /* of rules that guess */
    size_t guesses, guesses_left_out;
    size_t lines; /* of all sources, so far */
    size_t samples, gave_up, torn[SOURCES_MAX], torn_results, torn_records, torn_rows, blocks_left_out, values_n, values_left_out;
    unsigned block_now; /* of the evaluation of expressions at the end */
    bool once_now; /* likewise: the check has `once`, so rows() and matches() count in all blocks */
};

/* rows.c */
/* Reads a row: its context, block, params and metrics. cells[i] belongs to reader->cell[i], p NULL: absent; units,
 * by cell, may be NULL. block -1: the source's current one. False: it is no row of this reader, such as one whose
 * metric is no number. */
bool row_take(struct rules_run *run, struct source *source, const struct reader *r, const struct str *cells,
              const struct unit *const *units, int block);
/* A cell that points to one of these is missing, and this is why. */
extern const char row_contradiction[], row_doubtful[];
/* Returns whether all conditions of the list hold. */
bool row_where(const struct where *w, const struct str *cells);
/* Stores the cells that the reader's `set` names for later rows; row_take does it by itself. A text that is too
 * long is not known. */
void row_set(struct source *source, const struct reader *r, const struct str *cells);
/* Begins the next test of the output, or continues the one with the same id. Clears the variables
 * of the context. */
void row_block(struct rules_run *run, struct source *source, struct str id, struct str label);
/* Returns the series of a metric in a block, under its final name. NULL: out of memory, or more than rules that
 * guess may make. */
struct series *series_of(struct rules_run *run, struct source *source, const struct reader *r, const struct metric_rule *m, struct str name,
                         unsigned block);
/* Appends a value, and notes one outside of the rule's range. */
void series_take(struct rules_run *run, struct series *s, int64_t step, double value);
/* Returns the bucket of rules_run.same for a name. */
size_t series_same_bucket(struct str name);
/* Counts a match in the block, and stores the first 150 bytes of the first line. */
void row_count(struct rules_run *run, unsigned what, unsigned block, unsigned generation, struct str line);
/* Returns how many rows or matches were counted in the block. *ret_line, if not NULL, becomes the first line of
 * them, if there is one. */
size_t row_counted(const struct rules_run *run, unsigned what, unsigned block, const char **ret_line);
/* Adds a value of a param, in its canonical form, or as text where the type does not fit. A later
 * value of the same rank and block replaces the one before. */
void value_see(struct rules_run *run, struct str key, struct str text, enum param_type type, const char *origin, int rank, int block,
               bool hidden, unsigned generation);

/* Computes the cell's number in the rule's unit. Returns NUMBER_GOOD with *ret; NUMBER_MISSING: no
 * value, or not finite; NUMBER_NOT: no number, or its unit cannot be converted. */
enum number_kind row_metric_value(const struct source *source, const struct metric_rule *m, const struct str *cells,
                                  const struct unit *column_unit, double *ret);

/* unread.c */
/* Returns whether the line has a number in another notation ("3 632,29"). Then the values of its rows are noted
 * from here on. */
bool unread_begin(struct rules_run *run, struct str line);
/* Reads the line again with plain numbers: what is read then and was not read before, or otherwise, is missing. mask: the readers that had the line. */
void unread_end(struct rules_run *run, struct source *source, const struct prefilter_mask *mask, struct str line);
/* Notes the values that a row has for the reader's metrics, while a line is recorded or probed;
 * NaN: not a number. */
void unread_note(struct rules_run *run, const struct source *source, const struct reader *r, const struct str *cells,
                 const struct unit *const *units);
/* Notes that a row of the reader cannot be read: text is its line or its cell. */
void unread_mark(struct rules_run *run, const struct reader *r, struct str text);

/* args.c */
/* Adds the params of the program's arguments, with rank -1. argv: NULL at the end. */
void args_take(struct rules_run *run, char *const *argv);
/* Adds the params of the environment variables that the rules name, with rank -2. */
void environment_take(struct rules_run *run, char *const *env);
/* Returns the series of the same metric that is believed instead of s: of an earlier reader that has
 * values. NULL: s counts. */
const struct series *series_outdone(const struct rules_run *run, const struct series *s);
/* finish.c */
/* Ends a reading as rules_end does, which calls it once all is read. */
int finish_reading(struct rules_run *run, int exit_code, int signal, int64_t base_ms, struct record *record, struct rules_outcome *ret,
                   struct err *err);

/* feed.c */
/* Returns whether the rules know the word, so that "word: " before each line is no host. rules: struct rules. */
bool rules_own_word(const void *rules, struct str word);

/* recognise.c */
/* Frees the patterns; NULL is allowed. */
void free_recognise(struct recognise *r);
#endif
