/* sync_ref.c: objects of a repository by `git cat-file --batch`: one process, no index, no checkout. What it holds is foreign. */
#include "sync/sync_ref.h"

#include "base/buf.h"
#include "base/credentials.h"
#include "base/fs.h"
#include "base/place.h"
#include "runs/corrections.h"
#include "mlruns-format/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OBJECT_MAX = 64 << 20 /* of a tree */, DEPTH_MAX = 40, BLOCK = 64 << 10, NAME_LEN = 255 };

struct sync_ref {
    pid_t pid;
    int to; /* requests */
    FILE *from; /* replies */
    int above, dir; /* the own folder, and the one it is in */
    char name[16]; /* of the own folder */
    char *root; /* "REF:./mlruns" */
    struct arena arena;
};

/* ---- the process ---- */

static int sync_ref_start_git(struct sync_ref *r, const char *folder, struct err *err)
{
    int in[2], out[2] = {-1, -1};
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return err_sys(err, "cannot make a pipe to git");
    posix_spawn_file_actions_t actions;
    char git[] = "git", c[] = "-C", cat[] = "cat-file", batch[] = "--batch";
    char *argv[] = {git, c, (char *)(uintptr_t)folder, cat, batch, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    char **env = credentials_mask(environ);
    int rc = env ? posix_spawnp(&r->pid, "git", &actions, NULL, argv, env) : ENOMEM;
    free(env);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    r->to = in[1];
    r->from = fdopen(out[0], "r");
    if (rc) {
        r->pid = 0;
        errno = rc;
        return err_sys(err, "cannot start git");
    }
    return r->from ? 0 : err_sys(err, "cannot read from git");
}

/* Asks for an object: its type and size. 1: there is none. */
static int sync_ref_query(struct sync_ref *r, const char *name, char type[16], size_t *ret_size, char id[129], struct err *err)
{
    char line[9000];
    uint64_t size;
    int n = snprintf(line, sizeof line, "%s\n", name);
    if (n < 0 || (size_t)n >= sizeof line || fs_write_all(r->to, line, (size_t)n) || !fgets(line, sizeof line, r->from))
        return err_set(err, ERR_SYSTEM, "git ended before it answered (is this a repository?)");
    struct str rest = str_of(line), name_of = str_word(&rest), kind = str_word(&rest);
    if (!str_uint(str_word(&rest), &size) || name_of.n > 128 || kind.n > 15) /* "NAME missing" */
        return 1;
    snprintf(id, 129, STR_FMT, STR_ARG(name_of));
    snprintf(type, 16, STR_FMT, STR_ARG(kind));
    *ret_size = size;
    return 0;
}

/* The object's bytes into memory (to != NULL) or a file; the newline behind them too. */
static int take_bytes(struct sync_ref *r, size_t size, struct buf *to, int fd, struct err *err)
{
    char block[BLOCK];
    while (size) {
        size_t n = fread(block, 1, size < sizeof block ? size : sizeof block, r->from);
        if (!n)
            return err_set(err, ERR_SYSTEM, "git ended in the middle of an object");
        if (to)
            buf_add(to, block, n);
        else if (fd >= 0 && fs_write_all(fd, block, n))
            return err_sys(err, "cannot write a file of the commit");
        size -= n;
    }
    return fgetc(r->from) == '\n' && !(to && to->failed) ? 0 : err_set(err, ERR_SYSTEM, "git's answer is not whole, or too large");
}

/* ---- trees ---- */

struct sync_ref_entry {
    char name[NAME_LEN + 1], id[129];
    bool folder, file;
};

/* The next "<mode> <name>\0<raw id>"; id_bytes: 20 or 32. */
static bool next_entry(struct str *rest, size_t id_bytes, struct sync_ref_entry *ret)
{
    const char *blank = rest->n ? memchr(rest->p, ' ', rest->n) : NULL,
               *nul = blank ? memchr(blank, 0, rest->n - (size_t)(blank - rest->p)) : NULL;
    if (!nul || (size_t)(rest->p + rest->n - nul) < 1 + id_bytes)
        return false;
    struct str mode = {rest->p, (size_t)(blank - rest->p)}, name = {blank + 1, (size_t)(nul - blank - 1)};
    bool good = name.n && name.n <= NAME_LEN && !memchr(name.p, '/', name.n) && !str_is(name, ".") && !str_is(name, "..");
    *ret = (struct sync_ref_entry){.folder = good && (str_is(mode, "40000") || str_is(mode, "040000")),
                                   .file = good && str_starts(mode, "100")};
    snprintf(ret->name, sizeof ret->name, STR_FMT, STR_ARG(name));
    for (size_t i = 0; i < id_bytes; i++)
        snprintf(ret->id + 2 * i, 3, "%02x", (unsigned char)nul[1 + i]);
    *rest = str_sub(*rest, (size_t)(nul - rest->p) + 1 + id_bytes, rest->n);
    return true;
}

/* A tree object. 1: there is none of this name. */
static int sync_ref_read_tree(struct sync_ref *r, const char *name, struct buf *to, size_t *ret_id_bytes, struct err *err)
{
    char type[16], id[129];
    size_t size;
    int rc = sync_ref_query(r, name, type, &size, id, err);
    if (rc)
        return rc;
    bool tree = strcmp(type, "tree") == 0;
    if (tree && size > OBJECT_MAX)
        return err_set(err, ERR_INPUT, "a folder of the commit is too large");
    if (take_bytes(r, size, tree ? to : NULL, -1, err))
        return -1;
    *ret_id_bytes = strlen(id) / 2;
    return tree ? 0 : 1;
}

static int write_blob(struct sync_ref *r, const char *object, int dir, const char *path, struct err *err)
{
    char type[16], id[129];
    size_t size;
    int rc = sync_ref_query(r, object, type, &size, id, err);
    if (rc)
        return rc;
    CLEANUP_FD int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_sys(err, "cannot write %s", path);
    return take_bytes(r, size, NULL, fd, err);
}

static int write_tree(struct sync_ref *r, const char *object, int dir, const char *path, int depth, struct err *err)
{
    CLEANUP_BUF struct buf b;
    size_t id_bytes = 20;
    struct sync_ref_entry e;
    buf_init(&b, OBJECT_MAX + 1);
    if (mkdirat(dir, path, 0700) && errno != EEXIST)
        return err_sys(err, "cannot make %s", path);
    int rc = sync_ref_read_tree(r, object, &b, &id_bytes, err);
    if (rc)
        return rc;
    CLEANUP_FD int here = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (here < 0)
        return err_sys(err, "cannot open %s", path);
    for (struct str rest = buf_text(&b); rc == 0 && next_entry(&rest, id_bytes, &e);)
        if (e.folder && depth < DEPTH_MAX)
            rc = write_tree(r, e.id, here, e.name, depth + 1, err);
        else if (e.file)
            rc = write_blob(r, e.id, here, e.name, err);
    return rc;
}

/* ---- the tree's outline ---- */

static int outline_run(struct sync_ref *r, const char *folder, const char *run, struct err *err)
{
    static const char *const links[] = {"mlflow.parentRunId", "benchwrap.amends", "benchwrap.retracts", "benchwrap.why",
                                        "benchwrap.shared_run"};
    char object[9000], path[600];
    snprintf(path, sizeof path, "mlruns/%s/%s", folder, run);
    if (mkdirat(r->dir, path, 0700))
        return err_sys(err, "cannot make %s", path);
    snprintf(path, sizeof path, "mlruns/%s/%s/tags", folder, run);
    if (mkdirat(r->dir, path, 0700))
        return err_sys(err, "cannot make %s", path);
    snprintf(object, sizeof object, "%s/%s/%s/meta.yaml", r->root, folder, run);
    snprintf(path, sizeof path, "mlruns/%s/%s/meta.yaml", folder, run);
    int rc = write_blob(r, object, r->dir, path, err);
    for (size_t i = 0; rc >= 0 && i < (correction_possible(run) ? sizeof links / sizeof *links : 1); i++) {
        snprintf(object, sizeof object, "%s/%s/%s/tags/%s", r->root, folder, run, links[i]);
        snprintf(path, sizeof path, "mlruns/%s/%s/tags/%s", folder, run, links[i]);
        rc = write_blob(r, object, r->dir, path, err);
    }
    return rc < 0 ? -1 : 0;
}

static int outline_experiment(struct sync_ref *r, const struct sync_ref_entry *experiment, struct err *err)
{
    CLEANUP_BUF struct buf b;
    char object[9000], path[600];
    size_t id_bytes = 20;
    struct sync_ref_entry e;
    buf_init(&b, OBJECT_MAX + 1);
    snprintf(path, sizeof path, "mlruns/%s", experiment->name);
    if (mkdirat(r->dir, path, 0700))
        return err_sys(err, "cannot make %s", path);
    int rc = sync_ref_read_tree(r, experiment->id, &b, &id_bytes, err);
    for (struct str rest = buf_text(&b); rc == 0 && next_entry(&rest, id_bytes, &e);) {
        snprintf(object, sizeof object, "mlruns/%s/%s", experiment->name, e.name);
        if (e.folder && record_is_id(str_of(e.name)))
            rc = outline_run(r, experiment->name, e.name, err);
        else if (e.folder && strcmp(e.name, "datasets") == 0)
            rc = write_tree(r, e.id, r->dir, object, 0, err);
        else if (e.file && strcmp(e.name, "meta.yaml") == 0)
            rc = write_blob(r, e.id, r->dir, object, err);
    }
    return rc < 0 ? -1 : 0;
}

static void sync_ref_stop_git(struct sync_ref *r)
{
    fs_close(&r->to);
    if (r->from)
        fclose(r->from);
    r->from = NULL;
    if (r->pid > 0)
        waitpid(r->pid, NULL, 0);
    r->pid = 0;
}

static int sync_ref_outline(struct sync_ref *r, const char *folder, const char *ref, struct err *err)
{
    CLEANUP_BUF struct buf b;
    size_t id_bytes = 20;
    struct sync_ref_entry e;
    buf_init(&b, OBJECT_MAX + 1);
    r->root = arena_printf(&r->arena, "%s:./mlruns", ref);
    int rc = r->root ? sync_ref_read_tree(r, r->root, &b, &id_bytes, err) : -1;
    if (rc < 0) { /* a bare repository: git gives up over a relative name there */
        sync_ref_stop_git(r);
        if (sync_ref_start_git(r, folder, err))
            return -1;
        rc = 1;
    }
    if (rc == 1 && (r->root = arena_printf(&r->arena, "%s:mlruns", ref)))
        rc = sync_ref_read_tree(r, r->root, &b, &id_bytes, err);
    if (rc == 1)
        return err_set(err, ERR_INPUT, "there is no commit \"%.80s\", or it has no folder mlruns (\"git fetch\" brings others' branches)",
                       ref);
    if (rc == 0 && mkdirat(r->dir, "mlruns", 0700))
        return err_sys(err, "cannot make mlruns in the scratch folder");
    for (struct str rest = buf_text(&b); rc == 0 && next_entry(&rest, id_bytes, &e);)
        if (e.folder && strcmp(e.name, "models") != 0 && e.name[0] != '.')
            rc = outline_experiment(r, &e, err);
    return rc;
}

/* ---- the whole ---- */

int sync_ref_open(struct sync_ref **ret, const char *folder, const char *ref, const char *scratch, struct arena *a, const char **ret_tree,
                  struct err *err)
{
    if (!*ref || ref[0] == '-' || strpbrk(ref, "\n\r \t:"))
        return err_set(err, ERR_USAGE, "--ref: expected the name of a commit, got \"%.60s\"", ref);
    struct sync_ref *r = calloc(1, sizeof *r);
    if (!r)
        return err_memory(err, "the runs of a commit");
    *r = (struct sync_ref){.to = -1, .above = -1, .dir = -1, .name = "ref-XXXXXX"};
    arena_init(&r->arena, 64 << 20);
    *ret = r;
    signal(SIGPIPE, SIG_IGN); /* git may end at any time */
    if ((r->above = place_open_below(scratch, 1, 0700)) < 0)
        return err_sys(err, "cannot open %s", scratch);
    if ((r->dir = place_make_temporary(r->above, r->name)) < 0)
        return err_sys(err, "cannot make a folder in %s", scratch);
    if (sync_ref_start_git(r, folder, err) || sync_ref_outline(r, folder, ref, err))
        return -1;
    *ret_tree = arena_printf(a, "%s/%s/mlruns", scratch, r->name);
    return *ret_tree ? 0 : err_memory(err, "the runs of a commit");
}

int sync_ref_root(const struct sync_ref *r)
{
    return place_open(r->dir, "mlruns", O_RDONLY | O_DIRECTORY, 0);
}

int sync_ref_take(struct sync_ref *r, const char *path, struct err *err)
{
    char object[9000];
    snprintf(object, sizeof object, "%s/%s", r->root, path + strlen("mlruns/"));
    int rc = write_tree(r, object, r->dir, path, 0, err);
    return rc == 1 ? err_set(err, ERR_INPUT, "%s is not in the commit", path) : rc;
}

void sync_ref_drop(struct sync_ref *r, const char *path)
{
    static const char *const folders[] = {"params", "metrics", "artifacts", "inputs", "outputs"};
    char below[1024];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(below, sizeof below, "%s/%s", path, folders[i]);
        fs_remove_tree(r->dir, below, NULL);
    }
}

void sync_ref_close(struct sync_ref *r)
{
    if (!r)
        return;
    sync_ref_stop_git(r);
    if (r->dir >= 0)
        fs_remove_tree(r->above, r->name, NULL);
    fs_close(&r->dir);
    fs_close(&r->above);
    arena_deinit(&r->arena);
    free(r);
}
