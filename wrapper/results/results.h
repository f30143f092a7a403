/* results.h: a results repository: a git repository that runs are committed to, on a branch of this clone alone, benchwrap/<site>/<clone>.
 *
 * What belongs to the clone is in .git: the clone's 8 digits in .git/config (benchwrap.clone),
 * benchwrap's locks and unfinished packs in
 * .git/benchwrap/. What belongs to all who use the repository is tracked: benchwrap.yaml. The site's name is the configuration's (plan.h),
 * of a bare repository benchwrap.site in its config. */
#ifndef RESULTS_RESULTS_H
#define RESULTS_RESULTS_H
#include "git/repo.h"

struct results_asked {
    const char *tree; /* absolute path of the mlruns folder */
    const char *repository; /* a path in the repository to use; NULL: the one that holds the tree */
    const char *site; /* NULL: none is configured */
    bool public_profile; /* commits carry the site's name, and runs of the private profile stay out */
    bool set_up; /* a clone that has no digits yet gets some (else: 1) */
};

struct results {
    struct repo *repo;
    struct arena *arena; /* the caller's; holds the texts below */
    const char *tree; /* absolute path of mlruns, which may not exist */
    const char *prefix; /* path of the tree in commits: "mlruns", or "folder/mlruns" */
    const char *site, *clone;
    bool has_site; /* false: none is configured, and site is RESULTS_SITE */
    const char *branch; /* "refs/heads/benchwrap/<site>/<clone>" */
    bool public_profile;
};

/* Opens the results repository of the tree. 0 with *ret, which results_close frees; 1 with err:
 * there is none, or (without set_up) this clone is not set up for it; -1 with err. */
int results_open(struct results *ret, const struct results_asked *asked, struct arena *a, struct err *err);
void results_close(struct results *s);
#define RESULTS_SITE "site" /* where none is configured; "benchwrap init" always sets one */
/* Finds the commit that new work begins from: the branch's tip, else that of the upstream's default
 * branch or HEAD. *ret_is_tip (may be NULL): whether it is the tip. 0; 1: there is no commit yet;
 * -1 with err. */
int results_base(struct results *s, struct repo_id *ret, bool *ret_is_tip, struct err *err);
/* Lists the commits in whose trees a run counts as known: the branch's tip, HEAD, and the default
 * branch of the upstream. 0; -1 with err. */
enum { RESULTS_KNOWN = 3 };
int results_known(struct results *s, struct repo_id ret[RESULTS_KNOWN], size_t *ret_count, struct err *err);
#endif
