/* stale.c: report parent runs (--repeat, --sweep) whose statistics are not those of the child runs that count.
 *
 * Whoever corrects a child run amends its parent run, too. Two clones that correct different child runs of one parent run each amend it for
 * their own correction. Readers of both see one of the two, which names a run that is amended or retracted. */
#include "check/index.h"
#include "check/verify.h"

#include "base/array.h"
#include "mlruns-format/corrections.h"
#include "series/notes.h"

#include <stdio.h>
#include <stdlib.h>

enum { STALE_MEMORY = 256 << 20 };
static const char stale_file[] = "artifacts/" SERIES_NOTES;

struct stale_search {
    struct check_state *k;
    struct arena a;
    struct corrections corrections;
    const struct index_run **parents; /* as readers see them */
    size_t count, capacity;
};

static const struct folder *stale_tree(const struct stale_search *s, const struct index_run *x)
{
    return x->published ? s->k->published : s->k->tree;
}

/* Returns "mlruns/<exp>/<id>" of a run, the end of its path, whatever the tree is called. NULL:
 * out of memory. */
static const char *stale_path(struct stale_search *s, const struct index_run *x)
{
    size_t n = strlen(x->path);
    for (int slashes = 0; n && (slashes += x->path[n - 1] == '/') < 2;)
        n--;
    return arena_printf(&s->a, "mlruns/%s", x->path + n);
}

/* Fills *ret with the path, tree and id that the index has of a run; nothing is read from its
 * folder. False: out of memory, or the run's tree is not checked now. The texts are the
 * search's. */
static bool stale_run(struct stale_search *s, const struct index_run *x, struct tree_run *ret)
{
    *ret = (struct tree_run){.path = stale_path(s, x), .tree = stale_tree(s, x)};
    memcpy(ret->id, x->id, sizeof ret->id);
    return ret->path && ret->tree;
}

/* Adds the run to s->corrections if it amends or retracts another one and is not deleted. Reads its
 * tags and meta.yaml. */
static void stale_add_correction(struct stale_search *s, const struct index_run *x)
{
    struct tree_run run;
    bool retracts;
    if (!correction_possible(x->id) || !stale_run(s, x, &run))
        return;
    const char *target = correction_target(run.tree, &run, &s->a, &retracts);
    if (!target)
        return;
    tree_fill(run.tree, &run, TREE_META, &s->a);
    if (!run.problem && strcmp(run.lifecycle, "deleted") != 0)
        corrections_add(&s->corrections, &run, target, retracts);
}

/* Returns the parent run, which is that of a series, of a run that others correct; `root`: the
 * run that was recorded first. NULL: it has none here. */
static const struct index_run *stale_parent_of(struct stale_search *s, const char *root)
{
    struct tree_run run;
    struct folder_entry e;
    const struct check_index *index = s->k->seen;
    const struct index_run *x = index_find(index, root), *parent = NULL;
    const char *id = x && stale_run(s, x, &run) ? tree_file(run.tree, &run, "tags/mlflow.parentRunId", 64, &s->a) : NULL;
    if (id)
        parent = index_find(index, id);
    if (!parent || !stale_run(s, parent, &run))
        return NULL;
    const char *tag = arena_printf(&s->a, "%s/tags/benchwrap.series", tree_run_path(&run));
    return tag && folder_look(run.tree, tag, &e, NULL) == 0 ? parent : NULL;
}

/* Adds the run that readers see in place of a parent run. */
static void stale_add_parent(struct stale_search *s, const struct index_run *parent)
{
    const char *shown = parent ? corrections_shown(&s->corrections, parent->id) : NULL;
    const struct index_run *x = shown ? index_find(s->k->seen, shown) : NULL;
    if (x && ARRAY_FITS_IN(&s->a, s->parents, s->capacity, s->count + 1))
        s->parents[s->count++] = x;
}

static int order_stale(const void *a, const void *b)
{
    const struct index_run *const *x = a, *const *y = b;
    return strcmp((*x)->path, (*y)->path);
}

/* Reports, in a child process, how many runs of the parent run's notes have been corrected. */
static void stale_compare(const struct verify_state *t, struct run_check *r, const void *context)
{
    const struct corrections *c = context;
    struct series_notes notes;
    struct folder in = {0};
    struct err err = {0};
    const char *first;
    char text[200];
    if (folder_enter(r->folder, "artifacts", &in) < 0 || series_notes_read(&in, &notes, &err) < 0)
        return; /* check_series reports it */
    size_t stale = series_count_stale(&notes, c, &first);
    if (!stale)
        return;
    snprintf(text, sizeof text, "%zu of its %zu child runs %s amended or retracted, which its statistics ignore: %.8s%s", stale,
             notes.count, stale == 1 ? "is" : "are", first, stale == 1 ? "" : " …");
    t->tell(t->context, CHECK_PARENT_STALE, stale_file, text);
}

/* Compares the notes of a parent run with the corrections, in a child process, and reports a
 * difference. Does nothing where the run cannot be opened: other checks report that. */
static void stale_judge(struct stale_search *s, const struct index_run *x)
{
    CLEANUP_FOLDER struct folder folder = {0};
    struct tree_run run;
    struct run_check r = {.k = s->k, .folder = &folder, .path = x->path, .id = x->id};
    if (!stale_run(s, x, &run) || folder_enter(run.tree, tree_run_path(&run), &folder) < 0)
        return;
    arena_init(&r.a, 1 << 20);
    sandbox_run(
        &r, &(struct sandbox_work){stale_compare, &s->corrections, CHECK_LIMIT, "comparing the series with its child runs", stale_file});
    arena_deinit(&r.a);
}

/* Reports each parent run once whose child runs were amended or retracted since, of those that are
 * indexed. Corrections and parents are in s->corrections and s->a, which the caller frees. */
static void stale_judge_all(struct stale_search *s)
{
    const struct check_index *index = s->k->seen;
    for (size_t i = 0; i < index->count; i++)
        stale_add_correction(s, &index->list[i]);
    corrections_sort(&s->corrections);
    for (size_t i = 0; i < index->count && !s->corrections.failed; i++) {
        const struct index_run *x = &index->list[i];
        const struct correction *c = x->series || x->corrects ? corrections_of(&s->corrections, x->id) : NULL;
        if (x->series)
            stale_add_parent(s, x);
        else if (c)
            stale_add_parent(s, stale_parent_of(s, c->root));
    }
    if (s->count)
        qsort(s->parents, s->count, sizeof *s->parents, order_stale);
    for (size_t i = 0; i < s->count; i++)
        if (!i || s->parents[i] != s->parents[i - 1])
            stale_judge(s, s->parents[i]);
    if (s->corrections.failed || s->a.failed)
        check_found(s->k, CHECK_LIMIT, "mlruns", 0, "out of memory for the comparison of parent runs with their child runs");
}

void check_stale_parents(struct check_state *k)
{
    struct stale_search s = {.k = k};
    bool due = false;
    for (size_t i = 0; i < k->seen->count && !due; i++)
        due = k->seen->list[i].corrects; /* of published runs alone there is nothing new to report */
    if (!due)
        return;
    arena_init(&s.a, STALE_MEMORY);
    stale_judge_all(&s);
    corrections_deinit(&s.corrections);
    arena_deinit(&s.a);
}
