/* causes.h: which recorded facts may explain a difference of results, and what they are called together. */
#ifndef HISTORY_CAUSES_H
#define HISTORY_CAUSES_H
#include "history/run_facts.h"

struct cause_class {
    const char *name; /* "program", "binding"; "parameter" for an input */
    int rank; /* 9 … 1: how likely it explains a difference; 0: it is no cause */
    bool own; /* each fact is a cause by itself */
};

/* Returns the class of a param or tag by causes.def. source: of a param in benchwrap.json; NULL:
 * not known. */
struct cause_class cause_class_of(enum fact_kind kind, const char *key, const char *source);

struct cause_change { /* a fact that changed from one run to another */
    const char *key, *before, *after; /* NULL: that side lacks it */
    struct cause_class is;
};
/* The facts that each of `before` has with one value and each of `after` with another one, the likeliest causes first. Reads params, tags,
 * libraries and environment of the runs.
 * In the arena; *ret_count 0: none. -1: a run cannot be read, or out of memory. */
int cause_changes(struct runs *runs, const struct tree_run *const *before, size_t n_before, const struct tree_run *const *after,
                  size_t n_after, struct arena *a, struct cause_change **ret, size_t *ret_count, struct err *err);
#endif
