/* corrections.h: runs that amend or retract others, as the readers of a tree apply them.
 *
 * A correction is a run with the tag benchwrap.amends or benchwrap.retracts = id of a run, which may be
 * a correction itself. Its id is a UUID version 5: few runs have one, so readers check few. Of several
 * corrections of one run the latest start counts, then the greater id. */
#ifndef MLRUNS_FORMAT_CORRECTIONS_H
#define MLRUNS_FORMAT_CORRECTIONS_H
#include "mlruns-format/tree.h"

struct correction {
    char id[33], target[33];
    char root[33]; /* the run that all goes back to */
    int64_t start_ms;
    bool retracts;
};
struct corrections {
    struct correction *list; /* sorted by id once settled */
    struct correction *chosen; /* one for each root, sorted by it */
    size_t count, room, chosen_count;
    bool failed; /* out of memory */
};

/* Returns whether the id can be a correction's. */
bool correction_possible(const char *id);
/* Returns the id that a run of such an id corrects, into the arena; NULL: none. tree: that the run
 * is read through. */
const char *correction_target(const struct folder *tree, const struct tree_run *run, struct arena *a, bool *ret_retracts);
/* Adds that the run corrects `target`; does nothing if that is NULL or no id. May set c->failed. */
void corrections_add(struct corrections *c, const struct tree_run *run, const char *target, bool retracts);
/* Adds the correction that the run's own tags name. tree: that it is read through; a: for what is
 * read. */
void corrections_read(struct corrections *c, const struct folder *tree, const struct tree_run *run, struct arena *a);
/* Sorts all corrections, once they are added, for corrections_of. May set c->failed. */
void corrections_sort(struct corrections *c);
/* Returns the correction that counts for the run's chain (->root: its first run, ->id: the run that
 * corrects it); NULL: no run corrects it. It belongs to c. */
const struct correction *corrections_of(const struct corrections *c, const char *id);
/* Returns the run to be shown instead of this one: its own id where nothing corrects it (id itself
 * is returned); NULL: it is retracted. */
const char *corrections_shown(const struct corrections *c, const char *id);
void corrections_deinit(struct corrections *c);
#endif
