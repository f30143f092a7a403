/* sync_ref.c: runs of a commit as files in a scratch folder: read through runs/runs_ref.h, no checkout. What it holds is foreign. */
#include "sync/sync_ref.h"

#include "base/fs.h"
#include "base/place.h"
#include "mlruns-format/record.h"
#include "mlruns-format/annotation.h"
#include "mlruns-format/corrections.h"
#include "runs/runs_ref.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 40 };

struct sync_ref {
    struct runs runs; /* of the commit */
    int above, dir; /* the own folder, and the one it is in */
    char name[16]; /* of the own folder */
};

/* ---- files ---- */

/* Returns 1 where, by errno, the commit has no such file or folder, else -1 with err. */
static int sync_ref_failed(const char *path, struct err *err)
{
    if (errno == ENOENT || errno == ENOTDIR || errno == EISDIR || errno == ELOOP)
        return 1;
    return err_sys(err, "cannot read %s of the commit", path);
}

struct ref_file_copy {
    int fd;
    bool failed;
};

static void ref_copy_piece(void *context, const void *p, size_t n)
{
    struct ref_file_copy *c = context;
    c->failed = c->failed || fs_write_all(c->fd, p, n) != 0;
}

/* Copies the file `path` of the folder to dir/to. */
static int ref_copy_file(const struct folder *from, const char *path, int dir, const char *to, struct err *err)
{
    struct folder_entry e;
    if (folder_look(from, path, &e, NULL) != 0)
        return sync_ref_failed(path, err);
    if (e.kind != FOLDER_FILE && e.kind != FOLDER_PROGRAM)
        return 1;
    CLEANUP_FD int fd = openat(dir, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct ref_file_copy c = {.fd = fd};
    if (fd < 0)
        return err_sys(err, "cannot write %s", to);
    if (folder_feed(from, path, UINT64_MAX, ref_copy_piece, &c) != 0)
        return sync_ref_failed(path, err);
    return c.failed ? err_sys(err, "cannot write %s", to) : 0;
}

/* Returns whether the name cannot lead out of its folder. */
static bool ref_name_is_plain(struct str name)
{
    return name.n > 0 && name.n <= NAME_MAX && !memchr(name.p, '/', name.n) && !str_is(name, ".") && !str_is(name, "..");
}

struct ref_tree_copy {
    const struct folder *from;
    int dir, depth, rc;
    struct err *err;
};

static int ref_copy_tree(const struct folder *from, const char *path, int dir, const char *to, int depth, struct err *err);

/* Copies one entry of a folder; what is neither file nor folder, or too deep, is ignored. Returns
 * c->rc, which is not 0 where the listing shall stop. */
static int ref_copy_entry(void *context, const struct folder_entry *e)
{
    struct ref_tree_copy *c = context;
    const char *name = e->name.p;
    if (!ref_name_is_plain(e->name))
        return 0;
    if (e->kind == FOLDER_FOLDER && c->depth < DEPTH_MAX)
        c->rc = ref_copy_tree(c->from, name, c->dir, name, c->depth + 1, c->err);
    else if (e->kind == FOLDER_FILE || e->kind == FOLDER_PROGRAM)
        c->rc = ref_copy_file(c->from, name, c->dir, name, c->err);
    return c->rc;
}

/* Copies a folder with what is below it, up to DEPTH_MAX levels, to `to` below dir. Returns -1 with
 * err. */
static int ref_copy_tree(const struct folder *from, const char *path, int dir, const char *to, int depth, struct err *err)
{
    CLEANUP_FOLDER struct folder folder = {0};
    if (mkdirat(dir, to, 0700) && errno != EEXIST)
        return err_sys(err, "cannot make %s", to);
    if (folder_enter(from, path, &folder))
        return sync_ref_failed(path, err);
    CLEANUP_FD int here = openat(dir, to, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (here < 0)
        return err_sys(err, "cannot open %s", to);
    struct ref_tree_copy c = {&folder, here, depth, 0, err};
    return folder_list(&folder, ref_copy_entry, &c) && !c.rc ? sync_ref_failed(path, err) : c.rc;
}

/* ---- the tree's outline ---- */

/* Copies what an annotation changes: it is applied to the run that it names, and not sent itself.
 * Returns -1 with err. */
static int ref_outline_annotation(struct sync_ref *r, const char *run, struct err *err)
{
    char path[600], to[640];
    struct folder_entry e;
    snprintf(path, sizeof path, "%s/tags/" ANNOTATION_TAG, run);
    if (folder_look(&r->runs.folder, path, &e, NULL) < 0)
        return 0;
    snprintf(to, sizeof to, "mlruns/%s", path);
    if (ref_copy_file(&r->runs.folder, path, r->dir, to, err) < 0)
        return -1;
    snprintf(to, sizeof to, "mlruns/%s/artifacts", run);
    if (mkdirat(r->dir, to, 0700))
        return err_sys(err, "cannot make %s", to);
    snprintf(path, sizeof path, "%s/artifacts/" ANNOTATION_FILE, run);
    snprintf(to, sizeof to, "mlruns/%s", path);
    return ref_copy_file(&r->runs.folder, path, r->dir, to, err) < 0 ? -1 : 0;
}

/* Makes the folder of a run with its meta.yaml and the tags that link it to others, without params
 * and metrics. Returns -1 with err. */
static int ref_outline_run(struct sync_ref *r, const char *run, struct err *err)
{
    static const char *const links[] = {"mlflow.parentRunId", "benchwrap.amends", "benchwrap.retracts", "benchwrap.why",
                                        "benchwrap.shared_run"};
    char path[600], to[640];
    snprintf(to, sizeof to, "mlruns/%s", run);
    if (mkdirat(r->dir, to, 0700))
        return err_sys(err, "cannot make %s", to);
    snprintf(to, sizeof to, "mlruns/%s/tags", run);
    if (mkdirat(r->dir, to, 0700))
        return err_sys(err, "cannot make %s", to);
    snprintf(path, sizeof path, "%s/meta.yaml", run);
    snprintf(to, sizeof to, "mlruns/%s", path);
    int rc = ref_copy_file(&r->runs.folder, path, r->dir, to, err);
    for (size_t i = 0; rc >= 0 && i < (correction_possible(strchr(run, '/') + 1) ? sizeof links / sizeof *links : 1); i++) {
        snprintf(path, sizeof path, "%s/tags/%s", run, links[i]);
        snprintf(to, sizeof to, "mlruns/%s", path);
        rc = ref_copy_file(&r->runs.folder, path, r->dir, to, err);
    }
    if (rc >= 0 && correction_possible(strchr(run, '/') + 1))
        rc = ref_outline_annotation(r, run, err);
    return rc < 0 ? -1 : 0;
}

struct ref_outline {
    struct sync_ref *ref;
    char experiment[NAME_MAX + 1];
    int rc;
    struct err *err;
};

static int ref_outline_entry(void *context, const struct folder_entry *e)
{
    struct ref_outline *o = context;
    char path[2 * NAME_MAX + 2], to[sizeof path + 8];
    if (!ref_name_is_plain(e->name))
        return 0;
    snprintf(path, sizeof path, "%s/" STR_FMT, o->experiment, STR_ARG(e->name));
    snprintf(to, sizeof to, "mlruns/%s", path);
    if (e->kind == FOLDER_FOLDER && record_is_id(e->name))
        o->rc = ref_outline_run(o->ref, path, o->err);
    else if (e->kind == FOLDER_FOLDER && str_is(e->name, "datasets"))
        o->rc = ref_copy_tree(&o->ref->runs.folder, path, o->ref->dir, to, 0, o->err);
    else if (str_is(e->name, "meta.yaml"))
        o->rc = ref_copy_file(&o->ref->runs.folder, path, o->ref->dir, to, o->err);
    return o->rc < 0;
}

/* Makes the folder of an experiment with the outlines of its runs. Returns true, which stops the
 * listing, with o->rc and err on failure. */
static int ref_outline_experiment(void *context, const struct folder_entry *e)
{
    struct ref_outline *o = context;
    char to[NAME_MAX + 8];
    if (e->kind != FOLDER_FOLDER || !ref_name_is_plain(e->name) || str_is(e->name, "models") || e->name.p[0] == '.')
        return 0;
    snprintf(o->experiment, sizeof o->experiment, STR_FMT, STR_ARG(e->name));
    snprintf(to, sizeof to, "mlruns/%s", o->experiment);
    CLEANUP_FOLDER struct folder folder = {0};
    if (mkdirat(o->ref->dir, to, 0700))
        o->rc = err_sys(o->err, "cannot make %s", to);
    else if (folder_enter(&o->ref->runs.folder, o->experiment, &folder) || (folder_list(&folder, ref_outline_entry, o) && o->rc >= 0))
        o->rc = sync_ref_failed(o->experiment, o->err);
    return o->rc < 0;
}

/* ---- sync of a ref ---- */

int sync_ref_open(struct sync_ref **ret, const struct runs_place *place, const char *scratch, struct arena *a, const char **ret_tree,
                  struct err *err)
{
    struct sync_ref *r = *ret = calloc(1, sizeof *r);
    if (!r)
        return err_memory(err, "the runs of a commit");
    *r = (struct sync_ref){.runs = {.root = -1}, .above = -1, .dir = -1, .name = "ref-XXXXXX"};
    if (runs_open_ref(&r->runs, place->ref, place, a, err))
        return -1;
    if ((r->above = place_open_below(scratch, 1, 0700)) < 0)
        return err_sys(err, "cannot open %s", scratch);
    if ((r->dir = place_make_temporary(r->above, r->name)) < 0)
        return err_sys(err, "cannot make a folder in %s", scratch);
    struct ref_outline o = {.ref = r, .err = err};
    if (mkdirat(r->dir, "mlruns", 0700))
        return err_sys(err, "cannot make mlruns in the scratch folder");
    if (folder_list(&r->runs.folder, ref_outline_experiment, &o))
        return o.rc < 0 ? -1 : err_sys(err, "cannot read the commit");
    *ret_tree = arena_printf(a, "%s/%s/mlruns", scratch, r->name);
    return *ret_tree ? 0 : err_memory(err, "the runs of a commit");
}

int sync_ref_root(const struct sync_ref *r)
{
    return place_open(r->dir, "mlruns", O_RDONLY | O_DIRECTORY, 0);
}

int sync_ref_take(struct sync_ref *r, const char *path, struct err *err)
{
    int rc = ref_copy_tree(&r->runs.folder, path + strlen("mlruns/"), r->dir, path, 0, err);
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
    runs_close(&r->runs);
    if (r->dir >= 0)
        fs_remove_tree(r->above, r->name, NULL);
    fs_close(&r->dir);
    fs_close(&r->above);
    free(r);
}
