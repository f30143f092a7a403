/* annotations.h: runs that annotate others, as the readers of a tree apply them.
 *
 * An annotation (mlruns-format/annotation.h) changes tags of the run that it names and of whatever amends that run. Of several that change one tag
 * the latest start counts, then the greater id. One that was retracted or deleted changes nothing. */
#ifndef RUNS_ANNOTATIONS_H
#define RUNS_ANNOTATIONS_H
#include "mlruns-format/annotation.h"
#include "mlruns-format/corrections.h"

struct annotation {
    char id[33], target[33];
    char root[33]; /* the run that the target goes back to */
    int64_t start_ms;
    const struct tree_entry *changes;
};
struct annotations {
    struct annotation *list; /* by root, then in the order in which they apply */
    size_t count, room;
    bool failed; /* out of memory */
};

/* Returns the id that a run of such an id annotates, in the arena; NULL: none. tree: that the run
 * is read through. */
const char *annotation_target(const struct folder *tree, const struct tree_run *run, struct arena *a);
/* Reads what the run changes of the run `target`, into the arena. NULL: nothing, or with
 * *ret_problem, a sentence in the arena, where it cannot be read or is not legal. */
const struct tree_entry *annotation_changes(const struct folder *tree, const struct tree_run *run, const char *target, struct arena *a,
                                            const char **ret_problem);
/* Adds one. `changes` must outlive the list. May set to->failed. */
void annotations_add(struct annotations *to, const struct tree_run *run, const char *target, const struct tree_entry *changes);
/* All are added: sorts them, without those that corrections, which are sorted, retract. */
void annotations_sort(struct annotations *to, const struct corrections *corrections);
/* Merges what all annotations change of the run into a list in the arena; NULL: nothing.
 * *ret_newest (NULL is allowed): the annotation that counts most, which `of` owns; NULL: there is
 * none. */
const struct tree_entry *annotations_of(const struct annotations *of, const struct corrections *corrections, const char *id,
                                        struct arena *a, const struct annotation **ret_newest);
void annotations_deinit(struct annotations *a);
#endif
