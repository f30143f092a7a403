/* help.h: help, manual pages and completions, all made from the rows of the commands. */
#ifndef CMD_HELP_H
#define CMD_HELP_H
#include "base/buf.h"
#include "cmd/cmd.h"

/* Shared by help and manual. */
#define HELP_TITLE "run a benchmark unchanged, record it as an MLflow run"
#define HELP_WHAT "benchwrap runs PROGRAM unchanged and records it as a run in an MLflow tree (./mlruns): its parameters and metrics, the machine, the " \
    "job, its output, and how it ended."
#define HELP_PROMISE "The program is not affected, except that a file on its standard output or error becomes a pipe. If recording fails, " \
    "benchwrap prints a warning and the program continues. benchwrap exits with the program's exit status."
#define HELP_EXAMPLES "$ benchwrap -- true\n" \
    "Record a run of true in ./mlruns.\n" \
    "$ benchwrap -e io --param disk=nvme0 -- sh -c 'echo hello'\n" \
    "Record it in the experiment io, with a parameter of your own.\n" \
    "$ benchwrap --repeat 3 -- true\n" \
    "Run it three times: three child runs, and a parent run with the statistics.\n" \
    "$ benchwrap plan -- true\n" \
    "Show what would be recorded, and run nothing.\n"

void help_usage(struct buf *to);                            /* printed for `benchwrap` alone */
void help_program(struct buf *to);                          /* benchwrap --help: one screen */
void help_options(struct buf *to);                          /* benchwrap help options */
void help_commands(struct buf *to);                         /* benchwrap help commands */
void help_command(const struct cmd *cmd, struct buf *to);   /* benchwrap VERB --help */
void help_man_program(struct buf *to);                      /* benchwrap(1), man source */
void help_man_command(const struct cmd *cmd, struct buf *to);
/* One word as a shell would have to be given it, safe to print: plain, 'quoted', or $'…' where it holds control characters. */
void help_quote(struct buf *to, const char *word);
#endif
