/* reparse_state.h: a run that is being read again, shared by reparse.c and reparse_series.c. */
#ifndef REPLAY_REPARSE_STATE_H
#define REPLAY_REPARSE_STATE_H
#include "benchmarks/rules.h"
#include "replay/reparse.h"
#include "run/make.h"

struct reparse_state {
    const struct reparse *x;
    const struct tree_run *run;
    struct json *detail;
    struct record before;
    struct rules *rules; /* NULL: of a series */
    const char *rules_path;
    const char *root_id; /* the run as it was recorded first */
    char **argv;
    int artifacts; /* descriptor of the folder; -1 */
    bool series; /* its results follow from the notes of its repetitions */
};

/* Reads the record of g->run; g->x is set, too. NULL, or why it cannot be read again. reparse_close must follow in all cases. */
const char *reparse_open(struct reparse_state *g, struct arena *a);
void reparse_close(struct reparse_state *g);
/* Begins the amending run `id` with all that is kept of the old one. After it reparse_conclude, or make_drop. */
int reparse_begin(struct made_run *m, const struct reparse_state *g, const char *id, struct arena *a, struct err *err);
/* Publishes the amending run where its results differ, else removes it. Sets result, why, changes and place of *ret, and its id to "" where no run is made. */
void reparse_conclude(struct made_run *m, const struct reparse_state *g, int64_t end_ms, struct reparsed *ret);
#endif
