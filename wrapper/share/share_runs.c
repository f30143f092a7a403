/* share_runs.c: which runs the target never had, and what would leave the site with them. */
#include "mlruns-format/headline.h"
#include "mlruns-format/verdict.h"
#include "runs/row_words.h"
#include "share/share.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/progress.h"
#include "git/tree.h"
#include "results/commit_some.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 16, SCAN_MAX = 16 << 20, LOG_LIMIT_S = 600, REMOVED_MAX = 64 << 20 };
static const uint64_t github_file_max = 100 << 20; /* "files larger than 100 MiB" are refused: docs.github.com, about large files */

/* ---- runs that were removed from the target ---- */

/* Adds the runs in the lines "<prefix>/<exp>/<run>/meta.yaml" of git's log. Returns -1 with err. */
static int take_removed(const struct share *s, struct str text, struct run_ids *to, struct err *err)
{
    size_t prefix = strlen(s->results.prefix);
    while (text.p) {
        struct str line = str_cut(&text, '\n'), experiment, id;
        char hex[33];
        if (!str_starts(line, s->results.prefix) || line.n < prefix + 2)
            continue;
        line = str_sub(line, prefix + 1, line.n);
        experiment = str_cut(&line, '/');
        id = line.p ? str_cut(&line, '/') : line;
        if (!experiment.n || !id.p || id.n != 32)
            continue;
        memcpy(hex, id.p, 32);
        hex[32] = 0;
        if (record_is_id(str_of(hex)) && run_ids_add(to, hex))
            return err_memory(err, "the list of runs");
    }
    return 0;
}

/* Appends the meta.yaml files that git's log shows as removed along the target's own line, from
 * `from` (NULL: its beginning): the difference to its first parent shows what a merge brings.
 * Returns -1 with err. */
static int ask_removed(struct share *s, const char *from, struct buf *to, struct err *err)
{
    char tip[REPO_HEX], range[2 * REPO_HEX + 4];
    struct program_end end;
    repo_id_hex(&s->target, tip);
    snprintf(range, sizeof range, "%s%s%s", from ? from : "", from ? ".." : "", tip);
    const char *const args[] = {
        "log",       "--first-parent", "-m",  "--no-renames", "--diff-filter=D",
        "--format=", "--name-only",    range, "--",           arena_printf(s->arena, ":(top,glob)%s/*/*/meta.yaml", s->results.prefix),
        NULL};
    if (share_git(s, LOG_LIMIT_S, args, (struct str){0}, &end, err))
        return -1;
    int rc = end.status ? program_err(&end, err, "git log of %s/%s", s->remote, s->base) : 0;
    if (rc == 0)
        buf_str(to, buf_text(&end.out));
    program_end_deinit(&end);
    return rc;
}

/* Finds the runs that the target has removed. The result is stored next to the repository's
 * objects, with the commit up to which it holds, so that a log of years is read once. */
static int find_removed(struct share *s, struct run_ids *ret, struct err *err)
{
    const char *file = share_note_file(s, "removed");
    struct buf b CLEANUP_BUF;
    struct repo_id up_to;
    char hex[REPO_HEX];
    buf_init(&b, REMOVED_MAX);
    *ret = (struct run_ids){0};
    if (!file)
        return err_memory(err, "the list of runs");
    CLEANUP_FD int folder = share_note_folder(s);
    bool kept = folder >= 0 && fs_read(folder, file, REMOVED_MAX / 2, 0, &b, NULL) == 0 && b.n > REPO_HEX && b.p[REPO_HEX - 1] == '\n' &&
                repo_id_parse(&up_to, (struct str){b.p, REPO_HEX - 1}) && repo_contains(s->repo, &s->target, &up_to, NULL) == 1;
    if (!kept)
        buf_clear(&b);
    repo_id_hex(&s->target, hex);
    if (!kept)
        buf_printf(&b, "%s\n", hex);
    char from[REPO_HEX] = "";
    if (kept)
        repo_id_hex(&up_to, from);
    if (ask_removed(s, kept ? from : NULL, &b, err) || take_removed(s, buf_text(&b), ret, err))
        return -1;
    if (b.failed)
        return err_memory(err, "the list of removed runs");
    memcpy(b.p, hex, REPO_HEX - 1);
    if (folder >= 0)
        fs_write(folder, file, buf_text(&b), 0666, false, NULL);
    run_ids_sort(ret);
    return 0;
}

/* ---- the runs that are here ---- */

/* Appends a run to the list. The pointer is valid until the next call. NULL with err: out of
 * memory. */
static struct share_run *list_add_run(struct share *s, const char *experiment, const char *id, struct err *err)
{
    if (!ARRAY_FITS(s->list, s->room, s->count + 1)) {
        err_memory(err, "the list of runs");
        return NULL;
    }
    struct share_run *r = &s->list[s->count++];
    *r = (struct share_run){0};
    snprintf(r->experiment, sizeof r->experiment, "%s", experiment);
    memcpy(r->id, id, 33);
    return r;
}

struct looking {
    struct share *s;
    const struct run_ids *target, *branch;
    struct run_ids seen; /* on disk */
    const char *experiment;
    const struct folder *folder;
    struct err *err;
};

/* Counts a run of the tree, and adds it to the list where the target lacks it. Returns -1 with
 * err. */
static int look_run(void *context, const struct folder_entry *e)
{
    struct looking *l = context;
    if (e->kind != FOLDER_FOLDER || !record_is_id(e->name))
        return 0;
    l->s->local++;
    if (run_ids_has(l->target, e->name.p)) {
        l->s->known++;
        return 0;
    }
    struct share_run *r = list_add_run(l->s, l->experiment, e->name.p, l->err);
    if (!r || run_ids_add(&l->seen, r->id))
        return err_memory(l->err, "the list of runs");
    r->on_disk = true;
    r->in_branch = run_ids_has(l->branch, r->id);
    return 0;
}

/* Lists the runs of one folder of the tree; what is no folder of an experiment is ignored. Returns
 * -1 with err. */
static int look_experiment(void *context, const struct folder_entry *e)
{
    struct looking *l = context;
    CLEANUP_FOLDER struct folder in = {0};
    if (e->kind != FOLDER_FOLDER || !run_ids_is_experiment(e->name))
        return 0;
    if (folder_enter(l->folder, e->name.p, &in))
        return err_sys(l->err, "cannot read mlruns/%s", e->name.p);
    l->experiment = e->name.p;
    int rc = folder_list(&in, look_run, l);
    return rc < 0 && l->err->kind == ERR_NONE ? err_sys(l->err, "cannot read mlruns/%s", e->name.p) : rc;
}

static int look_at_disk(struct looking *l)
{
    if (l->s->runs.root < 0)
        return 0;
    struct folder root = folder_disk(l->s->runs.root);
    l->folder = &root;
    int rc = folder_list(&root, look_experiment, l);
    l->folder = NULL;
    run_ids_sort(&l->seen);
    return rc < 0 && l->err->kind == ERR_NONE ? err_sys(l->err, "cannot read %s", l->s->runs.tree) : rc;
}

/* Adds a run of the site's branch that is not on disk any more, or never was (a bare repository).
 * Returns -1 with err. */
static int branch_run(void *context, const struct repo_entry *e)
{
    struct looking *l = context;
    if (e->mode != REPO_MODE_DIR || !record_is_id(str_of(e->name)) || run_ids_has(&l->seen, e->name) || run_ids_has(l->target, e->name))
        return 0;
    l->s->local++;
    struct share_run *r = list_add_run(l->s, l->experiment, e->name, l->err);
    if (r)
        r->in_branch = true;
    return r ? 0 : -1;
}

static int branch_experiment(void *context, const struct repo_entry *e)
{
    struct looking *l = context;
    l->experiment = e->name;
    return e->mode == REPO_MODE_DIR && run_ids_is_experiment(str_of(e->name)) ? repo_each(l->s->repo, &e->id, branch_run, l, l->err) : 0;
}

static int read_runs_of_branch(struct looking *l, const struct repo_id *tip)
{
    struct repo_entry mlruns;
    int rc = repo_find(l->s->repo, tip, l->s->results.prefix, &mlruns, l->err);
    if (rc == 0 && mlruns.mode == REPO_MODE_DIR)
        rc = repo_each(l->s->repo, &mlruns.id, branch_experiment, l, l->err);
    return rc < 0 ? -1 : 0;
}

static int by_place(const void *a, const void *b)
{
    const struct share_run *x = a, *y = b;
    int rc = strcmp(x->experiment, y->experiment);
    return rc ? rc : strcmp(x->id, y->id);
}

/* ---- which of them can go ---- */

static const char *share_file_of(const struct share *s, const struct share_run *r, const char *name, size_t max)
{
    return r->run ? runs_file(&s->runs, r->run, name, max, s->arena) : NULL;
}

/* Returns why the run cannot be shared, borrowed or in the arena; NULL: it can, or is only in the
 * branch. Reads r->run. */
static const char *why_not(struct share *s, struct share_run *r)
{
    struct err err = {0};
    if (!r->on_disk)
        return NULL;
    if (tree_find(s->runs.root, r->id, TREE_META, s->arena, &r->run, &err))
        return err.text[0] ? arena_printf(s->arena, "%s", err.text) : "it is there twice";
    if (r->run->problem)
        return r->run->problem;
    if (strcmp(r->run->lifecycle, "deleted") == 0 && !share_file_of(s, r, "tags/benchwrap.lifecycle", 16))
        return "it was deleted"; /* here; an adopted run was deleted where it comes from, and stays so everywhere */
    if (r->run->status == RUN_RUNNING)
        return "it has not ended";
    if (s->results.public_profile && !s->options.private && commit_is_private(s->runs.root, r->experiment, r->id))
        return "it was recorded with the private profile, and this repository is public (--private shares it all the same)";
    if (!share_file_of(s, r, "artifacts/manifest.json", 16))
        return "benchwrap has not recorded it (no artifacts/manifest.json)";
    return NULL;
}

static void share_choose_left_out(struct share *s, const struct run_ids *removed)
{
    for (size_t i = 0; i < s->count; i++) {
        struct share_run *r = &s->list[i];
        r->left_out = run_ids_has(removed, r->id) ? "it was in the target once and was removed there" : why_not(s, r);
        r->site = r->left_out ? NULL : share_file_of(s, r, "tags/site", 64);
    }
}

int share_find_runs(struct share *s, struct err *err)
{
    struct run_ids target = {0}, branch = {0}, removed = {0};
    struct looking l = {.s = s, .target = &target, .branch = &branch, .err = err};
    struct repo_id tip;
    err_clear(err);
    int there = repo_ref(s->repo, s->results.branch, &tip, err),
        rc = there < 0 ? -1 : run_ids_of(s->repo, s->results.prefix, &s->target, &target, err);
    if (rc == 0 && there == 0)
        rc = run_ids_of(s->repo, s->results.prefix, &tip, &branch, err);
    if (rc == 0)
        rc = look_at_disk(&l);
    if (rc == 0 && there == 0)
        rc = read_runs_of_branch(&l, &tip);
    if (rc == 0 && s->count)
        rc = find_removed(s, &removed, err);
    if (rc == 0)
        rc = share_find_rewritten(s, err);
    if (rc == 0) {
        if (s->count)
            qsort(s->list, s->count, sizeof *s->list, by_place);
        share_choose_left_out(s, &removed);
        rc = share_leave_out_lost(s, err) || share_leave_out_retracted(s, err) ? -1 : 0;
    }
    run_ids_deinit(&target);
    run_ids_deinit(&branch);
    run_ids_deinit(&removed);
    run_ids_deinit(&l.seen);
    return rc ? -1 : 0;
}

/* ---- what would leave the site ---- */

struct measuring {
    struct share_run *r;
    const struct folder *in;
    unsigned depth;
    bool scan; /* below artifacts/: searched for marks */
    uint64_t largest;
    bool failed;
};

static size_t count_of(struct str s, const char *word)
{
    size_t n = 0, length = strlen(word);
    for (const char *p = s.p; p && (p = memmem(p, s.n - (size_t)(p - s.p), word, length)); p += length)
        n++;
    return n;
}

static void scan_file(struct measuring *m, const char *name)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, SCAN_MAX + 1);
    if (folder_read(m->in, name, SCAN_MAX, &b))
        return;
    if (m->depth > 1 || (strcmp(name, "stdout.log") != 0 && strcmp(name, "stderr.log") != 0)) /* the recorder has counted those */
        m->r->redacted += count_of(buf_text(&b), "[redacted]") + count_of(buf_text(&b), "(redacted)");
    if (strcmp(name, "benchwrap.json") == 0)
        m->r->withheld += count_of(buf_text(&b), "withheld: ");
}

/* Adds up files and bytes below one entry, and counts redactions in the files of artifacts. Sets
 * m->failed where something cannot be read. Always returns 0, so that the listing continues. */
static int measure_entry(void *context, const struct folder_entry *e)
{
    struct measuring *m = context;
    struct folder_entry what;
    uint64_t size = 0;
    if (e->kind == FOLDER_FOLDER && m->depth < DEPTH_MAX) {
        CLEANUP_FOLDER struct folder in = {0};
        struct measuring below = {.r = m->r, .in = &in, .depth = m->depth + 1, .scan = m->scan || strcmp(e->name.p, "artifacts") == 0};
        if (folder_enter(m->in, e->name.p, &in) || folder_list(&in, measure_entry, &below))
            m->failed = true;
        m->failed = m->failed || below.failed;
        m->largest = below.largest > m->largest ? below.largest : m->largest;
        return 0;
    }
    if (folder_look(m->in, e->name.p, &what, &size))
        m->failed = true;
    m->r->files++;
    m->r->bytes += size;
    m->largest = size > m->largest ? size : m->largest;
    if (m->scan)
        scan_file(m, e->name.p);
    return 0;
}

/* Returns how many places of the output of the run in that folder the recorder has replaced. A short
 * one has no mark, and a name becomes another one: only the recorder can count them. */
static size_t replaced_in_output(const struct folder *in)
{
    static const char *const counts[] = {"tags/benchwrap.secrets_redacted", "tags/benchwrap.identities_replaced"};
    size_t sum = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t n;
        struct buf b CLEANUP_BUF;
        buf_init(&b, 128 << 10); /* folder_read needs 64 KiB more than the maximum */
        if (folder_read(in, counts[i], 32, &b) == 0 && str_uint(str_trim(buf_text(&b)), &n))
            sum += n;
    }
    return sum;
}

/* Collects what the text of a pull request has about a run on disk. */
static void describe_run(struct share *s, struct share_run *r)
{
    struct headline h[HEADLINES_SHOWN];
    const struct folder tree = runs_tree(&s->runs, r->run);
    struct buf b CLEANUP_BUF;
    buf_init(&b, 1000);
    r->benchmark = share_file_of(s, r, "tags/benchmark", 256);
    r->verdict = verdict_shown(&tree, r->run, s->arena);
    size_t n = headlines_of(&tree, r->run, HEADLINES_SHOWN, s->arena, h);
    for (size_t i = 0; i < n; i++)
        headline_show(&b, &h[i]);
    r->headline = n && !b.failed ? arena_dup(s->arena, b.p, b.n) : NULL;
}

/* Sets files, bytes and redactions of the run below `root`, the tree on disk or that of the branch. A
 * run on disk that cannot be read completely, and one with a file which GitHub rejects, is left out
 * with the reason. */
static void measure_run(struct share *s, struct share_run *r, const struct folder *root)
{
    CLEANUP_FOLDER struct folder in = {0};
    struct measuring m = {.r = r, .in = &in};
    char path[80];
    snprintf(path, sizeof path, "%s/%s", r->experiment, r->id);
    bool there = folder_enter(root, path, &in) == 0;
    if (r->on_disk && (!there || folder_list(&in, measure_entry, &m) || m.failed))
        r->left_out = "it cannot be read completely";
    else if (!r->on_disk && there)
        folder_list(&in, measure_entry, &m);
    if (r->left_out || !there)
        return;
    if (s->source_place.kind == FORGE_GITHUB && m.largest > github_file_max)
        r->left_out = "a file of it is larger than the 100 MiB that GitHub accepts; record it with a smaller --artifact-max";
    r->redacted += replaced_in_output(&in);
    if (r->on_disk && !r->left_out)
        describe_run(s, r);
}

void share_measure(struct share *s)
{
    struct progress p;
    CLEANUP_FOLDER struct folder branch = {0};
    struct folder disk = s->runs.root < 0 ? (struct folder){0} : folder_disk(s->runs.root);
    bool has_branch = share_branch_folder(s, &branch, NULL) == 0;
    progress_begin(&p, s->notes, "reading run", s->count);
    for (size_t i = 0; i < s->count; i++) {
        struct share_run *r = &s->list[i];
        progress_show(&p, i + 1, NULL);
        if (!r->left_out && (r->on_disk || has_branch))
            measure_run(s, r, r->on_disk ? &disk : &branch);
    }
    progress_clear(&p);
    share_leave_out_related(s);
    s->shared = 0;
    for (size_t i = 0; i < s->count; i++)
        s->shared += !s->list[i].left_out;
}
