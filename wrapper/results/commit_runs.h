/* commit_runs.h: runs of the tree become commits on this clone's branch. */
#ifndef RESULTS_COMMIT_RUNS_H
#define RESULTS_COMMIT_RUNS_H
#include "results/results.h"

enum { COMMIT_BATCH_FROM = 1000 /* an experiment of this size is committed in batches: each commit writes all names of its folder */ };

enum commit_when {
    COMMIT_NOW,   /* all that is new, in one commit */
    COMMIT_EACH,  /* a commit for each run; runs of large experiments are left to a batch (counted in `later`), until the branch has rested a day */
    COMMIT_DAILY, /* all that is new in one commit, when the branch has rested a day; else all is left */
};
struct commit_wish {
    const char *mine;    /* while waiting for others: enough when this run (an id) has been committed by them; NULL */
    enum commit_when when;
    bool dry;            /* nothing is written */
    bool private_too;    /* also runs of the private profile into a public repository */
    bool prompt;         /* gpg or ssh may read from the terminal */
    double wait_s;       /* for other committers */
    void (*note)(void *context, const char *text); /* a sentence about a run that stays out; may be NULL */
    void (*progress)(void *context, size_t done, size_t total); /* may be NULL */
    void *context;
};
struct commit_done {
    size_t runs, commits; /* committed now */
    size_t later;         /* left to a batch */
    size_t out;           /* that cannot be committed: each was noted */
    uint64_t bytes;       /* of their files, before compression, without what the repository had */
    bool repacked;
    char tip[REPO_HEX];   /* the branch's, "" if it does not exist */
};
/* Commits new runs of the tree as the wish has it. What a kill interrupts is done by the next call.
 * 0; 1: another committer holds the turn for longer than wait_s (err filled); -1 with err. */
int commit_runs(struct results *s, const struct commit_wish *w, struct commit_done *ret, struct err *err);
#endif
