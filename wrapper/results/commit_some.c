/* commit_some.c: one commit of some runs on top of another; see commit_some.h. */
#include "results/commit_some.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "git/objects.h"
#include "results/message.h"
#include "results/take.h"
#include "results/witness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 1 << 18 };

int commit_hand_read(struct results *s, bool prompt, struct commit_hand *ret, struct err *err)
{
    struct arena *a = s->arena;
    if (signer_from(s->repo, a, prompt, &ret->signer, err) || witness_from(s, prompt, &ret->witness, err))
        return -1;
    if (!s->public_profile)
        return commit_author(s->repo, a, &ret->author, err) || commit_committer(s->repo, a, &ret->committer, err) ? -1 : 0;
    ret->author = (struct commit_person){
        .name = s->site, .email = arena_printf(a, "%s@benchwrap.invalid", s->site), .time_s = clock_wall_ms() / 1000};
    ret->committer = ret->author;
    return ret->author.email ? 0 : err_memory(err, "a commit");
}

bool commit_is_private(int root, const char *experiment, const char *id)
{
    char path[128];
    CLEANUP_BUF struct buf text;
    snprintf(path, sizeof path, "%.24s/%s/tags/benchwrap.profile", experiment, id);
    buf_init(&text, 64);
    return fs_read(root, path, 60, FS_CUT, &text, NULL) < 0 || !str_is(str_trim(buf_text(&text)), "public");
}

int commit_tip_read(struct results *s, const struct repo_id *commit, struct commit_tip *ret, struct err *err)
{
    struct arena a;
    struct repo_commit c = {.parents = 0};
    *ret = (struct commit_tip){.have = commit != NULL};
    if (!commit)
        return 0;
    ret->commit = *commit;
    arena_init(&a, 0);
    int rc = repo_commit_read(s->repo, commit, &a, &c, err);
    ret->tree = c.tree;
    arena_deinit(&a);
    return rc;
}

struct edits {
    struct tree_edit *list;
    size_t count, room;
};

static struct tree_edit *edits_reserve(struct edits *e, size_t more)
{
    return ARRAY_FITS(e->list, e->room, e->count + more) ? e->list + e->count : NULL;
}

/* Copies the experiment's file from another commit, where the tree on disk does not have it (a bare
 * repository). */
static int copy_experiment(struct results *s, const struct repo_id *from, const char *experiment, const struct repo_id *base,
                           struct tree_edit *to, size_t *count, struct err *err)
{
    struct repo_entry e;
    const char *path = arena_printf(s->arena, "%s/%s/meta.yaml", s->prefix, experiment);
    if (!path)
        return err_memory(err, "a commit");
    int rc = base ? repo_find(s->repo, base, path, &e, err) : 1;
    if (rc == 1 && (rc = repo_find(s->repo, from, path, &e, err)) == 0)
        to[(*count)++] = (struct tree_edit){.path = path, .mode = e.mode, .id = e.id};
    return rc < 0 ? -1 : 0;
}

/* Adds the edits for an experiment's own files: from the disk where it exists there, else from the
 * commit `from`. Returns non-zero with err. */
static int add_experiment(struct results *s, int root, const struct repo_id *from, const char *experiment, const struct repo_id *base,
                          struct edits *e, struct err *err)
{
    struct tree_edit *to = edits_reserve(e, TAKE_EXPERIMENT_MAX);
    size_t more = 0;
    if (!to)
        return err_memory(err, "a commit");
    bool here = root >= 0 && faccessat(root, experiment, F_OK, 0) == 0;
    int rc = here || !from ? take_experiment(s, root, experiment, base, to, &more, err)
                           : copy_experiment(s, from, experiment, base, to, &more, err);
    e->count += more;
    return rc;
}

/* Adds an edit for each run, and those of its experiment before the first one. Paths are in the
 * arena. Returns -1 with err. */
static int edits_collect(struct results *s, int root, const struct repo_id *from, const struct scan_run *const *runs, size_t count,
                         const struct repo_id *base, struct edits *e, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct tree_edit *to = edits_reserve(e, 1);
        const char *path = arena_printf(a, "%s/%s/%s", s->prefix, runs[i]->experiment, runs[i]->id);
        if (!to || !path)
            return err_memory(err, "a commit");
        *to = (struct tree_edit){.path = path, .mode = REPO_MODE_DIR, .id = runs[i]->tree};
        e->count++;
        if ((i == 0 || strcmp(runs[i]->experiment, runs[i - 1]->experiment) != 0) &&
            add_experiment(s, root, from, runs[i]->experiment, base, e, err))
            return -1;
    }
    return 0;
}

int commit_some(struct results *s, int root, const struct repo_id *from, const struct commit_hand *hand, const struct scan_run *const *runs,
                size_t count, struct commit_tip *tip, struct err *err)
{
    struct commit_tip made = {.have = true};
    const struct repo_id *base = tip->have ? &tip->tree : NULL;
    struct edits e = {0};
    struct arena a;
    CLEANUP_BUF struct buf message;
    arena_init(&a, 0);
    buf_init(&message, MESSAGE_BYTES);
    int rc = edits_collect(s, root, from, runs, count, base, &e, &a, err);
    if (rc == 0)
        rc = objects_edit_tree(s->repo, base, e.list, e.count, &made.tree, err);
    if (rc == 0) {
        message_print(&message, root, runs, count);
        struct commit_draft d = {.tree = made.tree,
                                 .parents = &tip->commit,
                                 .parent_count = tip->have,
                                 .author = hand->author,
                                 .committer = hand->committer,
                                 .message = message.p};
        rc = message.failed ? err_memory(err, "a commit") : commit_write(s->repo, &d, &hand->signer, &made.commit, err);
    }
    free(e.list);
    arena_deinit(&a);
    if (rc)
        return -1;
    *tip = made;
    return 0;
}
