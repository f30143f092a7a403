/* tree_read.c: runs read back from a tree of benchwrap or of Python MLflow; damage is reported,
 * never fatal. */
#include "base/fs.h"
#include "base/array.h"
#include "mlruns-format/annotation.h"
#include "mlruns-format/tree_meta.h"
#include "mlruns-format/tree_thinned.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    VALUE_MAX = 1 << 20, /* of a param or tag of others */
    METRIC_MAX = 256 << 20, /* bytes of a metric file */
    DEPTH_MAX = 32 /* levels of folders in a key */
};

/* What stays the same while a tree is read. */
struct tree_reader {
    unsigned what;
    struct arena *a;
    struct buf text; /* of the file being read */
};

static void tree_note_problem(struct tree_reader *x, struct tree_run *run, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Sets the run's problem, cut to 400 bytes, in the reader's arena. Does nothing where it has
 * one. */
static void tree_note_problem(struct tree_reader *x, struct tree_run *run, const char *fmt, ...)
{
    if (run->problem)
        return; /* the first reason is enough */
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    run->problem = arena_dup(x->a, text, strlen(text));
}

static const char *tree_copy_text(struct tree_reader *x, struct str s)
{
    return s.p ? arena_dup(x->a, s.p, s.n) : NULL;
}

/* Reads the text of in/path into x->text. -1 with errno. */
static int read_text(struct tree_reader *x, const struct folder *in, const char *path, size_t max)
{
    buf_clear(&x->text);
    return folder_read(in, path, max, &x->text);
}

static int compare_entry_keys(const void *a, const void *b)
{
    const struct tree_entry *const *x = a, *const *y = b;
    return str_natural((*x)->key, (*y)->key);
}

/* Sorts the list, so that the same run reads the same everywhere. */
static struct tree_entry *sort_tree_entries(struct tree_entry *list, size_t n)
{
    struct tree_entry **at = n > 1 ? malloc(n * sizeof(struct tree_entry *)) : NULL;
    if (!at)
        return list;
    n = 0;
    for (struct tree_entry *e = list; e; e = e->next)
        at[n++] = e;
    qsort(at, n, sizeof *at, compare_entry_keys);
    for (size_t i = 0; i < n; i++)
        at[i]->next = i + 1 < n ? at[i + 1] : NULL;
    list = at[0];
    free(at);
    return list;
}

/* Reads the text x->text of a metric's file into e->samples, in the arena; with TREE_LAST only the
 * sample that MLflow shows. A line that is no sample becomes a problem of the run. Leaves
 * e->samples NULL where memory is used up. */
static void read_samples(struct tree_reader *x, struct tree_run *run, struct tree_entry *e)
{
    struct str rest = buf_text(&x->text);
    bool last_only = x->what & TREE_LAST;
    size_t lines = last_only ? 1 : 0;
    for (size_t i = 0; i < rest.n && !last_only; i++)
        lines += rest.p[i] == '\n';
    struct tree_sample *to = arena_get(x->a, (lines + 1) * sizeof *to), s;
    if (!to)
        return;
    e->samples = to;
    if (rest.n && rest.p[rest.n - 1] == '\n')
        rest.n--;
    if (rest.n == 0)
        tree_note_problem(x, run, "metrics/%s is empty", e->key);
    for (size_t line = 1; rest.p && rest.n; line++) {
        if (!tree_sample_parse(str_cut(&rest, '\n'), &s))
            tree_note_problem(x, run, "metrics/%s:%zu is not a sample", e->key, line);
        else if (!last_only)
            to[e->count++] = s;
        else if (e->count == 0 || tree_sample_is_later(&s, to)) {
            *to = s;
            e->count = 1;
        }
    }
}

/* One folder of entries on its way. */
struct tree_entries {
    struct tree_reader *x;
    struct tree_run *run;
    const struct folder *in;
    const char *prefix; /* of the keys: the folders above */
    bool metrics;
    int depth;
    struct tree_entry **list;
    size_t *count;
};

static void read_entries(const struct tree_entries *up, const struct folder *in, const char *folder, const char *prefix);

/* Adds an entry for the text in x->text at the head of the list, in the arena. Where memory is used
 * up nothing is added. */
static void tree_entries_add(struct tree_entries *e, const char *key)
{
    struct tree_reader *x = e->x;
    struct tree_entry *to = ARENA_NEW(x->a, struct tree_entry);
    if (!to)
        return;
    to->key = key;
    if (e->metrics)
        read_samples(x, e->run, to);
    else
        to->value = (struct str){arena_dup(x->a, x->text.p ? x->text.p : "", x->text.n), x->text.n};
    to->next = *e->list;
    *e->list = to;
    ++*e->count;
}

/* Reads one entry of params, metrics or tags, and goes into folders. Damage is noted in the run.
 * Non-zero: out of memory. */
static int each_entry(void *context, const struct folder_entry *entry)
{
    struct tree_entries *e = context;
    struct tree_reader *x = e->x;
    bool strange = !entry->name.n || memchr(entry->name.p, '/', entry->name.n) || str_is(entry->name, "..") || str_is(entry->name, ".");
    const char *key = arena_printf(x->a, "%s%s", e->prefix, entry->name.p);
    if (!key)
        return 1;
    if (!strange && entry->kind == FOLDER_FOLDER && e->depth < DEPTH_MAX) {
        const char *longer = arena_printf(x->a, "%s/", key);
        if (longer)
            read_entries(e, e->in, entry->name.p, longer);
    } else if (strange || (entry->kind != FOLDER_FILE && entry->kind != FOLDER_PROGRAM))
        tree_note_problem(x, e->run, "%s is not a regular file", key);
    else if (read_text(x, e->in, entry->name.p, e->metrics ? METRIC_MAX : VALUE_MAX) < 0)
        tree_note_problem(x, e->run, "%s cannot be read: %s", key, err_words(errno));
    else
        tree_entries_add(e, key);
    return x->a->failed;
}

/* Adds every regular file below the folder as an entry; `prefix` is its key so far. */
static void read_entries(const struct tree_entries *up, const struct folder *in, const char *folder, const char *prefix)
{
    CLEANUP_FOLDER struct folder f = {0};
    struct tree_entries e = *up;
    e.in = &f;
    e.prefix = prefix;
    e.depth++;
    if (folder_enter(in, folder, &f) < 0) {
        if (e.depth > 0 || errno != ENOENT)
            tree_note_problem(e.x, e.run, "%s%s cannot be read: %s", prefix, folder, err_words(errno));
        return;
    }
    if (folder_names(&f, each_entry, &e) < 0)
        tree_note_problem(e.x, e.run, "%s%s cannot be read: %s", prefix, folder, err_words(errno));
}

/* Returns the entries of params, metrics or tags of the run, sorted by key, in the reader's arena;
 * NULL: none. Damage is noted in the run. */
static struct tree_entry *read_kind(struct tree_reader *x, struct tree_run *run, const struct folder *in, const char *kind)
{
    struct tree_entry *list = NULL;
    size_t count = 0;
    struct tree_entries e = {.x = x, .run = run, .metrics = strcmp(kind, "metrics") == 0, .depth = -1, .list = &list, .count = &count};
    read_entries(&e, in, kind, "");
    return sort_tree_entries(list, count);
}

/* Reads the run's meta.yaml; what is wrong becomes a problem of the run. `place`: the path of the
 * run below `in`. */
static void read_meta(struct tree_reader *x, struct tree_run *run, const struct folder *in, const char *place)
{
    char path[128];
    struct err why = {0};
    struct tree_meta m;
    struct str experiment = str_of(tree_run_path(run));
    experiment = str_cut(&experiment, '/');
    snprintf(path, sizeof path, "%s/meta.yaml", place);
    if (read_text(x, in, path, TREE_META_MAX) < 0) {
        tree_note_problem(x, run, "meta.yaml cannot be read: %s", err_words(errno));
        return;
    }
    if (tree_meta_parse(&m, "meta.yaml", buf_text(&x->text), x->a, &why) < 0) {
        tree_note_problem(x, run, "%s", why.text);
        return;
    }
    run->name = tree_copy_text(x, m.name);
    run->user = tree_copy_text(x, m.user_id);
    run->artifact_uri = tree_copy_text(x, m.artifact_uri);
    run->lifecycle = str_is(m.lifecycle, "active") || !m.lifecycle.p ? "active" : tree_copy_text(x, m.lifecycle);
    run->start_ms = m.start_ms;
    run->end_ms = m.end_ms;
    run->status = (enum run_status)(m.status >= 0 ? m.status : RUN_RUNNING);
    if (!str_is(m.run_id, run->id))
        tree_note_problem(x, run, "meta.yaml names another run id");
    else if (!str_eq(m.experiment_id, experiment))
        tree_note_problem(x, run, "meta.yaml names another experiment id");
    else if (m.start_ms == 0)
        tree_note_problem(x, run, "meta.yaml has no start_time");
    else if (m.status == 0 || m.status > 5)
        tree_note_problem(x, run, "meta.yaml has an unknown status");
}

/* Loads all samples of thinned series. `in`: the run's folder. Without them a series is no metric:
 * its points would mislead. */
static void complete_metrics(struct tree_reader *x, struct tree_run *run, const struct folder *in)
{
    struct tree_entry *all = NULL;
    struct err err = {0};
    bool may = false;
    for (const struct tree_entry *e = run->metrics; e; e = e->next)
        may = may || tree_may_be_thinned(e->count);
    int rc = may ? tree_thinned_read(in, run->metrics->next ? NULL : run->metrics->key, x->a, &all, &err) : 1;
    for (struct tree_entry **at = &run->metrics; rc <= 0 && *at;) {
        struct tree_entry *e = *at, *found = all;
        while (found && strcmp(found->key, e->key) != 0)
            found = found->next;
        if (!tree_may_be_thinned(e->count) || (rc == 0 && !found)) {
            at = &e->next;
        } else if (rc == 0 && found->count > e->count) {
            e->samples = found->samples;
            e->count = found->count;
            at = &e->next;
        } else {
            tree_note_problem(x, run, "metrics/%s: %s", e->key, rc ? err.text : "artifacts/series.jsonl has too few samples");
            *at = e->next;
        }
    }
}

int tree_metric(const struct folder *tree, const struct tree_run *run, const char *key, struct arena *a, struct tree_entry *ret)
{
    struct tree_reader x = {.what = TREE_METRICS, .a = a};
    struct tree_run one = {.metrics = ret};
    const char *path = arena_printf(a, "%s/metrics/%s", tree_run_path(run), key);
    CLEANUP_FOLDER struct folder own = {0};
    *ret = (struct tree_entry){.key = key};
    buf_init(&x.text, METRIC_MAX + (1 << 20));
    if (path && read_text(&x, tree, path, METRIC_MAX) == 0)
        read_samples(&x, &one, ret);
    buf_deinit(&x.text);
    if (tree_may_be_thinned(ret->count) && folder_enter(tree, tree_run_path(run), &own) == 0)
        complete_metrics(&x, &one, &own);
    return one.metrics && ret->count ? 0 : 1;
}

/* Reads params, metrics and tags, as far as the caller requests them. */
static void read_kinds(struct tree_reader *x, struct tree_run *run, const struct folder *in, const char *place)
{
    CLEANUP_FOLDER struct folder own = {0};
    if (!(x->what & (TREE_PARAMS | TREE_METRICS | TREE_TAGS)))
        return;
    if (folder_enter(in, place, &own) < 0) {
        tree_note_problem(x, run, "it cannot be read: %s", err_words(errno));
        return;
    }
    if (x->what & TREE_PARAMS)
        run->params = read_kind(x, run, &own, "params");
    if (x->what & TREE_METRICS)
        run->metrics = read_kind(x, run, &own, "metrics");
    if (x->what & TREE_COMPLETE)
        complete_metrics(x, run, &own);
    if (x->what & TREE_TAGS)
        run->tags = read_kind(x, run, &own, "tags");
}

/* Returns a new list of the tags with the changes of annotations, without the tags that they
 * remove. */
static struct tree_entry *change_tags(const struct tree_entry *tags, const struct tree_entry *annotated, struct arena *a)
{
    struct tree_entry *list = annotation_merge(tags, annotated, a);
    for (struct tree_entry **at = &list; *at;) {
        if ((*at)->value.p)
            at = &(*at)->next;
        else
            *at = (*at)->next;
    }
    return list;
}

void tree_annotate(struct tree_run *run, const struct tree_entry *list, unsigned what, struct arena *a)
{
    run->annotated = list;
    const struct tree_entry *name = tree_annotated_tag(run, ANNOTATION_NAME);
    if (name && name->value.p)
        run->name = name->value.p;
    if (list && what & TREE_TAGS)
        run->tags = change_tags(run->tags, list, a);
}

/* Reads the parts of the run at in/place that `what` names. */
static void fill_run(struct tree_reader *x, struct tree_run *run, const struct folder *in, const char *place)
{
    read_meta(x, run, in, place);
    read_kinds(x, run, in, place);
    if (!run->name && run->tags)
        for (const struct tree_entry *e = run->tags; e; e = e->next)
            if (strcmp(e->key, "mlflow.runName") == 0)
                run->name = tree_copy_text(x, e->value);
    if (!run->name)
        run->name = "";
    if (!run->user)
        run->user = "";
    if (!run->artifact_uri)
        run->artifact_uri = "";
    if (run->annotated)
        tree_annotate(run, run->annotated, x->what, x->a);
}

/* Returns one run, in the arena; with TREE_NAMES nothing of its own is read. It shares the text
 * `experiment`. NULL: out of memory. */
static struct tree_run *tree_read_run(struct tree_reader *x, const struct folder *in, const char *folder, const char *experiment,
                                      const char *id)
{
    struct tree_run *run = ARENA_NEW(x->a, struct tree_run);
    if (!run)
        return NULL;
    memcpy(run->id, id, 33);
    str_uint(str_of(folder), &run->experiment_id); /* 0 where it is no number */
    run->experiment = experiment;
    run->status = RUN_RUNNING;
    run->lifecycle = "active";
    run->path = arena_printf(x->a, "mlruns/%s/%s", folder, id);
    if (run->path && !(x->what & TREE_NAMES))
        fill_run(x, run, in, run->id);
    return x->a->failed ? NULL : run;
}

void tree_fill(const struct folder *root, struct tree_run *run, unsigned what, struct arena *a)
{
    struct tree_reader x = {.what = what, .a = a};
    const char *experiments = run->problem;
    run->problem = NULL;
    buf_init(&x.text, METRIC_MAX + (1 << 20));
    fill_run(&x, run, root, tree_run_path(run));
    buf_deinit(&x.text);
    if (!run->problem)
        run->problem = experiments;
}

bool tree_is_gone(const struct folder *tree, const struct tree_run *run)
{
    struct folder_entry e;
    char path[256];
    bool has_meta = run->start_ms != 0; /* a damaged run may lack its meta.yaml */
    snprintf(path, sizeof path, "%s%s", tree_run_path(run), has_meta ? "/meta.yaml" : "");
    return folder_look(tree, path, &e, NULL) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* Returns whether MLflow reads the folder as an experiment: [A-Za-z0-9][\w-]{0,63}, and not one of
 * its own folders. */
static bool is_experiment_folder(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t n = strlen(name);
    return n <= 64 && strspn(name, letters) == n && name[0] != '_' && name[0] != '-' && strcmp(name, "models") != 0;
}

/* Returns the name of the experiment in `dir`; its id where the file cannot be read, and a problem
 * for its runs. */
static const char *read_experiment_name(struct tree_reader *x, const struct folder *dir, const char *folder, const char **ret_problem)
{
    struct tree_meta m;
    struct err why = {0};
    *ret_problem = NULL;
    if (read_text(x, dir, "meta.yaml", TREE_META_MAX) < 0)
        *ret_problem = arena_printf(x->a, "the experiment's meta.yaml cannot be read: %s", err_words(errno));
    else if (tree_meta_parse(&m, "the experiment's meta.yaml", buf_text(&x->text), x->a, &why) < 0)
        *ret_problem = arena_printf(x->a, "%s", why.text);
    else if (!m.name.p)
        *ret_problem = "the experiment's meta.yaml has no name";
    else
        return tree_copy_text(x, m.name);
    return arena_dup(x->a, folder, strlen(folder));
}

struct experiment_names {
    struct arena *a;
    const char **list;
    size_t count, room;
};

/* Called for each entry of a tree: adds the name of an experiment's folder to the list. Returns 1
 * where memory is used up. */
static int tree_note_experiment(void *context, const struct folder_entry *entry)
{
    struct experiment_names *n = context;
    if (entry->kind != FOLDER_FOLDER || !is_experiment_folder(entry->name.p)) /* a stray file; MLflow passes it over too */
        return 0;
    if (!ARRAY_FITS_IN(n->a, n->list, n->room, n->count + 1))
        return 1;
    n->list[n->count] = arena_dup(n->a, entry->name.p, entry->name.n);
    return n->list[n->count++] == NULL;
}

static int compare_experiment_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Calls each_folder for every experiment folder of the tree, in order of their names. */
static int tree_each_experiment(const struct folder *root, int (*each_folder)(void *context, const struct folder *in, const char *folder),
                                void *context, struct err *err)
{
    struct experiment_names names = {0};
    struct arena a;
    arena_init(&a, 0);
    names.a = &a;
    int rc = folder_names(root, tree_note_experiment, &names) < 0 ? err_sys(err, "cannot read the tree") : 0;
    if (a.failed)
        rc = err_memory(err, "the tree");
    if (rc == 0 && names.count)
        qsort(names.list, names.count, sizeof *names.list, compare_experiment_names);
    for (size_t i = 0; i < names.count && rc == 0; i++) {
        CLEANUP_FOLDER struct folder in = {0};
        if (folder_enter(root, names.list[i], &in) == 0)
            rc = each_folder(context, &in, names.list[i]);
    }
    arena_deinit(&a);
    return rc;
}

struct run_names {
    int (*each_name)(void *context, const char *id);
    void *context;
    const struct folder *stray; /* the folder, where it is no experiment; else NULL */
};

/* Returns whether the folder has none of the parts of a run: a client of MLflow that logs to a
 * database (its default in ./mlflow.db) stores only the files of its runs below mlruns. */
static bool tree_has_files_only(const struct folder *in, const char *id)
{
    static const char *const parts[] = {"meta.yaml", "params", "metrics", "tags"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct folder_entry entry;
        uint64_t size;
        char path[64];
        snprintf(path, sizeof path, "%.32s/%s", id, parts[i]);
        if (folder_look(in, path, &entry, &size) >= 0)
            return false;
    }
    return true;
}

static int tree_note_run(void *context, const struct folder_entry *entry)
{
    struct run_names *n = context;
    if (!record_is_id(entry->name) || (n->stray && tree_has_files_only(n->stray, entry->name.p)))
        return 0;
    return n->each_name(n->context, entry->name.p);
}

/* Calls each_name for the names of all runs in the folder, in the order of the file system. */
static int each_run_id(const struct folder *in, int (*each_name)(void *context, const char *id), void *context)
{
    struct folder_entry meta;
    uint64_t size;
    struct run_names n = {each_name, context, folder_look(in, "meta.yaml", &meta, &size) < 0 ? in : NULL};
    return folder_names(in, tree_note_run, &n);
}

struct tree_walking {
    struct tree_reader x;
    const struct folder *root;
    int (*each)(void *context, struct tree_run *run);
    void *context;
    const struct folder *in;
    const char *folder, *experiment, *problem;
};

/* Called for each run of a folder: reads it and passes it to w->each. -1: out of memory; 1: w->each
 * ends the walk. */
static int walk_run(void *context, const char *id)
{
    struct tree_walking *w = context;
    struct tree_run *run = tree_read_run(&w->x, w->in, w->folder, w->experiment, id);
    if (!run)
        return -1;
    if (!run->problem)
        run->problem = w->problem;
    run->tree = w->root;
    return w->each(w->context, run) ? 1 : 0;
}

static int walk_folder(void *context, const struct folder *in, const char *folder)
{
    struct tree_walking *w = context;
    w->in = in;
    w->folder = arena_dup(w->x.a, folder, strlen(folder));
    w->experiment = read_experiment_name(&w->x, in, folder, &w->problem);
    return w->folder ? each_run_id(in, walk_run, w) : -1;
}

/* Passes every run of the tree to `each`, until that returns non-zero. `lasting`: the tree that the
 * runs refer to. 0; -1 with err. */
static int tree_walk_runs(const struct folder *root, const struct folder *lasting, unsigned what, struct arena *a,
                          int (*each)(void *context, struct tree_run *run), void *context, struct err *err)
{
    struct tree_walking w = {.x = {.what = what, .a = a}, .root = lasting, .each = each, .context = context};
    buf_init(&w.x.text, METRIC_MAX + (1 << 20));
    int rc = tree_each_experiment(root, walk_folder, &w, err);
    buf_deinit(&w.x.text);
    if (a->failed)
        return err_memory(err, "the tree");
    return rc < 0 ? -1 : 0;
}

struct tree_search {
    const char *prefix;
    char id[33], folder[65];
    size_t found;
    const char *in;
};

/* Called for each run of a folder: counts those with the prefix, and keeps id and folder of the
 * first. Returns 0. */
static int find_run(void *context, const char *id)
{
    struct tree_search *f = context;
    if (strncmp(id, f->prefix, strlen(f->prefix)) != 0)
        return 0;
    if (f->found++ == 0) {
        memcpy(f->id, id, 33);
        snprintf(f->folder, sizeof f->folder, "%s", f->in);
    }
    return 0;
}

static int find_folder(void *context, const struct folder *in, const char *folder)
{
    struct tree_search *f = context;
    struct folder_entry e;
    f->in = folder;
    if (strlen(f->prefix) < 32)
        return each_run_id(in, find_run, f);
    return folder_look(in, f->prefix, &e, NULL) == 0 && e.kind == FOLDER_FOLDER ? find_run(f, f->prefix) : 0;
}

/* Reads the run `id` of the folder `in`; `experiment`: its name where it is known, else NULL. 0; -1
 * with err: out of memory. */
static int read_one(const struct folder *in, const char *folder, const char *experiment, const char *id, unsigned what, struct arena *a,
                    struct tree_run **ret, struct err *err)
{
    struct tree_reader x = {.what = what, .a = a};
    const char *problem = NULL;
    buf_init(&x.text, METRIC_MAX + (1 << 20));
    if (!experiment)
        experiment = read_experiment_name(&x, in, folder, &problem);
    *ret = experiment ? tree_read_run(&x, in, folder, experiment, id) : NULL;
    buf_deinit(&x.text);
    if (!*ret)
        return err_memory(err, "mlruns/%s/%s", folder, id);
    if (!(*ret)->problem)
        (*ret)->problem = problem;
    return 0;
}

int tree_find_in(const struct folder *root, const char *prefix, unsigned what, struct arena *a, struct tree_run **ret, struct err *err)
{
    size_t n = strlen(prefix);
    struct tree_search f = {.prefix = prefix};
    if (n < 4 || n > 32 || strspn(prefix, "0123456789abcdef") != n)
        return 1;
    if (tree_each_experiment(root, find_folder, &f, err) < 0)
        return -1;
    if (f.found != 1)
        return f.found ? 2 : 1;
    CLEANUP_FOLDER struct folder in = {0};
    if (folder_enter(root, f.folder, &in) < 0)
        return err_sys(err, "cannot read mlruns/%s", f.folder);
    int rc = read_one(&in, f.folder, NULL, f.id, what, a, ret, err);
    if (rc == 0)
        (*ret)->tree = root;
    return rc;
}

int tree_read(int experiment, const struct tree_run *run, unsigned what, struct arena *a, struct tree_run **ret, struct err *err)
{
    struct folder in = folder_disk(experiment);
    char folder[65];
    const char *from = strchr(run->path, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(from ? strcspn(from + 1, "/") : 0), from ? from + 1 : "");
    int rc = read_one(&in, folder, run->problem ? NULL : run->experiment, run->id, what, a, ret, err);
    if (rc == 0)
        tree_annotate(*ret, run->annotated, what, a);
    return rc;
}

int tree_walk_in(const struct folder *root, unsigned what, struct arena *a, int (*each)(void *context, struct tree_run *run), void *context,
                 struct err *err)
{
    return tree_walk_runs(root, root, what, a, each, context, err);
}

int tree_walk(int root, unsigned what, struct arena *a, int (*each)(void *context, struct tree_run *run), void *context, struct err *err)
{
    struct folder f = folder_disk(root);
    return tree_walk_runs(&f, NULL, what, a, each, context, err);
}

int tree_find(int root, const char *prefix, unsigned what, struct arena *a, struct tree_run **ret, struct err *err)
{
    struct folder f = folder_disk(root);
    int rc = tree_find_in(&f, prefix, what, a, ret, err);
    if (rc == 0)
        (*ret)->tree = NULL;
    return rc;
}
