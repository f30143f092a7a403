/* commit_runs.c: runs of the tree become commits on this clone's branch; see commit_runs.h. */
#include "results/commit_runs.h"

#include "base/clock.h"
#include "base/fs.h"
#include "git/objects.h"
#include "git/ref.h"
#include "results/message.h"
#include "results/repack.h"
#include "results/take.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FLUSH_BYTES = 64 << 20, ATTEMPTS = 20, SINGLES_MAX = 100, BATCH_DAILY_S = 20 * 3600, REF_WAIT_S = 10, MESSAGE_BYTES = 1 << 16 };

struct work {
    struct results *s;
    const struct commit_wish *w;
    struct commit_done *done;
    struct err *err;
    struct scan scan;
    int root;
    struct commit_person author, committer;
    struct signer signer;
    struct repo_id base;
    bool have_base, is_tip;
};

static void stay_out(struct work *k, const struct scan_run *run, const char *why)
{
    k->done->out++;
    if (k->w->note)
        k->w->note(k->w->context, arena_printf(k->s->arena, "run %.8s is not committed: %s", run->id, why));
}

/* ---- who ---- */

static int choose_persons(struct work *k)
{
    struct arena *a = k->s->arena;
    if (signer_from(k->s->repo, a, k->w->prompt, &k->signer, k->err))
        return -1;
    if (!k->s->public_profile)
        return commit_author(k->s->repo, a, &k->author, k->err) || commit_committer(k->s->repo, a, &k->committer, k->err) ? -1 : 0;
    /* The site speaks, not a person: no name, no address, no time zone. */
    k->author = (struct commit_person){
        .name = k->s->site, .email = arena_printf(a, "%s@benchwrap.invalid", k->s->site), .time_s = clock_wall_ms() / 1000};
    k->committer = k->author;
    return k->author.email ? 0 : err_set(k->err, ERR_SYSTEM, "out of memory");
}

/* ---- which ---- */

static bool is_private(const struct work *k, const struct scan_run *run)
{
    char path[128];
    CLEANUP_BUF struct buf text;
    snprintf(path, sizeof path, "%.24s/%s/tags/benchwrap.profile", run->experiment, run->id);
    buf_init(&text, 64);
    return fs_read(k->root, path, 60, FS_CUT, &text, NULL) < 0 || !str_is(str_trim(buf_text(&text)), "public");
}

/* Has the last batch of this branch been so long ago that a day's runs are due? */
static bool batch_is_due(struct work *k)
{
    struct repo_commit c;
    if (!k->have_base)
        return true;
    return repo_commit(k->s->repo, &k->base, k->s->arena, &c, NULL) == 0 && clock_wall_ms() / 1000 - c.committer_s > BATCH_DAILY_S;
}

static void leave(struct work *k, size_t i)
{
    k->scan.runs[i].done = true;
}

static int choose_runs(struct work *k)
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
        if (k->s->public_profile && !k->w->private_too && is_private(k, run)) {
            stay_out(k, run, "it was recorded with the private profile, and this repository is public (--private commits it all the same)");
            leave(k, i);
        } else if (large) {
            k->done->later++;
            leave(k, i);
        }
    }
    return 0;
}

/* Their files become objects; a pack is written whenever enough has come together, so that memory stays bounded. */
static int take_all(struct work *k)
{
    size_t taken = 0;
    for (size_t i = 0; i < k->scan.count; i++) {
        struct scan_run *run = &k->scan.runs[i];
        const char *why = NULL;
        if (run->done)
            continue;
        uint64_t before = objects_waiting(k->s->repo);
        int rc = take_run(k->s, k->root, run->experiment, run->id, &run->tree, &why, k->err);
        if (rc < 0)
            return -1;
        k->done->bytes += objects_waiting(k->s->repo) - before;
        if (rc) {
            stay_out(k, run, why ? why : "its files cannot be read");
            leave(k, i);
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

struct tip {
    struct repo_id commit, tree;
    bool have; /* false: there is no commit yet */
};

/* One commit of these runs on top of *tip, which it becomes. */
static int commit_some(struct work *k, const struct scan_run *const *runs, size_t count, struct tip *tip)
{
    struct results *s = k->s;
    struct tip made = {.have = true};
    const struct repo_id *base = tip->have ? &tip->tree : NULL;
    struct arena a;
    CLEANUP_BUF struct buf message;
    size_t n = 0;
    arena_init(&a, 0);
    struct tree_edit *edits = calloc(count, sizeof *edits);
    int rc = edits ? 0 : err_set(k->err, ERR_SYSTEM, "no memory for a commit");
    for (size_t i = 0; rc == 0 && i < count; i++) {
        edits[n++] = (struct tree_edit){
            .path = arena_printf(&a, "%s/%s/%s", s->prefix, runs[i]->experiment, runs[i]->id), .mode = REPO_MODE_DIR, .id = runs[i]->tree};
        if (i == 0 || runs[i]->experiment != runs[i - 1]->experiment) {
            size_t more = 0;
            struct tree_edit own[TAKE_EXPERIMENT_MAX];
            rc = take_experiment(s, k->root, runs[i]->experiment, base, own, &more, k->err);
            struct tree_edit *room = rc || !more ? NULL : realloc(edits, (n + more + count - i) * sizeof *edits);
            if (room) {
                edits = room;
                memcpy(edits + n, own, more * sizeof *own);
                n += more;
            } else if (rc == 0 && more)
                rc = err_set(k->err, ERR_SYSTEM, "no memory for a commit");
        }
    }
    if (rc == 0)
        rc = a.failed ? err_set(k->err, ERR_SYSTEM, "no memory for a commit")
                      : objects_edit_tree(s->repo, base, edits, n, &made.tree, k->err);
    if (rc == 0) {
        buf_init(&message, MESSAGE_BYTES);
        message_print(&message, k->root, runs, count);
        struct commit_draft d = {.tree = made.tree,
                                 .parents = &tip->commit,
                                 .parent_count = tip->have,
                                 .author = k->author,
                                 .committer = k->committer,
                                 .message = message.p};
        rc = message.failed ? err_set(k->err, ERR_SYSTEM, "no memory for a commit")
                            : commit_write(s->repo, &d, &k->signer, &made.commit, k->err);
    }
    free(edits);
    arena_deinit(&a);
    if (rc)
        return -1;
    *tip = made;
    k->done->commits++;
    return 0;
}

static int read_tip(struct work *k, struct tip *tip)
{
    struct arena a;
    struct repo_commit c;
    *tip = (struct tip){.commit = k->base, .have = k->have_base};
    if (!tip->have)
        return 0;
    arena_init(&a, 0);
    int rc = repo_commit(k->s->repo, &k->base, &a, &c, k->err);
    tip->tree = c.tree;
    arena_deinit(&a);
    return rc;
}

/* All commits on top of what the branch is now; then the branch is moved. 1: it has moved meanwhile. */
static int commit_once(struct work *k, const struct scan_run *const *runs, size_t count)
{
    struct tip tip;
    k->done->commits = 0;
    if (read_tip(k, &tip))
        return -1;
    if (k->w->when == COMMIT_EACH && count <= SINGLES_MAX) {
        for (size_t i = 0; i < count; i++)
            if (commit_some(k, &runs[i], 1, &tip))
                return -1;
    } else if (commit_some(k, runs, count, &tip))
        return -1;
    if (objects_flush(k->s->repo, k->err))
        return -1;
    int rc =
        ref_move(k->s->repo, k->s->branch, k->is_tip ? &k->base : NULL, &tip.commit, &k->committer, "benchwrap: runs", REF_WAIT_S, k->err);
    if (rc == 0)
        repo_id_hex(&tip.commit, k->done->tip);
    return rc;
}

static int look_at_base(struct work *k)
{
    int rc = results_base(k->s, &k->base, &k->is_tip, k->err);
    if (rc < 0)
        return -1;
    k->have_base = rc == 0;
    if (k->is_tip)
        repo_id_hex(&k->base, k->done->tip);
    return 0;
}

static int commit_all(struct work *k)
{
    const struct scan_run **runs = calloc(k->scan.count + 1, sizeof *runs);
    size_t n = 0;
    int rc = 1;
    if (!runs)
        return err_set(k->err, ERR_SYSTEM, "no memory for the runs' names");
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

static int work(struct work *k)
{
    struct results *s = k->s;
    if (ref_checked_out(s->repo, s->branch))
        return err_set(k->err, ERR_INPUT,
                       "%s is checked out: committing to it would make its files look deleted; switch to another branch (git switch main)",
                       s->branch + strlen("refs/heads/"));
    if (look_at_base(k) || scan_tree(s, NULL, &k->scan, k->err))
        return -1;
    if (k->scan.count == 0)
        return 0;
    if ((k->root = open(s->tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return err_sys(k->err, "reading %s", s->tree);
    if (choose_persons(k) || choose_runs(k))
        return -1;
    if (k->w->dry) {
        for (size_t i = 0; i < k->scan.count; i++)
            k->done->runs += !k->scan.runs[i].done;
        return 0;
    }
    if (objects_new(s->repo, k->err) || take_all(k) || commit_all(k))
        return -1;
    if (k->done->commits)
        k->done->repacked = repack_when_due(s->repo);
    return 0;
}

struct waiting {
    struct results *s;
    const char *mine;
};

/* While we wait, somebody else may have committed our run with his own. */
static bool somebody_did(void *context)
{
    const struct waiting *w = context;
    struct scan scan;
    bool none = scan_tree(w->s, w->mine, &scan, NULL) == 0 && scan.count == 0;
    scan_deinit(&scan);
    return none;
}

int commit_runs(struct results *s, const struct commit_wish *w, struct commit_done *ret, struct err *err)
{
    struct ref_turn turn = {-1};
    struct work k = {.s = s, .w = w, .done = ret, .err = err, .root = -1};
    struct waiting waiting = {s, w->mine};
    *ret = (struct commit_done){0};
    int rc = w->dry ? 0 : ref_turn_take(&turn, s->repo, w->wait_s, w->mine ? somebody_did : NULL, &waiting, err);
    if (rc == 2)
        return 0;
    if (rc)
        return rc;
    repo_refresh(s->repo);
    rc = work(&k);
    objects_free(s->repo);
    scan_deinit(&k.scan);
    fs_close(&k.root);
    ref_turn_give(&turn);
    if (rc) {
        ret->runs = 0;
        ret->commits = 0;
    }
    return rc;
}
