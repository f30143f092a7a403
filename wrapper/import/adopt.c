/* adopt.c: which runs a foreign MLflow tree has, and what becomes of one of them. */
#include "import/adopt.h"

#include "base/fs.h"
#include "base/place.h"
#include "base/site.h"
#include "run/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RUN_MEMORY = 512 << 20, DEPTH_MAX = 16, TEXT_CHARS = 8000 };
#define SOURCE "mlflow" /* of all facts from the foreign tree */

/* ---- the list ---- */

/* Adds the tree's users to those that a public record leaves out wherever they are named. */
static void note_user(struct adopt *a, const struct tree_run *run, const struct folder *tree)
{
    const char *tag = tree_file(tree, run, "tags/mlflow.user", 256, &a->arena);
    if (a->is_public) {
        identities_add(&a->names.ids, str_of(run->user), 'u');
        identities_add(&a->names.ids, str_of(tag ? tag : ""), 'u');
    }
}

/* Appends a run to the list. Returns -1 when out of memory. */
static int list_run(void *context, struct tree_run *run)
{
    struct adopt *a = context;
    if (a->count == a->cap) {
        size_t cap = 2 * a->cap + 256;
        struct tree_run **more = reallocarray(a->runs, cap, sizeof(struct tree_run *));
        if (!more)
            return -1;
        a->runs = more;
        a->cap = cap;
    }
    a->runs[a->count++] = run;
    return 0;
}

static int adopt_order_by_start(const void *x, const void *y)
{
    const struct tree_run *a = *(struct tree_run *const *)x, *b = *(struct tree_run *const *)y;
    return a->start_ms != b->start_ms ? (a->start_ms < b->start_ms ? -1 : 1) : strcmp(a->id, b->id);
}

/* Opens the tree below or at `dir`, and benchwrap's tree, which may not exist yet. Returns -1 with
 * err, also where both are the same folder. */
static int adopt_open_trees(struct adopt *a, const char *dir, struct err *err)
{
    struct stat from, to;
    CLEANUP_FD int top = place_open_folder(dir, 0), below = top < 0 ? -1 : place_open(top, "mlruns", O_RDONLY | O_DIRECTORY, 0);
    if (top < 0)
        return err_sys(err, "cannot open %.300s", dir);
    a->from = below >= 0 ? fs_take(&below) : fs_take(&top);
    a->root = place_open_folder(a->plan->tree, 0); /* made with the first run */
    if (a->root >= 0 && fstat(a->from, &from) == 0 && fstat(a->root, &to) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
        return err_set(err, ERR_USAGE, "%.300s is the tree that its runs would be written into: use --tree or another working directory",
                       dir);
    return 0;
}

int adopt_init(struct adopt *a, const struct plan *plan, const char *dir, char *const *env, struct err *err)
{
    *a = (struct adopt){.plan = plan, .from = -1, .root = -1, .files_max = opt_bytes(&plan->opts, OPTION_ARTIFACT_MAX)};
    a->is_public = strcmp(opt_text(&plan->opts, OPTION_PROFILE), "public") == 0;
    arena_init(&a->arena, (size_t)1 << 30);
    if (redaction_begin_here(&a->names, a->is_public, env, err) || adopt_open_trees(a, dir, err))
        return -1;
    struct folder tree = folder_disk(a->from);
    if (tree_walk(a->from, TREE_META, &a->arena, list_run, a, err))
        return err_wrap(err, "%.300s", dir);
    for (size_t i = 0; i < a->count; i++)
        note_user(a, a->runs[i], &tree);
    if (a->count)
        qsort(a->runs, a->count, sizeof *a->runs, adopt_order_by_start);
    return a->arena.failed ? err_memory(err, "the list of runs") : 0;
}

void adopt_deinit(struct adopt *a)
{
    fs_close(&a->from);
    fs_close(&a->root);
    free(a->runs);
    redaction_end(&a->names);
    arena_deinit(&a->arena);
}

/* ---- one run ---- */

struct adopting {
    struct adopt *a;
    struct tree_run run; /* with all that it has */
    struct arena arena;
    struct made_run making;
    uint64_t left; /* bytes of artifacts that it may still keep */
    size_t files;
    int64_t last_ms; /* of its samples */
    struct err err; /* the first */
};

/* Returns whether the text has control characters, other than tab, LF and CR, or marks that change
 * the direction of writing. */
static bool has_controls(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i], next = i + 1 < s.n ? (unsigned char)s.p[i + 1] : 0,
                      last = i + 2 < s.n ? (unsigned char)s.p[i + 2] : 0;
        if ((c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0) ||
            (c == 0xe2 && ((next == 0x80 && last >= 0xaa && last <= 0xae) || (next == 0x81 && last >= 0xa6 && last <= 0xa9))))
            return true;
    }
    return false;
}

/* Records a param or tag. Control characters and marks of text direction are replaced, and a
 * warning states it. */
static void adopt_record_text(struct adopting *t, enum fact_kind kind, const char *key, struct str value)
{
    struct record *r = &t->making.record;
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, 8 * TEXT_CHARS);
    if (has_controls(value)) {
        buf_plain(&plain, value, TEXT_CHARS);
        for (size_t i = 0; i + 2 < plain.n; i++) /* marks that change the direction of writing */
            if ((unsigned char)plain.p[i] == 0xe2 && has_controls((struct str){plain.p + i, 3}))
                memcpy(plain.p + i, "???", 3);
        record_warning(r, "%.250s held control characters: they are written as \\xNN", key);
        value = buf_text(&plain);
    }
    struct fact f = {.kind = kind, .key = str_of(key), .text = value, .time_ms = t->run.start_ms, .unit = "", .source = SOURCE};
    record_fact(r, &f);
}

static void put_tags(struct adopting *t)
{
    struct record *r = &t->making.record;
    for (const struct tree_entry *e = t->run.tags; e; e = e->next) {
        if (strcmp(e->key, "mlflow.runName") == 0)
            continue; /* made again, from the run's name */
        if (t->a->is_public && strcmp(e->key, "mlflow.user") == 0)
            record_missing(r, e->key, "withheld (public profile)");
        else if (strncmp(e->key, "benchwrap.", strlen("benchwrap.")) == 0)
            record_missing(r, e->key, "not adopted: a tag of benchwrap's own, which did not record the run");
        else if (strcmp(e->key, "site") == 0 && !site_is_legal(e->value))
            adopt_record_text(t, FACT_TAG, "adopted.site", e->value);
        else
            adopt_record_text(t, FACT_TAG, e->key, e->value);
    }
}

/* Records the samples of all metrics in their order. A sample without a time gets the run's start;
 * t->last_ms becomes the latest time. */
static void adopt_record_metrics(struct adopting *t)
{
    for (const struct tree_entry *e = t->run.metrics; e; e = e->next) {
        struct tree_sample *s = e->count ? arena_get(&t->arena, e->count * sizeof *s) : NULL;
        if (!s)
            continue;
        memcpy(s, e->samples, e->count * sizeof *s);
        qsort(s, e->count, sizeof *s, tree_sample_order);
        for (size_t i = 0; i < e->count; i++) {
            int64_t time = s[i].time_ms > 0 ? s[i].time_ms : t->run.start_ms;
            struct fact f = {.kind = FACT_METRIC,
                             .key = str_of(e->key),
                             .value = s[i].value,
                             .step = s[i].step,
                             .time_ms = time,
                             .unit = "",
                             .source = SOURCE};
            t->last_ms = time > t->last_ms ? time : t->last_ms;
            record_fact(&t->making.record, &f);
        }
    }
}

/* Records benchwrap's own facts about the run. */
static void adopt_record_own(struct adopting *t)
{
    struct record *r = &t->making.record;
    const char *site = opt_text(&t->a->plan->opts, OPTION_SITE), *from = tree_run_path(&t->run), *slash = strchr(from, '/');
    r->source = "adopt";
    record_tag(r, "benchwrap.run_id", str_of(r->id));
    record_tag(r, "benchwrap.version", STR(BW_VERSION));
    record_tag(r, "benchwrap.format", str_of(arena_printf(&t->arena, "%d", MLRUNS_FORMAT)));
    record_tag(r, "benchwrap.adopted", (struct str){from, slash ? (size_t)(slash - from) : strlen(from)});
    if (strcmp(t->run.lifecycle, "active") != 0)
        record_tag(r, "benchwrap.lifecycle", STR("deleted"));
    if (site)
        record_tag(r, "site", str_of(site));
    if (t->run.problem)
        record_warning(r, "a part of the run cannot be read: %s", t->run.problem);
    r->source = SOURCE;
}

/* ---- artifacts ---- */

/* Copies an artifact, redacted, into the spool and records it under `key`. A file that cannot be
 * read, or is larger than --artifact-max allows, becomes a missing value; t->err: the spool cannot
 * be written. */
static void adopt_copy_file(struct adopting *t, const char *path, const char *key)
{
    struct record *r = &t->making.record;
    struct stat st;
    struct err why = {0};
    char name[32];
    CLEANUP_FD int from = place_open(t->a->from, path, O_RDONLY, 0);
    if (from < 0 || fstat(from, &st) || !S_ISREG(st.st_mode)) {
        record_missing(r, key, "it cannot be read: %s", from < 0 ? strerror(errno) : "no regular file");
        return;
    }
    if ((uint64_t)st.st_size > t->left) {
        record_missing(r, key, "not adopted: with its %" PRId64 " bytes the run's files would be larger than --artifact-max",
                       (int64_t)st.st_size);
        return;
    }
    snprintf(name, sizeof name, "file-%zu", t->files++);
    CLEANUP_FD int to = openat(t->making.spool.dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (to < 0) {
        err_sys(&t->err, "spool: cannot make a file");
        return;
    }
    if (keep_copy(r, from, to, &t->left, &t->making.redaction.redact, key, &why)) {
        unlinkat(t->making.spool.dir, name, 0);
        if (why.kind == ERR_SYSTEM)
            t->err = why;
        record_missing(r, key, "%s", why.text);
        return;
    }
    struct fact f = {
        .kind = FACT_ARTIFACT, .key = str_of(key), .text = str_of(name), .time_ms = t->run.start_ms, .unit = "", .source = SOURCE};
    record_fact(r, &f);
}

/* A folder of artifacts on the way down. */
struct adopt_level {
    struct adopting *t;
    const struct folder *in;
    const char *path, *key; /* below the tree; below artifacts/, "" or "plots/" */
    int depth;
};

/* Copies a file, or the files below a folder, into the run as an artifact. Names of files that
 * benchwrap itself writes get the prefix "adopted/". What cannot be read is recorded as missing.
 * Returns non-zero, which stops the listing, on an error of benchwrap's own. */
static int put_entry(void *context, const struct folder_entry *e)
{
    struct adopt_level *l = context;
    struct adopting *t = l->t;
    const char *path = arena_printf(&t->arena, "%s/%s", l->path, e->name.p);
    static const char *const made_anew[] = {"benchwrap.json", "manifest.json", "manifest.json.sig", "series.jsonl", "series.jsonl.zst"};
    bool taken = false;
    for (size_t i = 0; !*l->key && i < sizeof made_anew / sizeof *made_anew; i++)
        taken = taken || strcmp(e->name.p, made_anew[i]) == 0;
    const char *key = arena_printf(&t->arena, "%s%s%s", taken ? "adopted/" : "", l->key, e->name.p);
    if (!path || !key)
        return -1;
    if (e->kind == FOLDER_FOLDER && l->depth < DEPTH_MAX) {
        CLEANUP_FOLDER struct folder in = {0};
        struct adopt_level below = {.t = t, .in = &in, .path = path, .key = arena_printf(&t->arena, "%s/", key), .depth = l->depth + 1};
        if (!below.key || folder_enter(l->in, e->name.p, &in) || folder_list(&in, put_entry, &below) < 0)
            record_missing(&t->making.record, key, "the folder cannot be read: %s", strerror(errno));
    } else if (e->kind == FOLDER_FILE || e->kind == FOLDER_PROGRAM)
        adopt_copy_file(t, path, key);
    else
        record_missing(&t->making.record, key, "not adopted: it is no regular file, or its folders are more than %d deep", DEPTH_MAX);
    return t->err.kind != ERR_NONE;
}

/* Copies the run's artifacts. Those that cannot be read, and data sets, are recorded as missing;
 * other errors are in t->err. */
static void put_artifacts(struct adopting *t)
{
    struct folder tree = folder_disk(t->a->from), inputs;
    CLEANUP_FOLDER struct folder in = {0};
    struct adopt_level l = {.t = t, .in = &in, .key = "", .path = arena_printf(&t->arena, "%s/artifacts", tree_run_path(&t->run))};
    const char *data = arena_printf(&t->arena, "%s/inputs", tree_run_path(&t->run));
    if (l.path && folder_enter(&tree, l.path, &in) == 0 && folder_list(&in, put_entry, &l) < 0 && t->err.kind == ERR_NONE)
        record_missing(&t->making.record, "artifacts", "they cannot be read: %s", strerror(errno));
    else if (!in.ops && errno != ENOENT)
        record_missing(&t->making.record, "artifacts", "they cannot be read: %s", strerror(errno));
    if (data && folder_enter(&tree, data, &inputs) == 0) {
        record_missing(&t->making.record, "inputs", "not adopted: MLflow's data sets");
        folder_leave(&inputs);
    }
}

/* ---- into the tree ---- */

/* Begins the run in the spool, with its own id and start. Returns -1 with err. */
static int adopt_begin_run(struct adopting *t, struct err *err)
{
    struct adopt *a = t->a;
    const char *site = opt_text(&a->plan->opts, OPTION_SITE);
    char here[256] = "", *none[] = {NULL};
    gethostname(here, sizeof here - 1);
    struct make_plan plan = {.id = t->run.id,
                             .spool = a->plan->spool,
                             .head = {.host = here,
                                      .experiment = t->run.experiment,
                                      .run_name = redaction_text(&a->names, t->run.name, &t->arena),
                                      .tree = a->plan->tree,
                                      .user = a->is_public ? (site ? site : "") : t->run.user,
                                      .job = "",
                                      .argv = none,
                                      .start_ms = t->run.start_ms},
                             .options = {.told = true, .public_profile = a->is_public, .host = ""}};
    if (make_begin(&t->making, &plan, err))
        return -1;
    t->making.redaction.redact.ids = a->names.redact.ids;
    return 0;
}

/* Ends the run and publishes it: ret->place is where. 0, also where facts were lost: ret->why names their number then,
 * and is left as it was otherwise. -1 with err: it is not published. */
static int adopt_finish_run(struct adopting *t, struct adopted *ret, struct err *err)
{
    const struct tree_run *run = &t->run;
    bool ended = run->status == RUN_FINISHED || run->status == RUN_FAILED || run->status == RUN_KILLED;
    int64_t end = run->end_ms > 0 ? run->end_ms : t->last_ms > run->start_ms ? t->last_ms : run->start_ms;
    struct finished done = {0};
    int rc = make_end(&t->making, ended ? run->status : RUN_KILLED, ended ? NULL : "it had not ended in the tree that it comes from", end,
                      &done, err);
    if (rc == 0)
        snprintf(ret->place, sizeof ret->place, "%s", done.place);
    if (rc == 0 && record_lost(&done.record))
        snprintf(ret->why, sizeof ret->why, "out of memory for %zu facts", record_lost(&done.record));
    finished_deinit(&done);
    return rc;
}

/* Writes the run into the tree. Sets ret->result, with ret->why on failure. A run with an error
 * before its end is removed from the spool. */
static void adopt_write_run(struct adopting *t, struct adopted *ret)
{
    struct folder tree = folder_disk(t->a->from);
    struct err *err = &t->err;
    tree_fill(&tree, &t->run, TREE_PARAMS | TREE_METRICS | TREE_TAGS, &t->arena);
    ret->result = ADOPT_FAILED;
    int rc = adopt_begin_run(t, err);
    if (rc == 0) {
        adopt_record_own(t);
        for (const struct tree_entry *e = t->run.params; e; e = e->next)
            adopt_record_text(t, FACT_PARAM, e->key, e->value);
        put_tags(t);
        adopt_record_metrics(t);
        put_artifacts(t);
        if (t->arena.failed && err->kind == ERR_NONE)
            err_memory(err, "a run");
        if (err->kind == ERR_NONE)
            rc = adopt_finish_run(t, ret, err);
        else {
            make_drop(&t->making);
            rc = -1;
        }
    }
    if (rc < 0)
        snprintf(ret->why, sizeof ret->why, "%.500s", err->text);
    else
        ret->result = rc ? ADOPT_THERE : ADOPT_DONE;
}

/* Returns whether the tree or the spool has a run of this id; ret->place is its path in the
 * tree. */
static bool adopt_is_present(struct adopt *a, const struct tree_run *run, struct adopted *ret)
{
    struct arena arena;
    struct tree_run *found;
    arena_init(&arena, 1 << 20);
    if (a->root < 0)
        a->root = place_open_folder(a->plan->tree, 0);
    bool there = a->root >= 0 && tree_find(a->root, run->id, TREE_META, &arena, &found, NULL) == 0;
    if (there)
        snprintf(ret->place, sizeof ret->place, "%s", found->path);
    const char *journal = arena_printf(&arena, "%s/%s/journal", a->plan->spool, run->id);
    there = there || (journal && access(journal, F_OK) == 0);
    arena_deinit(&arena);
    return there;
}

void adopt_run(struct adopt *a, const struct tree_run *run, struct adopted *ret)
{
    struct folder tree = folder_disk(a->from);
    *ret = (struct adopted){.result = ADOPT_FAILED};
    if (run->problem)
        snprintf(ret->why, sizeof ret->why, "%.500s", run->problem);
    else if (tree_file(&tree, run, "tags/benchwrap.format", 16, &a->arena)) {
        ret->result = ADOPT_OURS;
        snprintf(ret->why, sizeof ret->why, "benchwrap recorded it: its folder can be copied as it is");
    } else if (adopt_is_present(a, run, ret))
        ret->result = ADOPT_THERE;
    else if (run->status < RUN_FINISHED && !a->all) {
        ret->result = ADOPT_RUNNING;
        snprintf(ret->why, sizeof ret->why, "it has not ended (--all adopts it as it is)");
    } else if (a->dry)
        ret->result = ADOPT_DONE;
    else {
        struct adopting t = {.a = a, .run = *run, .left = a->files_max};
        arena_init(&t.arena, RUN_MEMORY);
        adopt_write_run(&t, ret);
        arena_deinit(&t.arena);
    }
}
