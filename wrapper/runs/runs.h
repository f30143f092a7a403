/* runs.h: read runs of a tree for commands: selected, sorted, with unit and direction of each metric. */
#ifndef RUNS_RUNS_H
#define RUNS_RUNS_H
#include "base/json.h"
#include "base/parallel.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "filter/filter.h"
#include "index/tree_index.h"
#include "mlruns-format/tree.h"

#include <stdio.h>

/* Where runs are, by the caller's options and environment. */
struct runs_place {
    const char *tree; /* the folder mlruns; NULL: the one that the environment or the configuration names */
    const char *ref; /* a commit to read instead (runs_ref.h); NULL: what is on disk */
    bool fetch; /* what a partial clone lacks of the commit */
    const struct runs_filter *filter; /* among which runs "last" and names are searched; NULL: all. An id means its run in any case */
    char **env; /* NULL-terminated */
    FILE *notes; /* messages about the run that a name stands for */
};

struct runs {
    struct runs_place place;
    const char *tree; /* absolute path of mlruns */
    int root; /* its descriptor; -1: it is in a repository */
    struct folder folder; /* the same as a folder, on disk or in a commit; all that only reads goes through it */
    struct tree_index *index; /* of a tree on disk; NULL: it is read without one */
    struct runs_ref *refs; /* commits that operands have named (runs_ref.h) */
    struct tree_run **all; /* newest first; runs that were deleted are not among them */
    size_t count;
    struct tree_run **annotated; /* those of runs_load that annotations change, by id; in its arena */
    size_t annotated_count;
    struct tree_run *parent; /* read last by inherit.h, or NULL */
    size_t gone; /* runs that were deleted after runs_load had listed them: runs_close reports how many */
    size_t damaged; /* runs of which something could not be read */
    struct tree_run *unjudged; /* those of them that are not in `all`: a fact that the filter needs cannot be read; by ->next */
};

/* Which runs of a tree; all members are optional. */
struct runs_filter {
    const char *experiment; /* name or id */
    const char *status; /* FINISHED … or the verdict: pass, fail; any case */
    const struct opt_value *tags; /* KEY=VALUE chain */
    const struct filter *query; /* --filter, compiled */
    bool corrected; /* also runs that others amend or retract (else those are shown that amend them) */
    bool marks; /* with `corrected`: mark parent runs whose statistics ignore corrections (stale.h), as without it */
    bool rows; /* each run is to be listed: with its ->row, so that its folder is visited once */
    size_t headlines; /* metrics of such a row */
};

/* Opens the tree. Paths and names are kept in the arena. 0, and runs_close is to be called; -1 with err:
 * ERR_INPUT when there is none. */
int runs_open(struct runs *ret, const struct runs_place *place, struct arena *a, struct err *err);
/* The same for operands (runs as runs_find accepts them, groups with commas between them). Each
 * that names its commit, as REF:RUN, needs no tree on disk. */
int runs_open_for(struct runs *ret, const struct runs_place *place, char *const *operands, int count, struct arena *a, struct err *err);
/* Prints how many runs were deleted since the listing, and frees what runs_open and the listing
 * made, without what is in the caller's arena. */
void runs_close(struct runs *runs);
/* Reads the meta of all runs that pass the filter. 0; -1 with err. */
int runs_load(struct runs *runs, const struct runs_filter *filter, struct arena *a, struct err *err);
/* Returns a sentence on why no run passes: which experiments there are, where the filter names
 * another one. In the arena; never NULL. */
const char *runs_explain_none(const struct runs *runs, const struct runs_filter *filter, struct arena *a);
/* Returns whether that is the name of the run's experiment, or its id. */
bool runs_is_of_experiment(const struct tree_run *run, const char *experiment);
/* runs_find.c: the run that the user names: a prefix of its id (4 digits or more), "last", "last~2"
 * (the third newest; child runs do not count); read with `what` of tree.h. Else the name of one run
 * alone, which is printed with its id. "last" and names count only runs of place.filter. A run that
 * another one amends means that one, and annotations are applied, unless "=" precedes its id: then
 * what runs_load has read counts. Where metrics and tags are read, a note is printed of statistics
 * that ignore corrections (stale.h). 1: not found (err set), 0, -1. */
int runs_find(struct runs *runs, const char *name, unsigned what, struct arena *a, struct tree_run **ret, struct err *err);
/* Reads a run that runs_load has listed, as runs_find reads "=ID". 0; 1: it was deleted since then, and is counted in runs->gone (err is not set); -1 with err. */
int runs_find_listed(struct runs *runs, const struct tree_run *listed, unsigned what, struct arena *a, struct tree_run **ret,
                     struct err *err);
/* Determines the latest start of the run and of what amends or retracts it: of several corrections
 * the latest start counts. */
int runs_latest_start(struct runs *runs, const struct tree_run *run, struct arena *a, int64_t *ret_ms, struct err *err);
/* Returns the run that was recorded first: what a run amends, else the run itself. Child runs name
 * it as their parent. In the arena, or the run's own id. */
const char *runs_root_id(const struct runs *runs, const struct tree_run *run, struct arena *a);
/* Determines what readers see in place of `count` runs of the experiment of `of`: each id becomes
 * that of the amending run, or "" where the run is retracted. 0; -1 with err. */
int runs_current_ids(struct runs *runs, const struct tree_run *of, char (*ids)[33], size_t count, struct arena *a, struct err *err);
/* Changes of a run by annotations. */
struct run_annotated {
    char root[33]; /* the run that was recorded first, which an annotation names */
    char newest[33]; /* the annotation that counts most; "": none */
    int64_t latest_ms; /* the latest start of the run, of what corrects it, and of its annotations */
    const struct tree_entry *changes; /* as tree_run.annotated */
};
/* Finds the first version of the run and its annotations. Texts are in the arena. 0; -1 with err. */
int runs_annotated(struct runs *runs, const struct tree_run *run, struct arena *a, struct run_annotated *ret, struct err *err);
/* Returns how many workers may read n runs at once (parallel_each). */
unsigned runs_workers(const struct runs *runs, size_t n);
/* Returns the folder of the tree, borrowed. It is made first where only the tree's descriptor is known. */
const struct folder *runs_ready_folder(struct runs *runs);
/* Returns what annotations change of a run that the last runs_load listed; NULL: nothing. In its
 * arena. */
const struct tree_entry *runs_listed_changes(const struct runs *runs, const struct tree_run *run);
/* Returns the folder of the tree with the run, borrowed. */
struct folder runs_tree(const struct runs *runs, const struct tree_run *run);
/* Returns whether the run was deleted since runs_load listed it. Call this after reading it; the
 * caller then leaves it out, and counts it in runs->gone. */
bool runs_is_gone(const struct runs *runs, const struct tree_run *run);
/* Reads one small file of a run ("tags/benchmark") into the arena; NULL if absent. At most max
 * bytes, longer ones are cut. */
const char *runs_file(const struct runs *runs, const struct tree_run *run, const char *name, size_t max, struct arena *a);
/* Reads artifacts/benchwrap.json; json_free frees it. NULL: there is none (a run of others), or it
 * cannot be read: then *ret_problem has the reason, in the arena. */
struct json *runs_detail(const struct runs *runs, const struct tree_run *run, const char **ret_problem, struct arena *a);
const char *runs_status(const struct tree_run *run); /* "FINISHED" …; "SCHEDULED" too */
/* Returns the entry with this key; NULL: there is none. */
const struct tree_entry *runs_entry(const struct tree_entry *list, const char *key);
/* Returns the entry's value as NUL-terminated text in the arena; NULL if absent. */
const char *runs_text(const struct tree_entry *list, const char *key, struct arena *a);
#endif
