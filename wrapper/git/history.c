/* history.c: commits of a repository: the content of one, which are reachable. */
#include "base/fs.h"
#include "git/program.h"
#include "git/repo_state.h"

#include <fcntl.h>

enum { GIT_LIMIT_S = 600, GIT_OUT_MAX = 64 << 20, SHALLOW_MAX = 64 << 20 };

static const char *history_copy_text(struct arena *a, const char *text)
{
    return arena_dup(a, text ? text : "", text ? strlen(text) : 0);
}

int repo_commit_read(struct repo *r, const struct repo_id *id, struct arena *a, struct repo_commit *ret, struct err *err)
{
    const struct git2 *git = r->git;
    git_commit *c = NULL;
    char hex[REPO_HEX];
    int rc = git->git_commit_lookup(&c, r->repository, repo_oid(id));
    repo_id_hex(id, hex);
    if (rc)
        return git2_err(err, rc, "reading commit %s", hex);
    const git_signature *author = git->git_commit_author(c), *committer = git->git_commit_committer(c);
    *ret = (struct repo_commit){.tree = repo_id_of(git->git_commit_tree_id(c)),
                                .parents = git->git_commit_parentcount(c),
                                .author_s = author->when.time,
                                .committer_s = committer->when.time,
                                .author_name = history_copy_text(a, author->name),
                                .author_email = history_copy_text(a, author->email),
                                .committer_name = history_copy_text(a, committer->name),
                                .committer_email = history_copy_text(a, committer->email),
                                .header = history_copy_text(a, git->git_commit_raw_header(c)),
                                .message = history_copy_text(a, git->git_commit_message(c))};
    for (unsigned i = 0; i < ret->parents && i < sizeof ret->parent / sizeof *ret->parent; i++)
        ret->parent[i] = repo_id_of(git->git_commit_parent_id(c, i));
    git->git_commit_free(c);
    return a->failed ? err_memory(err, "commit %s", hex) : 0;
}

/* Runs git in a shallow clone: libgit2 before 1.7 does not know where its history ends. Returns
 * git's status, 0 or 1, or -1 with err. The caller frees *ret with program_end_deinit in all
 * cases. */
static int history_run_git(struct repo *r, const char *const *argv, struct program_end *ret, struct err *err)
{
    struct program p = {.argv = argv, .dir = repo_dir(r), .limit_s = GIT_LIMIT_S, .out_max = GIT_OUT_MAX, .whole = true};
    int rc = program_run(&p, ret, err);
    if (rc == 1)
        return err_set(err, ERR_SYSTEM, "the program git is needed to read a shallow clone, and is not installed");
    if (rc == 0 && ret->status > 1)
        program_err(ret, err, "git %s", argv[1]);
    return rc ? -1 : ret->status > 1 ? -1 : ret->status;
}

/* Calls `each` for the commits that git rev-list prints, until it returns non-zero, which is
 * returned. Returns -1 with err when git failed. */
static int history_by_git(struct repo *r, const char *from, const char *without, int (*each)(void *context, const struct repo_id *id),
                          void *context, struct err *err)
{
    const char *const argv[] = {"git", "rev-list", "--topo-order", from, without ? "--not" : NULL, without, NULL};
    struct program_end end = {0};
    struct repo_id id;
    int rc = history_run_git(r, argv, &end, err), said = 0;
    for (struct str rest = buf_text(&end.out); rc == 0 && said == 0 && rest.n;)
        if (repo_id_parse(&id, str_cut(&rest, '\n')))
            said = each(context, &id);
    program_end_deinit(&end);
    return rc ? -1 : said;
}

int repo_history(struct repo *r, const struct repo_id *from, const struct repo_id *without,
                 int (*each)(void *context, const struct repo_id *id), void *context, struct err *err)
{
    const struct git2 *git = r->git;
    git_revwalk *walk = NULL;
    git_oid oid;
    char hex[2][REPO_HEX];
    repo_id_hex(from, hex[0]);
    if (without)
        repo_id_hex(without, hex[1]);
    if (repo_is_shallow(r))
        return history_by_git(r, hex[0], without ? hex[1] : NULL, each, context, err);
    int rc = git->git_revwalk_new(&walk, r->repository), said = 0;
    if (rc == 0)
        rc = git->git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME);
    if (rc == 0)
        rc = git->git_revwalk_push(walk, repo_oid(from));
    if (rc == 0 && without)
        rc = git->git_revwalk_hide(walk, repo_oid(without));
    while (rc == 0 && said == 0 && (rc = git->git_revwalk_next(&oid, walk)) == 0) {
        struct repo_id id = repo_id_of(&oid);
        said = each(context, &id);
    }
    git->git_revwalk_free(walk);
    if (rc && rc != GIT_ITEROVER)
        return git2_err(err, rc, "walking through the history");
    return said;
}

struct history_cut {
    struct repo *repo;
    struct buf ends; /* the commits behind which a shallow clone has nothing */
    struct err *err;
};

/* Returns 1, which stops the walk, at a commit whose parents a shallow clone lacks; 0: the walk
 * continues; -1 with err. */
static int each_possible_end(void *context, const struct repo_id *id)
{
    struct history_cut *x = context;
    char hex[REPO_HEX];
    struct repo_commit commit;
    struct arena a;
    repo_id_hex(id, hex);
    if (str_find(buf_text(&x->ends), str_of(hex)) < 0)
        return 0;
    arena_init(&a, 64 << 20);
    int rc = repo_commit_read(x->repo, id, &a, &commit, x->err);
    if (rc == 0) /* the header as stored: newer versions of libgit2 hide these parents */
        rc = str_find(str_of(commit.header), STR("\nparent ")) >= 0;
    arena_deinit(&a);
    return rc;
}

int repo_history_is_cut(struct repo *r, const struct repo_id *from, const struct repo_id *without, struct err *err)
{
    struct history_cut x = {.repo = r, .err = err};
    if (!repo_is_shallow(r))
        return 0;
    CLEANUP_FD int dir = open(repo_common(r), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    buf_init(&x.ends, SHALLOW_MAX);
    int rc = dir < 0 ? err_sys(err, "opening %s", repo_common(r)) : fs_read(dir, "shallow", SHALLOW_MAX, 0, &x.ends, err);
    if (rc == 0)
        rc = repo_history(r, from, without, each_possible_end, &x, err);
    buf_deinit(&x.ends);
    return rc;
}

/* Finds the best common ancestor in a shallow clone. Returns 0 with *ret; 1: there is none; -1 with
 * err. */
static int merge_base_by_git(struct repo *r, const struct repo_id *a, const struct repo_id *b, struct repo_id *ret, struct err *err)
{
    char hex[2][REPO_HEX];
    const char *const argv[] = {"git", "merge-base", hex[0], hex[1], NULL};
    struct program_end end = {0};
    repo_id_hex(a, hex[0]);
    repo_id_hex(b, hex[1]);
    int rc = history_run_git(r, argv, &end, err);
    struct str text = buf_text(&end.out);
    if (rc == 0 && !repo_id_parse(ret, str_cut(&text, '\n')))
        rc = 1;
    program_end_deinit(&end);
    return rc;
}

int repo_merge_base(struct repo *r, const struct repo_id *a, const struct repo_id *b, struct repo_id *ret, struct err *err)
{
    git_oid oid;
    if (repo_is_shallow(r))
        return merge_base_by_git(r, a, b, ret, err);
    int rc = r->git->git_merge_base(&oid, r->repository, repo_oid(a), repo_oid(b));
    if (rc == GIT_ENOTFOUND)
        return 1;
    if (rc)
        return git2_err(err, rc, "searching for the common ancestor");
    *ret = repo_id_of(&oid);
    return 0;
}

int repo_contains(struct repo *r, const struct repo_id *tip, const struct repo_id *old, struct err *err)
{
    if (repo_id_eq(tip, old))
        return 1;
    if (repo_is_shallow(r)) { /* the best common ancestor of the two is the old one itself */
        struct repo_id base;
        int none = merge_base_by_git(r, tip, old, &base, err);
        return none ? (none < 0 ? -1 : 0) : repo_id_eq(&base, old);
    }
    int rc = r->git->git_graph_descendant_of(r->repository, repo_oid(tip), repo_oid(old));
    return rc < 0 ? git2_err(err, rc, "comparing two commits") : rc;
}
