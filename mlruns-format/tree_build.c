/* tree_build.c: builds the folder of a run from a finished record, where no reader searches runs. */
#include "base/fs.h"
#include "mlruns-format/key.h"
#include "mlruns-format/tree_meta.h"
#include "mlruns-format/tree_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { /* characters that MLflow accepts */
       PARAM_CHARS = 6000,
       TAG_CHARS = 8000,
       NAME_CHARS = 250,
       USER_CHARS = 250
};

static const char tree_source[] = "tree"; /* known by its address: a journal can hold the same word */

/* Adds a fact of the tree's own (texts copied), for the caller to complete. NULL: out of memory,
 * which b->arena.failed records. */
static struct fact *building_add(struct building *b, enum fact_kind kind, const char *key, struct str text, double value)
{
    struct fact *f = ARENA_NEW(&b->arena, struct fact);
    if (!f)
        return NULL; /* arena.failed is set */
    *f = (struct fact){.kind = kind,
                       .key = {arena_dup(&b->arena, key, strlen(key)), strlen(key)},
                       .text = {arena_dup(&b->arena, text.p, text.n), text.n},
                       .value = value,
                       .unit = "",
                       .source = tree_source,
                       .time_ms = b->end_ms ? b->end_ms : b->r->start_ms};
    if (b->arena.failed)
        return NULL;
    struct fact **at = &b->extra;
    while (*at)
        at = &(*at)->next;
    *at = f;
    return f;
}

/* Adds the duration of a run that has no metric. */
static void add_duration(struct building *b)
{
    struct fact *f = building_add(b, FACT_METRIC, "run.wall_s", STR(""), (double)(b->end_ms ? b->end_ms - b->r->start_ms : 0) / 1000);
    if (!f)
        return;
    f->unit = "s";
    f->direction = DIR_LOWER;
}

static bool is_tree_fact(const struct fact *f)
{
    return f->source == tree_source;
}

/* Returns whether this fact still counts. */
static bool in_force(const struct building *b, const struct fact *f)
{
    if ((f->kind != FACT_TAG && f->kind != FACT_ARTIFACT) || is_tree_fact(f))
        return true;
    if (f->kind == FACT_TAG && str_is(f->key, "benchwrap.cut")) /* added when the others are written */
        return false;
    for (const struct fact *e = f->kind == FACT_TAG ? b->extra : NULL; e; e = e->next)
        if (e->kind == FACT_TAG && str_eq(e->key, f->key))
            return false;
    const struct record_entry *e = record_entry_find(b->r, f->kind == FACT_TAG ? SPACE_TAG : SPACE_ARTIFACT, f->key);
    return e && e->fact == f;
}

const struct fact *building_next(const struct building *b, const struct fact *at)
{
    bool in_record = !at || !is_tree_fact(at);
    at = at ? at->next : b->r->first;
    for (;; at = at->next) {
        if (!at && in_record) {
            at = b->extra;
            in_record = false;
        }
        if (!at || in_force(b, at))
            return at;
    }
}

/* Returns the first max characters of s. */
static struct str cut_chars(struct str s, size_t max, bool *ret_cut)
{
    size_t i = 0, n = 0;
    for (size_t k; i < s.n && n < max; i += k, n++)
        if (!(k = str_utf8(s.p + i, s.n - i)))
            k = 1;
    *ret_cut = i < s.n;
    return str_sub(s, 0, i);
}

/* Returns one line of text in the arena: control characters become blanks, ends are trimmed, and it
 * is cut to max characters. Out of memory makes it empty. */
static struct str building_one_line(struct building *b, struct str s, size_t max)
{
    bool cut;
    struct buf t CLEANUP_BUF;
    buf_init(&t, 1 << 20);
    buf_utf8(&t, str_sub(s, 0, 64 * 1024));
    str_make_plain(t.p, t.n);
    for (size_t i = 0; i < t.n; i++)
        if (strchr("\n\r\t", t.p[i]))
            t.p[i] = ' ';
    struct str v = str_trim(cut_chars(str_trim(buf_text(&t)), max, &cut));
    char *copy = arena_dup(&b->arena, v.p, v.n);
    return (struct str){copy, copy ? v.n : 0};
}

/* Makes the folders on the way to <folder>/<key>, which is a legal key. */
static int make_way(struct building *b, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == strchr(path, '/')) /* params/, metrics/, … are there */
        return 0;
    char *way = arena_dup(&b->arena, path, (size_t)(slash - path));
    if (!way)
        return err_memory(err, "the path of an artifact");
    bool job = strcmp(way, "artifacts/job") == 0; /* the user's script and environment: for the user alone */
    return fs_mkdirs(b->dir, way, job ? 0700 : 0777, err);
}

static int building_write_key(struct building *b, const char *folder, struct str key, struct str data, struct err *err)
{
    char path[KEY_MAX + 520];
    snprintf(path, sizeof path, "%s/" STR_FMT, folder, STR_ARG(key));
    if (make_way(b, path, err) < 0)
        return -1;
    return building_write(b, path, data, err);
}

/* Params and tags: one file each. Values that are too long for MLflow are cut, and *cut names them. */
static int building_write_texts(struct building *b, bool of_tree, struct buf *cut, struct err *err)
{
    for (const struct fact *f = NULL; (f = building_next(b, f));) {
        if ((f->kind != FACT_PARAM && f->kind != FACT_TAG) || is_tree_fact(f) != of_tree)
            continue;
        bool was_cut, param = f->kind == FACT_PARAM;
        struct str value = cut_chars(f->text, param ? PARAM_CHARS : TAG_CHARS, &was_cut);
        if (was_cut && cut->n < 4000)
            buf_printf(cut, "%s%s " STR_FMT, cut->n ? ", " : "", param ? "param" : "tag", STR_ARG(f->key));
        if (building_write_key(b, param ? "params" : "tags", f->key, value, err) < 0)
            return -1;
    }
    return 0;
}

/* Writes the files below metrics/: a line "time step value" for each sample. -1 with err. */
static int building_write_metrics(struct building *b, struct err *err)
{
    struct buf t CLEANUP_BUF;
    buf_init(&t, 1 << 20); /* 1,000 lines of at most 70 bytes */
    for (size_t i = 0; i < b->n_series; i++) {
        const struct metric_series *s = &b->series[i];
        buf_clear(&t);
        for (size_t k = 0; k < s->n_points; k++) {
            const struct fact *f = s->points[k];
            buf_printf(&t, "%lld ", (long long)f->time_ms);
            if (isnan(f->value))
                buf_puts(&t, "nan");
            else
                buf_double(&t, f->value);
            buf_printf(&t, " %lld\n", (long long)f->step);
        }
        if (t.failed)
            return err_memory(err, "the metric " STR_FMT, STR_ARG(s->key));
        if (building_write_key(b, "metrics", s->key, buf_text(&t), err) < 0)
            return -1;
    }
    return 0;
}

/* Links the artifacts in. A file that is not there any more is one thing missing, not the end of the run. */
static int link_artifacts(struct building *b, struct err *err)
{
    for (const struct fact *f = NULL; (f = building_next(b, f));) {
        if (f->kind != FACT_ARTIFACT)
            continue;
        char path[600], from[4100];
        snprintf(path, sizeof path, "artifacts/" STR_FMT, STR_ARG(f->key));
        snprintf(from, sizeof from, STR_FMT, STR_ARG(f->text));
        struct err why = {0};
        struct stat st;
        bool there = fstatat(b->spool, from, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode); /* else no folder is made for it */
        if (there && make_way(b, path, err) < 0)
            return -1;
        if (fs_link(b->spool, from, b->dir, path, 0666, &why) == 0) {
            if (building_written(b, path, err) < 0)
                return -1;
            continue;
        }
        if (why.kind == ERR_SYSTEM && why.sys != ENOENT && why.sys != ENOTDIR && why.sys != ELOOP && why.sys != EACCES) {
            if (err)
                *err = why;
            return -1;
        }
        unlinkat(b->dir, path, 0);
        building_add(b, FACT_MISSING, path, str_of(why.text), 0);
    }
    return 0;
}

/* Adds the names of the run, and what every run has so that it survives a clone. */
static void building_complete(struct building *b)
{
    const struct record *r = b->r;
    const char *program = str_base_name(b->head->argv ? b->head->argv[0] : NULL);
    if (!*program)
        program = "unknown";
    const struct fact *named = record_find(r, FACT_TAG, "mlflow.runName");
    b->run_name = building_one_line(b, named ? named->text : str_of(b->head->run_name), NAME_CHARS);
    if (b->run_name.n == 0) {
        const char *made = arena_printf(&b->arena, "%.200s-%.8s", program, r->id);
        b->run_name = building_one_line(b, str_of(made), NAME_CHARS);
    }
    b->user = building_one_line(b, str_of(b->head->user), USER_CHARS);
    b->end_ms = r->end_ms;
    if (r->status != RUN_RUNNING && b->end_ms <= 0)
        b->end_ms = r->start_ms;
    if (b->end_ms && b->end_ms < r->start_ms) {
        building_add(b, FACT_WARNING, "", STR("the clock went back during the run: the end is set to the start"), 0);
        b->end_ms = r->start_ms;
    }
    bool param = false;
    for (const struct fact *f = r->first; f && !param; f = f->next)
        param = f->kind == FACT_PARAM;
    if (!param) /* git keeps no empty folders, and MLflow refuses a run without params/ */
        building_add(b, FACT_PARAM, "run.program", building_one_line(b, str_of(program), NAME_CHARS), 0);
    if (r->index->metrics == 0)
        add_duration(b);
    building_add(b, FACT_TAG, "mlflow.runName", b->run_name, 0);
    if (b->head->experiment && *b->head->experiment && !str_is(b->experiment_name, b->head->experiment))
        building_add(b, FACT_TAG, "benchwrap.experiment", str_of(b->head->experiment), 0);
    if (record_lost(r)) {
        char text[120];
        snprintf(text, sizeof text, "%zu facts are lost: out of memory", record_lost(r));
        building_add(b, FACT_WARNING, "", str_of(text), 0);
    }
}

static int write_meta(struct building *b, struct err *err)
{
    struct buf t CLEANUP_BUF;
    buf_init(&t, 64 * 1024);
    tree_meta_run(&t, b->experiment, b->r->id, b->run_name, b->user, b->r->start_ms, b->end_ms, b->r->status,
                  str_is(record_text(b->r, FACT_TAG, "benchwrap.lifecycle"), "deleted"));
    if (t.failed)
        return err_memory(err, "meta.yaml");
    return building_write(b, "meta.yaml", buf_text(&t), err);
}

/* Writes all files of the run into the folder b->dir, the manifest last. 0; -1 with err: the files
 * so far stay. */
static int building_write_all(struct building *b, struct err *err)
{
    static const char *const folders[] = {"params", "metrics", "tags", "artifacts"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdirat(b->dir, folders[i], 0777) < 0)
            return err_sys(err, "cannot make the folder %s", folders[i]);
    struct buf cut CLEANUP_BUF;
    buf_init(&cut, 16 * 1024);
    building_complete(b);
    if (series_collect(b, err) < 0 || building_write_metrics(b, err) < 0 || building_write_texts(b, false, &cut, err) < 0 ||
        link_artifacts(b, err) < 0)
        return -1;
    if (cut.n) {
        building_add(b, FACT_TAG, "benchwrap.cut", buf_text(&cut), 0);
        building_add(
            b, FACT_WARNING, "",
            STR("values are longer than MLflow accepts: cut in params/ and tags/, complete in benchwrap.json (tag benchwrap.cut names them)"),
            0);
    }
    if (building_write_texts(b, true, &cut, err) < 0 || series_write_all(b, err) < 0)
        return -1;
    if (b->arena.failed)
        return err_memory(err, "a run");
    if (detail_write(b, err) < 0 || write_meta(b, err) < 0)
        return -1;
    return manifest_write(b, err);
}

int tree_build(const struct record *r, const struct journal_head *head, uint32_t experiment, struct str experiment_name, int spool, int dir,
               const char *path, struct err *err)
{
    if (!r->index || r->index->size == 0)
        return err_set(err, ERR_SYSTEM, "cannot build the run %s: memory was short when its record was begun", r->id);
    if (mkdirat(dir, path, 0777) < 0)
        return err_sys(err, "cannot build the run %s: cannot make the folder %s", r->id, path);
    struct building b = {.r = r, .head = head, .experiment = experiment, .experiment_name = experiment_name, .spool = spool};
    b.dir = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (b.dir < 0)
        return err_sys(err, "cannot build the run %s: cannot open the folder %s", r->id, path);
    arena_init(&b.arena, 0); /* its size follows from the record's, which is bounded */
    int rc = building_write_all(&b, err);
    arena_deinit(&b.arena);
    fs_close(&b.dir);
    return rc < 0 ? err_wrap(err, "cannot build the run %s", r->id) : 0;
}
