/* results.c: which repository, which branch, whose name; see results.h. */
#include "results/results.h"

#include "base/fs.h"
#include "base/site.h"
#include "git/tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/* Returns the folder that holds the tree, with links resolved as far as it exists. */
static const char *tree_parent_folder(const char *tree, struct arena *a)
{
    char path[PATH_MAX], real[PATH_MAX];
    snprintf(path, sizeof path, "%s", tree);
    const char *from = realpath(path, real) ? real : path;
    const char *slash = strrchr(from, '/');
    if (from == path && slash) {
        path[slash - from] = 0;
        from = realpath(*path ? path : "/", real) ? real : path;
        return arena_dup(a, from, strlen(from));
    }
    return arena_dup(a, from, slash > from ? (size_t)(slash - from) : 1);
}

/* Returns the path of the tree in commits: as below the work tree; for a tree elsewhere (a bare
 * repository, --repo) at the top. */
static const char *tree_prefix(const struct repo *r, const char *parent, struct arena *a)
{
    char real[PATH_MAX];
    const char *workdir = repo_workdir(r);
    if (!workdir || !realpath(workdir, real))
        return "mlruns";
    size_t n = strlen(real);
    if (strncmp(parent, real, n) == 0 && parent[n] == '/')
        return arena_printf(a, "%s/mlruns", parent + n + 1);
    return "mlruns";
}

/* Reads the 8 digits that identify this clone; `make`: makes them where it has none. 1 with err: it
 * has none; -1 with err. */
static int clone_id(struct repo *r, bool make, struct arena *a, const char **ret, struct err *err)
{
    unsigned char bytes[4];
    char hex[9];
    int rc = repo_config(r, "benchwrap.clone", a, ret, err);
    if (rc == 0 && !str_hex(str_of(*ret), 8))
        return err_set(err, ERR_INPUT, "benchwrap.clone in %sconfig is \"%.40s\", not 8 digits 0-9a-f: git config --unset benchwrap.clone",
                       repo_common(r), *ret);
    if (rc != 1)
        return rc;
    if (!make) {
        err_set(err, ERR_INPUT, "this clone is not set up for results: \"benchwrap init %s\" does it",
                repo_workdir(r) ? repo_workdir(r) : repo_common(r));
        return 1;
    }
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_sys(err, "making a name for this clone");
    snprintf(hex, sizeof hex, "%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
    *ret = arena_dup(a, hex, 8);
    return repo_config_set(r, "benchwrap.clone", hex, err);
}

/* Returns the site in *ret. 1: none is configured, and *ret is a default; -1 with err. */
static int site_of(const struct results_asked *asked, struct repo *r, struct arena *a, const char **ret, struct err *err)
{
    const char *site = asked->site;
    if (!(site && *site) && repo_config(r, "benchwrap.site", a, &site, NULL))
        site = NULL;
    if (site && *site) {
        if (!site_is_legal(str_of(site)))
            return err_set(err, ERR_USAGE, "site: expected %s, got \"%.60s\"", SITE_LEGAL, site);
        *ret = arena_dup(a, site, strlen(site));
        return *ret ? 0 : err_memory(err, "the results repository");
    }
    *ret = RESULTS_SITE;
    return 1;
}

int results_open(struct results *ret, const struct results_asked *asked, struct arena *a, struct err *err)
{
    struct results s = {.arena = a, .tree = asked->tree, .public_profile = asked->public_profile};
    const char *parent = tree_parent_folder(asked->tree, a);
    if (!parent)
        return err_memory(err, "the results repository");
    int rc = repo_open(&s.repo, asked->repository ? asked->repository : parent, 0, err);
    if (rc)
        return rc;
    s.prefix = tree_prefix(s.repo, parent, a);
    if ((rc = clone_id(s.repo, asked->set_up, a, &s.clone, err)) == 0 && (rc = site_of(asked, s.repo, a, &s.site, err)) >= 0) {
        s.has_site = rc == 0;
        rc = 0;
        s.branch = arena_printf(a, "refs/heads/benchwrap/%s/%s", s.site, s.clone);
        if (!s.prefix || !s.branch)
            rc = err_memory(err, "the results repository");
    }
    if (rc)
        repo_close(s.repo);
    else
        *ret = s;
    return rc;
}

void results_close(struct results *s)
{
    repo_close(s->repo);
    s->repo = NULL;
}

/* ---- commits that count ---- */

/* Returns the ref of the upstream that branch.main.remote and branch.main.merge name for
 * "refs/heads/main", in the arena; NULL: none. */
static const char *upstream_of(struct results *s, const char *head)
{
    const char *remote, *merge, *name = head + strlen("refs/heads/");
    if (!str_starts(str_of(head), "refs/heads/") ||
        repo_config(s->repo, arena_printf(s->arena, "branch.%s.remote", name), s->arena, &remote, NULL) ||
        repo_config(s->repo, arena_printf(s->arena, "branch.%s.merge", name), s->arena, &merge, NULL) ||
        !str_starts(str_of(merge), "refs/heads/") || strcmp(remote, ".") == 0)
        return NULL;
    return arena_printf(s->arena, "refs/remotes/%s/%s", remote, merge + strlen("refs/heads/"));
}

/* Finds the ref of the branch that pull requests go to, as last fetched
 * ("refs/remotes/origin/main"): of HEAD's upstream, else origin's default, else the only one there
 * is. 0; 1: there is none. */
static int results_target(struct results *s, const char **ret, struct err *err)
{
    struct repo_id id;
    const char *head, *ref = NULL, **all;
    size_t count;
    if (repo_symbolic(s->repo, "HEAD", s->arena, &head, NULL) == 0)
        ref = upstream_of(s, head);
    if ((!ref || repo_ref(s->repo, ref, &id, NULL)) && repo_symbolic(s->repo, "refs/remotes/origin/HEAD", s->arena, &ref, NULL))
        ref = NULL;
    if (!ref || repo_ref(s->repo, ref, &id, NULL)) {
        if (repo_refs(s->repo, "refs/remotes/*", s->arena, &all, &count, err))
            return -1;
        size_t branches = 0;
        for (size_t i = 0; i < count; i++)
            if (!strstr(all[i], "/benchwrap/") && !str_ends(str_of(all[i]), "/HEAD")) {
                ref = all[i];
                branches++;
            }
        if (branches != 1)
            return 1;
    }
    *ret = ref;
    return 0;
}

int results_base(struct results *s, struct repo_id *ret, bool *ret_is_tip, struct err *err)
{
    const char *target;
    int rc = repo_ref(s->repo, s->branch, ret, err);
    if (ret_is_tip)
        *ret_is_tip = rc == 0;
    int named = rc == 1 ? results_target(s, &target, err) : 1;
    if (named < 0)
        return -1;
    if (named == 0)
        rc = repo_ref(s->repo, target, ret, err);
    if (rc == 1)
        rc = repo_ref(s->repo, "HEAD", ret, err);
    return rc;
}

int results_known(struct results *s, struct repo_id ret[RESULTS_KNOWN], size_t *ret_count, struct err *err)
{
    const char *refs[RESULTS_KNOWN] = {s->branch, "HEAD", NULL};
    size_t n = 0;
    if (results_target(s, &refs[2], err) < 0)
        return -1;
    for (size_t i = 0; i < RESULTS_KNOWN; i++) {
        int rc = refs[i] ? repo_ref(s->repo, refs[i], &ret[n], err) : 1;
        if (rc < 0)
            return -1;
        n += rc == 0;
    }
    *ret_count = n;
    return 0;
}
