/* commit_runs.c: runs of the tree become commits on this clone's branch; see commit_runs.h. */
#include "results/commit_runs.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "git/objects.h"
#include "git/ref.h"
#include "results/commit_some.h"
#include "results/repack.h"
#include "results/take.h"
#include "results/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FLUSH_BYTES = 64 << 20, ATTEMPTS = 20, SINGLES_MAX = 100, BATCH_DAILY_S = 20 * 3600, REF_WAIT_S = 10 };

struct commit_work {
    struct results *s;
    const struct commit_wish *w;
    const struct ref_turn *turn;
    struct commit_done *done;
    struct err *err;
    struct scan scan;
    int root;
    struct commit_hand hand;
    struct repo_id base;
    bool have_base, is_tip;
};

static void stay_out(struct commit_work *k, const struct scan_run *run, const char *why)
{
    k->done->out++;
    if (k->w->note)
        k->w->note(k->w->context, arena_printf(k->s->arena, "run %.8s is not committed: %s", run->id, why));
}

/* ---- which ---- */

/* Returns whether the branch has no commit yet, or its last commit is more than BATCH_DAILY_S
 * seconds old. */
static bool batch_is_due(struct commit_work *k)
{
    struct repo_commit c;
    if (!k->have_base)
        return true;
    return repo_commit_read(k->s->repo, &k->base, k->s->arena, &c, NULL) == 0 && clock_wall_ms() / 1000 - c.committer_s > BATCH_DAILY_S;
}

static void leave_run_out(struct commit_work *k, size_t i)
{
    k->scan.runs[i].done = true;
}

/* Leaves out runs that this commit must not have: private ones in a public repository, and those of
 * large experiments whose batch is not due. -1 with k->err. */
static int choose_runs(struct commit_work *k)
{
    bool due = k->w->when == COMMIT_NOW || batch_is_due(k);
    const char *experiment = NULL;
    bool large = false;
    for (size_t i = 0; i < k->scan.count; i++) {
        struct scan_run *run = &k->scan.runs[i];
        if (run->experiment != experiment) {
            size_t n = 0;
            experiment = run->experiment;
            if (!due && k->have_base && scan_count(k->s, &k->base, experiment, &n, k->err))
                return -1;
            large = !due && (n >= COMMIT_BATCH_FROM || k->w->when == COMMIT_DAILY);
        }
        if (k->s->public_profile && !k->w->private_too && commit_is_private(k->root, run->experiment, run->id)) {
            stay_out(k, run, "it was recorded with the private profile, and this repository is public (--private commits it all the same)");
            leave_run_out(k, i);
        } else if (large) {
            k->done->later++;
            leave_run_out(k, i);
        }
    }
    return 0;
}

/* Stores the files of the runs as objects; a pack is written whenever enough has come together, so
 * that memory stays bounded. Returns -1 with err. */
static int store_run_objects(struct commit_work *k)
{
    size_t taken = 0;
    for (size_t i = 0; i < k->scan.count; i++) {
        struct scan_run *run = &k->scan.runs[i];
        const char *why = NULL;
        if (run->done)
            continue;
        if (witness_sign(k->s, &k->hand.witness, k->root, run->experiment, run->id, k->err))
            return -1;
        uint64_t before = objects_waiting(k->s->repo);
        int rc = take_run_objects(k->s, k->root, run->experiment, run->id, &run->tree, &why, k->err);
        if (rc < 0)
            return -1;
        k->done->bytes += objects_waiting(k->s->repo) - before;
        if (rc) {
            stay_out(k, run, why ? why : "its files cannot be read");
            leave_run_out(k, i);
        } else
            taken++;
        if (objects_waiting(k->s->repo) > FLUSH_BYTES && objects_flush(k->s->repo, k->err))
            return -1;
        if (k->w->progress)
            k->w->progress(k->w->context, i + 1, k->scan.count);
    }
    k->done->runs = taken;
    return 0;
}

/* ---- the commits ---- */

/* Makes all commits on top of the branch's tip, then moves the branch. 1: another process has
 * moved it. */
static int commit_once(struct commit_work *k, const struct scan_run *const *runs, size_t count)
{
    struct commit_tip tip;
    k->done->commits = 0;
    if (commit_tip_read(k->s, k->have_base ? &k->base : NULL, &tip, k->err))
        return -1;
    if (k->w->when == COMMIT_EACH && count <= SINGLES_MAX) {
        for (size_t i = 0; i < count; i++)
            if (commit_some(k->s, k->root, NULL, &k->hand, &runs[i], 1, &tip, k->err))
                return -1;
        k->done->commits = count;
    } else if (commit_some(k->s, k->root, NULL, &k->hand, runs, count, &tip, k->err))
        return -1;
    else
        k->done->commits = 1;
    if (objects_flush(k->s->repo, k->err))
        return -1;
    int rc = ref_move(k->turn, k->s->repo, k->s->branch, k->is_tip ? &k->base : NULL, &tip.commit, &k->hand.committer, "benchwrap: runs",
                      REF_WAIT_S, k->err);
    if (rc == 0)
        repo_id_hex(&tip.commit, k->done->tip);
    return rc;
}

static int look_at_base(struct commit_work *k)
{
    int rc = results_base(k->s, &k->base, &k->is_tip, k->err);
    if (rc < 0)
        return -1;
    k->have_base = rc == 0;
    if (k->is_tip)
        repo_id_hex(&k->base, k->done->tip);
    return 0;
}

/* Commits the runs of k->scan that wait, again where another process moved the branch, ATTEMPTS
 * times. -1 with k->err. */
static int commit_waiting_runs(struct commit_work *k)
{
    const struct scan_run **runs = calloc(k->scan.count + 1, sizeof *runs);
    size_t n = 0;
    int rc = 1;
    if (!runs)
        return err_memory(k->err, "the runs' names");
    for (size_t i = 0; i < k->scan.count; i++)
        if (!k->scan.runs[i].done)
            runs[n++] = &k->scan.runs[i];
    if (n == 0)
        rc = 0;
    for (int attempt = 0; rc == 1 && attempt < ATTEMPTS; attempt++) {
        if (attempt && look_at_base(k))
            rc = -1;
        else
            rc = commit_once(k, runs, n);
    }
    free(runs);
    return rc ? -1 : 0;
}

/* Finds the runs that no commit has, stores their objects and commits them; with w->dry it only
 * counts them. The caller holds the lock, except with w->dry. Returns -1 with err. */
static int commit_runs_locked(struct commit_work *k)
{
    struct results *s = k->s;
    if (ref_checked_out(s->repo, s->branch))
        return err_set(k->err, ERR_INPUT,
                       "%s is checked out: committing to it would show its files as deleted; switch to another branch (git switch main)",
                       s->branch + strlen("refs/heads/"));
    if (look_at_base(k) || scan_tree(s, NULL, &k->scan, k->err))
        return -1;
    if (k->scan.count == 0)
        return 0;
    if ((k->root = place_open_folder(s->tree, 0)) < 0)
        return err_sys(k->err, "reading %s", s->tree);
    if (commit_hand_read(s, k->w->prompt, &k->hand, k->err) || choose_runs(k))
        return -1;
    if (k->w->dry) {
        for (size_t i = 0; i < k->scan.count; i++)
            k->done->runs += !k->scan.runs[i].done;
        return 0;
    }
    return objects_new(s->repo, k->err) || store_run_objects(k) || commit_waiting_runs(k) ? -1 : 0;
}

struct commit_waiting {
    struct results *s;
    const char *mine;
    struct repo_id tip; /* at the last check */
    bool looked;
};

/* Returns, while this process waits, whether another one has committed its run: checked whenever
 * the branch has moved. */
static bool has_other_committed_run(void *context)
{
    struct commit_waiting *w = context;
    struct repo_id tip;
    struct scan scan;
    if (repo_ref(w->s->repo, w->s->branch, &tip, NULL) || (w->looked && repo_id_eq(&tip, &w->tip)))
        return false;
    w->tip = tip;
    w->looked = true;
    repo_refresh(w->s->repo);
    bool none = scan_tree(w->s, w->mine, &scan, NULL) == 0 && scan.count == 0;
    scan_deinit(&scan);
    return none;
}

int commit_runs(struct results *s, const struct commit_wish *w, struct commit_done *ret, struct err *err)
{
    struct ref_turn turn = {-1};
    struct commit_work k = {.s = s, .w = w, .turn = &turn, .done = ret, .err = err, .root = -1};
    struct commit_waiting waiting = {.s = s, .mine = w->mine};
    *ret = (struct commit_done){0};
    int rc = w->dry ? 0 : ref_turn_take(&turn, s->repo, REF_TURN, w->wait_s, w->mine ? has_other_committed_run : NULL, &waiting, err);
    if (rc == 2)
        return 0;
    if (rc)
        return rc;
    repo_refresh(s->repo);
    rc = commit_runs_locked(&k);
    objects_free(s->repo);
    scan_deinit(&k.scan);
    fs_close(&k.root);
    ref_turn_give(&turn);
    if (rc == 0 && ret->commits) /* others need not wait for it */
        ret->repacked = repack_when_due(s->repo);
    if (rc) {
        ret->runs = 0;
        ret->commits = 0;
    }
    return rc;
}
