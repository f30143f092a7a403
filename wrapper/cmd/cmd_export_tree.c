/* cmd_export_tree.c: `benchwrap export-tree [REF] DIR`: runs of a commit or of the tree as a plain tree of files. */
#include "base/json_out.h"
#include "base/fs.h"
#include "base/http.h"
#include "base/place.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "check/check.h"
#include "mlruns-format/corrections.h"
#include "runs/runs_ref.h"
#include "cmd/selection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 40, FILES_MAX = 1000000, FILE_MAX = 1 << 30, META_MAX = 1 << 20, MANIFEST_MAX = 64 << 20 };
#define ASIDE ".benchwrap-export" /* MLflow passes it over; so does benchwrap */

struct export
{
    struct cmd_context *c;
    struct runs runs;
    int tree; /* the folder mlruns that is written */
    const char *name; /* its path */
    const char *uri; /* --absolute: file:///… of it; else NULL */
    size_t written, there, files;
    const char *experiment; /* the last whose own files were exported */
};

/* ---- files ---- */

/* One folder on its way out of the commit. */
struct copying {
    struct export *x;
    const struct folder *from;
    int to; /* the folder that is written */
    const char *path; /* for messages */
    int depth;
    struct err *err;
};

static int copy_folder(struct copying *up, const char *name);

/* A commit can hold names that lead elsewhere, and links: they are not written. */
static const char *why_entry_is_refused(const struct folder_entry *e)
{
    if (!e->name.n || memchr(e->name.p, '/', e->name.n) || str_is(e->name, ".") || str_is(e->name, ".."))
        return "its name leads elsewhere";
    if (check_name_is_gits(e->name))
        return "git uses this name for its own file";
    if (e->kind != FOLDER_FILE && e->kind != FOLDER_PROGRAM && e->kind != FOLDER_FOLDER)
        return "it is neither a file nor a folder";
    return NULL;
}

static void export_write_piece(void *context, const void *p, size_t n)
{
    int *fd = context; /* -1: a write has failed */
    if (*fd >= 0 && fs_write_all(*fd, p, n) < 0)
        fs_close(fd);
}

static int copy_file(struct copying *c, const char *name)
{
    CLEANUP_FD int fd = openat(c->to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return err_sys(c->err, "writing %s/%.200s", c->path, name);
    errno = 0;
    if (folder_feed(c->from, name, FILE_MAX, export_write_piece, &fd) < 0)
        return err_sys(c->err, "reading %s/%.200s", c->path, name);
    return fd < 0 ? err_sys(c->err, "writing %s/%.200s", c->path, name) : 0;
}

static int export_entry(void *context, const struct folder_entry *e)
{
    struct copying *c = context;
    const char *why = why_entry_is_refused(e);
    if (why)
        return err_set(c->err, ERR_INPUT, "%s/%.200s: %s; \"benchwrap check\" prints details", c->path, e->name.p, why);
    if (++c->x->files > FILES_MAX)
        return err_set(c->err, ERR_INPUT, "more than %d files", FILES_MAX);
    return e->kind == FOLDER_FOLDER ? copy_folder(c, e->name.p) : copy_file(c, e->name.p);
}

static int copy_all(struct copying *c)
{
    errno = 0;
    int rc = folder_list(c->from, export_entry, c);
    return rc < 0 && c->err->kind == ERR_NONE ? err_sys(c->err, "reading %s", c->path) : rc;
}

/* Copies the folder `name` of up->from into up->to, with all below it. The folder must not exist
 * there. 0; -1 with up->err: what was copied stays. */
static int copy_folder(struct copying *up, const char *name)
{
    CLEANUP_FOLDER struct folder from = {0};
    struct copying c = *up;
    if (++c.depth > DEPTH_MAX)
        return err_set(up->err, ERR_INPUT, "%s: folders are more than %d deep", up->path, DEPTH_MAX);
    c.path = arena_printf(up->x->c->arena, "%s/%.255s", up->path, name);
    if (!c.path || folder_enter(up->from, name, &from) < 0)
        return err_sys(up->err, "reading %s/%.200s", up->path, name);
    if (mkdirat(up->to, name, 0777) < 0)
        return err_sys(up->err, "making %s", c.path);
    CLEANUP_FD int to = openat(up->to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (to < 0)
        return err_sys(up->err, "making %s", c.path);
    c.from = &from;
    c.to = to;
    return copy_all(&c);
}

/* ---- experiments and runs: written under another name, and renamed when complete ---- */

static int move_in(struct export *x, const char *place, struct err *err)
{
    const char *slash = strchr(place, '/'), *name = slash ? slash + 1 : place;
    CLEANUP_FD int aside = place_open(x->tree, ASIDE, O_PATH | O_DIRECTORY, 0);
    CLEANUP_FD int experiment = slash ? place_open(x->tree, x->experiment, O_PATH | O_DIRECTORY, 0) : -1;
    int to = slash ? experiment : x->tree;
    if (renameat2(aside, "new", to, name, RENAME_NOREPLACE) == 0)
        return 0;
    if ((errno == EINVAL || errno == ENOSYS) && faccessat(to, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 &&
        renameat(aside, "new", to, name) == 0)
        return 0; /* a file system that knows no such rename */
    if (errno == EEXIST || errno == ENOTEMPTY)
        return fs_remove_tree(x->tree, ASIDE "/new", err);
    return err_sys(err, "putting %s/%s in its place", x->name, place);
}

/* ---- absolute locations ---- */

/* The lines of a meta.yaml with another value of `key`; a value may continue in lines that begin
 * with a blank. */
static void put_located(struct str meta, const char *key, const char *value, struct buf *to)
{
    bool inside = false;
    while (meta.p && meta.n) {
        struct str line = str_cut(&meta, '\n');
        if (inside && line.n && line.p[0] == ' ')
            continue;
        inside = str_starts(line, key) && line.n > strlen(key) && line.p[strlen(key)] == ':';
        if (inside) {
            buf_printf(to, "%s: ", key);
            buf_json(to, str_of(value));
        } else
            buf_str(to, line);
        buf_putc(to, '\n');
    }
}

/* meta.yaml of the folder `place` ("<experiment>", "<experiment>/<run>") as --absolute requires it;
 * appended to `to`. */
static void put_absolute(const struct export *x, const char *place, struct str meta, struct buf *to)
{
    bool run = strchr(place, '/');
    put_located(meta, run ? "artifact_uri" : "artifact_location",
                arena_printf(x->c->arena, "%s/%s%s", x->uri, place, run ? "/artifacts" : ""), to);
}

/* The manifest has the sum of meta.yaml as it is now; one that is signed stays as it was signed. */
static int renew_manifest(int run, struct str meta, struct err *err)
{
    static const char path[] = "artifacts/manifest.json", entry[] = "{\"path\": \"meta.yaml\", ";
    CLEANUP_BUF struct buf old, new;
    char hex[SHA256_HEX];
    buf_init(&old, MANIFEST_MAX + 4096);
    buf_init(&new, MANIFEST_MAX + 8192);
    if (faccessat(run, "artifacts/manifest.json.sig", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || fs_read(run, path, MANIFEST_MAX, 0, &old, NULL))
        return 0;
    ptrdiff_t at = str_find(buf_text(&old), str_of(entry));
    if (at < 0)
        return 0;
    struct str rest = str_sub(buf_text(&old), (size_t)at, old.n);
    sha256_of(meta.p, meta.n, hex);
    str_cut(&rest, '}');
    buf_str(&new, str_sub(buf_text(&old), 0, (size_t)at));
    buf_printf(&new, "%s\"size\": %zu, \"sha256\": \"%s\"}", entry, meta.n, hex);
    buf_str(&new, rest);
    return new.failed ? err_memory(err, "a file of the exported tree") : fs_write(run, path, buf_text(&new), 0666, false, err);
}

static int make_absolute(const struct export *x, int folder, const char *place, struct err *err)
{
    CLEANUP_BUF struct buf old, new;
    buf_init(&old, META_MAX + 4096);
    buf_init(&new, 2 * META_MAX);
    if (!x->uri)
        return 0;
    if (fs_read(folder, "meta.yaml", META_MAX, 0, &old, err))
        return -1;
    put_absolute(x, place, buf_text(&old), &new);
    if (new.failed || fs_write(folder, "meta.yaml", buf_text(&new), 0666, false, err))
        return new.failed ? err_memory(err, "a file of the exported tree") : -1;
    return renew_manifest(folder, buf_text(&new), err);
}

/* The folder `from` of the commit as `place` of the tree; `only` NULL: all of it, else these files. */
static int export_folder(struct export *x, const char *place, const char *const *only, struct err *err)
{
    CLEANUP_FOLDER struct folder from = {0};
    struct folder_entry e;
    if (folder_enter(&x->runs.folder, place, &from) < 0)
        return err_sys(err, "reading mlruns/%s", place);
    if (fs_remove_tree(x->tree, ASIDE "/new", err) < 0 || fs_mkdirs(x->tree, ASIDE "/new", 0777, err) < 0)
        return -1;
    CLEANUP_FD int to = place_open(x->tree, ASIDE "/new", O_RDONLY | O_DIRECTORY, 0);
    if (to < 0)
        return err_sys(err, "writing below %s", x->name);
    struct copying c = {x, &from, to, arena_printf(x->c->arena, "mlruns/%s", place), 0, err};
    if (!c.path)
        return err_memory(err, "a file of the exported tree");
    int rc = only ? 0 : copy_all(&c);
    for (; only && *only && rc == 0; only++)
        if (folder_look(&from, *only, &e, NULL) == 0)
            rc = e.kind == FOLDER_FOLDER ? copy_folder(&c, *only) : copy_file(&c, *only);
    rc = rc ? rc : make_absolute(x, to, place, err);
    return rc ? -1 : move_in(x, place, err);
}

/* An experiment that is there must be the same one. */
static int put_experiment(struct export *x, const char *id, struct err *err)
{
    static const char *const own[] = {"meta.yaml", "tags", NULL};
    CLEANUP_BUF struct buf theirs, ours, located;
    char path[100];
    struct folder tree = folder_disk(x->tree);
    snprintf(path, sizeof path, "%.70s/meta.yaml", id);
    buf_init(&theirs, 1 << 20);
    buf_init(&ours, 1 << 20);
    buf_init(&located, 1 << 20);
    if (folder_read(&tree, path, 64 << 10, &ours) < 0)
        return errno == ENOENT ? export_folder(x, id, own, err) : err_sys(err, "reading %s/%s", x->name, path);
    if (folder_read(&x->runs.folder, path, 64 << 10, &theirs) < 0)
        return err_sys(err, "reading mlruns/%s", path);
    if (x->uri)
        put_absolute(x, id, buf_text(&theirs), &located);
    return str_eq(buf_text(x->uri ? &located : &theirs), buf_text(&ours))
               ? 0
               : err_set(err, ERR_INPUT, "%s/%s is another experiment than the one to be exported; name another folder", x->name, path);
}

/* Exports a run unless the exported tree has it, after its experiment. A run that was deleted since
 * the listing is counted, and is no error. 0; -1 with err. */
static int export_run(struct export *x, const struct tree_run *run, struct err *err)
{
    const char *place = tree_run_path(run), *slash = strchr(place, '/'),
               *id = slash ? arena_dup(x->c->arena, place, (size_t)(slash - place)) : NULL;
    if (!id)
        return err_memory(err, "a file of the exported tree");
    if (!(x->experiment && strcmp(x->experiment, id) == 0) && put_experiment(x, id, err) < 0)
        return -1;
    x->experiment = id;
    if (faccessat(x->tree, place, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        x->there++;
        return 0;
    }
    int rc = export_folder(x, place, NULL, err);
    bool is_gone = rc < 0 && runs_is_gone(&x->runs, run); /* deleted since the listing */
    if (is_gone)
        *err = (struct err){0};
    x->runs.gone += is_gone;
    x->written += rc == 0;
    return is_gone ? 0 : rc;
}

/* ---- all of the export ---- */

static int set_uri(struct export *x, struct err *err)
{
    CLEANUP_BUF struct buf uri;
    char *path = realpath(x->name, NULL);
    buf_init(&uri, 64 << 10);
    buf_puts(&uri, "file://");
    http_escape(&uri, str_of(path), true);
    free(path);
    x->uri = path && !uri.failed ? arena_dup(x->c->arena, uri.p, uri.n) : NULL;
    return x->uri ? 0 : err_sys(err, "finding the path of %s", x->name);
}

static int open_export_tree(struct export *x, const char *dir, struct err *err)
{
    x->name = strcmp(str_base_name(dir), "mlruns") == 0 ? dir : arena_printf(x->c->arena, "%s/mlruns", dir);
    if (!x->name)
        return err_memory(err, "a file of the exported tree");
    x->tree = place_open_folder(x->name, 0777);
    if (x->tree < 0)
        return err_sys(err, "opening %s", x->name);
    struct stat from, to;
    if (x->runs.root >= 0 && fstat(x->runs.root, &from) == 0 && fstat(x->tree, &to) == 0 && from.st_dev == to.st_dev &&
        from.st_ino == to.st_ino)
        return err_set(err, ERR_INPUT, "%s is the tree itself; name another folder", x->name);
    return opt_on(&x->c->opts, OPTION_ABSOLUTE) ? set_uri(x, err) : 0;
}

static int order_exported(const void *a, const void *b)
{
    const struct tree_run *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Adds further runs of the tree that concern the chosen runs. */
struct related_runs {
    struct tree_run **by_id; /* all runs of the tree */
    size_t count;
    struct corrections corrections;
    const char **chosen, **roots; /* ids of the chosen runs, and of the runs that these go back to; sorted */
    size_t chosen_count;
};

static int order_roots(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The run that a chain of corrections goes back to. */
static const char *export_root_of(const struct related_runs *r, const char *id)
{
    const struct correction *k = corrections_of(&r->corrections, id);
    return k ? k->root : id;
}

/* Is it none of the chosen runs, but amends, retracts or annotates one, or retracts such an annotation? */
static bool is_related(const struct related_runs *r, const struct tree_run *run)
{
    struct tree_run key = {0}, *at = &key;
    const char *root = export_root_of(r, run->id), *id = run->id;
    if (!r->chosen_count || bsearch(&id, r->chosen, r->chosen_count, sizeof *r->chosen, order_roots))
        return false;
    memcpy(key.id, root, sizeof key.id);
    struct tree_run *const *first = r->count ? bsearch(&at, r->by_id, r->count, sizeof *r->by_id, order_exported) : NULL;
    if (first && (*first)->annotates)
        root = export_root_of(r, (*first)->annotates);
    return bsearch(&root, r->roots, r->chosen_count, sizeof *r->roots, order_roots);
}

/* Loads the runs of the whole tree. */
static int related_load(struct export *x, struct related_runs *r, struct err *err)
{
    static const struct runs_filter everything = {.corrected = true};
    struct arena *a = x->c->arena;
    free(x->runs.all);
    x->runs.all = NULL;
    x->runs.count = 0;
    if (runs_load(&x->runs, &everything, a, err) < 0)
        return -1;
    r->count = x->runs.count;
    r->by_id = arena_get(a, (r->count + 1) * sizeof *r->by_id);
    if (!r->by_id)
        return err_memory(err, "the runs to be exported");
    for (size_t i = 0; i < r->count; i++) {
        struct folder tree = runs_tree(&x->runs, x->runs.all[i]);
        corrections_read(&r->corrections, &tree, x->runs.all[i], a);
        r->by_id[i] = x->runs.all[i];
    }
    corrections_sort(&r->corrections);
    if (r->count)
        qsort(r->by_id, r->count, sizeof *r->by_id, order_exported);
    return r->corrections.failed ? err_memory(err, "the list of corrections") : 0;
}

/* The corrections and annotations of the first n runs, which the selection has left out. */
static int export_related(struct export *x, size_t n, struct err *err)
{
    struct arena *a = x->c->arena;
    struct related_runs r = {
        .chosen = arena_get(a, (n + 1) * sizeof *r.chosen), .roots = arena_get(a, (n + 1) * sizeof *r.roots), .chosen_count = n};
    if (!r.chosen || !r.roots)
        return err_memory(err, "the runs to be exported");
    for (size_t i = 0; i < n; i++)
        r.chosen[i] = x->runs.all[i]->id;
    int rc = related_load(x, &r, err);
    for (size_t i = 0; i < n && rc == 0; i++)
        r.roots[i] = export_root_of(&r, r.chosen[i]);
    if (n && rc == 0) {
        qsort(r.chosen, n, sizeof *r.chosen, order_roots);
        qsort(r.roots, n, sizeof *r.roots, order_roots);
    }
    for (size_t i = 0; i < x->runs.count && rc == 0; i++)
        if (is_related(&r, x->runs.all[i]))
            rc = export_run(x, x->runs.all[i], err);
    corrections_deinit(&r.corrections);
    return rc;
}

/* Exports the chosen runs and those that concern them. -1 with err. */
static int export_runs(struct export *x, struct err *err)
{
    struct progress progress;
    int rc = 0;
    size_t last = opt_text(&x->c->opts, OPTION_LAST) ? (size_t)opt_integer(&x->c->opts, OPTION_LAST) : x->runs.count;
    size_t n = last < x->runs.count ? last : x->runs.count;
    bool all = n == x->runs.count && !selection_given(x->c);
    progress_begin(&progress, x->c->notes, "exporting run", n);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = export_run(x, x->runs.all[i], err);
        progress_show(&progress, i + 1, NULL);
    }
    progress_clear(&progress);
    if (rc == 0 && !all)
        rc = export_related(x, n, err);
    struct err ignored = {0};
    fs_remove_tree(x->tree, ASIDE, &ignored);
    return rc;
}

static void export_print_counts(const struct export *x, FILE *out)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, 4096);
    struct json_out j = json_begin(&b, JSON_ROW, '{');
    json_uint(&j, "written", x->written);
    json_uint(&j, "already_there", x->there);
    json_uint(&j, "damaged", x->runs.damaged);
    json_close(&j, '}');
    fprintf(out, "%s\n", b.p ? b.p : "");
}

/* Executes `benchwrap export-tree`. Returns 0; 1: damaged runs were left out; -1 with c->err. */
static int export_tree_command(struct cmd_context *c)
{
    struct export x = {.c = c, .tree = -1};
    struct runs_filter filter;
    if (selection_filter(c, &filter) < 0)
        return -1;
    filter.corrected = true;
    if (c->argc != 1 && c->argc != 2)
        return err_set(c->err, ERR_USAGE, "expected a folder, or a commit and a folder: benchwrap export-tree [REF] DIR");
    if (opt_text(&c->opts, OPTION_LAST) && opt_integer(&c->opts, OPTION_LAST) < 1)
        return err_set(c->err, ERR_USAGE, "--last: expected an integer >= 1");
    struct runs_place place = selection_place(c);
    if (c->argc == 2)
        place.ref = c->argv[0];
    if (runs_open(&x.runs, &place, c->arena, c->err) < 0)
        return -1;
    int rc = runs_load(&x.runs, &filter, c->arena, c->err);
    if (rc == 0)
        rc = open_export_tree(&x, c->argv[c->argc - 1], c->err);
    if (rc == 0)
        rc = export_runs(&x, c->err);
    if (rc == 0 && opt_on(&c->opts, OPTION_JSON))
        export_print_counts(&x, c->out);
    else if (rc == 0)
        fprintf(c->out, "%zu run%s written to %s%s\n", x.written, str_plural(x.written), x.name,
                x.there ? arena_printf(c->arena, ", %zu there already", x.there) : "");
    int damaged = x.runs.damaged > 0;
    fs_close(&x.tree);
    runs_close(&x.runs);
    return rc < 0 ? -1 : damaged;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_ABSOLUTE,
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Write absolute artifact locations, so that MLflow finds the artifacts from any working directory"},
    {.name = OPTION_LAST,
     .letter = 'n',
     .kind = OPT_INT,
     .arg = "N",
     .group = "Selection",
     .help = "Use the N newest of them (default: all)"},
    CMD_ROW_JSON,
};

const struct cmd cmd_export_tree = {
    .name = "export-tree",
    .summary = "Write the runs of a git commit, or of the tree, as a folder",
    .usage = "[OPTIONS] [REF] DIR",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Writes the runs of REF (a branch, origin/main, a hash; REF:PATH where mlruns has another place), or without REF those of the tree, to DIR/mlruns, or to "
        "DIR where that is called mlruns: the files that MLflow and benchwrap read. The options choose as those of \"benchwrap ls\" do; runs that amend, retract or annotate these come along, "
        "readers apply that. A run appears complete or not at all. One that is there already is left alone, so repeating the command brings what is new. Links, submodules and names that lead "
        "elsewhere are refused. The exit status is 1 where a run of the commit is damaged.\n\n"
        "The runs of a tree name their artifacts by a relative location, so that trees can be moved and merged. MLflow resolves it from its working directory: "
        "started elsewhere than in the folder that holds mlruns, it shows no artifacts. With --absolute the copy has absolute locations (file:///...), which MLflow reads "
        "from any directory. Such a copy is for MLflow on this machine: it is not to be moved, committed or shared.\n\n"
        "\"benchwrap export\" writes the runs as a table for analysis.",
    .examples =
        "$ benchwrap export-tree origin/main /tmp/results\nAll runs of the branch.\n"
        "$ benchwrap export-tree --absolute /tmp/for-mlflow\nThe runs of the tree, for an MLflow that runs in another directory.\n"
        "$ benchwrap export-tree pr-17 review --experiment io --last 20\nThe 20 newest of one experiment, of a pull request that was fetched.\n",
    .run = export_tree_command,
};
