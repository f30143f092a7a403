/* cmd.h: the contract of a command: `benchwrap VERB …`, one file each.
 *
 * Add one: write cmd/cmd_x.c ending in `const struct cmd cmd_x = {…};` and a row CMD(x, "Group", first) in cmds.def (row order = order in help).
 * Parsing, `benchwrap x --help`, the manual page, the shell completions and the listing of commands come from the struct.
 * See docs/howto-command.md. */
#ifndef CMD_CMD_H
#define CMD_CMD_H
#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"

#include <stdio.h>

struct cmd_context {
    const struct cmd *cmd;
    int argc; /* operands: what is left of the line without the options (raw: everything behind the verb) */
    char **argv; /* argv[argc] is NULL */
    char **env; /* the environment, NULL-terminated */
    struct opt_set opts; /* options given, checked against their kind (raw: defaults only) */
    FILE *out; /* the requested output; main.c checks it at the end (full disk) */
    FILE *notes; /* warnings: standard error */
    struct arena *arena; /* lives until the command has ended */
    struct err *err; /* set before returning -1 */
};

/* Text in struct cmd is plain: lines without indentation are paragraphs (wrapped), a blank line parts them.
 * Lines that begin with two blanks are kept as they are. */
struct cmd {
    const char *name; /* "ls" */
    const char *summary; /* one line, no full stop: "list the runs of a tree, newest first" */
    const char *usage; /* what follows the name: "[OPTIONS] RUN..." */
    const struct opt_row *rows; /* options of its own; may be NULL. every command has `--help`, without a row */
    size_t count;
    const char *description; /* paragraphs for help and manual */
    const char *examples; /* "$ benchwrap ls --last 5" lines, each followed by lines of plain explanation; manual and tests use them */
    bool raw; /* the command reads its line itself (rows are for help only) */
    bool hidden; /* not in the listing of commands */
    /* 0: done. 1: done, with a negative outcome that the output reports (damaged tree, run not found). -1: failed, context->err states why;
     * main.c prints it and the exit status is 125 for ERR_USAGE, else 1. */
    int (*run)(struct cmd_context *context);
};

extern const struct cmd *const cmds[];
/* The place of cmds[i] in the help: its group, and whether it is on the first screen. */
extern const struct cmd_place {
    const char *group;
    bool is_first;
} cmd_places[];
extern const size_t cmds_count;
/* Returns the command of this name; NULL: none. */
const struct cmd *cmd_find(const char *name);
/* The command that was probably meant by a word that is none; NULL: none is near. */
const struct cmd *cmd_near(const char *word);
/* Executes `benchwrap VERB …`: parses, runs, checks out. argv[0] is the verb. Returns the exit
 * status; prints errors to notes. */
int cmd_main(const struct cmd *cmd, int argc, char **argv, char **env, FILE *out, FILE *notes);
/* Prints "benchwrap: VERB: text" (verb may be NULL) and returns the exit status of the error: 125 for ERR_USAGE, else 1. */
int cmd_complain(FILE *notes, const char *verb, const struct err *err);

/* Rows that many commands share. */
#define CMD_ROW_JSON                                                                                                                       \
    {                                                                                                                                      \
        .name = OPTION_JSON, .kind = OPT_FLAG, .group = "Output", .help = "Print one JSON document instead of text"                        \
    }
#define CMD_ROW_REF                                                                                                                                          \
    {                                                                                                                                                        \
        .name = OPTION_REF, .kind = OPT_TEXT, .arg = "REF", .group = "Selection",                                                                            \
        .help =                                                                                                                                              \
            "Read the runs of a commit of a git repository instead: a branch, origin/main, a hash, or REF:PATH of its mlruns folder; nothing is checked out" \
    }
#define CMD_ROW_TREE_FOR(of, text)                                                                                                         \
    {                                                                                                                                      \
        .name = OPTION_TREE, .letter = 't', .kind = OPT_TEXT, .arg = "DIR", .env = "BENCHWRAP_TREE", .group = (of), .help = (text)         \
    }
#define CMD_ROW_TREE                                                                                                                       \
    CMD_ROW_TREE_FOR("Selection", "Use this mlruns folder (default: MLFLOW_TRACKING_URI if it is a path, the results repository's, else ./mlruns)")
#define CMD_ROW_EXPERIMENT(of, text)                                                                                                       \
    {                                                                                                                                      \
        .name = OPTION_EXPERIMENT, .letter = 'e', .kind = OPT_TEXT, .arg = "NAME", .group = (of), .help = (text)                           \
    }
#define CMD_ROW_RULES(text)                                                                                                                \
    {                                                                                                                                      \
        .name = OPTION_RULES, .letter = 'r', .kind = OPT_TEXT, .arg = "NAME|FILE", .group = "Input", .help = (text)                        \
    }
#define CMD_ROW_ARTIFACT_MAX(text)                                                                                                         \
    {                                                                                                                                      \
        .name = OPTION_ARTIFACT_MAX, .kind = OPT_SIZE, .arg = "SIZE", .group = "Record", .help = (text)                                    \
    }
#endif
