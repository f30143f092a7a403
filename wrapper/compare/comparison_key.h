/* comparison_key.h: decide which results can be compared: what was measured, on which system, by which version.
 *
 * The measured part has the benchmark, the inputs (params from arguments, options and output, and the arguments that no rule
 * explains) and the shape of the step. The system has site, cluster, partition and node type. History needs both parts equal,
 * comparisons of systems the first one. The version of the benchmark is separate: leaderboards need it equal, too. So is the name of
 * the program, which history needs equal: one benchmark can have several programs, such as gups_vanilla and gups_opt. */
#ifndef COMPARE_COMPARISON_KEY_H
#define COMPARE_COMPARISON_KEY_H
#include "compare/arguments.h"

enum comparison_part { COMPARISON_MEASURED, COMPARISON_SYSTEM, COMPARISON_VERSION, COMPARISON_PROGRAM, COMPARISON_PARTS };
enum { COMPARISON_ID = 11 }; /* ten digits and the NUL */

struct comparison_fact {
    enum comparison_part part;
    const char *name; /* "benchmark", "api", "argument.x", "step.nodes", "site" */
    struct str value;
};
struct comparison_key {
    const struct comparison_fact *facts; /* by part, the benchmark first, then by name */
    size_t count;
    bool arguments_known; /* else the command line is not recorded, and the measured part is that of params alone */
    const char *hidden; /* "--password, --host": arguments that are hidden in part and may differ although the keys are equal; NULL: none */
    char id[COMPARISON_PARTS][COMPARISON_ID]; /* equal for equal parts */
};

/* What the keys of several runs share. */
struct comparison_reader {
    struct compare_arguments arguments;
    const struct opt_value *ignore; /* patterns of facts that the user leaves out of the key; NULL: none */
};
/* rules: explain the arguments of every run; NULL: each run's own rules. Borrowed until comparison_close. */
void comparison_open(struct comparison_reader *ret, const struct runs *runs, const struct rules *rules, const struct opt_value *ignore);
void comparison_close(struct comparison_reader *reader);
/* The key of a run whose params (with those that it inherits) and tags are read. detail: its benchwrap.json, or NULL. In the arena,
 * as long as the run's entries. -1: out of memory. */
int comparison_key_of(struct comparison_reader *reader, const struct tree_run *run, const struct json *detail, struct arena *a,
                      struct comparison_key *ret, struct err *err);

bool comparison_key_same(const struct comparison_key *x, const struct comparison_key *y, enum comparison_part part);
/* Returns whether what was measured, the system and the program's name are the same. Then the runs
 * have one history. */
bool comparison_key_shared(const struct comparison_key *x, const struct comparison_key *y);
/* Names of the facts of one part in which n keys differ, sorted, NULL-terminated, in the arena. NULL: out of memory. */
const char **comparison_key_difference(const struct comparison_key *keys, size_t n, enum comparison_part part, struct arena *a);
/* Returns the names of all facts but the system's that separate two runs: without them the runs
 * have one history, if they are of one system. NULL-terminated, in the arena; ARGUMENT_ORDER only
 * where it still differs without the other arguments. NULL: out of memory. */
const char **comparison_key_separating(const struct comparison_key pair[2], struct arena *a);
/* Returns the patterns of the facts that the user leaves out, without duplicates, separated by ", ", in the arena; NULL: none, or out of
 * memory. */
const char *comparison_left_out(const struct opt_value *ignore, struct arena *a);
/* Returns "--ignore bs --ignore argument.x" for these names, as a shell reads it, in the arena; one
 * `--ignore 'argument.*'` for more than four arguments. NULL: out of memory. */
const char *comparison_ignore_options(const char *const *names, struct arena *a);
/* Returns the value of a fact; p NULL: the key has none of that name. */
struct str comparison_key_value(const struct comparison_key *key, const char *name);
/* Returns the program's name where it is another one than the benchmark's. p NULL: it is not, or is not known. */
struct str comparison_key_program(const struct comparison_key *key);
/* Appends "benchmark ior, a POSIX, step.nodes 2": at most `most` facts of a part, then "and N more"; not the order of the
 * arguments, which the facts themselves suggest. Nothing for an empty part. A program of another name than the benchmark follows it:
 * "benchmark vasp by the program vasp_gam". */
void comparison_key_show(const struct comparison_key *key, enum comparison_part part, size_t most, struct buf *to);
/* Returns "--password": what is hidden in any of n keys, without repetition, in the arena; NULL:
 * nothing, or out of memory. */
const char *comparison_key_hidden(const struct comparison_key *keys, size_t n, struct arena *a);
/* Writes the member "key": {"measured": {"id": …, "facts": {…}}, "system": {…}, "version": …, "program": …,
 * "arguments_known": …, "hidden": …}. */
void comparison_key_json(const struct comparison_key *key, struct json_out *j);
/* "measured", "system", "version", "program" */
const char *comparison_part_name(enum comparison_part part);
#endif
