/* explain.h: what could explain the difference of two groups of runs, and its effect in all other
 * runs. */
#ifndef HISTORY_EXPLAIN_H
#define HISTORY_EXPLAIN_H
#include "base/change.h"
#include "history/causes.h"

enum { EXPLAIN_SIDES = 2, EXPLAIN_RUNS_MAX = 1000 };

enum cause_state {
    CAUSE_SHOWN, /* other runs that differ only in this differ alike */
    CAUSE_POSSIBLE, /* no other runs decide it */
    CAUSE_EXCLUDED /* other runs show that it has no such effect */
};
const char *cause_state_name(enum cause_state state); /* "shown", "possible", "excluded" */

struct possible_cause {
    const char *name; /* "binding", "kernel setting kernel.thp" */
    const uint32_t *keys; /* of the facts that differ; metrics for a condition */
    size_t key_count;
    bool is_condition; /* measured while the runs ran */
    double median[EXPLAIN_SIDES]; /* of a condition's first key */
    enum cause_state state;
    size_t others[EXPLAIN_SIDES]; /* other runs like A, like B, that differ only in this */
    struct change effect; /* of these others: B against A */
    double score; /* the list has the largest first, excluded ones last */
};
struct explained_metric {
    const struct fact_key *key;
    const char *direction; /* "higher", "lower"; "": the runs know none, or disagree */
    double median[EXPLAIN_SIDES];
    size_t n[EXPLAIN_SIDES];
    bool headline;
    struct change change; /* B against A; not known with less than three values on a side */
    bool differs; /* certainly, and by min_effect or more */
};
struct explained_side {
    const struct facts_run **runs; /* a series stands for its repetitions */
    size_t count;
};
struct explain_request {
    char (*ids[EXPLAIN_SIDES])[33];
    size_t n[EXPLAIN_SIDES];
    const char *metric; /* explain this one; NULL: the headline metric that differs most */
    double min_effect;
    struct arena *arena;
};
struct explanation {
    struct run_facts facts;
    struct explained_side sides[EXPLAIN_SIDES];
    struct explained_metric metric; /* key NULL: the sides have none in common */
    bool certain; /* three values or more on both sides, or enough runs like A */
    struct possible_cause *causes;
    size_t cause_count, named; /* named: shown or possible ones */
};

/* runs: opened, nothing loaded. Everything is in the arena. -1 with err: a run is not found, or out of memory. */
int explain_runs(const struct explain_request *asked, struct runs *runs, struct explanation *ret, struct err *err);
/* Prints the explanation as text for people to `out`, coloured where that is a terminal. runs: to
 * name runs. -1: out of memory. */
int explain_write_text(const struct explanation *e, struct runs *runs, struct arena *a, FILE *out);
int explain_write_json(const struct explanation *e, struct runs *runs, struct arena *a, FILE *out);
#endif
