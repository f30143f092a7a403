/* opt.h: option rows. From one row come parsing, --help, the manual, completion, the environment's and the configuration file's name.
 *
 * libc only: the launcher uses it. A value is kept as text with its origin; the owner of a row converts it (and
 * complains with the origin). GNU style: --long VALUE, --long=VALUE, -xVALUE, -x VALUE, bundled short flags, unambiguous
 * prefixes of long names are NOT accepted (scripts must survive new options); `--` ends. */
#ifndef BASE_OPT_H
#define BASE_OPT_H
#include "base/buf.h"
#include "base/err.h"
#include "base/option_names.h"

enum opt_kind { OPT_FLAG, OPT_TEXT, OPT_LIST, OPT_PAIR, OPT_DURATION, OPT_SIZE, OPT_INT, OPT_CHOICE, OPT_SITE };

struct opt_row {
    const char *name; /* long name, "timeout" */
    char letter; /* 0: none */
    enum opt_kind kind;
    const char *arg; /* "DURATION"; NULL for flags. OPT_CHOICE: "auto|pty|pipe|none" */
    const char *env; /* environment variable, or NULL */
    const char *value; /* default as text, or NULL */
    const char *group; /* heading in help */
    const char *help; /* one line */
    unsigned flags; /* OPT_FROM_FILE … */
};
enum { OPT_FROM_FILE = 1 /* allowed in configuration files */, OPT_TRUSTED = 2 /* not from a repository's tracked file */ };

enum opt_origin { OPT_DEFAULT, OPT_SYSTEM, OPT_USER, OPT_REPOSITORY, OPT_ENVIRONMENT, OPT_COMMAND_LINE };

/* One value; for OPT_LIST and OPT_PAIR (KEY=VALUE, the key not empty) the values are chained in the order given (of the strongest origin only). */
struct opt_value {
    const char *text; /* NULL: not set. "" possible */
    enum opt_origin origin;
    const char *where; /* "/etc/benchwrap.yaml:3", "MLFLOW_EXPERIMENT_NAME", "--experiment"; never NULL when text is set */
    struct opt_value *next;
};

/* A word of other programs that users type, and the answer. The list ends with typed == NULL. */
struct opt_word {
    const char *place; /* where it is typed: see opt_set.place; OPT_ALIAS: accepted everywhere, the answer is the option's name */
    const char *typed; /* without dashes: "runs" */
    const char *answer; /* a sentence without full stop: "did you mean --repeat?" */
};
#define OPT_ALIAS "="

struct opt_set {
    const struct opt_row *rows;
    size_t count;
    struct opt_value *values; /* [count], caller's storage */
    const struct opt_word *words; /* words of other programs; may be NULL */
    const char *place; /* which of these words apply; may be NULL */
    bool permute; /* operands are allowed among options: argv is reordered, operands last */
    bool dashes; /* set by opt_parse: `--` ended the options */
    struct opt_kept *kept; /* private: what opt_deinit frees */
};

/* Sets every value to its default, or to its environment variable (an empty one counts as unset).
 * env: getenv, or a function of the same kind. The texts are not copied. */
void opt_defaults(struct opt_set *set, char *(*env)(const char *name));
/* Frees the copies that opt_parse and opt_assign have made. The values must not be used afterwards. */
void opt_deinit(struct opt_set *set);
/* Parses argv[1…]. Stops at `--`, or (unless permute) at the first operand. *ret_next = index of the first operand
 * (behind `--`). ERR_USAGE with a sentence that names the option. List nodes live until opt_deinit. */
int opt_parse(struct opt_set *set, int argc, char **argv, int *ret_next, struct err *err);
/* Sets one value from a file. Copies the texts. Returns 0, also where a stronger origin has set
 * the value already; 1: no option has this name; -1 with ERR_INPUT: the option is not allowed in
 * such a file, or the text does not fit its kind. err is filled for 1 and -1. */
int opt_assign(struct opt_set *set, const char *name, const char *text, enum opt_origin origin, const char *where, struct err *err);
/* Returns the name of the row that a misspelt name probably means, or NULL. */
const char *opt_nearest(const struct opt_set *set, struct str name);
/* Returns whether the option may be repeated, so that its value is a chain. */
bool opt_repeats(const struct opt_row *row);
/* Checks the texts of the complete chain against the row's kind: numbers, durations, sizes,
 * choices, pairs. ERR_USAGE with a sentence that names value->where. opt_parse does this for the
 * command line, opt_assign for files. The caller checks values of the environment. */
int opt_check(const struct opt_row *row, const struct opt_value *value, struct err *err);
/* Returns the option's value, the first of a chain. Never NULL: an empty value for an unknown name. */
const struct opt_value *opt_find(const struct opt_set *set, const char *name);
/* Return the option's value as text (NULL: not set), or converted. The text was checked before
 * (opt_check). */
const char *opt_text(const struct opt_set *set, const char *name);
bool opt_on(const struct opt_set *set, const char *name);
double opt_seconds(const struct opt_set *set, const char *name);
uint64_t opt_bytes(const struct opt_set *set, const char *name);
int64_t opt_integer(const struct opt_set *set, const char *name);
const char *opt_origin_name(enum opt_origin origin);
/* Appends the OPTIONS part of --help, groups and wrapping included. */
void opt_help(const struct opt_set *set, struct buf *to);
/* Appends a line of at most 80 columns for each option of `names` (NULL ends them): the group where
 * it changes, the option, and its help up to the first "; " or " (". Names without a row are left
 * out. */
void opt_help_brief(const struct opt_set *set, const char *const *names, struct buf *to);
/* Replaces the names of rows in an error's text, "--rate", by those that were typed for them, "--request-rate". */
void opt_name_as_typed(const struct opt_set *set, struct err *err);
/* Returns the answer to a word typed at a place; NULL: none. */
const char *opt_word_answer(const struct opt_word *words, const char *place, struct str typed);
#endif
