/* reparse.h: read the stored output of a run again. If the rules now yield other facts, a new run
 * amends the old one. */
#ifndef REPLAY_REPARSE_H
#define REPLAY_REPARSE_H
#include "runs/runs.h"
#include "plan/plan.h"

struct reparse {
    struct arena *arena;
    struct runs *runs;
    const struct plan *plan;
    const char *rules; /* --rules; NULL: of the catalogue, by the name of the run's benchmark */
    const char *spool; /* where the new runs are made: the plan's, or a temporary folder that is deleted */
    bool dry;
};

enum reparse_result { REPARSE_DONE, REPARSE_SAME, REPARSE_SKIPPED, REPARSE_FAILED };
struct reparse_change {
    const char *what; /* "metric" "param" "missing" "verdict" … */
    const char *key;
    const char *before, *after; /* NULL: not there */
    struct reparse_change *next;
};
struct reparsed {
    enum reparse_result result;
    char id[33]; /* of the amending run; "" if there is none */
    const char *why, *verdict, *place, *rules_version;
    struct reparse_change *changes;
    size_t count;
};

/* Reads one run again, whose TREE_METRICS are read. Sets *ret; its texts are in the arena. */
void reparse_run(const struct reparse *x, const struct tree_run *run, struct reparsed *ret);

/* Computes the statistics of a parent run (--repeat, --sweep) again, from the child runs that readers see in place of those that it noted. `run` is
 * the parent or what amends it. Sets *ret; its texts are in the arena. */
void reparse_series(const struct reparse *x, const struct tree_run *run, struct reparsed *ret);

/* Parent runs whose child runs were read again or retracted; ids in the arena. */
struct reparse_parent {
    char id[33];
    bool changed; /* a child run was amended or retracted */
};
struct reparse_parents {
    struct reparse_parent *list;
    size_t count, room;
};
/* Returns the parent run whose repetition this is, in the arena; NULL: it has none. */
const char *reparse_parent_of(const struct reparse *x, const struct tree_run *run);
/* Adds a parent run. 0; -1: out of memory. */
int reparse_parents_add(struct reparse_parents *p, const char *id, bool changed, struct arena *a);
/* Sorts the parent runs by id, each once, after all are added. */
void reparse_parents_sort(struct reparse_parents *p);

/* The facts of a run in the tree as a record again, with sources, units and directions: from
 * benchwrap.json and the metrics' files. */
int reparse_recall(const struct reparse *x, const struct tree_run *run, const struct json *detail, struct record *ret, struct err *err);
/* Returns the command line that benchwrap.json has; NULL: out of memory. */
char **reparse_argv(const struct json *list, struct arena *a);
/* Returns whether a fact comes from the rules (or what judged by them) or from the repetitions, so
 * that reading makes it again. */
bool reparse_derived(const struct fact *f);
/* Finds what differs between two records in the facts from rules. -1: out of memory. */
int reparse_compare(const struct record *before, const struct record *after, struct arena *a, struct reparsed *ret);
#endif
