/* runs.c: runs of a tree, chosen and sorted for the commands that read them. */
#include "runs/runs.h"

#include "base/array.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/shell_word.h"
#include "runs/annotations.h"
#include "mlruns-format/corrections.h"
#include "runs/known_keys.h"
#include "runs/row.h"
#include "runs/run_columns.h"
#include "runs/runs_ref.h"
#include "runs/stale.h"
#include "plan/paths.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { DETAIL_MAX = 256 << 20 };

/* Reads the tree through its index, unless the user refuses. */
static void use_index(struct runs *runs, struct arena *a)
{
    const char *cache = env_text(runs->place.env, "BENCHWRAP_NO_INDEX") ? NULL : plan_xdg(runs->place.env, "XDG_CACHE_HOME", ".cache", a);
    if (cache && (runs->index = tree_index_open(runs->root, runs->tree, cache, time(NULL))))
        runs->folder = tree_index_folder(runs->index);
}

/* Sets err for a tree that does not exist. A store of MLflow's own may have any name, and has the
 * experiment 0. Returns -1. */
static int refuse_missing_tree(const char *tree, struct arena *a, struct err *err)
{
    const char *end = strrchr(tree, '/');
    const char *folder = end ? arena_dup(a, tree, (size_t)(end - tree)) : NULL;
    const char *first = folder ? arena_printf(a, "%s/0/meta.yaml", folder) : NULL;
    if (!first || access(first, F_OK) != 0)
        return err_set(err, ERR_INPUT, "no runs in %s yet: record one (\"benchwrap -- PROGRAM\"), or name another folder with --tree",
                       tree);
    err_set(err, ERR_INPUT, "%s is a store of MLflow: benchwrap reads a folder that is called mlruns, or that holds one", folder);
    const char *word = shell_word_text(folder, a);
    if (word)
        err_hint(err, "rename it, or use a link: ln -s %s mlruns", word);
    return -1;
}

int runs_open(struct runs *ret, const struct runs_place *place, struct arena *a, struct err *err)
{
    *ret = (struct runs){.place = *place, .root = -1};
    if (place->ref)
        return runs_open_ref(ret, place->ref, place, a, err);
    if (plan_tree(place->tree, place->env, a, &ret->tree, err) < 0)
        return -1;
    ret->root = place_open_folder(ret->tree, 0);
    if (ret->root < 0 && errno == ENOENT)
        return refuse_missing_tree(ret->tree, a, err);
    if (ret->root < 0)
        return err_sys(err, "opening the tree %s", ret->tree);
    use_index(ret, a);
    return 0;
}

/* Returns whether each run of the operand names its commit. */
static bool names_commits(const char *operand)
{
    for (struct str rest = str_of(operand); rest.p;) {
        struct str one = str_cut(&rest, ',');
        if (!memchr(one.p, ':', one.n))
            return false;
    }
    return true;
}

int runs_open_for(struct runs *ret, const struct runs_place *place, char *const *operands, int count, struct arena *a, struct err *err)
{
    bool all = count > 0 && !place->ref;
    for (int i = 0; i < count; i++)
        all = all && (strcmp(operands[i], "vs") == 0 || names_commits(operands[i]));
    if (!all)
        return runs_open(ret, place, a, err);
    *ret = (struct runs){.place = *place, .root = -1};
    return 0;
}

const struct folder *runs_ready_folder(struct runs *runs)
{
    if (!runs->folder.ops)
        runs->folder = folder_disk(runs->root);
    return &runs->folder;
}

void runs_close(struct runs *runs)
{
    if (runs->gone)
        fprintf(runs->place.notes, "benchwrap: left out %zu run%s: deleted after the command had listed %s\n", runs->gone,
                str_plural(runs->gone), runs->gone == 1 ? "it" : "them");
    runs->gone = 0;
    folder_leave(&runs->folder); /* before its repository, and its index */
    tree_index_close(runs->index);
    runs->index = NULL;
    runs_close_refs(runs);
    fs_close(&runs->root);
    free(runs->all);
    runs->all = NULL;
}

unsigned runs_workers(const struct runs *runs, size_t n)
{
    enum { WORTH = 100 };
    return folder_shared(&runs->folder) ? parallel_workers(n, WORTH) : 1;
}

struct folder runs_tree(const struct runs *runs, const struct tree_run *run)
{
    struct folder f = run->tree ? *run->tree : runs->folder.ops ? runs->folder : folder_disk(runs->root);
    f.borrowed = true;
    return f;
}

bool runs_is_gone(const struct runs *runs, const struct tree_run *run)
{
    const struct folder tree = runs_tree(runs, run);
    return tree_is_gone(&tree, run);
}

const char *runs_file(const struct runs *runs, const struct tree_run *run, const char *name, size_t max, struct arena *a)
{
    struct folder tree = runs_tree(runs, run);
    return tree_file(&tree, run, name, max, a);
}

struct json *runs_detail(const struct runs *runs, const struct tree_run *run, const char **ret_problem, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    struct json *doc = NULL;
    struct err err = {0};
    char path[256];
    snprintf(path, sizeof path, "%s/artifacts/benchwrap.json", tree_run_path(run));
    buf_init(&b, DETAIL_MAX + (1 << 20));
    *ret_problem = NULL;
    struct folder tree = runs_tree(runs, run);
    if (folder_read(&tree, path, DETAIL_MAX, &b) < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            *ret_problem = arena_printf(a, "artifacts/benchwrap.json cannot be read: %s", err_words(errno));
        return NULL;
    }
    if (json_parse(&doc, buf_text(&b), NULL, &err) < 0) {
        *ret_problem = arena_printf(a, "artifacts/benchwrap.json: %s", err.text);
        return NULL;
    }
    return doc;
}

const char *runs_status(const struct tree_run *run)
{
    if (run->problem && run->start_ms == 0) /* its meta.yaml is unreadable, so nothing shows that it is running */
        return "DAMAGED";
    return (int)run->status == 2 ? "SCHEDULED" : record_status_name(run->status);
}

const struct tree_entry *runs_entry(const struct tree_entry *list, const char *key)
{
    for (; list; list = list->next)
        if (strcmp(list->key, key) == 0)
            return list;
    return NULL;
}

const char *runs_text(const struct tree_entry *list, const char *key, struct arena *a)
{
    const struct tree_entry *e = runs_entry(list, key);
    return e ? arena_dup(a, e->value.p, e->value.n) : NULL;
}

/* ---- loading ---- */

/* Parts of a run that are read besides its meta.yaml. */
struct loaded_run {
    bool passes, retracts, has_meta;
    const char *problem; /* why the filter cannot be evaluated, or NULL */
    const char *corrects; /* the id of another run, or NULL */
    const struct tree_entry *changes; /* of an annotation */
};

struct loading {
    struct runs *runs;
    const struct runs_filter *filter;
    struct loaded_run *loaded; /* as runs->all */
    struct corrections corrections;
    struct annotations annotations;
    size_t room;
    bool failed;
};

bool runs_is_of_experiment(const struct tree_run *run, const char *experiment)
{
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)run->experiment_id);
    return strcmp(experiment, run->experiment) == 0 || strcmp(experiment, id) == 0;
}

/* Returns whether the run has the experiment, status (or verdict) and tags that the options
 * require. Tags are read from the folder; a file that cannot be read does not match. */
static bool passes_filter(const struct runs_filter *f, const struct folder *tree, const struct tree_run *run, struct arena *a)
{
    if (f->experiment && !runs_is_of_experiment(run, f->experiment))
        return false;
    if (f->status && strcasecmp(f->status, runs_status(run)) != 0) {
        const char *verdict = tree_file(tree, run, "tags/benchwrap.verdict", 64, a);
        if (!verdict || strcasecmp(f->status, verdict) != 0)
            return false;
    }
    for (const struct opt_value *v = f->tags; v && v->text; v = v->next) {
        const char *equals = strchr(v->text, '=');
        char path[300];
        snprintf(path, sizeof path, "tags/%.*s", (int)(equals - v->text), v->text);
        const char *value = strstr(path, "..") ? NULL : tree_file(tree, run, path, 8192, a);
        if (!value || strcmp(value, equals + 1) != 0)
            return false;
    }
    return true;
}

/* Notes a run that may pass or not, so that it is reported, not left out in silence. */
static void runs_note_unjudged(struct runs *runs, struct tree_run *run, const char *problem)
{
    if (!run->problem)
        run->problem = problem;
    run->next = runs->unjudged;
    runs->unjudged = run;
    runs->damaged++;
}

/* Removes annotations, and the runs that others amend or retract. */
static void hide_corrected(struct loading *l)
{
    struct runs *runs = l->runs;
    size_t kept = 0;
    for (size_t i = 0; i < runs->count && !l->filter->corrected; i++) {
        struct tree_run *run = runs->all[i];
        bool is_shown = corrections_shown(&l->corrections, run->id) == run->id;
        if (is_shown && !run->annotates) {
            runs->all[kept++] = run;
            continue;
        }
        runs->damaged -= run->problem != NULL;
        if (is_shown && run->problem) /* what it changes is not applied */
            runs_note_unjudged(runs, run, run->problem);
    }
    if (!l->filter->corrected)
        runs->count = kept;
}

static int runs_append(void *context, struct tree_run *run)
{
    struct loading *l = context;
    struct runs *runs = l->runs;
    if (!ARRAY_FITS(runs->all, l->room, runs->count + 1)) {
        l->failed = true;
        return 1;
    }
    runs->all[runs->count++] = run;
    return 0;
}

/* Reads what the run changes of another one. Few runs have an id that makes this possible. */
static void load_changes(void *context, size_t i, struct arena *a)
{
    struct loading *l = context;
    const struct folder *tree = &l->runs->folder;
    struct tree_run *run = l->runs->all[i];
    struct loaded_run *to = &l->loaded[i];
    const char *problem = NULL;
    if (!correction_possible(run->id))
        return;
    tree_fill(tree, run, TREE_META, a);
    to->has_meta = true;
    if (a->failed || strcmp(run->lifecycle, "deleted") == 0)
        return;
    to->corrects = correction_target(tree, run, a, &to->retracts);
    run->annotates = to->corrects ? NULL : annotation_target(tree, run, a);
    if (run->annotates)
        to->changes = annotation_changes(tree, run, run->annotates, a, &problem);
    if (!run->problem)
        run->problem = problem;
}

/* Reads one listed run and notes whether it passes the filter, with a row of values where the
 * filter requests it. Deleted runs do not pass. Workers call it in parallel; out of memory: the
 * arena has failed. */
static void load_one_run(void *context, size_t i, struct arena *a)
{
    struct loading *l = context;
    const struct folder *tree = &l->runs->folder;
    struct tree_run *run = l->runs->all[i];
    struct loaded_run *to = &l->loaded[i];
    if (to->has_meta)
        tree_annotate(run, run->annotated, TREE_META, a);
    else
        tree_fill(tree, run, TREE_META, a);
    if (a->failed || strcmp(run->lifecycle, "deleted") == 0)
        return;
    to->passes = passes_filter(l->filter, tree, run, a) && filter_holds(l->filter->query, tree, run, a, &to->problem);
    if (to->passes && l->filter->rows)
        run->row = row_read(tree, run, l->filter->headlines, a);
}

static int order_run_ids(const void *a, const void *b)
{
    const struct tree_run *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

static void note_annotated_runs(struct loading *l, struct arena *a)
{
    struct runs *runs = l->runs;
    for (size_t i = 0; i < runs->count && l->annotations.count; i++)
        runs->all[i]->annotated = annotations_of(&l->annotations, &l->corrections, runs->all[i]->id, a, NULL);
    if (!l->filter->corrected || l->filter->marks)
        stale_mark_all(&runs->folder, runs->all, runs->count, &l->corrections, a);
}

/* Marks the parent runs of deleted runs, which are known when every meta is read, and filters them
 * again with their mark. */
static void note_deleted_children(struct loading *l, struct arena *a)
{
    struct runs *runs = l->runs;
    size_t *places = l->filter->corrected && !l->filter->marks ? NULL : arena_get(a, (runs->count + 1) * sizeof *places);
    size_t n = places ? stale_mark_deleted(&runs->folder, runs->all, runs->count, &l->corrections, a, places) : 0;
    for (size_t i = 0; i < n; i++) {
        l->loaded[places[i]].has_meta = true;
        load_one_run(l, places[i], a);
    }
}

/* Lists the annotated runs by id, for runs_listed_changes. */
static void list_annotated_runs(struct runs *runs, struct arena *a)
{
    size_t room = 0;
    runs->annotated = NULL;
    runs->annotated_count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        struct tree_run *run = runs->all[i];
        if (run->annotated && ARRAY_FITS_IN(a, runs->annotated, room, runs->annotated_count + 1))
            runs->annotated[runs->annotated_count++] = run;
    }
    if (runs->annotated_count)
        qsort(runs->annotated, runs->annotated_count, sizeof(struct tree_run *), order_run_ids);
}

const struct tree_entry *runs_listed_changes(const struct runs *runs, const struct tree_run *run)
{
    struct tree_run *const *found =
        runs->annotated_count ? bsearch(&run, runs->annotated, runs->annotated_count, sizeof(struct tree_run *), order_run_ids) : NULL;
    return found ? (*found)->annotated : NULL;
}

/* Reads corrections and annotations, which decide what the filter finds. */
static void load_all_changes(struct loading *l, struct arena *a)
{
    struct runs *runs = l->runs;
    parallel_each(runs_workers(runs, runs->count), runs->count, load_changes, l, a);
    for (size_t i = 0; i < runs->count && !a->failed; i++) {
        const struct loaded_run *is = &l->loaded[i];
        corrections_add(&l->corrections, runs->all[i], is->corrects, is->retracts);
        annotations_add(&l->annotations, runs->all[i], runs->all[i]->annotates, is->changes);
    }
    corrections_sort(&l->corrections);
    annotations_sort(&l->annotations, &l->corrections);
    note_annotated_runs(l, a);
    l->failed = l->failed || l->corrections.failed || l->annotations.failed;
}

/* Reads the runs whose names are known, and keeps those that pass. */
static int load_all_runs(struct loading *l, struct arena *a)
{
    struct runs *runs = l->runs;
    size_t kept = 0;
    l->loaded = calloc(runs->count + 1, sizeof *l->loaded);
    if (!l->loaded)
        return -1;
    load_all_changes(l, a);
    parallel_each(runs_workers(runs, runs->count), runs->count, load_one_run, l, a);
    note_deleted_children(l, a);
    list_annotated_runs(runs, a);
    for (size_t i = 0; i < runs->count && !a->failed; i++) {
        const struct loaded_run *is = &l->loaded[i];
        if ((is->problem || runs->all[i]->problem) && runs_is_gone(runs, runs->all[i])) {
            runs->gone++;
            continue;
        }
        if (is->problem)
            runs_note_unjudged(runs, runs->all[i], is->problem);
        if (!is->passes)
            continue;
        runs->damaged += runs->all[i]->problem != NULL;
        runs->all[kept++] = runs->all[i];
    }
    runs->count = kept;
    free(l->loaded);
    return a->failed ? -1 : 0;
}

static int by_newest_start(const void *a, const void *b)
{
    const struct tree_run *const *x = a, *const *y = b;
    if ((*x)->start_ms != (*y)->start_ms)
        return (*x)->start_ms < (*y)->start_ms ? 1 : -1;
    return strcmp((*y)->id, (*x)->id);
}

int runs_load(struct runs *runs, const struct runs_filter *filter, struct arena *a, struct err *err)
{
    struct loading l = {.runs = runs, .filter = filter};
    int walked = tree_walk_in(runs_ready_folder(runs), TREE_NAMES, a, runs_append, &l, err);
    l.failed = l.failed || load_all_runs(&l, a) < 0;
    hide_corrected(&l);
    corrections_deinit(&l.corrections);
    annotations_deinit(&l.annotations);
    if (walked < 0)
        return err_wrap(err, "reading the tree %s", runs->tree);
    if (l.failed)
        return err_memory(err, "reading the tree %s", runs->tree);
    if (runs->count)
        qsort(runs->all, runs->count, sizeof(struct tree_run *), by_newest_start);
    return 0;
}

/* Counts the runs that pass the filter, also those that readers leave out because of retractions;
 * annotations do not count. */
static size_t count_hidden(const struct runs *runs, const struct runs_filter *filter, struct arena *a)
{
    struct runs_filter all = {
        .experiment = filter->experiment, .status = filter->status, .tags = filter->tags, .query = filter->query, .corrected = true};
    struct runs whole = *runs;
    struct err ignored = {0};
    whole.all = NULL;
    whole.count = 0;
    size_t n = 0;
    if (runs_load(&whole, &all, a, &ignored) == 0)
        for (size_t i = 0; i < whole.count; i++)
            n += !whole.all[i]->annotates;
    free(whole.all);
    return n;
}

/* Returns why the filter finds nothing: a key that no run has is probably misspelt. NULL: another
 * reason. */
static const char *explain_query(const struct runs *runs, const struct runs_filter *filter, struct arena *a)
{
    const struct runs_filter all = {.experiment = filter->experiment, .corrected = true};
    struct runs whole = *runs;
    struct err ignored = {0};
    whole.all = NULL;
    whole.count = 0;
    const char *why = filter->query && runs_load(&whole, &all, a, &ignored) == 0 ? known_keys_explain(&whole, filter->query, a) : NULL;
    free(whole.all);
    return why;
}

/* Returns why no run was listed, in the arena: an experiment that does not exist, a key that no run
 * has, or options that no run passes. */
static const char *explain_no_runs(const struct runs *runs, const struct runs_filter *filter, struct arena *a)
{
    enum { NAMED = 12 };
    static const struct runs_filter everything = {.corrected = true};
    struct runs whole = *runs;
    struct err ignored = {0};
    struct key_list names = {.a = a};
    bool found = !filter->experiment;
    CLEANUP_BUF struct buf list;
    buf_init(&list, 8192);
    whole.all = NULL;
    whole.count = 0;
    if (!found && runs_load(&whole, &everything, a, &ignored) < 0)
        whole.count = 0;
    for (size_t i = 0; i < whole.count && !found; i++) {
        found = runs_is_of_experiment(whole.all[i], filter->experiment);
        key_list_put(&names, whole.all[i]->experiment);
    }
    for (size_t i = 0; i < names.count && i < NAMED; i++) {
        buf_puts(&list, i ? ", " : "; there are: ");
        buf_plain(&list, str_of(names.names[i]), 100);
    }
    if (names.count > NAMED)
        buf_printf(&list, " and %zu more", names.count - NAMED);
    key_list_deinit(&names);
    free(whole.all);
    if (!found)
        return arena_printf(a, "no experiment \"%.60s\" in %s%s", filter->experiment, runs->tree, list.p ? list.p : "");
    const char *unknown = explain_query(runs, filter, a);
    if (unknown)
        return unknown;
    bool options = filter->status || (filter->tags && filter->tags->text);
    const char *chosen = filter->query ? options ? " that pass --filter, --status and --tag" : " that pass --filter"
                         : options     ? " that pass --status and --tag"
                                       : "";
    size_t hidden = filter->experiment ? 0 : count_hidden(runs, filter, a);
    if (hidden)
        return arena_printf(a, "no runs%s in %s; \"ls --all\" also lists %zu retraction%s and retracted runs", chosen, runs->tree, hidden,
                            str_plural(hidden));
    return filter->experiment ? arena_printf(a, "no runs%s of experiment \"%.60s\" in %s; \"ls --all\" also lists retracted runs", chosen,
                                             filter->experiment, runs->tree)
                              : arena_printf(a, "no runs%s in %s", chosen, runs->tree);
}

const char *runs_explain_none(const struct runs *runs, const struct runs_filter *filter, struct arena *a)
{
    const char *why = explain_no_runs(runs, filter, a);
    return why ? why : "no runs";
}
