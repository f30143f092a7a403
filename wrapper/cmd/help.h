/* help.h: help, manual pages and completions, all made from the rows of the commands. */
#ifndef CMD_HELP_H
#define CMD_HELP_H
#include "base/buf.h"
#include "cmd/cmd.h"

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
