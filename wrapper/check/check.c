/* check.c: what is found, and the way through a tree: experiments, then their runs. */
#include "check/check.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/profile.h"
#include "base/yaml.h"
#include "check/verify.h"
#include "mlruns-format/tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMES_MAX = 1000000, META_MAX = 4096, TEXT_MAX = 600, EXPERIMENT_MAX = 128 };

const struct check_finding_kind check_kinds[CHECK_KINDS] = {
#define FINDING(name, word, severity, meaning, remedy) {word, CHECK_##severity, meaning, remedy},
#include "check/findings.def"
#undef FINDING
};

void check_begin(struct check_state *k, struct arena *a)
{
    *k = (struct check_state){.arena = a, .now_ms = clock_wall_ms()};
    k->limits = (struct check_limits){.file_B = 64 << 20,
                                      .run_B = 64 << 20,
                                      .all_B = UINT64_C(64) * (64 << 20),
                                      .files = 20000,
                                      .all_files = 10000000,
                                      .runs = 1000000,
                                      .findings = 10000};
    for (size_t i = 0; i < CHECK_KINDS; i++)
        k->severity[i] = check_kinds[i].severity;
}

void check_end(struct check_state *k)
{
    check_index_free(k);
    verify_end(k);
}

void check_found(struct check_state *k, enum check_id id, const char *path, unsigned line, const char *fmt, ...)
{
    CLEANUP_BUF struct buf raw, plain;
    va_list ap;
    buf_init(&raw, 64 << 10);
    buf_init(&plain, 64 << 10);
    k->by_severity[k->severity[id]]++;
    if (k->count == k->limits.findings) {
        k->dropped++;
        return;
    }
    va_start(ap, fmt);
    buf_vprintf(&raw, fmt, ap);
    va_end(ap);
    buf_plain(&plain, buf_text(&raw), TEXT_MAX);
    struct check_finding *f = ARENA_NEW(k->arena, struct check_finding);
    if (!f) {
        k->dropped++;
        return;
    }
    *f = (struct check_finding){.id = id,
                                .path = arena_dup(k->arena, path, strlen(path)),
                                .line = line,
                                .text = arena_dup(k->arena, plain.p ? plain.p : "", plain.n)};
    if (!f->path || !f->text)
        f->path = f->text = "";
    if (k->last)
        k->last->next = f;
    else
        k->first = f;
    k->last = f;
    k->count++;
}

bool check_is_public(struct str text, bool has_remote)
{
    struct arena a;
    struct yaml *y = NULL;
    arena_init(&a, 16 << 20);
    struct str said = yaml_parse(&y, "benchwrap.yaml", text, &a, NULL) == 0 ? yaml_text(y, "profile", "") : (struct str){"", 0};
    bool is = profile_is_public(str_is(said, "public") ? "public" : str_is(said, "private") ? "private" : NULL, has_remote);
    arena_deinit(&a);
    return is;
}

/* ---- experiments ---- */

bool check_is_experiment(struct str name)
{
    uint64_t id;
    return name.n && name.n <= 10 && name.p[0] != '0' && strspn(name.p, "0123456789") >= name.n && str_uint(name, &id) && id <= 2147483647;
}

/* Returns whether benchwrap names experiments so: letters, digits, . _ - and blanks, at most
 * EXPERIMENT_MAX; "~2" to "~99" may follow, where the id was another name's. */
static bool is_experiment_name(struct str name)
{
    size_t n = name.n, i = 0;
    while (n && name.n - n < 2 && str_is_digit(name.p[n - 1]))
        n--;
    if (!n || n == name.n || name.p[n - 1] != '~')
        n = name.n;
    else
        n--;
    for (; i < n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("._- ", name.p[i] ? name.p[i] : '/'))
            return false;
    return n && n <= EXPERIMENT_MAX;
}

/* Reports an experiment whose meta.yaml cannot be read or has other bytes than benchwrap writes, or
 * whose folder does not have the id that follows from its name. */
static void check_experiment_meta(struct check_state *k, const struct folder *experiment, const char *path)
{
    CLEANUP_BUF struct buf text, wanted;
    struct tree_meta m;
    struct err why = {0};
    struct arena a;
    const char *file = arena_printf(k->arena, "%s/meta.yaml", path);
    buf_init(&text, META_MAX + 65536);
    buf_init(&wanted, META_MAX + 4096);
    if (!file)
        return;
    if (folder_read(experiment, "meta.yaml", META_MAX, &text) < 0) {
        check_found(k,
                    errno == ENOENT ? CHECK_EXPERIMENT_META
                    : errno == EIO  ? CHECK_UNREADABLE
                                    : CHECK_EXPERIMENT_META,
                    file, 0, "it cannot be read: %s", err_words(errno));
        return;
    }
    arena_init(&a, 1 << 20);
    if (tree_meta_parse(&m, "meta.yaml", buf_text(&text), &a, &why) < 0)
        check_found(k, CHECK_EXPERIMENT_META, file, 0, "%s", why.text);
    else if (!m.name.n)
        check_found(k, CHECK_EXPERIMENT_META, file, 0, "it names no experiment");
    else if (!is_experiment_name(m.name))
        check_found(k, CHECK_EXPERIMENT_META, file, 0, "an experiment is not named so: 1 to %d of letters, digits, . _ - and blanks",
                    EXPERIMENT_MAX);
    else {
        char id[16];
        uint32_t own = tree_experiment_id(m.name);
        snprintf(id, sizeof id, "%u", own);
        tree_meta_experiment(&wanted, own, m.name);
        if (strcmp(id, str_base_name(path)) != 0)
            check_found(k, CHECK_EXPERIMENT_ID, file, 0, "the experiment \"" STR_FMT "\" has the id %s, not %.20s", STR_ARG(m.name), id,
                        str_base_name(path));
        else if (!str_eq(buf_text(&text), buf_text(&wanted)))
            check_found(k, CHECK_EXPERIMENT_META, file, 0, "its bytes are not the six lines of experiment \"" STR_FMT "\"",
                        STR_ARG(m.name));
    }
    arena_deinit(&a);
}

struct experiment {
    struct check_state *k;
    const struct folder *in;
    const char *path;
    struct check_names *names;
};

/* Growing lists of names of one folder. */
struct check_names {
    struct arena a;
    const char **list;
    size_t count, room;
    bool full;
};

/* Appends a copy of the name. Sets n->full where NAMES_MAX names are there, or out of memory: the
 * name is then not checked. */
static void names_add(struct check_names *n, struct str name)
{
    if (n->count >= NAMES_MAX || !ARRAY_FITS_IN(&n->a, n->list, n->room, n->count + 1)) {
        n->full = true;
        return;
    }
    n->list[n->count] = arena_dup(&n->a, name.p, name.n);
    if (n->list[n->count])
        n->count++;
    else
        n->full = true;
}

static int compare_check_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void names_sort(struct check_names *n)
{
    if (n->count)
        qsort(n->list, n->count, sizeof *n->list, compare_check_names);
}

/* Called for each entry of an experiment's tags/: reports all but a regular mlflow.experimentKind
 * with MLflow's word for it. Returns 0; -1: out of memory, which ends the listing. */
static int each_tag(void *context, const struct folder_entry *entry)
{
    struct experiment *x = context;
    const char *path = arena_printf(x->k->arena, "%s/tags/%s", x->path, entry->name.p);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096 * 20);
    if (!path)
        return -1;
    if (entry->kind != FOLDER_FILE || !str_is(entry->name, "mlflow.experimentKind")) {
        check_found(x->k, CHECK_UNKNOWN, path, 0, "an experiment has the tag mlflow.experimentKind alone");
        return 0;
    }
    if (folder_read(x->in, "tags/mlflow.experimentKind", 4096, &b) < 0 || !str_is(buf_text(&b), "custom_model_development"))
        check_found(x->k, CHECK_EXPERIMENT_META, path, 0, "it is not \"custom_model_development\"");
    return 0;
}

/* Visits an entry of an experiment's folder: adds the id of a run to x->names, and reports what an
 * experiment must not have. Returns 0; -1: out of memory. */
static int each_of_experiment(void *context, const struct folder_entry *entry)
{
    struct experiment *x = context;
    struct check_state *k = x->k;
    if (entry->kind == FOLDER_FOLDER && record_is_id(entry->name)) {
        if (x->names)
            names_add(x->names, entry->name);
        return 0;
    }
    const char *path = arena_printf(k->arena, "%s/%s", x->path, entry->name.p);
    if (!path)
        return -1;
    if (entry->kind == FOLDER_FOLDER && str_is(entry->name, "tags")) {
        CLEANUP_FOLDER struct folder tags = {0};
        if (folder_enter(x->in, "tags", &tags) < 0 || folder_list(&tags, each_tag, x) < 0)
            check_found(k, CHECK_UNREADABLE, path, 0, "it cannot be read: %s", err_words(errno));
    } else if (!str_is(entry->name, "meta.yaml"))
        check_found(k, CHECK_UNKNOWN, path, 0, "an experiment holds meta.yaml, tags/ and folders of runs (32 digits 0-9 a-f)");
    else if (entry->kind != FOLDER_FILE)
        check_found(k, entry->kind == FOLDER_PROGRAM ? CHECK_MODE : CHECK_TYPE, path, 0,
                    "an experiment's meta.yaml is a regular file of mode 644");
    return 0;
}

static void check_experiment_folder(struct check_state *k, const struct folder *experiment, const char *path, struct check_names *names)
{
    struct experiment x = {.k = k, .in = experiment, .path = path, .names = names};
    if (folder_list(experiment, each_of_experiment, &x) < 0)
        check_found(k, CHECK_UNREADABLE, path, 0, "it cannot be read: %s", err_words(errno));
    check_experiment_meta(k, experiment, path);
}

void check_experiment_files(struct check_state *k, const struct folder *experiment, const char *path)
{
    check_experiment_folder(k, experiment, path, NULL);
}

bool check_is_full(struct check_state *k, const char *path)
{
    if (k->bytes < k->limits.all_B && k->files < k->limits.all_files)
        return false;
    check_found(k, CHECK_LIMIT, path, 0,
                "stopped after %zu files and folders and %.4g GiB (a small pull request can name the same large files very often)",
                k->files, (double)k->bytes / 1073741824.0);
    return true;
}

/* Checks the runs of these names, until the limit of runs of the complete check is reached. */
static void check_runs(struct check_state *k, const struct folder *experiment, const char *path, const struct check_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        CLEANUP_FOLDER struct folder run = {0};
        const char *own = arena_printf(k->arena, "%s/%s", path, names->list[i]);
        if (!own) {
            check_found(k, CHECK_LIMIT, path, 0, "out of memory after %zu run%s; the others were not checked", k->runs,
                        str_plural(k->runs));
            return;
        }
        if (k->runs == k->limits.runs) {
            check_found(k, CHECK_LIMIT, path, 0, "stopped after %zu run%s", k->runs, str_plural(k->runs));
            return;
        }
        if (folder_enter(experiment, names->list[i], &run) < 0)
            check_found(k, CHECK_UNREADABLE, own, 0, "it cannot be read: %s", err_words(errno));
        else
            check_run(k, &run, own);
    }
}

/* ---- the tree ---- */

struct check_walk {
    struct check_state *k;
    const char *at;
    struct check_names names;
};

/* Returns whether the entry is one of the two folders that MLflow makes when it opens a tree. */
static bool is_mlflows(const struct folder_entry *entry)
{
    return entry->kind == FOLDER_FOLDER && !entry->id && (str_is(entry->name, ".trash") || str_is(entry->name, "models"));
}

/* Called for each entry of a tree: adds an experiment's name to w->names, and reports what is none,
 * but for the folders that MLflow makes. Returns 0; -1: out of memory, which ends the listing. */
static int each_of_tree(void *context, const struct folder_entry *entry)
{
    struct check_walk *w = context;
    if (entry->kind == FOLDER_FOLDER && check_is_experiment(entry->name)) {
        names_add(&w->names, entry->name);
        return 0;
    }
    if (is_mlflows(entry))
        return 0;
    const char *path = arena_printf(w->k->arena, "%s/%s", w->at, entry->name.p);
    if (path && check_file_name(w->k, entry->name, path))
        check_found(w->k, CHECK_OUTSIDE, path, 0, "a tree holds folders of experiments only, named by a number from 1 to 2147483647");
    return path ? 0 : -1;
}

int check_tree(struct check_state *k, const struct folder *tree, const char *at, struct err *err)
{
    struct check_walk w = {.k = k, .at = at};
    arena_init(&w.names.a, 256 << 20);
    k->tree = tree;
    if (folder_list(tree, each_of_tree, &w) < 0) {
        arena_deinit(&w.names.a);
        return err_sys(err, "reading the tree %s", at);
    }
    names_sort(&w.names);
    for (size_t i = 0; i < w.names.count; i++) {
        CLEANUP_FOLDER struct folder experiment = {0};
        struct check_names runs = {0};
        const char *path = arena_printf(k->arena, "%s/%s", at, w.names.list[i]);
        arena_init(&runs.a, 256 << 20);
        if (!path) {
            check_found(k, CHECK_LIMIT, at, 0, "out of memory for the path of experiment %s, which was not checked", w.names.list[i]);
        } else if (folder_enter(tree, w.names.list[i], &experiment) < 0) {
            check_found(k, CHECK_UNREADABLE, path, 0, "it cannot be read: %s", err_words(errno));
        } else {
            check_experiment_folder(k, &experiment, path, &runs);
            names_sort(&runs);
            check_runs(k, &experiment, path, &runs);
        }
        if (runs.full)
            check_found(k, CHECK_LIMIT, path ? path : "", 0, "it holds more than %d runs (or out of memory); the others were not checked",
                        NAMES_MAX);
        arena_deinit(&runs.a);
    }
    if (w.names.full)
        check_found(k, CHECK_LIMIT, at, 0, "it holds more than %d experiments (or out of memory); the others were not checked", NAMES_MAX);
    arena_deinit(&w.names.a);
    check_duplicates(k);
    return 0;
}
