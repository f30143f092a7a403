/* runs_ref.c: the tree of a commit: which repository, which folder in it. */
#include "runs/runs_ref.h"

#include "git/folder.h"
#include "git/partial.h"
#include "git/tree.h"
#include "plan/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* One commit that is read; the first belongs to the runs themselves, the others to operands. */
struct runs_ref {
    const char *name;
    struct repo *repo;
    struct runs *runs; /* of an operand */
    struct runs_ref *next;
};

/* Adds an open repository to the runs, which close it then. In the arena. NULL: out of memory, and
 * the caller closes it. */
static struct runs_ref *runs_ref_add(struct runs *runs, const char *name, struct repo *repo, struct arena *a)
{
    struct runs_ref *own = ARENA_NEW(a, struct runs_ref);
    if (own) {
        *own = (struct runs_ref){.name = name, .repo = repo, .next = runs->refs};
        runs->refs = own;
    }
    return own;
}

void runs_close_refs(struct runs *runs)
{
    for (struct runs_ref *r = runs->refs; r; r = r->next) {
        if (r->runs)
            runs_close(r->runs);
        repo_close(r->repo);
    }
    runs->refs = NULL;
}

/* Returns the folder above the tree that --tree names, or that runs are recorded into; NULL: it is
 * not known. */
static const char *folder_above_tree(const struct runs_place *from, const char *given, struct arena *a)
{
    const char *tree;
    struct err ignored = {0};
    if (plan_tree(given, from->env, a, &tree, &ignored) < 0)
        return NULL;
    const char *slash = strrchr(tree, '/');
    return !slash ? NULL : slash == tree ? "/" : arena_dup(a, tree, (size_t)(slash - tree));
}

/* Opens the repository that holds the folder above the named tree; where that folder is not known,
 * that of the working directory, else of the folder above the tree that runs are recorded into.
 * *ret_place: that folder. 0, and the caller closes *ret; -1 with the err of the first try. */
static int open_repo(struct repo **ret, const struct runs_place *from, struct arena *a, const char **ret_place, struct err *err)
{
    const char *named = from->tree ? folder_above_tree(from, from->tree, a) : NULL;
    *ret_place = named ? named : ".";
    int rc = repo_open(ret, *ret_place, 0, err);
    if (rc == 1 && !named && (*ret_place = folder_above_tree(from, NULL, a))) {
        struct err second = {0};
        if (repo_open(ret, *ret_place, 0, &second) == 0) {
            rc = 0;
            err_clear(err);
        }
    }
    return rc ? -1 : 0;
}

/* Returns the place of a folder in its work tree, with a '/' behind it; "" at its root, or in a
 * bare repository. */
static const char *place_in_repo(const struct repo *repo, const char *place, struct arena *a)
{
    const char *root = repo_workdir(repo);
    char real[PATH_MAX], top[PATH_MAX];
    if (!root || !realpath(place, real) || !realpath(root, top))
        return "";
    size_t n = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strncmp(real, top, n) != 0 || real[n] != '/' || !real[n + 1])
        return "";
    return arena_printf(a, "%s/", real + n + 1);
}

/* Finds the folder of the tree in the commit: the one named, else mlruns in the user's folder, else
 * at the root. Returns 1 where there is none. */
static int find_tree(struct repo *repo, const struct repo_id *commit, const char *path, const char *place, struct arena *a,
                     struct repo_id *ret, struct err *err)
{
    struct repo_entry e;
    const char *tries[] = {path ? path : arena_printf(a, "%smlruns", place_in_repo(repo, place, a)), path ? NULL : "mlruns"};
    for (size_t i = 0; i < 2 && tries[i]; i++) {
        int rc = repo_find(repo, commit, tries[i], &e, err);
        if (rc < 0)
            return -1;
        if (rc == 0 && e.mode == REPO_MODE_DIR) {
            *ret = e.id;
            return 0;
        }
    }
    return 1;
}

int runs_open_ref(struct runs *ret, const char *ref, const struct runs_place *from, struct arena *a, struct err *err)
{
    *ret = (struct runs){.place = *from, .root = -1, .tree = ref};
    struct repo *repo = NULL;
    struct repo_id commit, tree;
    const char *place, *colon = strchr(ref, ':'), *name = colon ? arena_dup(a, ref, (size_t)(colon - ref)) : ref,
                       *path = colon && colon[1] ? colon + 1 : NULL;
    if (!name || !*name || *name == '-')
        return err_set(err, ERR_USAGE, "expected the name of a commit, got \"%.100s\"", ref);
    if (open_repo(&repo, from, a, &place, err) < 0)
        return -1;
    if (!runs_ref_add(ret, ref, repo, a)) {
        repo_close(repo);
        return err_memory(err, "the runs of a commit");
    }
    int rc = repo_resolve(repo, name, REPO_COMMIT, &commit, err);
    if (rc) {
        err_wrap(err, "there is no commit %.100s (\"git fetch\" brings others' branches)", name);
        goto fail;
    }
    if (from->fetch && partial_complete(repo, &commit, err) < 0) {
        runs_close_refs(ret);
        return -1;
    }
    rc = find_tree(repo, &commit, path, place, a, &tree, err);
    if (rc == 1)
        err_set(err, ERR_INPUT, "%.100s has no folder %s: no run is published there", name, path ? path : "mlruns");
    else if (rc == 0 && (rc = git_folder_open(repo, &tree, &ret->folder)) < 0)
        err_sys(err, "reading the tree of %.100s", name);
    if (rc == 0)
        return 0;
fail:
    if (partial_remote(repo, a))
        err_hint(err, "this clone is partial: git fetch --refetch --no-filter %s $(git rev-parse %.200s)", partial_remote(repo, a), name);
    runs_close_refs(ret);
    return -1;
}

int runs_open_commit(struct runs *ret, struct repo *repo, const struct repo_id *commit, const char *path, struct err *err)
{
    struct repo_entry e;
    *ret = (struct runs){.root = -1, .tree = path};
    int rc = repo_find(repo, commit, path, &e, err);
    if (rc == 0 && e.mode != REPO_MODE_DIR)
        rc = 1;
    if (rc == 0 && git_folder_open(repo, &e.id, &ret->folder))
        rc = err_sys(err, "reading the tree of %.200s", path);
    return rc;
}

const char *runs_partial_remote(const struct runs *runs, struct arena *a)
{
    return runs->refs ? partial_remote(runs->refs->repo, a) : NULL;
}

struct runs *runs_of_ref(struct runs *runs, const char *ref, struct arena *a, struct err *err)
{
    for (struct runs_ref *r = runs->refs; r; r = r->next)
        if (r->runs && strcmp(r->name, ref) == 0)
            return r->runs;
    struct runs *other = ARENA_NEW(a, struct runs);
    struct runs_ref *own = other ? runs_ref_add(runs, ref, NULL, a) : NULL;
    if (!own) {
        err_memory(err, "the runs of a commit");
        return NULL;
    }
    if (runs_open_ref(other, ref, &runs->place, a, err) < 0)
        return NULL;
    own->runs = other;
    return other;
}
