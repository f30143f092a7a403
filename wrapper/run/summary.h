/* summary.h: what a run prints at its end: outcome, headline metrics, warnings, where the run is stored. */
#ifndef WRAPPER_RUN_SUMMARY_H
#define WRAPPER_RUN_SUMMARY_H
#include "base/json.h"
#include "base/screen.h"
#include "run/finish.h"

/* The source of a warning that was printed when it arose: the summary leaves it out. */
#define SUMMARY_TOLD "recorder:told"

struct summary {
    const struct finished *f;
    const struct screen *screen; /* where it will be printed */
    int spool;                   /* directory with the kept streams, for the last lines of a failed program; -1: none */
    const struct json *usual;    /* usual.h; NULL: nothing is known of earlier runs */
    const char *tree_option;     /* the --tree that a next command needs too; NULL: none */
};

/* Appends the summary of one run, without the prefix (screen_prefix adds it). Foreign text in it is made harmless for a terminal. */
void summary_print(const struct summary *s, struct buf *to);

/* Returns whether the program has reported a metric. */
bool summary_has_results(const struct record *r);

/* Its parts, for the summary of repetitions. */
/* Appends one line (broken where the screen is narrow): two blanks, a mark or label of `width`
 * columns, the text. */
void summary_line(const struct screen *screen, enum style style, const char *label, size_t width, struct str text, struct buf *to);
/* Prints why the program has no metrics, with what to do. Nothing if it failed. */
void summary_print_no_metrics(const struct summary *s, struct buf *to);
/* Appends the reason, unless the first line has it, and the verdict of references. */
void summary_print_reason(const struct summary *s, struct buf *to);
/* Warnings that were not printed before; `source`: of this source alone, NULL: any. */
void summary_print_warnings(const struct summary *s, const char *source, struct buf *to);
/* Appends the last line: id, tree, next command ("show"). */
void summary_print_place(const struct summary *s, struct buf *to);
/* Appends the tree, from the working directory if it is below that, else absolute. */
void summary_tree(const char *tree, struct buf *to);
#endif
