/* adopt.h: runs of an MLflow tree that other programs made become runs of a results repository.
 *
 * A run keeps its id, times, status, params, tags, samples and artifacts. The tag benchwrap.adopted names the experiment that it comes from, so that
 * `benchwrap check` does not expect an output from which its values follow. Each run is written once, by the way of run/make.h: complete or not at all. */
#ifndef WRAPPER_ADOPT_H
#define WRAPPER_ADOPT_H
#include "plan/plan.h"
#include "run/make.h"

enum adopt_result {
    ADOPT_DONE,    /* written now (dry: would be) */
    ADOPT_THERE,   /* the tree has it */
    ADOPT_RUNNING, /* not ended */
    ADOPT_OURS,    /* benchwrap recorded it */
    ADOPT_FAILED,
    ADOPT_RESULTS
};

struct adopt {
    const struct plan *plan;      /* tree, spool, site, profile */
    bool dry, all;                /* all: runs that have not ended too, closed as KILLED at their last sample */
    bool is_public;
    int from;                     /* descriptor of the foreign tree */
    int root;                     /* of the tree that they go to, -1 while there is none */
    uint64_t files_max;           /* bytes of a run's artifacts */
    struct redaction names;       /* public: also the users that the foreign tree names */
    struct arena arena;           /* of the list */
    struct tree_run **runs;       /* oldest first */
    size_t count, cap;
};

struct adopted {
    enum adopt_result result;
    char place[128], why[600];
};

/* Lists the runs of dir, an mlruns folder or one that holds it. 0; -1 with err. adopt_deinit also after
 * a failure. */
int adopt_init(struct adopt *a, const struct plan *plan, const char *dir, char *const *env, struct err *err);
void adopt_deinit(struct adopt *a);
/* Adopts one run of the list. The spool is left for make_batch_settle. */
void adopt_run(struct adopt *a, const struct tree_run *run, struct adopted *ret);
#endif
