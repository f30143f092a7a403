/* share.h: the parts of `benchwrap share`: which runs the target never had, the site's branch made
 * of them, the push, the pull request.
 *
 * What is shared is decided by run directories, not by commits: a run that is or was in the target
 * is not offered again, however it was
 * merged. The runs on disk and in this clone's branch stay as they are, whatever fails. */
#ifndef SHARE_SHARE_H
#define SHARE_SHARE_H
#include "check/check.h"
#include "runs/run_ids.h"
#include "runs/runs.h"
#include "forge/forge.h"
#include "git/program.h"
#include "plan/results.h"

struct share_run {
    char id[33], experiment[24]; /* as the folders are called */
    bool on_disk, in_branch;
    const char *left_out; /* why it is not shared; NULL: it is */
    const char *corrects; /* id of the run that this one amends or retracts; NULL: none */
    bool retracts;
    const char *annotates; /* id of the run that this one annotates; NULL: none */
    const char *site; /* that recorded it; NULL: not known */
    struct tree_run *run; /* its meta; NULL: it is in the branch only */
    const char *benchmark, *verdict, *headline; /* NULL: not known */
    uint64_t files, bytes;
    size_t redacted, withheld; /* places where a secret or a name was; files that a public run does not show */
};

struct share {
    struct arena *arena;
    char **env;
    FILE *notes; /* progress */
    struct share_options {
        const char *remote, *to, *base, *token_file; /* NULL: not given */
        bool no_verify, no_pull_request, reopen,
            private; /* without the reviewer's hook; only push; reopen the site's closed pull request; also runs with profile private */
    } options;
    struct plan plan;
    struct runs runs; /* on disk; root -1: no tree here */
    struct results results;
    struct repo *repo; /* the results' */
    const char *dir; /* where the user's git runs */
    const char *remote, *to; /* remote of the target; remote that is pushed to (a fork) */
    const char *base, *branch, *site;
    struct forge_place target_place, source_place;
    struct repo_id target; /* tip of the target, as it was fetched */
    struct repo_id old_target; /* the target that the site's branch was made of, where rewritten */
    bool rewritten; /* by force: the target no longer holds it */
    struct repo_id pushed, seen; /* the site's branch as pushed last, and as it is there now */
    bool was_pushed, is_seen;
    struct share_run *list; /* by experiment, then id; those that the target never had */
    size_t count, room, shared; /* shared: without those left out */
    size_t local, known; /* runs on disk or in the branch; of these in the target */
    struct repo_id tip; /* what is pushed */
    size_t commits; /* between target and tip */
    bool behind; /* the tip is made of an older target */
    bool renew; /* it must be made of the target as it is now */
    struct check_state check; /* what it found in the commits between target and tip */
    int64_t ahead_ms; /* by which this machine's clock is ahead of the forge's; 0: it is not, or not known */
    const char *no_check; /* why its refusals do not count; NULL: they do */
    size_t refused; /* runs left out because of its findings */
    bool dry;
};

/* ---- share_place.c: where from, where to ---- */
/* Finds repository, remotes, target branch, the site's branch and the forge, and fetches the target.
 * 0; -1 with err. */
int share_find_places(struct share *s, struct err *err);
/* Runs the user's git in the repository. args: without "git", NULL-terminated. 0, whatever its
 * status, and the caller frees *ret; -1 with err: it could not be run, ran too long or printed too
 * much. */
int share_git(struct share *s, double limit_s, const char *const *args, struct str in, struct program_end *ret, struct err *err);

/* Returns the name of a ref that is this clone's alone: "pushed", the site's branch as pushed last;
 * "base", the target that it was made of. In the arena. */
const char *share_ref(const struct share *s, const char *what);

/* Returns the name of a note about the target, a file in the folder of share_note_folder (what:
 * "removed", "lost"), in the arena; NULL: out of memory. */
const char *share_note_file(const struct share *s, const char *what);
/* Opens the folder of notes, next to the repository's objects, and makes it where it is not there.
 * The caller closes it. -1: it cannot be opened. */
int share_note_folder(const struct share *s);

/* ---- share_runs.c: what ---- */
/* Lists the runs that the target never had, with what is left out and why. 0; -1 with err. */
int share_find_runs(struct share *s, struct err *err);
/* Sets files, bytes and redactions of each run, and what the text has about it; counts s->shared. */
void share_measure(struct share *s);

/* ---- share_sites.c: runs of other sites ---- */
#define SHARE_LOST "the target has lost it, and another site published it"
/* Leaves out each run of another site that an earlier state of the target had (a forced push removed
 * it), and notes it for good; that the checked-out branch has; and where the target was rewritten,
 * those that are not on this disk. 0; -1 with err. */
int share_leave_out_lost(struct share *s, struct err *err);
/* Returns how many shared runs have another site's name, and appends the first names, with commas between them. */
size_t share_other_sites(const struct share *s, struct buf *names);

/* ---- share_corrections.c: retractions and amendments ---- */
/* Opens the folder with the runs of the site's branch. 0, to be left by the caller; 1: there is no
 * branch, or it has no runs; -1: err. */
int share_branch_folder(const struct share *s, struct folder *ret, struct err *err);
/* Fills ->corrects, and leaves out each retracted run that was never pushed, with all that corrects it. */
int share_leave_out_retracted(struct share *s, struct err *err);
/* Where a run or what corrects it is left out, the other one is left out, too. Returns how many more are. */
size_t share_leave_out_related(struct share *s);

/* ---- share_branch.c: the site's branch ---- */
/* Sets s->rewritten and s->old_target. 0; -1 with err. */
int share_find_rewritten(struct share *s, struct err *err);
/* Sets s->tip to the site's branch with the shared runs and nothing else that the target lacks. In
 * a dry run the commits are made, and the branch stays where it is. 0; -1 with err, also where the
 * branch has other changes. */
int share_build(struct share *s, struct err *err);

/* ---- share_check.c: the reviewer's check, before anything leaves ---- */
/* Checks what s->tip brings to the target, as `benchwrap check --range` does, into s->check. Runs that it would refuse are left out with the reason,
 * unless s->no_check is set. 1: the branch must be built again: runs were left out, or it was made of an older target, which may lack what the
 * runs refer to. 0: no refusal is left. -1: err; also where the refusal is of no run. */
int share_check(struct share *s, struct err *err);

/* ---- share_push.c ---- */
enum share_pushed { SHARE_PUSHED, SHARE_THERE /* it was there already */ };
/* Pushes s->tip to the site's branch of the remote. 0; -1 with err, also where it is refused. */
int share_push(struct share *s, enum share_pushed *ret, struct err *err);

/* ---- share_text.c ---- */
/* Appends the title: the site and the first experiments, at most 255 characters. */
void share_title(const struct share *s, struct buf *to);
/* Appends the text of the pull request: Markdown between two marks; what people write around it stays.
 * 0; -1 with err. */
int share_text(struct share *s, struct buf *to, struct err *err);
/* Appends the text of a pull request with `ours` in the place of the old one between the marks.
 * False: the marks are gone, so another author owns it now. */
bool share_text_refresh(const char *old, struct str ours, struct buf *to);

/* ---- share_pull.c: the pull request ---- */
enum share_outcome {
    SHARE_OPENED,
    SHARE_REFRESHED,
    SHARE_BY_HAND /* no token, or no known forge */,
    SHARE_CLOSED_BY_HAND,
    SHARE_NO_FORGE,
    SHARE_FAILED
};
struct share_request {
    enum share_outcome outcome;
    struct forge_pull pull; /* with OPENED, REFRESHED, CLOSED_BY_HAND */
    const char *link; /* with BY_HAND; NULL: not known */
    const char *remark; /* about the token, or NULL */
};
struct share_forge;
/* Opens the forge before anything is pushed, and searches the branch's pull requests; one that was
 * closed by hand makes request->outcome SHARE_CLOSED_BY_HAND. *ret is NULL without a token, a forge
 * or the wish. 0; -1 with err. */
int share_forge_open(struct share *s, struct share_forge **ret, struct share_request *request, struct err *err);
/* Opens the pull request after a push, or refreshes it. 0; -1 with err: the runs are pushed all the
 * same. */
int share_forge_request(struct share *s, struct share_forge *f, struct share_request *request, struct err *err);
void share_forge_close(struct share_forge *f); /* NULL is allowed */
#endif
