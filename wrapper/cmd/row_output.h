/* row_output.h: --sort, --columns and --format, as the commands that print rows share them. The other commands answer these words by words.def. */
#ifndef CMD_ROW_OUTPUT_H
#define CMD_ROW_OUTPUT_H
#include "base/listing.h"
#include "cmd/cmd.h"
#include "runs/runs.h"

/* The form of --format, --json, --csv and --markdown, those that the command has. -1: c->err, two of them are given. */
int row_output_form(const struct cmd_context *c, enum listing_form *ret);
/* Leaves the newest `last` of the runs, then sorts them by --sort. -1: c->err. */
int row_output_order(struct cmd_context *c, struct runs *runs, size_t last);
/* Prints the facts that --columns names, a row for each of n runs. -1: c->err. */
int row_output_columns(struct cmd_context *c, struct runs *runs, struct tree_run *const *list, size_t n, enum listing_form form);

#define ROW_OUTPUT_SORT                                                                                                                    \
    {                                                                                                                                      \
        .name = OPTION_SORT, .kind = OPT_LIST, .arg = "KEY", .group = "Selection",                                                         \
        .help =                                                                                                                            \
            "Sort by \"metrics.bw DESC\", a param, tag or attribute instead of newest first; may be repeated, the first key counts most"   \
    }
/* verb: "Print these facts", "Write these facts" … */
#define ROW_OUTPUT_COLUMNS(verb)                                                                                                           \
    {                                                                                                                                      \
        .name = OPTION_COLUMNS, .kind = OPT_TEXT, .arg = "KEY,...", .group = "Output",                                                     \
        .help = verb ": attributes, metrics.KEY, params.KEY, tags.KEY; * and ? stand for any characters of a key"                          \
    }
#define ROW_OUTPUT_FORMAT                                                                                                                  \
    {                                                                                                                                      \
        .name = OPTION_FORMAT, .kind = OPT_CHOICE, .arg = "table|csv|jsonl|markdown", .group = "Output",                                   \
        .help = "Print in this form; in csv no text is a formula of a spreadsheet"                                                         \
    }
#endif
