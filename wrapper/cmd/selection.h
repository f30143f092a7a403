/* selection.h: the options that choose runs, as the commands share them. */
#ifndef CMD_SELECTION_H
#define CMD_SELECTION_H
#include "cmd/cmd.h"
#include "runs/runs.h"

/* What --tree and --ref name; borrowed from the command. */
struct runs_place selection_place(const struct cmd_context *c);
/* The same, with the options that choose runs: they decide which runs "last", "last~N" and names mean in runs_find. In the arena. -1: c->err. */
int selection_naming_place(const struct cmd_context *c, struct runs_place *ret);
/* Opens the tree of --tree or the commit of --ref; see runs_open. The place is that of selection_naming_place. */
int selection_open(struct runs *ret, struct cmd_context *c, struct err *err);
/* The same as selection_open for the command's operands; see runs_open_for. */
int selection_open_for(struct runs *ret, struct cmd_context *c, char *const *operands, int count, struct err *err);
/* Makes the filter of --experiment, --status, --tag and --filter; an option that the command lacks,
 * or has in another group, filters nothing. -1: c->err names what is wrong in --filter. */
int selection_filter(const struct cmd_context *c, struct runs_filter *ret);
/* Returns true if one of these options is given. */
bool selection_given(const struct cmd_context *c);
/* Reads --since as milliseconds since the epoch, 0 where it is not given. -1 with c->err. */
int selection_since(const struct cmd_context *c, int64_t *ret_ms);
/* The value of an option that is a part of something, as 2% or 0.02: 0 or more. -1: c->err. */
int selection_fraction(const struct cmd_context *c, const char *option, double *ret);

#define SELECTION_GROUP "Selection"
#define SELECTION_ROW_EXPERIMENT CMD_ROW_EXPERIMENT(SELECTION_GROUP, "Choose only runs of this experiment (name or id)")
/* The rows that selection_filter reads: the same in each command that lists runs or has the operand
 * RUN. */
#define SELECTION_ROWS_FILTER                                                                                                                               \
    SELECTION_ROW_EXPERIMENT,                                                                                                                               \
        {.name = OPTION_STATUS,                                                                                                                             \
         .letter = 's',                                                                                                                                     \
         .kind = OPT_TEXT,                                                                                                                                  \
         .arg = "STATUS",                                                                                                                                   \
         .group = SELECTION_GROUP,                                                                                                                          \
         .help = "Choose only runs of this status (FINISHED, FAILED, KILLED, RUNNING) or verdict (pass, fail)"},                                            \
        {.name = OPTION_TAG,                                                                                                                                \
         .kind = OPT_PAIR,                                                                                                                                  \
         .arg = "KEY=VALUE",                                                                                                                                \
         .group = SELECTION_GROUP,                                                                                                                          \
         .help = "Choose only runs with this tag; may be repeated, all must hold"},                                                                         \
    {                                                                                                                                                       \
        .name = OPTION_FILTER, .kind = OPT_TEXT, .arg = "EXPR", .group = SELECTION_GROUP,                                                                   \
        .help =                                                                                                                                             \
            "Choose only runs for which this holds, in MLflow's search syntax: \"metrics.bw > 1000 AND params.fs.type = 'lustre'\" (docs/howto-results.md)" \
    }
#endif
