/* pages_data.h: what the pages know of each run: its place, its key, its headline values, and the facts that explain a difference. */
#ifndef PAGES_PAGES_DATA_H
#define PAGES_PAGES_DATA_H
#include "base/arena.h"
#include "base/buf.h"

#include <stdint.h>

enum { PAGE_VALUES = 4 };

struct page_fact {
    const char *name, *value;
};
struct page_facts { /* shared by the runs that have the same ones */
    const char *id;
    const struct page_fact *list;
    size_t count;
};
struct page_value { /* of a headline metric */
    const char *key, *unit, *better; /* better: "higher", "lower" or "" */
    double value;
};
/* Texts are never NULL; "" is not known. */
struct page_run {
    const char *id, *experiment, *name, *status, *verdict, *reason;
    const char *experiment_id; /* decimal */
    int64_t start_ms;
    const char *stamp; /* of what its page shows: its files, corrections by other runs, the experiment's name */
    const char *site, *cluster, *partition, *machine, *version; /* machine: node.type; version: of the benchmark */
    const char *measured, *system; /* ids of its comparison key */
    const char *measurement; /* of the measurement in its experiment, in paths */
    const char *problem; /* why it is damaged */
    const char *stale; /* which corrections its statistics ignore (runs/stale.h) */
    const char *noisy, *warning; /* what disturbed it; its first other warning */
    const char *unjudged; /* why it is not known whether other programs disturbed it (mlruns-format/disturbance.h); "" it is */
    const struct page_facts *inputs, *conditions; /* of its key; of machine and software */
    struct page_value values[PAGE_VALUES];
    size_t value_count;
    bool is_parent, is_warmup; /* is_parent: of repetitions or of a sweep, which are shown themselves */
};
struct page_data {
    struct page_run *runs; /* newest first */
    size_t count;
    struct arena *arena;
};

/* Sets run->measurement by its key and its experiment; "": out of memory. */
void page_run_set_measurement(struct page_run *run, struct arena *a);
/* Copies the run into the arena. before: a run whose sets of facts the copy shares where they are
 * the same; NULL: none. */
void page_run_copy(struct page_run *to, const struct page_run *from, const struct page_run *before, struct arena *a);
const char *page_fact_value(const struct page_facts *facts, const char *name); /* NULL: none */
/* Returns the value of a metric in its unit; NULL: the run has none. */
const struct page_value *page_run_value(const struct page_run *run, const struct page_value *metric);
/* Returns whether the run counts in a leaderboard or a history: it has ended well, and is neither a parent run nor a warm-up. */
bool page_run_counts(const struct page_run *run);
/* Compares two runs: newest first, then by id. For qsort over struct page_run. */
int page_run_order(const void *a, const void *b);
#endif
