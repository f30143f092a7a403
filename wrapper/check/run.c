/* run.c: check one run: each file as it is read, then the complete run. */
#include "check/parts.h"
#include "base/array.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 20, PATH_BYTES = 1000, META_MAX = 64 << 10, DOCUMENT_MAX = 8 << 20, RUN_MEMORY = 512 << 20, USER_CHARS = 250 };

/* A folder of the run on the way down. */
struct run_level {
    struct run_check *r;
    const struct folder *in;
    const char *prefix; /* "" or "params/" */
    int depth;
    struct buf *text; /* of the file being read */
    struct folded {
        const char *key;
        struct folded *next;
    } * *names; /* hash table of this folder's names, folded */
};
enum { BUCKETS = 256 };

void run_found(struct run_check *r, enum check_id id, const char *file, unsigned line, const char *fmt, ...)
{
    char text[1200], path[PATH_BYTES + 200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->unverifiable = r->unverifiable || id == CHECK_UNVERIFIABLE || id == CHECK_CLAIMED;
    snprintf(path, sizeof path, "%s%s%s", r->path, *file ? "/" : "", file);
    check_found(r->k, id, path, line, "%s", text);
}

static int compare_check_files(const void *a, const void *b)
{
    return str_cmp(((const struct check_file *)a)->path, ((const struct check_file *)b)->path);
}

const struct check_file *run_file(const struct run_check *r, const char *path)
{
    struct check_file key = {.path = str_of(path)};
    return r->count ? bsearch(&key, r->files, r->count, sizeof *r->files, compare_check_files) : NULL;
}

static int compare_check_entries(const void *a, const void *b)
{
    const struct check_entry *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind : strcmp(x->key, y->key);
}

const struct check_entry *run_entry(const struct run_check *r, char kind, const char *key)
{
    struct check_entry wanted = {.kind = kind, .key = key};
    return r->entry_count ? bsearch(&wanted, r->entries, r->entry_count, sizeof *r->entries, compare_check_entries) : NULL;
}

const char *run_text(const struct run_check *r, char kind, const char *key)
{
    const struct check_entry *e = run_entry(r, kind, key);
    return e ? e->value.p : NULL;
}

double run_number(const struct run_check *r, const char *key, double otherwise)
{
    const struct check_entry *e = run_entry(r, 'm', key);
    const struct check_sample *best = NULL;
    for (size_t i = 0; e && i < e->count; i++)
        if (!best || e->samples[i].step >= best->step)
            best = &e->samples[i];
    return best ? best->value : otherwise;
}

/* ---- files ---- */

/* Appends a file; its path is not copied. The pointer is valid until the next call. NULL: out of
 * memory. */
static struct check_file *check_add_file(struct run_check *r, const char *path)
{
    if (!ARRAY_FITS_IN(&r->a, r->files, r->room, r->count + 1))
        return NULL;
    struct check_file *f = &r->files[r->count++];
    *f = (struct check_file){.path = str_of(path)};
    return f;
}

static bool is_pointer(struct str text)
{
    return str_starts(text, "version https://git-lfs.github.com/spec/");
}

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && path[n];
}

static struct str check_copy_text(struct run_check *r, struct str text)
{
    char *copy = arena_dup(&r->a, text.p ? text.p : "", text.n);
    return (struct str){copy, copy ? text.n : 0};
}

/* Checks the content of a file of the run, and keeps that of benchwrap.json, the manifest and
 * the rules. */
static void check_run_content(struct run_check *r, const char *path, struct str text)
{
    if (is_pointer(text))
        run_found(r, CHECK_TYPE, path, 0, "it is a pointer of Git LFS, and the file itself is not here");
    static const struct {
        const char *prefix;
        char kind;
    } kinds[] = {{"params/", 'p'}, {"tags/", 't'}, {"metrics/", 'm'}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_below(path, kinds[i].prefix)) {
            const char *key = path + strlen(kinds[i].prefix);
            if (kinds[i].kind == 'm')
                check_metric_entry(r, key, path, text);
            else
                check_text_entry(r, kinds[i].kind, key, path, text);
        }
    if (strcmp(path, "artifacts/benchwrap.json") == 0 && text.n <= DOCUMENT_MAX)
        r->record_text = check_copy_text(r, text);
    else if (strcmp(path, "artifacts/manifest.json") == 0 && text.n <= DOCUMENT_MAX)
        r->manifest_text = check_copy_text(r, text);
    else if (strcmp(path, "artifacts/rules.yaml") == 0 && text.n <= DOCUMENT_MAX)
        r->rules_text = check_copy_text(r, text);
    if (is_below(path, "artifacts/"))
        check_active(r, path, text);
    if (strcmp(path, "artifacts/manifest.json") != 0) /* sums alone */
        check_privacy(r, path, text);
}

/* Adds a file to r->files with its size and hashes, and checks its name, mode, size and content.
 * Beyond the limits of file or run it sets r->limited and reads nothing. */
static void check_run_file(struct run_level *l, const struct folder_entry *entry, const char *path)
{
    struct run_check *r = l->r;
    const struct check_state *k = r->k;
    struct folder_entry what;
    struct check_file *f = check_add_file(r, path);
    bool below = is_below(path, "params/") || is_below(path, "tags/") || is_below(path, "metrics/") || is_below(path, "artifacts/");
    if (!f)
        return;
    if (!below && strcmp(path, "meta.yaml") != 0)
        run_found(r, CHECK_UNKNOWN, path, 0, "a run holds meta.yaml, params/, metrics/, tags/ and artifacts/");
    if (entry->kind == FOLDER_PROGRAM)
        run_found(r, CHECK_MODE, path, 0, "the file may be executed");
    if (folder_look(l->in, entry->name.p, &what, &f->size) < 0) {
        run_found(r, CHECK_UNREADABLE, path, 0, "it cannot be read: %s", err_words(errno));
        return;
    }
    r->bytes += f->size;
    r->k->bytes += f->size;
    r->k->files++;
    if (f->size > k->limits.file_B || r->bytes > k->limits.run_B) {
        if (f->size > k->limits.file_B)
            run_found(r, CHECK_SIZE, path, 0, "the file has %llu bytes, more than %llu", (unsigned long long)f->size,
                      (unsigned long long)k->limits.file_B);
        r->limited = true;
        return;
    }
    buf_clear(l->text);
    if (folder_read(l->in, entry->name.p, k->limits.file_B, l->text) < 0) {
        run_found(r, CHECK_UNREADABLE, path, 0, "it cannot be read: %s", err_words(errno));
        return;
    }
    sha256_of(l->text->p, l->text->n, f->sha256);
    memcpy(f->id, entry->id ? entry->id : (const unsigned char *)f->sha256,
           entry->id && entry->id_size < sizeof f->id ? entry->id_size : sizeof f->id);
    f->size = l->text->n;
    check_run_content(r, path, buf_text(l->text));
}

/* ---- folders ---- */

static void check_run_folder(struct run_level *up, const char *name, const char *path);

/* Returns true if the folder has had a name that some file systems treat as this one; else
 * remembers it. */
static bool is_repeated_name(struct run_level *l, struct str name)
{
    struct arena *a = &l->r->a;
    const char *key = check_name_folded(name, a);
    unsigned hash = 5381;
    for (const char *p = key; p && *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    for (const struct folded *f = l->names[hash % BUCKETS]; f && key; f = f->next)
        if (strcmp(f->key, key) == 0)
            return true;
    struct folded *own = ARENA_NEW(a, struct folded);
    if (own && key) {
        *own = (struct folded){key, l->names[hash % BUCKETS]};
        l->names[hash % BUCKETS] = own;
    }
    return false;
}

/* Checks one entry of a run's folder: name, kind, mode; continues below it where it is a folder. 1:
 * stop, a limit is reached. Findings are in the check. */
static int visit_run_entry(void *context, const struct folder_entry *entry)
{
    struct run_level *l = context;
    struct run_check *r = l->r;
    const char *path = arena_printf(&r->a, "%s%s", l->prefix, entry->name.p);
    if (r->count + r->folders >= r->k->limits.files || r->a.failed || !path) {
        r->limited = true;
        return 1;
    }
    char whole[PATH_BYTES * 2];
    int n = snprintf(whole, sizeof whole, "%s/%s", r->path, path);
    if (n < 0 || (size_t)n >= PATH_BYTES) {
        run_found(r, CHECK_NAME, l->prefix, 0, "a path below has more than %d bytes", PATH_BYTES);
        return 0;
    }
    if (!check_file_name(r->k, entry->name, whole))
        return 0;
    check_secrets_in(r->k, whole, "in the name: ", entry->name.p);
    if (is_repeated_name(l, entry->name))
        run_found(r, CHECK_NAME_CASE, path, 0, "another name in the folder differs in case or form only, or is the same");
    if (entry->kind == FOLDER_FOLDER)
        check_run_folder(l, entry->name.p, path);
    else if (entry->kind == FOLDER_FILE || entry->kind == FOLDER_PROGRAM)
        check_run_file(l, entry, path);
    else
        run_found(r, entry->kind == FOLDER_OTHER && entry->id ? CHECK_MODE : CHECK_TYPE, path, 0, "%s",
                  entry->kind == FOLDER_LINK     ? "it is a symbolic link"
                  : entry->kind == FOLDER_MODULE ? "it is a submodule"
                  : entry->id                    ? "its mode is none that git writes"
                                                 : "it is neither a file nor a folder");
    return 0;
}

static void check_level(struct run_level *l)
{
    struct run_check *r = l->r;
    l->names = arena_get(&r->a, BUCKETS * sizeof *l->names);
    if (!l->names)
        r->limited = true;
    else if (folder_list(l->in, visit_run_entry, l) < 0)
        run_found(r, CHECK_UNREADABLE, l->prefix, 0, "the folder cannot be read: %s", err_words(errno));
}

/* Checks a folder in a run and what it holds, at most DEPTH_MAX levels deep. */
static void check_run_folder(struct run_level *up, const char *name, const char *path)
{
    static const char *const known[] = {"params", "metrics", "tags", "artifacts"};
    struct run_check *r = up->r;
    CLEANUP_FOLDER struct folder f = {0};
    struct run_level l = {.r = r, .in = &f, .depth = up->depth + 1, .text = up->text, .prefix = arena_printf(&r->a, "%s/", path)};
    bool good = up->depth > 0;
    r->folders++;
    r->k->files++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        good = good || strcmp(path, known[i]) == 0;
    if (!good)
        run_found(r, CHECK_UNKNOWN, path, 0, "a run holds meta.yaml, params/, metrics/, tags/ and artifacts/");
    if (l.depth > DEPTH_MAX)
        run_found(r, CHECK_LIMIT, path, 0, "folders are more than %d deep; what is below was not checked", DEPTH_MAX);
    else if (l.prefix && folder_enter(up->in, name, &f) < 0)
        run_found(r, CHECK_UNREADABLE, path, 0, "the folder cannot be read: %s", err_words(errno));
    else if (l.prefix)
        check_level(&l);
}

/* ---- all checks of a run ---- */

/* Reports folders without a file: git keeps no empty ones, and MLflow's run page refuses a run
 * without these. */
static void check_folders(struct run_check *r)
{
    static const char *const wanted[] = {"metrics/", "params/", "artifacts/"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        bool found = false;
        for (size_t n = 0; n < r->count && !found; n++)
            found = is_below(r->files[n].path.p, wanted[i]);
        if (!found)
            run_found(r, CHECK_EMPTY, "", 0, "no file in %s", wanted[i]);
    }
}

/* Returns whether the text is one line of 1 to `most` characters, or, where `empty`, of none. */
static bool is_line(struct str s, size_t most, bool empty)
{
    size_t n = utf8_count(s);
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return n <= most && (n || empty);
}

/* Returns whether the run was adopted, and deleted where it comes from. */
static bool is_deleted(const struct run_check *r)
{
    const char *lifecycle = run_text(r, 't', "benchwrap.lifecycle");
    return lifecycle && strcmp(lifecycle, "deleted") == 0 && run_text(r, 't', "benchwrap.adopted");
}

/* Returns what is wrong with the content of meta.yaml, a static text; NULL: nothing. deleted: the
 * run has the tags of one that was deleted where it comes from. */
static const char *meta_problem(const struct tree_meta *m, bool deleted)
{
    if (!str_is(m->lifecycle, deleted ? "deleted" : "active"))
        return deleted ? "lifecycle_stage is not \"deleted\", as the tag benchwrap.lifecycle says" : "lifecycle_stage is not \"active\"";
    if (m->status < RUN_FINISHED || m->status > RUN_KILLED)
        return "status is not that of an ended run (3, 4, 5)";
    if (m->start_ms <= 0 || m->end_ms <= 0)
        return "start_time or end_time is missing";
    if (!m->name.p || !is_line(m->name, USER_CHARS, false) || !str_is_plain(m->name))
        return "run_name is not one line of 1 to 250 characters";
    if (!m->user_id.p || !is_line(m->user_id, USER_CHARS, true))
        return "user_id is missing or not one line";
    return NULL;
}

/* Reads the run's meta.yaml into r->meta and compares it with the bytes that benchwrap would write.
 * Sets r->meta_good where nothing is wrong. */
static void check_meta(struct run_check *r)
{
    CLEANUP_BUF struct buf text, wanted;
    struct err why = {0};
    struct tree_meta *m = &r->meta;
    uint64_t experiment = 0;
    const char *problem;
    buf_init(&text, META_MAX * 3);
    buf_init(&wanted, META_MAX * 3);
    if (folder_read(r->folder, "meta.yaml", META_MAX, &text) < 0) {
        run_found(r, CHECK_META, "meta.yaml", 0, "it cannot be read: %s", err_words(errno));
        return;
    }
    struct str own = check_copy_text(r, buf_text(&text)); /* what is parsed points into it */
    if (tree_meta_parse(m, "meta.yaml", own, &r->a, &why) < 0) {
        run_found(r, CHECK_META, "meta.yaml", 0, "%s", why.text);
        return;
    }
    if (!str_is(m->run_id, r->id))
        run_found(r, CHECK_IDENTITY, "meta.yaml", 0, "run_id is not that of the folder");
    else if (!str_is(m->experiment_id, r->experiment))
        run_found(r, CHECK_IDENTITY, "meta.yaml", 0, "experiment_id is not that of the folder");
    else if ((problem = meta_problem(m, is_deleted(r))))
        run_found(r, CHECK_META, "meta.yaml", 0, "%s", problem);
    else {
        str_uint(m->experiment_id, &experiment);
        tree_meta_run(&wanted, (uint32_t)experiment, r->id, m->name, m->user_id, m->start_ms, m->end_ms, (enum run_status)m->status,
                      is_deleted(r));
        if (!str_eq(own, buf_text(&wanted)))
            run_found(r, CHECK_META, "meta.yaml", 0,
                      "its lines are not those of the format (keys in order, every text quoted, artifact_uri relative)");
        else
            r->meta_good = true;
    }
}

/* Checks what requires all files and entries of the run: sorts them, then compares manifest,
 * record, tags, times, claims and signature, and adds the run to the index. */
static void check_complete_run(struct run_check *r)
{
    if (r->count)
        qsort(r->files, r->count, sizeof *r->files, compare_check_files);
    if (r->entry_count)
        qsort(r->entries, r->entry_count, sizeof *r->entries, compare_check_entries);
    if (r->bytes > r->k->limits.run_B)
        run_found(r, CHECK_SIZE, "", 0, "the run has more than %llu bytes", (unsigned long long)r->k->limits.run_B);
    if (r->count + r->folders >= r->k->limits.files)
        run_found(r, CHECK_LIMIT, "", 0, "the run has more than %zu files and folders; the rest was not checked", r->k->limits.files);
    check_folders(r);
    check_meta(r);
    check_manifest(r);
    check_record(r);
    check_tags(r);
    if (r->meta_good)
        check_times(r);
    if (r->record)
        check_claims(r);
    if (r->record && !r->limited) {
        check_verify(r);
        check_bounds(r);
    }
    check_signature(r);
    check_index_add_run(r);
}

void check_run(struct check_state *k, const struct folder *run, const char *path)
{
    CLEANUP_BUF struct buf text;
    struct run_check r = {.k = k, .folder = run, .path = path, .id = str_base_name(path)};
    struct run_level top = {.r = &r, .in = run, .prefix = "", .text = &text};
    size_t errors = k->by_severity[CHECK_ERROR];
    arena_init(&r.a, RUN_MEMORY);
    buf_init(&text, k->limits.file_B + (1 << 20));
    struct str above = {path, (size_t)(r.id - path) - (r.id > path)};
    const char *experiment = arena_dup(&r.a, above.p, above.n);
    r.experiment = str_base_name(experiment);
    check_level(&top);
    check_complete_run(&r);
    if (r.a.failed)
        run_found(&r, CHECK_LIMIT, "", 0, "it needs more than %d MiB of memory; not everything was checked", RUN_MEMORY >> 20);
    json_free(r.record);
    arena_deinit(&r.a);
    k->runs++;
    k->runs_unverifiable += r.unverifiable;
    k->runs_bad += k->by_severity[CHECK_ERROR] > errors;
    if (k->progress)
        k->progress(k->context, k->runs, 0);
}
