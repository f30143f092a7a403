/* commit_some.h: one commit of some runs on top of another commit: its author, its message, which
 * files of experiments come along. No ref is moved. */
#ifndef RESULTS_COMMIT_SOME_H
#define RESULTS_COMMIT_SOME_H
#include "git/commit.h"
#include "results/scan.h"

/* Who commits, and how it is signed. In a public repository the author is the site, not a person:
 * no name, no address, no time zone. */
struct commit_hand {
    struct commit_person author, committer;
    struct signer signer;
    struct signer witness; /* of the runs' manifests: witness.h */
};
/* Reads who commits and how it is signed, into s->arena. prompt: gpg or ssh may read from the
 * terminal. 0; -1 with err. */
int commit_hand_read(struct results *s, bool prompt, struct commit_hand *ret, struct err *err);
/* Returns whether the run was recorded with another profile than the public one. root: descriptor
 * of the tree. */
bool commit_is_private(int root, const char *experiment, const char *id);

struct commit_tip {
    struct repo_id commit, tree;
    bool have;            /* false: there is no commit yet */
};
/* Reads the tree of a commit (NULL: there is none yet). 0; -1 with err. */
int commit_tip_read(struct results *s, const struct repo_id *commit, struct commit_tip *ret, struct err *err);
/* Makes one commit of these runs (their ->tree is set, and an object of the repository or its writer) on top of *tip, which it becomes; with the experiments' files
 * as far as that lacks them, from the tree on disk (root), or, where that has not got the experiment, from the commit `from` (may be NULL). 0; -1 with err. */
int commit_some(struct results *s, int root, const struct repo_id *from, const struct commit_hand *hand, const struct scan_run *const *runs, size_t count,
                struct commit_tip *tip, struct err *err);
#endif
