/* show.h: one run on the way to the screen: what cmd_show.c reads, and the forms in which it is printed. */
#ifndef RUNS_SHOW_H
#define RUNS_SHOW_H
#include "base/json_out.h"
#include "base/listing.h"
#include "base/screen.h"
#include "runs/runs.h"
#include "series/figures.h"

#include <stdio.h>

struct show_artifact {
    const char *path;
    uint64_t size;
};

struct show_state {
    FILE *out;
    struct arena *arena;
    const struct runs *runs;
    const struct tree_run *run; /* params, metrics and tags read */
    const struct tree_entry *inherited; /* facts of the machine that its parent run holds for it */
    const struct json *detail; /* benchwrap.json, or NULL */
    const char *detail_problem;
    struct show_artifact *artifacts; /* by path */
    size_t artifact_count;
    bool artifacts_cut;
    struct series_notes *notes; /* of repetitions, or NULL */
    struct screen screen;
};

/* Prints one screen: command, results, inputs, machine, warnings, files. -1: out of memory. */
int show_screen(const struct show_state *s);
/* Prints everything that is recorded, in tables. -1: out of memory. */
int show_all(const struct show_state *s);
/* Writes a row for each attribute, param, metric and tag. -1: out of memory. */
int show_rows(const struct show_state *s, enum listing_form form);

/* Returns the metric's entry in benchwrap.json; NULL: it has none. */
const struct json *show_metric_detail(const struct show_state *s, const char *key);
/* Returns the metric's unit; "": not known. */
const char *show_metric_unit(const struct show_state *s, const char *key);
/* Returns what a metric of llmload counts about llmload itself, where its key does not explain it;
 * NULL: it is another metric. */
const char *show_metric_words(const struct show_state *s, const char *key);
/* Prints a heading in bold, with a blank line before it. */
void show_heading(const struct show_state *s, const char *text);
void show_heading_to(const struct show_state *s, const char *text, struct buf *to);
/* Returns the text of a tag; NULL: none, or empty. */
const char *show_tag(const struct show_state *s, const char *key);
/* Appends "Label  text", broken where the screen is narrow; nothing for an empty text. */
void show_put_line(const struct show_state *s, const char *label, enum style style, struct str text, struct buf *to);
/* Appends items with three blanks between them, from column `first` on, `indent` columns deep on
 * further lines. */
void show_put_items(const struct show_state *s, struct str items, size_t first, size_t indent, struct buf *to);
/* Appends a row for each metric of the program, headline metrics first. *ret_more: how many are
 * left out. 0; -1: out of memory. */
int show_put_results(const struct show_state *s, size_t *ret_more, struct buf *to);
/* Appends the verdict, which is "pass" only where a value was compared with a reference. */
void show_put_verdict(const struct show_state *s, bool has_results, struct buf *to);
/* Appends the last lines of the output of a program that failed. */
void show_put_last_lines(const struct show_state *s, struct buf *to);
/* Returns whether the run's status is FAILED or KILLED. */
bool show_has_failed(const struct show_state *s);
#endif
