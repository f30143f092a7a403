/* help.h: help, manual pages and completions, all made from the rows of the commands. */
#ifndef CMD_HELP_H
#define CMD_HELP_H
#include "base/buf.h"
#include "cmd/cmd.h"

/* Said by help and manual alike. */
#define HELP_WHAT "Runs PROGRAM unchanged and records it as a run in an MLflow tree (./mlruns): its parameters and figures of merit, the machine, " \
    "the job, its output, and what became of it."
#define HELP_PROMISE "The program cannot tell that it is recorded, except that a file on its standard output or error becomes a pipe. Nothing of " \
    "benchwrap's can make it fail: what goes wrong is a warning, and the program runs on. Its exit status is passed on."
#define HELP_EXAMPLES "$ benchwrap -- true\n" \
    "Records a run of true in ./mlruns.\n" \
    "$ benchwrap -e io --param disk=nvme0 -- sh -c 'echo hello'\n" \
    "Records it in the experiment io, with a parameter of one's own.\n" \
    "$ benchwrap --repeat 3 -- true\n" \
    "Runs it three times: three child runs, and one with the statistics.\n" \
    "$ benchwrap plan -- true\n" \
    "Says what would be done, and does nothing.\n"

void help_usage(struct buf *to);                            /* the few lines that `benchwrap` alone answers with */
void help_program(struct buf *to);                          /* benchwrap --help */
void help_command(const struct cmd *cmd, struct buf *to);   /* benchwrap VERB --help */
void help_man_program(struct buf *to);                      /* benchwrap(1), man source */
void help_man_command(const struct cmd *cmd, struct buf *to);
/* One word as a shell would have to be given it, safe to print: plain, 'quoted', or $'…' where it holds control characters. */
void help_quote(struct buf *to, const char *word);
/* Wraps paragraphs at width columns with an indent; lines that begin with two blanks stay. */
void help_wrap(struct buf *to, const char *text, size_t indent, size_t width);
#endif
