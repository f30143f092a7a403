/* share_branch.c: our branch: the target and on it the runs that it never had. As it stands, where that is what it is; else made anew. */
#include "cmd/share.h"

#include "git/objects.h"
#include "git/ref.h"

#include <stdlib.h>
#include <string.h>

enum {
    COMMITS_MAX = 100, /* GitHub merges no more by rebase */
    TRIES = 5,
    DEPTH_MAX = 16,
    FILE_MAX = 1 << 30,
    BATCH_RUNS = 500,
    BATCH_BYTES = 256 << 20,
    WAIT_S = 30
};

/* ---- what our branch has brought since it left the target ---- */

struct brought {
    struct share *s;
    struct share_ids runs;
    const char *other; /* a path that is no new run, or NULL */
    struct err *err;
};

static bool is_experiment_file(const char *path)
{
    const char *slash = strchr(path + strlen("mlruns/"), '/');
    return slash && (strcmp(slash, "/meta.yaml") == 0 || strcmp(slash, "/tags") == 0 || strncmp(slash, "/tags/", 6) == 0);
}

static int note_difference(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is)
{
    struct brought *b = context;
    size_t parts = 1;
    for (const char *p = path; *p; p++)
        parts += *p == '/';
    bool below = strcmp(path, "mlruns") == 0 || strncmp(path, "mlruns/", 7) == 0, folder = is && is->mode == REPO_MODE_DIR;
    if (below && folder && parts < 3)
        return 0;
    if (below && folder && !was && parts == 3 && strlen(strrchr(path, '/')) == 33) {
        char id[33];
        memcpy(id, strrchr(path, '/') + 1, 33);
        return share_ids_add(&b->runs, id) ? err_set(b->err, ERR_SYSTEM, "no memory") : REPO_SKIP;
    }
    if (below && is && !was && is_experiment_file(path))
        return 0;
    b->other = arena_printf(b->s->c->arena, "%s", path);
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

static int look_at_branch(struct share *s, const char *ref, struct branch *ret, struct err *err)
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
    if (repo_commit(s->repo, commit, s->c->arena, &c, err))
        return -1;
    *ret = c.tree;
    return 0;
}

static bool same_runs(const struct share *s, const struct share_ids *ids)
{
    if (ids->count != s->shared)
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].left_out && !share_ids_has(ids, s->list[i].id))
            return false;
    return true;
}

/* 1: it is as it shall be. 0: it must be made anew. */
static int stands(struct share *s, const struct branch *b, struct err *err)
{
    struct brought brought = {.s = s, .err = err};
    struct repo_id was, is;
    if (!b->exists)
        return 0;
    if ((b->has_base && tree_of(s, &b->base, &was, err)) || tree_of(s, &b->tip, &is, err))
        return -1;
    int rc = repo_diff(s->repo, b->has_base ? &was : NULL, &is, NULL, note_difference, &brought, err);
    share_ids_sort(&brought.runs);
    bool good = rc == 0 && b->has_base && b->commits <= COMMITS_MAX && same_runs(s, &brought.runs);
    share_ids_deinit(&brought.runs);
    if (rc == 2)
        return err_set(
            err, ERR_INPUT,
            "the branch %s has changes that are no new runs (%.200s), which would be lost: put them on a branch of their own (git branch mine %s), take them out of "
            "this one (git branch -f %s %s/%s), and share again",
            s->branch, brought.other ? brought.other : "?", s->branch, s->branch, s->remote, s->base);
    return rc < 0 ? -1 : good;
}

/* ---- a run as git's objects ---- */

struct writing {
    struct share *s;
    const struct folder *in;
    struct arena *a;
    struct row {
        const char *name;
        bool folder;
        struct repo_id id;
    } * rows;
    size_t count, room;
    unsigned depth;
    struct err *err;
};

static int write_folder(struct share *s, const struct folder *in, struct arena *a, unsigned depth, struct repo_id *ret, struct err *err);

static int write_entry(void *context, const struct folder_entry *e)
{
    struct writing *w = context;
    struct row row = {.name = arena_dup(w->a, e->name.p, e->name.n), .folder = e->kind == FOLDER_FOLDER};
    int rc;
    if (w->count == w->room) {
        size_t room = w->room ? 2 * w->room : 128;
        struct row *rows = realloc(w->rows, room * sizeof *rows);
        if (!rows)
            return err_set(w->err, ERR_SYSTEM, "no memory");
        w->rows = rows;
        w->room = room;
    }
    if (!row.name)
        return err_set(w->err, ERR_SYSTEM, "no memory");
    if (e->kind == FOLDER_FOLDER) {
        CLEANUP_FOLDER struct folder in = {0};
        rc = folder_enter(w->in, row.name, &in) ? err_sys(w->err, "cannot read %s", row.name)
                                                : write_folder(w->s, &in, w->a, w->depth + 1, &row.id, w->err);
        if (rc == 1) /* git knows no empty folder */
            return 0;
    } else {
        struct buf b CLEANUP_BUF;
        buf_init(&b, FILE_MAX);
        rc = folder_read(w->in, row.name, FILE_MAX - 1, &b)
                 ? err_sys(w->err, "cannot read %s", row.name)
                 : objects_write(w->s->repo, REPO_BLOB, b.p ? buf_text(&b) : STR(""), row.name, &row.id, w->err);
    }
    if (rc)
        return -1;
    w->rows[w->count++] = row;
    return 0;
}

static int by_row(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return repo_tree_compare(x->name, x->folder, y->name, y->folder);
}

/* 1: the folder is empty. */
static int write_folder(struct share *s, const struct folder *in, struct arena *a, unsigned depth, struct repo_id *ret, struct err *err)
{
    struct writing w = {.s = s, .in = in, .a = a, .depth = depth, .err = err};
    struct buf b CLEANUP_BUF;
    buf_init(&b, 64 << 20);
    int rc = depth > DEPTH_MAX ? err_set(err, ERR_INPUT, "folders more than %d deep", DEPTH_MAX) : folder_list(in, write_entry, &w);
    if (rc == -1 && err->kind == ERR_NONE)
        err_sys(err, "cannot read a folder");
    if (rc == 0 && w.count)
        qsort(w.rows, w.count, sizeof *w.rows, by_row);
    for (size_t i = 0; rc == 0 && i < w.count; i++) {
        buf_printf(&b, "%o %s", w.rows[i].folder ? (unsigned)REPO_MODE_DIR : (unsigned)REPO_MODE_FILE, w.rows[i].name);
        buf_add(&b, "", 1);
        buf_add(&b, w.rows[i].id.b, sizeof w.rows[i].id.b);
    }
    if (rc == 0 && w.count)
        rc = b.failed ? err_set(err, ERR_SYSTEM, "no memory") : objects_write(s->repo, REPO_TREE, buf_text(&b), NULL, ret, err);
    free(w.rows);
    return rc ? -1 : w.count ? 0 : 1;
}

/* ---- made anew ---- */

struct batch {
    struct share *s;
    const struct branch *old;
    struct repo_id parent, tree; /* commit, and its tree */
    struct tree_edit edits[2 * BATCH_RUNS];
    size_t count, runs;
    uint64_t bytes;
    const char *experiment; /* the last one, whose file is there */
    struct arena arena;
};

static int add_edit(struct batch *b, const char *path, unsigned mode, const struct repo_id *id, struct err *err)
{
    if (!path)
        return err_set(err, ERR_SYSTEM, "no memory");
    b->edits[b->count++] = (struct tree_edit){.path = path, .mode = mode, .id = *id};
    return 0;
}

/* The experiment's file, where the target lacks it: the same bytes at every site. */
static int add_experiment(struct batch *b, const struct share_run *r, struct err *err)
{
    struct share *s = b->s;
    struct repo_entry there;
    struct repo_id id;
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 20);
    const char *path = arena_printf(&b->arena, "mlruns/%s/meta.yaml", r->experiment);
    if (b->experiment && strcmp(b->experiment, r->experiment) == 0)
        return 0;
    b->experiment = r->experiment;
    int rc = path ? repo_find(s->repo, &b->tree, path, &there, err) : err_set(err, ERR_SYSTEM, "no memory");
    if (rc <= 0)
        return rc;
    if (b->old->exists && repo_find(s->repo, &b->old->tip, path, &there, err) == 0)
        return add_edit(b, path, there.mode, &there.id, err);
    struct folder root = folder_disk(s->runs.root);
    if (folder_read(&root, path + strlen("mlruns/"), (1 << 20) - 1, &text))
        return err_sys(err, "cannot read %s", path);
    return objects_write(s->repo, REPO_BLOB, buf_text(&text), "meta.yaml", &id, err) || add_edit(b, path, REPO_MODE_FILE, &id, err) ? -1
                                                                                                                                    : 0;
}

static int add_run(struct batch *b, const struct share_run *r, struct err *err)
{
    struct share *s = b->s;
    struct repo_entry there;
    struct repo_id id;
    const char *path = arena_printf(&b->arena, "mlruns/%s/%s", r->experiment, r->id);
    if (!path || add_experiment(b, r, err))
        return path ? -1 : err_set(err, ERR_SYSTEM, "no memory");
    b->runs++;
    b->bytes += r->bytes;
    if (r->in_branch && b->old->exists && repo_find(s->repo, &b->old->tip, path, &there, err) == 0)
        return add_edit(b, path, there.mode, &there.id, err);
    CLEANUP_FOLDER struct folder in = {0};
    struct folder root = folder_disk(s->runs.root);
    if (folder_enter(&root, path + strlen("mlruns/"), &in))
        return err_sys(err, "cannot read %s", path);
    int rc = write_folder(s, &in, &b->arena, 0, &id, err);
    return rc == 1 ? err_set(err, ERR_INPUT, "%s is empty", path)
           : rc    ? err_wrap(err, "%s", path)
                   : add_edit(b, path, REPO_MODE_DIR, &id, err);
}

/* The batch becomes a commit on top of its parent, which is the parent of the next. */
static int commit_batch(struct batch *b, const struct commit_person *author, const struct commit_person *committer,
                        const struct signer *signer, struct err *err)
{
    struct repo_id tree, commit;
    struct buf message CLEANUP_BUF;
    buf_init(&message, 1 << 20);
    buf_printf(&message, "%zu run%s of %s\n", b->runs, b->runs == 1 ? "" : "s", b->s->site);
    if (objects_edit_tree(b->s->repo, &b->tree, b->edits, b->count, &tree, err))
        return -1;
    struct commit_draft draft = {
        .tree = tree, .parents = &b->parent, .parent_count = 1, .author = *author, .committer = *committer, .message = message.p};
    if (commit_write(b->s->repo, &draft, signer, &commit, err) || objects_flush(b->s->repo, err))
        return -1;
    b->parent = commit;
    b->tree = tree;
    b->count = b->runs = b->bytes = 0;
    b->experiment = NULL;
    arena_deinit(&b->arena);
    arena_init(&b->arena, 0);
    return 0;
}

static int commit_all(struct share *s, const struct branch *old, struct commit_person *who, struct err *err)
{
    struct commit_person author;
    struct signer signer;
    struct batch *b = calloc(1, sizeof *b);
    if (!b)
        return err_set(err, ERR_SYSTEM, "no memory");
    *b = (struct batch){.s = s, .old = old, .parent = s->target};
    arena_init(&b->arena, 0);
    int rc = commit_author(s->repo, s->c->arena, &author, err) || commit_committer(s->repo, s->c->arena, who, err) ||
                     signer_from(s->repo, s->c->arena, false, &signer, err) || tree_of(s, &s->target, &b->tree, err) ||
                     objects_new(s->repo, err)
                 ? -1
                 : 0;
    for (size_t i = 0; rc == 0 && i < s->count; i++) {
        if (!s->list[i].left_out)
            rc = add_run(b, &s->list[i], err);
        if (rc == 0 && (b->runs == BATCH_RUNS || b->bytes > BATCH_BYTES))
            rc = commit_batch(b, &author, who, &signer, err);
    }
    if (rc == 0 && b->runs)
        rc = commit_batch(b, &author, who, &signer, err);
    s->tip = b->parent;
    objects_free(s->repo);
    arena_deinit(&b->arena);
    free(b);
    return rc ? -1 : 0;
}

/* 1: somebody was faster, look again. */
static int build_once(struct share *s, const char *ref, struct err *err)
{
    struct branch old;
    struct commit_person who;
    repo_refresh(s->repo);
    int rc = look_at_branch(s, ref, &old, err) ? -1 : stands(s, &old, err);
    if (rc < 0)
        return -1;
    if (rc == 1) {
        s->tip = old.tip;
        s->commits = old.commits;
        return 0;
    }
    if (ref_checked_out(s->repo, ref))
        return err_set(err, ERR_INPUT, "the branch %s is checked out, and cannot be made anew below your feet: git switch %s", s->branch,
                       s->base);
    s->commits = s->shared / BATCH_RUNS + 1;
    if (commit_all(s, &old, &who, err))
        return -1;
    return ref_move(s->repo, ref, old.exists ? &old.tip : NULL, &s->tip, &who, "benchwrap share", WAIT_S, err);
}

int share_build(struct share *s, struct err *err)
{
    struct ref_turn turn;
    const char *ref = arena_printf(s->c->arena, "refs/heads/%s", s->branch);
    if (!ref)
        return err_set(err, ERR_SYSTEM, "no memory");
    int rc = ref_turn_take(&turn, s->repo, WAIT_S, NULL, NULL, err);
    if (rc)
        return -1;
    rc = 1;
    for (int i = 0; i < TRIES && rc == 1; i++)
        rc = build_once(s, ref, err);
    ref_turn_give(&turn);
    return rc ? err_wrap(err, "making the branch %s", s->branch) : 0;
}
