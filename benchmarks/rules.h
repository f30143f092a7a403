/* rules.h: the engine: rule file + raw output -> facts and verdict. A rule file is data; adding a benchmark needs no C.
 *
 * The engine is fed bytes of named sources in order ("stdout", "stderr", or a file's name in the rules) and holds constant
 * memory: no line is kept beyond RULES_LINE_MAX bytes (longer ones are cut and counted). */
#ifndef BENCHMARKS_RULES_H
#define BENCHMARKS_RULES_H
#include "mlruns-format/record.h"

enum { RULES_LINE_MAX = 1 << 20 };
struct rules; /* a compiled rule file */

/* Loads and checks a rule file (a path, or "shipped:<name>", see catalogue.h). 0 with *ret, which the
 * caller frees with rules_free; -1: ERR_INPUT with file, line and column, else it cannot be read or out
 * of memory. */
int rules_load(struct rules **ret, const char *path, struct err *err);
/* Does what rules_load does, but continues behind what is wrong in an item of a list; `tell` receives
 * each complaint about the file. Fails if there was any. */
int rules_load_all(struct rules **ret, const char *path, void (*tell)(void *context, const struct err *complaint), void *context,
                   struct err *err);
/* Does what rules_load does, from a text, which is copied; name: for messages. */
int rules_load_text(struct rules **ret, const char *name, struct str text, struct err *err);
void rules_free(struct rules *rules);
const char *rules_name(const struct rules *rules); /* "ior" */
const char *rules_version(const struct rules *rules); /* version of the rule file */
const char *rules_summary(const struct rules *rules);
bool rules_without_verdict(const struct rules *rules); /* they read what they do not know (guess: true): no verdict */
struct str rules_text(const struct rules *rules); /* the file's own bytes, for the artifact rules.yaml */

/* What an output of unknown origin shows by itself (head key `recognise`). */
struct rules_seen {
    bool known; /* it is this program's */
    size_t banners; /* lines that occur once in each of its outputs */
    size_t line[2]; /* numbers of the first two, from 1 */
    int64_t started_ms, finished_ms; /* 0: unknown. A time without zone is read in the local one */
    const char *host, *command; /* as printed; NULL: unknown. In the arena */
};
bool rules_recognise(const struct rules *rules); /* can they at all? */
bool rules_over(const struct rules *rules, const char *name); /* the output of `name` is within this program's (io500 prints IOR's) */
bool rules_single(const struct rules *rules); /* a second banner is a second output, and these rules cannot separate it */
void rules_see(const struct rules *rules, struct str text, struct arena *a, struct rules_seen *ret);
struct rules_output_begin {
    size_t offset, banner; /* which of the banners: one output can print its name in two ways */
};
/* Where this program's outputs begin in the text: at each banner, or, where the rules name the
 * lines before it (recognise: begin), at the first of these; inside a JSON document at its brace.
 * *ret: in the arena, those of each banner in their order. Returns how many, 0: none, too many, or
 * out of memory. */
size_t rules_begins(const struct rules *rules, struct str text, struct arena *a, struct rules_output_begin **ret);
/* Reads the complete text as a time, by a strptime(3) format (%s, %z, a Z or GMT at the end name
 * the zone, else the local one is meant). false: it is none, or one that cannot be (before 1990, in
 * the future). */
bool rules_time(struct str text, struct str format, int64_t *ret_ms);

struct rules_run; /* one reading of one output */
/* Begins a reading. argv: the program as executed, without the launchers before it; env: its environment;
 * both may be NULL. The rules must outlive the reading. 0 with *ret, which rules_end or rules_drop frees;
 * -1 with err: out of memory. */
int rules_begin(struct rules_run **ret, const struct rules *rules, char *const *argv, char *const *env, struct err *err);
/* Sets explained[i] where the rules know argv[i] (argv[0] is the program): an option of theirs, its value, or an operand that is a param. explained: as many as
 * argv has words, all false. joined, likewise, all NULL: the param to which the option at argv[i] adds a value (join: true). */
void rules_explain(const struct rules *rules, char *const *argv, bool *explained, const char **joined);
/* Returns the param that records the program's option of that name, with its dashes or without; of
 * the rules. NULL: no option has the name, or it is not recorded. */
const char *rules_param_of(const struct rules *rules, struct str name);
/* Returns whether the rules have a table of the program's options. */
bool rules_has_options(const struct rules *rules);
/* Adds a param from the program's arguments, where the arguments themselves are not known; before
 * anything is fed. */
void rules_argument(struct rules_run *run, const char *param, const char *value);
/* Adds a param of the output that an option also sets, as an argument: then it has one value for all
 * programs in the output. A param that no option sets is ignored. */
void rules_argument_printed(struct rules_run *run, const char *param, const char *value);
/* Reads bytes of the source "stdout", "stderr" or a file, of any length. Counts 16 zeros or more in
 * a row as lost. */
void rules_feed(struct rules_run *run, const char *source, const void *p, size_t n);
void rules_cut(struct rules_run *run, const char *source,
               uint64_t bytes); /* the middle is not kept: series of this source become missing */
/* Returns the pattern of the i-th file that the rules read besides the streams; NULL at the end. The caller
 * finds, opens and feeds it, with the pattern as its source. */
const char *rules_file(const struct rules *rules, size_t i);
/* Returns whether the program hands the i-th file over itself, by `benchwrap log --artifact`. Its pattern is
 * the file's name then. */
bool rules_file_is_logged(const struct rules *rules, size_t i);
/* Returns the place of the i-th file, relative to the program's working directory: the pattern itself, or,
 * if it is "{param}", what the program's arguments set (summaryFile=…). NULL: the arguments name
 * none, the program logs it, or there is no i-th. In the arena. */
const char *rules_file_path(const struct rules *rules, size_t i, char *const *argv, struct arena *a);
/* Returns the name or pattern (fnmatch) under which a record stores the i-th file below files/; NULL as
 * rules_file_path, but not for a file that the program logs. In the arena. */
const char *rules_file_kept(const struct rules *rules, size_t i, char *const *argv, struct arena *a);

/* Returns the next file that the program reads by its arguments and that is stored with the run (an option's
 * `keep`), as the arguments name it, in the arena; NULL: no more. *i: 0 at first. */
const char *rules_input(const struct rules *rules, size_t *i, char *const *argv, struct arena *a);

/* Returns true if the i-th file is read. Else a check only tests whether it exists, and it need not
 * be stored. */
bool rules_file_is_read(const struct rules *rules, size_t i);
/* Returns whether one reader or check reads both the i-th and the k-th file. */
bool rules_files_share(const struct rules *rules, size_t i, size_t k);
/* Notes that the file is there, and that the program wrote it: for checks that test it. */
void rules_found(struct rules_run *run, const char *source);
/* Notes that the caller has searched all files: what is not there is missing. Without it a check for a file
 * has no result. */
void rules_files_known(struct rules_run *run);

enum verdict { VERDICT_NONE, VERDICT_PASS, VERDICT_FAIL };
/* One test of an output that holds several, where the rules' head has `blocks: {name: t, runs:
 * true}`: it becomes a child run. Its params, metrics and missing values are those facts of the
 * record whose source begins with "rule:" and whose keys begin with "<name>.". */
struct rules_block {
    const char *name; /* prefix of its keys without the dot: "t0", "seqwrite" */
    enum verdict verdict; /* the result of the checks of this block alone; exit status and signal count for each block */
    const char *reason;
    bool complete;
};
enum { IGNORED_LINES_SHOWN = 5 };
/* Lines in the form of results, of which rules that guess read nothing: how many, the first ones,
 * and the first with a size ("": none). not_text: lines with control characters or bytes that are
 * not UTF-8. */
struct ignored_lines {
    size_t lines, not_text;
    char line[IGNORED_LINES_SHOWN][100], size[100];
};
struct rules_outcome {
    enum verdict verdict;
    const char *reason; /* in words; in the record's arena */
    bool complete; /* required metrics present and sanity rules hold */
    size_t lines; /* of all sources, that were read */
    size_t metrics; /* names that have a value in the record */
    /* Rules that guess found no metric in these lines: why, in words without a full stop (the record has it as a warning, "no metrics: …").
     * In the record's arena. NULL: there are metrics, there was no output, or the rules do not guess. */
    const char *no_metrics;
    struct ignored_lines ignored;
    const struct rules_block *block; /* in the record's arena */
    size_t blocks; /* 0: one test only, or the rules request no child runs */
};
/* Writes the tag `benchwrap.headline` of a record that no rules read: the first metrics that the
 * program logged, if any. */
void rules_headline_logged(struct record *record);
/* Ends a reading without a result. */
void rules_drop(struct rules_run *run);
/* Ends the reading: params, metrics (with their statistics), missing, warnings go into the record; verdict and reason are returned.
 * exit_code: -1 unknown; signal: 0 none. base_ms: time stamp for the metrics (steps of a series get +1 ms each). */
int rules_end(struct rules_run *run, int exit_code, int signal, int64_t base_ms, struct record *record, struct rules_outcome *ret,
              struct err *err);
#endif
