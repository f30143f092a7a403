/* share_corrections.c: a run, its retraction and its amendments leave the site together or not at all. */
#include "runs/annotations.h"
#include "share/share.h"
#include "git/folder.h"

#include <string.h>

struct chains {
    struct share *s;
    struct corrections corrections; /* all that the new runs hold */
    struct run_ids pushed; /* runs that this clone has pushed: others may have them */
    struct folder disk, branch; /* .ops NULL: there is none */
};

/* Returns the run of this id among those that are shared; NULL: none. */
static struct share_run *find_new(const struct share *s, const char *id)
{
    for (size_t i = 0; id && i < s->count; i++)
        if (strcmp(s->list[i].id, id) == 0)
            return &s->list[i];
    return NULL;
}

/* Returns the run that a chain of corrections goes back to; NULL: it is no new run, so the target
 * has it. */
static const struct share_run *first_of(const struct share *s, const struct share_run *r)
{
    enum { CHAIN_MAX = 100 };
    for (int hops = 0; r && r->corrects && hops < CHAIN_MAX; hops++)
        r = find_new(s, r->corrects);
    return r;
}

static const struct folder *folder_of(const struct chains *c, const struct share_run *r)
{
    const struct folder *f = r->on_disk ? &c->disk : &c->branch;
    return f->ops ? f : NULL;
}

/* Reads what the run corrects or annotates. A deleted correction corrects nothing (as in
 * runs.c). */
static void read_correction(struct chains *c, struct share_run *r)
{
    const struct folder *tree = folder_of(c, r);
    struct arena *a = c->s->arena;
    struct tree_run *run;
    if (!tree || !correction_possible(r->id) || tree_find_in(tree, r->id, TREE_META, a, &run, NULL) ||
        strcmp(run->lifecycle, "deleted") == 0)
        return;
    r->corrects = correction_target(tree, run, a, &r->retracts);
    r->retracts = r->retracts && r->corrects;
    r->annotates = r->corrects ? NULL : annotation_target(tree, run, a);
    corrections_add(&c->corrections, run, r->corrects, r->retracts);
}

static bool is_retracted(const struct chains *c, const struct share_run *r)
{
    return !corrections_shown(&c->corrections, r->id);
}

/* Returns whether the run has a parent run that is not left out as retracted. The parent run has
 * values of its child runs, and check compares both: a retracted child run is shared with it. */
static bool parent_goes(const struct chains *c, const struct share_run *r)
{
    const struct folder *tree = folder_of(c, r);
    struct arena *a = c->s->arena;
    struct tree_run *run;
    if (!tree || tree_find_in(tree, r->id, TREE_META, a, &run, NULL))
        return false;
    const char *parent = tree_file(tree, run, "tags/mlflow.parentRunId", 64, a);
    const struct share_run *found = find_new(c->s, parent);
    return parent && !(found && is_retracted(c, found));
}

int share_branch_folder(const struct share *s, struct folder *ret, struct err *err)
{
    struct repo_id tip;
    struct repo_entry mlruns;
    if (repo_ref(s->repo, s->results.branch, &tip, NULL) || repo_find(s->repo, &tip, s->results.prefix, &mlruns, NULL) ||
        mlruns.mode != REPO_MODE_DIR)
        return 1;
    return git_folder_open(s->repo, &mlruns.id, ret) ? err_sys(err, "reading the branch %s", s->branch) : 0;
}

/* Leaves out, with all their corrections, the runs that were retracted before this clone pushed them,
 * except child runs whose parent is shared. 0; -1 with err. The caller frees what c holds, also after
 * -1. */
static int leave_out_retracted(struct chains *c, struct err *err)
{
    struct share *s = c->s;
    if (s->runs.root >= 0)
        c->disk = folder_disk(s->runs.root);
    if (share_branch_folder(s, &c->branch, err) < 0)
        return -1;
    for (size_t i = 0; i < s->count; i++)
        read_correction(c, &s->list[i]);
    corrections_sort(&c->corrections);
    if (c->corrections.failed)
        return err_memory(err, "the list of corrections");
    if (!c->corrections.count)
        return 0;
    if (s->was_pushed && run_ids_of(s->repo, s->results.prefix, &s->pushed, &c->pushed, err))
        return -1;
    for (size_t i = 0; i < s->count; i++) {
        struct share_run *r = &s->list[i];
        const struct share_run *first = first_of(s, r);
        if (!r->left_out && first && is_retracted(c, first) && !run_ids_has(&c->pushed, first->id) && !parent_goes(c, first))
            r->left_out = "it was retracted before it was shared";
    }
    return 0;
}

int share_leave_out_retracted(struct share *s, struct err *err)
{
    struct chains c = {.s = s};
    int rc = leave_out_retracted(&c, err);
    folder_leave(&c.branch);
    corrections_deinit(&c.corrections);
    run_ids_deinit(&c.pushed);
    return rc;
}

size_t share_leave_out_related(struct share *s)
{
    size_t n = 0;
    for (bool again = true; again && !s->arena->failed;) {
        again = false;
        for (size_t i = 0; i < s->count; i++) {
            struct share_run *by = &s->list[i], *of = find_new(s, by->corrects), *annotated = find_new(s, by->annotates);
            if (annotated && annotated->left_out && !by->left_out) {
                by->left_out = arena_printf(s->arena, "it annotates the run %.8s, which stays here", annotated->id);
                again = true;
                n++;
            }
            if (!of || !of->left_out == !by->left_out)
                continue;
            if (of->left_out)
                by->left_out = arena_printf(s->arena, "it %s the run %.8s, which stays here", by->retracts ? "retracts" : "amends", of->id);
            else
                of->left_out =
                    arena_printf(s->arena, "the run %.8s, which %s it, stays here", by->id, by->retracts ? "retracts" : "amends");
            again = true;
            n++;
        }
    }
    return n;
}
