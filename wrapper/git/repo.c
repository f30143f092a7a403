/* repo.c: a git repository: open it, resolve names, read objects. */
#include "git/repo.h"

#include "git/objects.h"
#include "git/program.h"
#include "git/repo_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE_TREE = 64 << 10, HEAD_OF_MAX = 1 << 30 };

void repo_id_hex(const struct repo_id *id, char ret[REPO_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof id->b; i++) {
        ret[2 * i] = digits[id->b[i] >> 4];
        ret[2 * i + 1] = digits[id->b[i] & 15];
    }
    ret[REPO_HEX - 1] = 0;
}

bool repo_id_parse(struct repo_id *ret, struct str hex)
{
    if (hex.n != REPO_HEX - 1)
        return false;
    for (size_t i = 0; i < sizeof ret->b; i++) {
        int high = str_hex_digit(hex.p[2 * i]), low = str_hex_digit(hex.p[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        ret->b[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

const char *repo_library(void)
{
    static char text[40];
    int major, minor, patch;
    const struct git2 *git = git2_load(NULL);
    if (!git)
        return NULL;
    git->git_libgit2_version(&major, &minor, &patch);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    return text;
}

/* ---- the repository ---- */

/* Sets err to why the repository cannot be opened, with what to do. */
static int open_err(const struct git2 *git, const char *path, int code, struct err *err)
{
    const git_error *e = git->git_error_last();
    const char *words = e && e->message ? e->message : "";
    if (code == GIT_ENOTFOUND) {
        err_set(err, ERR_INPUT, "%s is in no git repository: make one with \"benchwrap init\" or \"git init\"", path);
        return 1;
    }
    if (code == GIT_EOWNER)
        return err_set(
            err, ERR_INPUT,
            "the repository of %s belongs to another user, so git does not trust it; if you do: git config --global --add safe.directory '%s'",
            path, path);
    if (strcasestr(words, "objectformat") || strcasestr(words, "object format")) {
        err_set(err, ERR_INPUT, "the repository of %s names its objects by SHA-256, which this libgit2 (%s) cannot read", path,
                repo_library());
        return err_hint(err, "use a repository with git's default: git init --object-format=sha1");
    }
    if (strcasestr(words, "refstorage")) {
        err_set(err, ERR_INPUT, "the repository of %s stores its refs as reftable, which this libgit2 (%s) cannot read", path,
                repo_library());
        return err_hint(err, "use refs in files: git refs migrate --ref-format=files, or a clone made by git clone --ref-format=files");
    }
    return git2_err(err, code, "opening the repository of %s", path);
}

/* Returns whether git accepts the repository. Whose repositories are trusted (safe.directory) may
 * be set where libgit2 does not read it: in GIT_CONFIG_GLOBAL, GIT_CONFIG_COUNT and similar
 * variables. */
static bool git_trusts(const char *path)
{
    const char *argv[] = {"git", "rev-parse", "--git-dir", NULL};
    struct program p = {.argv = argv, .dir = path, .limit_s = 10};
    struct program_end end;
    bool good = program_run(&p, &end, NULL) == 0 && end.status == 0;
    program_end_deinit(&end);
    return good;
}

static int open_as(struct repo *r, const char *path, unsigned flags)
{
    unsigned how = (flags & REPO_HERE ? GIT_REPOSITORY_OPEN_NO_SEARCH : 0) |
                   (config_env_on(r->git, "GIT_DISCOVERY_ACROSS_FILESYSTEM") ? GIT_REPOSITORY_OPEN_CROSS_FS : 0);
    return r->git->git_repository_open_ext(&r->repository, path, how, getenv("GIT_CEILING_DIRECTORIES"));
}

/* Opens the repository, with git's decision on its owner where libgit2 refuses it. libgit2 1.5
 * reports another user's repository as "not found" if no safe.directory is set. */
static int open_found(struct repo *r, const char *path, unsigned flags)
{
    int rc = open_as(r, path, flags);
    if (rc != GIT_EOWNER && rc != GIT_ENOTFOUND)
        return rc;
    r->git->git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    rc = open_as(r, path, flags);
    r->git->git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
    if (rc || git_trusts(path))
        return rc;
    r->git->git_repository_free(r->repository);
    r->repository = NULL;
    return GIT_EOWNER;
}

int repo_open(struct repo **ret, const char *path, unsigned flags, struct err *err)
{
    const struct git2 *git = git2_load(err);
    struct repo *r = git ? calloc(1, sizeof *r) : NULL;
    int rc;
    if (!r)
        return git ? err_memory(err, "a repository") : -1;
    r->git = git;
    rc = open_found(r, path, flags);
    if (rc)
        rc = open_err(git, path, rc, err);
    else if ((rc = git->git_repository_odb(&r->odb, r->repository)))
        rc = git2_err(err, rc, "opening the objects of %s", path);
    else
        rc = config_take(r, err);
    if (rc) {
        repo_close(r);
        return rc;
    }
    *ret = r;
    return 0;
}

void repo_close(struct repo *r)
{
    if (!r)
        return;
    objects_free(r);
    buf_deinit(&r->kept);
    config_drop(r);
    r->git->git_odb_free(r->odb);
    r->git->git_repository_free(r->repository);
    free(r);
}

const char *repo_dir(const struct repo *r)
{
    return r->git->git_repository_path(r->repository);
}

const char *repo_common(const struct repo *r)
{
    return r->git->git_repository_commondir(r->repository);
}

const char *repo_workdir(const struct repo *r)
{
    return r->git->git_repository_workdir(r->repository);
}

bool repo_is_bare(const struct repo *r)
{
    return r->git->git_repository_is_bare(r->repository) == 1;
}

bool repo_is_shallow(const struct repo *r)
{
    return r->git->git_repository_is_shallow(r->repository) == 1;
}

void repo_refresh(struct repo *r)
{
    r->git->git_odb_refresh(r->odb);
}

/* ---- names ---- */

static const git_object_t kinds[] = {
    [REPO_ANY] = GIT_OBJECT_ANY,   [REPO_COMMIT] = GIT_OBJECT_COMMIT, [REPO_TREE] = GIT_OBJECT_TREE,
    [REPO_BLOB] = GIT_OBJECT_BLOB, [REPO_TAG] = GIT_OBJECT_TAG,
};

int repo_resolve(struct repo *r, const char *rev, enum repo_kind kind, struct repo_id *ret, struct err *err)
{
    static const char *const words[] = {"object", "commit", "tree", "file", "tag"};
    git_object *found = NULL, *peeled = NULL;
    int rc = r->git->git_revparse_single(&found, r->repository, rev);
    if (rc == GIT_ENOTFOUND || rc == GIT_EINVALIDSPEC || rc == GIT_EAMBIGUOUS) {
        git2_err(err, rc, "\"%.200s\"", rev);
        if (err)
            err->kind = ERR_INPUT;
        return 1;
    }
    if (rc)
        return git2_err(err, rc, "looking for \"%.200s\"", rev);
    if (kind == REPO_ANY)
        *ret = repo_id_of(r->git->git_object_id(found));
    else if ((rc = r->git->git_object_peel(&peeled, found, kinds[kind])) == 0)
        *ret = repo_id_of(r->git->git_object_id(peeled));
    r->git->git_object_free(peeled);
    r->git->git_object_free(found);
    if (rc == GIT_EPEEL || rc == GIT_EINVALIDSPEC || rc == GIT_EAMBIGUOUS) {
        err_set(err, ERR_INPUT, "\"%.200s\" is no %s", rev, words[kind]);
        return 1;
    }
    return rc ? git2_err(err, rc, "reading the %s of \"%.200s\"", words[kind], rev) : 0;
}

int repo_ref(struct repo *r, const char *name, struct repo_id *ret, struct err *err)
{
    git_oid oid;
    int rc = r->git->git_reference_name_to_id(&oid, r->repository, name);
    if (rc == GIT_ENOTFOUND)
        return 1;
    if (rc)
        return git2_err(err, rc, "reading %.200s", name);
    *ret = repo_id_of(&oid);
    return 0;
}

int repo_symbolic(struct repo *r, const char *name, struct arena *a, const char **ret, struct err *err)
{
    git_reference *ref = NULL;
    int rc = r->git->git_reference_lookup(&ref, r->repository, name);
    if (rc == GIT_ENOTFOUND)
        return 1;
    if (rc)
        return git2_err(err, rc, "reading %.200s", name);
    const char *target = r->git->git_reference_symbolic_target(ref);
    *ret = target ? arena_dup(a, target, strlen(target)) : NULL;
    r->git->git_reference_free(ref);
    if (target && !*ret)
        return err_memory(err, "the repository");
    return target ? 0 : 1;
}

/* Appends to a list that grows in the arena. */
static int list_add(struct arena *a, const char ***list, size_t *count, const char *text, struct err *err)
{
    if ((*count & (*count + 1)) == 0) { /* 0, 1, 3, 7 … entries: full with the NULL behind them */
        const char **more = arena_get(a, (2 * *count + 2) * sizeof **list);
        if (!more)
            return err_memory(err, "the repository");
        if (*count)
            memcpy(more, *list, *count * sizeof **list);
        *list = more;
    }
    char *copy = arena_dup(a, text, strlen(text));
    if (!copy)
        return err_memory(err, "the repository");
    (*list)[(*count)++] = copy;
    (*list)[*count] = NULL;
    return 0;
}

static int list_begin(struct arena *a, const char ***list, size_t *count, struct err *err)
{
    *count = 0;
    *list = arena_get(a, 2 * sizeof **list);
    return *list ? 0 : err_memory(err, "the repository");
}

int repo_refs(struct repo *r, const char *glob, struct arena *a, const char ***ret, size_t *ret_count, struct err *err)
{
    git_reference_iterator *at = NULL;
    const char *name;
    int rc = r->git->git_reference_iterator_glob_new(&at, r->repository, glob);
    if (rc)
        return git2_err(err, rc, "listing the refs %.200s", glob);
    int bad = list_begin(a, ret, ret_count, err);
    while (!bad && (rc = r->git->git_reference_next_name(&name, at)) == 0)
        bad = list_add(a, ret, ret_count, name, err);
    r->git->git_reference_iterator_free(at);
    if (bad)
        return -1;
    return rc == GIT_ITEROVER ? 0 : git2_err(err, rc, "listing the refs %.200s", glob);
}

bool repo_ref_legal(struct repo *r, const char *name)
{
    int valid = 0;
    return r->git->git_reference_name_is_valid(&valid, name) == 0 && valid;
}

/* ---- objects ---- */

bool repo_has(struct repo *r, const struct repo_id *id)
{
    return r->git->git_odb_exists(r->odb, repo_oid(id)) == 1;
}

/* Returns where the object is to be read from: a writer's objects are not on the disk yet. */
static git_odb *odb_of(struct repo *r, const struct repo_id *id)
{
    return r->unsaved && r->git->git_odb_exists_ext(r->unsaved, repo_oid(id), GIT_ODB_LOOKUP_NO_REFRESH) ? r->unsaved : r->odb;
}

static int object_err(int rc, const struct repo_id *id, struct err *err)
{
    char hex[REPO_HEX];
    repo_id_hex(id, hex);
    git2_err(err, rc, "reading object %s", hex);
    return rc == GIT_ENOTFOUND ? 1 : -1;
}

int repo_look(struct repo *r, const struct repo_id *id, enum repo_kind *ret_kind, uint64_t *ret_bytes, struct err *err)
{
    size_t bytes;
    git_object_t type;
    int rc = r->git->git_odb_read_header(&bytes, &type, odb_of(r, id), repo_oid(id));
    if (rc)
        return object_err(rc, id, err);
    if (ret_kind)
        *ret_kind = (enum repo_kind)type; /* the numbers are git's own: 1 to 4 */
    if (ret_bytes)
        *ret_bytes = bytes;
    return 0;
}

static void keep_tree(struct repo *r, const struct repo_id *id, const void *raw, size_t bytes)
{
    buf_clear(&r->kept);
    r->kept.max = REPO_TREE_MAX;
    buf_add(&r->kept, raw, bytes);
    r->kept_id = *id;
    if (r->kept.failed)
        buf_clear(&r->kept);
}

/* Reads an object of that kind, of at most `max` bytes; the caller frees *ret. 0; 1: there is none
 * (err filled); -1 with err, also where it is of another kind or larger. */
static int open_object(struct repo *r, const struct repo_id *id, enum repo_kind kind, size_t max, git_odb_object **ret, enum repo_kind *is,
                       struct err *err)
{
    uint64_t bytes;
    char hex[REPO_HEX];
    int rc = repo_look(r, id, is, &bytes, err);
    if (rc)
        return rc;
    repo_id_hex(id, hex);
    if (kind != REPO_ANY && *is != kind)
        return err_set(err, ERR_INPUT, "git object %s does not have the type that its tree entry states", hex);
    if (bytes > max) {
        err_set(err, ERR_INPUT, "object %s has %llu bytes, more than the %zu that are read", hex, (unsigned long long)bytes, max);
        if (err)
            err->sys = EFBIG;
        return -1;
    }
    rc = r->git->git_odb_read(ret, odb_of(r, id), repo_oid(id));
    return rc ? object_err(rc, id, err) : 0;
}

int repo_read(struct repo *r, const struct repo_id *id, enum repo_kind kind, size_t max, struct buf *ret, struct err *err)
{
    enum repo_kind is;
    git_odb_object *object = NULL;
    if (r->kept.n && r->kept.n <= max && kind == REPO_TREE && repo_id_eq(id, &r->kept_id)) {
        buf_str(ret, buf_text(&r->kept));
        return ret->failed ? err_memory(err, "a folder of the repository") : 0;
    }
    int rc = open_object(r, id, kind, max, &object, &is, err);
    if (rc)
        return rc;
    size_t bytes = r->git->git_odb_object_size(object);
    buf_add(ret, r->git->git_odb_object_data(object), bytes);
    if (is == REPO_TREE && bytes >= LARGE_TREE)
        keep_tree(r, id, r->git->git_odb_object_data(object), bytes);
    r->git->git_odb_object_free(object);
    return ret->failed ? err_memory(err, "an object of %zu bytes", bytes) : 0;
}

int repo_read_head(struct repo *r, const struct repo_id *id, size_t max, struct buf *ret, uint64_t *ret_bytes, struct err *err)
{
    enum repo_kind is;
    git_odb_object *object = NULL;
    int rc = open_object(r, id, REPO_BLOB, HEAD_OF_MAX, &object, &is, err);
    if (rc)
        return rc;
    size_t bytes = r->git->git_odb_object_size(object);
    buf_add(ret, r->git->git_odb_object_data(object), bytes < max ? bytes : max);
    r->git->git_odb_object_free(object);
    *ret_bytes = bytes;
    return ret->failed ? err_memory(err, "an object of %zu bytes", bytes) : 0;
}

/* ---- remotes ---- */

int repo_remotes(struct repo *r, struct arena *a, const char ***ret, struct err *err)
{
    git_strarray names = {0};
    size_t count = 0;
    int rc = r->git->git_remote_list(&names, r->repository);
    if (rc)
        return git2_err(err, rc, "listing the remotes");
    int bad = list_begin(a, ret, &count, err);
    for (size_t i = 0; i < names.count && !bad; i++)
        bad = list_add(a, ret, &count, names.strings[i], err);
    r->git->git_strarray_dispose(&names);
    return bad;
}

int repo_remote_url(struct repo *r, const char *remote, bool push, struct arena *a, const char **ret, struct err *err)
{
    git_remote *found = NULL;
    int rc = r->git->git_remote_lookup(&found, r->repository, remote);
    if (rc == GIT_ENOTFOUND || rc == GIT_EINVALIDSPEC)
        return 1;
    if (rc)
        return git2_err(err, rc, "the remote \"%.100s\"", remote);
    const char *url = push ? r->git->git_remote_pushurl(found) : NULL;
    if (!url)
        url = r->git->git_remote_url(found);
    *ret = url ? arena_dup(a, url, strlen(url)) : NULL;
    r->git->git_remote_free(found);
    if (url && !*ret)
        return err_memory(err, "the repository");
    return url ? 0 : 1;
}
