/* history.c: commits of a repository: what one says, which are reachable. */
#include "git/repo_state.h"

static const char *keep(struct arena *a, const char *text)
{
    return arena_dup(a, text ? text : "", text ? strlen(text) : 0);
}

int repo_commit(struct repo *r, const struct repo_id *id, struct arena *a, struct repo_commit *ret, struct err *err)
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
                                .author_name = keep(a, author->name),
                                .author_email = keep(a, author->email),
                                .committer_name = keep(a, committer->name),
                                .committer_email = keep(a, committer->email),
                                .header = keep(a, git->git_commit_raw_header(c)),
                                .message = keep(a, git->git_commit_message(c))};
    for (unsigned i = 0; i < ret->parents && i < sizeof ret->parent / sizeof *ret->parent; i++)
        ret->parent[i] = repo_id_of(git->git_commit_parent_id(c, i));
    git->git_commit_free(c);
    return a->failed ? err_set(err, ERR_SYSTEM, "no memory for commit %s", hex) : 0;
}

int repo_history(struct repo *r, const struct repo_id *from, const struct repo_id *without,
                 int (*each)(void *context, const struct repo_id *id), void *context, struct err *err)
{
    const struct git2 *git = r->git;
    git_revwalk *walk = NULL;
    git_oid oid;
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

int repo_merge_base(struct repo *r, const struct repo_id *a, const struct repo_id *b, struct repo_id *ret, struct err *err)
{
    git_oid oid;
    int rc = r->git->git_merge_base(&oid, r->repository, repo_oid(a), repo_oid(b));
    if (rc == GIT_ENOTFOUND)
        return 1;
    if (rc)
        return git2_err(err, rc, "looking for the common ancestor");
    *ret = repo_id_of(&oid);
    return 0;
}

int repo_contains(struct repo *r, const struct repo_id *tip, const struct repo_id *old, struct err *err)
{
    if (repo_id_eq(tip, old))
        return 1;
    int rc = r->git->git_graph_descendant_of(r->repository, repo_oid(tip), repo_oid(old));
    return rc < 0 ? git2_err(err, rc, "comparing two commits") : rc;
}
