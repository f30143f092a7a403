/* options.h: taskrate's command line: rows, help, manual, and the settings made of them. */
#ifndef TASKRATE_OPTIONS_H
#define TASKRATE_OPTIONS_H
#include "benchmarks/native/taskrate/provider.h"

enum { OPTIONS_MAX = 64 };
struct taskrate_options {
    struct opt_set set;
    struct opt_value values[OPTIONS_MAX];
};

/* Parses argv; *next: the first operand. */
int options_parse(struct taskrate_options *o, int argc, char **argv, int *next, struct err *err);
/* b->set from the options and the provider's own defaults; words behind the provider's name go to
 * the scheduler's command. */
int options_settings(const struct taskrate_options *o, struct bench *b, char **extra, struct err *err);
void options_help(struct taskrate_options *o, struct buf *to);     /* the common options, one screen */
void options_help_all(struct taskrate_options *o, struct buf *to); /* all options, providers, exit statuses */
void options_man(struct taskrate_options *o, struct buf *to);
#endif
