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

/* One screen: command, results, inputs, machine, warnings, files. -1: out of memory. */
int show_screen(const struct show_state *s);
/* Everything that is recorded, in tables. -1: out of memory. */
int show_all(const struct show_state *s);
/* A row for each attribute, param, metric and tag. -1: out of memory. */
int show_rows(const struct show_state *s, enum listing_form form);

/* Shared by both: the metric's entry in benchwrap.json, its unit. */
const struct json *show_metric_detail(const struct show_state *s, const char *key);
const char *show_metric_unit(const struct show_state *s, const char *key);
/* What a metric of llmload counts about llmload itself, where its key does not explain it; NULL: it is another metric. */
const char *show_metric_words(const struct show_state *s, const char *key);
/* A heading in bold, with a blank line before it. */
void show_heading(const struct show_state *s, const char *text);
void show_heading_to(const struct show_state *s, const char *text, struct buf *to);
#endif
