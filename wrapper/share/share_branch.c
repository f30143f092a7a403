/* share_branch.c: the branch that share pushes: the target and on it the runs that it never had. An
 * existing branch that has this content is used; else it is made again. */
#include "share/share.h"

#include "base/progress.h"
#include "git/objects.h"
#include "git/ref.h"
#include "results/commit_some.h"
#include "results/take.h"
#include "results/witness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COMMITS_MAX = 100, /* GitHub merges no more by rebase */
    TRIES = 5,
    BATCH_RUNS = 500,
    BATCH_BYTES = 256 << 20,
    WAIT_S = 30
};

/* ---- what the branch has brought since it left the target ---- */

struct brought {
    struct share *s;
    struct run_ids runs;
    const char *other; /* a path that is no new run, or NULL */
    struct err *err;
};

/* Returns whether the path, below the tree's folder, is a file of an experiment. */
static bool is_experiment_file(const char *path)
{
    const char *slash = strchr(path, '/');
    return slash && (strcmp(slash, "/meta.yaml") == 0 || strcmp(slash, "/tags") == 0 || strncmp(slash, "/tags/", 6) == 0);
}

/* Notes what one path of the branch adds to its base: a new run goes to b->runs, files of an
 * experiment are accepted. Returns 2 with b->other for any other change, -1 with err. */
static int note_difference(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is)
{
    struct brought *b = context;
    const char *prefix = b->s->results.prefix;
    size_t n = strlen(prefix), length = strlen(path), parts = 1;
    bool folder = is && is->mode == REPO_MODE_DIR;
    if (folder && length <= n && strncmp(path, prefix, length) == 0 && (!prefix[length] || prefix[length] == '/'))
        return 0; /* on the way to it */
    if (length > n && strncmp(path, prefix, n) == 0 && path[n] == '/') {
        const char *below = path + n + 1, *last = strrchr(path, '/') + 1;
        for (const char *p = below; *p; p++)
            parts += *p == '/';
        if (folder && parts == 1)
            return 0;
        if (folder && !was && parts == 2 && record_is_id(str_of(last)))
            return run_ids_add(&b->runs, last) ? err_memory(b->err, "the branch") : REPO_SKIP;
        if (is && !was && is_experiment_file(below))
            return 0;
    }
    b->other = arena_printf(b->s->arena, "%s", path);
    return 2;
}

struct branch {
    struct repo_id tip, base;
    bool exists, has_base;
    size_t commits;
};

static int count_commit(void *context, const struct repo_id *id)
{
    (void)id;
    return ++*(size_t *)context > COMMITS_MAX ? 1 : 0;
}

/* Reads tip, number of commits, and common ancestor with the target of a branch. A branch that does
 * not exist is no error: ret->exists is false. Returns -1 with err. */
static int read_branch(struct share *s, const char *ref, struct branch *ret, struct err *err)
{
    *ret = (struct branch){0};
    int rc = repo_ref(s->repo, ref, &ret->tip, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    ret->exists = true;
    rc = repo_merge_base(s->repo, &ret->tip, &s->target, &ret->base, err);
    if (rc < 0)
        return -1;
    ret->has_base = rc == 0;
    rc = repo_history(s->repo, &ret->tip, &s->target, count_commit, &ret->commits, err);
    return rc < 0 ? -1 : 0;
}

static int tree_of(struct share *s, const struct repo_id *commit, struct repo_id *ret, struct err *err)
{
    struct repo_commit c;
    if (repo_commit_read(s->repo, commit, s->arena, &c, err))
        return -1;
    *ret = c.tree;
    return 0;
}

static bool same_runs(const struct share *s, const struct run_ids *ids)
{
    if (ids->count != s->shared)
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].left_out && !run_ids_has(ids, s->list[i].id))
            return false;
    return true;
}

int share_find_rewritten(struct share *s, struct err *err)
{
    struct repo_id common;
    if (repo_ref(s->repo, share_ref(s, "base"), &s->old_target, NULL))
        return 0;
    int rc = repo_merge_base(s->repo, &s->old_target, &s->target, &common, err);
    s->rewritten = rc == 1 || (rc == 0 && !repo_id_eq(&common, &s->old_target));
    return rc < 0 ? -1 : 0;
}

/* Finds the commit at which the branch left a former state of the target. Returns 1 with *ret where
 * the target no longer holds that commit: the branch holds files of it, and must be made again. 0:
 * it holds it, or was not rewritten; -1 with err. */
static int find_lost_base(struct share *s, const struct branch *b, struct repo_id *ret, struct err *err)
{
    int rc = s->rewritten ? repo_merge_base(s->repo, &s->old_target, &b->tip, ret, err) : 1;
    if (rc)
        return rc < 0 ? -1 : 0;
    int held = repo_contains(s->repo, &s->target, ret, err);
    return held < 0 ? -1 : !held;
}

/* Returns 1 where the branch is as it shall be, 0 where it must be made again, -1 with err. */
static int branch_is_current(struct share *s, const struct branch *b, struct err *err)
{
    struct brought brought = {.s = s, .err = err};
    struct repo_id was, is, lost_base;
    if (!b->exists)
        return 0;
    int rewritten = find_lost_base(s, b, &lost_base, err);
    bool has_base = rewritten > 0 || b->has_base;
    if (rewritten < 0 || (has_base && tree_of(s, rewritten ? &lost_base : &b->base, &was, err)) || tree_of(s, &b->tip, &is, err))
        return -1;
    int rc = repo_diff(s->repo, has_base ? &was : NULL, &is, NULL, note_difference, &brought, err);
    run_ids_sort(&brought.runs);
    bool good = rc == 0 && !rewritten && has_base && b->commits <= COMMITS_MAX && same_runs(s, &brought.runs) &&
                !(s->renew && !repo_id_eq(&b->base, &s->target));
    run_ids_deinit(&brought.runs);
    if (rc == 2)
        return err_set(
            err, ERR_INPUT,
            "the branch %s has changes that are no new runs (%.200s), which would be lost: put them on a branch of their own (git branch mine %s), take them out of "
            "this one (git branch -f %s %s/%s), and share again",
            s->branch, brought.other ? brought.other : "?", s->branch, s->branch, s->remote, s->base);
    return rc < 0 ? -1 : good;
}

/* ---- make the branch ---- */

struct branch_making {
    struct share *s;
    const struct branch *old;
    struct commit_hand hand;
    struct commit_tip tip;
    struct scan_run *runs; /* of one batch */
    const struct scan_run **list;
    size_t count;
    uint64_t bytes;
};

/* Adds a run to the batch with its tree: as it was committed, else from the disk. A run that cannot
 * be committed is left out with the reason. */
static int branch_add_run(struct branch_making *m, struct share_run *r, struct err *err)
{
    struct share *s = m->s;
    struct repo_entry there;
    struct scan_run *to = &m->runs[m->count];
    const char *why = NULL, *path = arena_printf(s->arena, "%s/%s/%s", s->results.prefix, r->experiment, r->id);
    *to = (struct scan_run){.experiment = r->experiment};
    memcpy(to->id, r->id, sizeof to->id);
    if (!path)
        return err_memory(err, "the branch");
    int rc = r->in_branch && m->old->exists ? repo_find(s->repo, &m->old->tip, path, &there, err) : 1;
    if (rc == 0)
        to->tree = there.id;
    else if (rc == 1 && r->on_disk)
        rc = witness_sign(&s->results, &m->hand.witness, s->runs.root, r->experiment, r->id, err)
                 ? -1
                 : take_run_objects(&s->results, s->runs.root, r->experiment, r->id, &to->tree, &why, err);
    if (rc == 1) {
        r->left_out = why ? why : "it is not there any more";
        s->shared--;
        return 0;
    }
    m->list[m->count] = to;
    m->count += rc == 0;
    m->bytes += r->bytes;
    return rc;
}

/* Commits the runs of the batch, if there are any, as one commit on m->tip, and writes its objects.
 * Returns -1 with err. */
static int end_batch(struct branch_making *m, struct err *err)
{
    struct share *s = m->s;
    if (!m->count)
        return 0;
    if (commit_some(&s->results, s->runs.root, m->old->exists ? &m->old->tip : NULL, &m->hand, m->list, m->count, &m->tip, err) ||
        objects_flush(s->repo, err))
        return -1;
    m->count = m->bytes = 0;
    s->commits++;
    return 0;
}

/* Commits all runs that are not left out on top of the target, in batches of up to BATCH_RUNS runs.
 * Sets s->tip and *who, the committer. No ref is moved. Returns -1 with err. */
static int commit_all(struct share *s, const struct branch *old, struct commit_person *who, struct err *err)
{
    struct branch_making m = {.s = s, .old = old, .runs = calloc(BATCH_RUNS, sizeof *m.runs), .list = calloc(BATCH_RUNS, sizeof *m.list)};
    struct progress p;
    int rc = !m.runs || !m.list ? err_memory(err, "the branch") : commit_hand_read(&s->results, isatty(STDIN_FILENO), &m.hand, err);
    if (rc == 0)
        rc = commit_tip_read(&s->results, &s->target, &m.tip, err) || objects_new(s->repo, err) ? -1 : 0;
    s->commits = 0;
    progress_begin(&p, s->notes, "committing run", s->count);
    for (size_t i = 0; rc == 0 && i < s->count; i++) {
        progress_show(&p, i + 1, NULL);
        if (!s->list[i].left_out)
            rc = branch_add_run(&m, &s->list[i], err);
        if (rc == 0 && (m.count == BATCH_RUNS || m.bytes > BATCH_BYTES))
            rc = end_batch(&m, err);
    }
    progress_clear(&p);
    if (rc == 0)
        rc = end_batch(&m, err);
    s->tip = m.tip.commit;
    s->behind = false;
    *who = m.hand.committer;
    objects_free(s->repo);
    free(m.runs);
    free(m.list);
    return rc ? -1 : 0;
}

/* Makes the branch, unless it is current. Returns 1 where another process was faster: read it
 * again. -1 with err. */
static int build_once(struct share *s, const struct ref_turn *turn, struct err *err)
{
    struct branch old;
    struct commit_person who;
    repo_refresh(s->repo);
    int rc = read_branch(s, s->results.branch, &old, err) ? -1 : branch_is_current(s, &old, err);
    if (rc < 0)
        return -1;
    if (rc == 1) {
        s->tip = old.tip;
        s->commits = old.commits;
        s->behind = !repo_id_eq(&old.base, &s->target);
        return 0;
    }
    if (!s->dry && ref_checked_out(s->repo, s->results.branch))
        return err_set(err, ERR_INPUT, "the branch %s is checked out, and cannot be replaced while it is: git switch %s", s->branch,
                       s->base);
    if (commit_all(s, &old, &who, err))
        return -1;
    if (s->dry)
        return 0;
    return ref_move(turn, s->repo, s->results.branch, old.exists ? &old.tip : NULL, &s->tip, &who, "benchwrap share", WAIT_S, err);
}

int share_build(struct share *s, struct err *err)
{
    struct ref_turn turn;
    int rc = ref_turn_take(&turn, s->repo, REF_TURN, WAIT_S, NULL, NULL, err);
    if (rc)
        return -1;
    rc = 1;
    for (int i = 0; i < TRIES && rc == 1; i++)
        rc = build_once(s, &turn, err);
    ref_turn_give(&turn);
    return rc ? err_wrap(err, "making the branch %s", s->branch) : 0;
}
