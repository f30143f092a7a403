/* stale.c: find parent runs (--repeat, --sweep) whose statistics are not those of the child runs that readers see. */
#include "runs/stale.h"

#include "mlruns-format/annotation.h"
#include "series/notes.h"

#include <stdlib.h>
#include <string.h>

#define STALE_DELETED_END "which these statistics include until it is retracted"

static bool is_deleted_child(const struct folder *tree, const struct tree_run *parent, const char *id, struct arena *a)
{
    size_t n = strlen(parent->path), own = strlen(parent->id);
    struct tree_run child = {.tree = tree, .path = n > own ? arena_printf(a, "%.*s%s", (int)(n - own), parent->path, id) : NULL};
    snprintf(child.id, sizeof child.id, "%s", id);
    if (!child.path)
        return false;
    tree_fill(tree, &child, TREE_META, a);
    return child.lifecycle && strcmp(child.lifecycle, "deleted") == 0;
}

/* Returns "1 of 4 child runs is deleted (3f2a9c01), which these statistics include until it is
 * retracted" in the arena; NULL: none is. */
static const char *explain_deleted(const struct folder *tree, const struct tree_run *run, const struct series_notes *notes, struct arena *a)
{
    const char *first = NULL;
    size_t deleted = 0;
    for (const struct series_repetition *r = notes->first; r; r = r->next)
        if (series_counts(r) && is_deleted_child(tree, run, r->id, a) && deleted++ == 0)
            first = r->id;
    return deleted ? arena_printf(a, "%zu of %zu child runs %s deleted (%.8s%s), " STALE_DELETED_END, deleted, notes->count,
                                  deleted == 1 ? "is" : "are", first, deleted > 1 ? ", …" : "")
                   : NULL;
}

/* "1 of 4 child runs is amended or retracted, which these statistics ignore"; NULL: the run is no parent run, or its statistics are those of its child runs. */
static const char *explain_stale(const struct folder *tree, const struct tree_run *run, const struct corrections *corrections,
                                 struct arena *a)
{
    CLEANUP_FOLDER struct folder in = {0};
    struct series_notes notes;
    struct err err = {0};
    struct folder_entry e;
    const char *first, *path = arena_printf(a, "%s/artifacts", tree_run_path(run));
    if (!path || !tree_file(tree, run, "tags/benchwrap.series", 64, a) || folder_enter(tree, path, &in) < 0 ||
        folder_look(&in, SERIES_NOTES, &e, NULL) < 0)
        return NULL;
    bool known = series_notes_read(&in, &notes, &err) == 0;
    size_t stale = known ? series_count_stale(&notes, corrections, &first) : 0;
    const char *why = stale   ? arena_printf(a, "%zu of %zu child runs %s amended or retracted, which these statistics ignore", stale,
                                             notes.count, stale == 1 ? "is" : "are")
                      : known ? explain_deleted(tree, run, &notes, a)
                              : NULL;
    series_notes_deinit(&notes);
    return why;
}

const struct tree_entry *stale_marked(const struct folder *tree, const struct tree_run *run, const struct corrections *corrections,
                                      const struct tree_entry *annotated, struct arena *a)
{
    const char *why = explain_stale(tree, run, corrections, a);
    const struct tree_entry mark = {.key = STALE_TAG, .value = str_of(why)};
    return why ? annotation_merge(annotated, &mark, a) : annotated;
}

/* Orders slots of a list of runs by the id of their run. */
static int order_slots(const void *a, const void *b)
{
    struct tree_run *const *const *x = a, *const *const *y = b;
    return strcmp((**x)->id, (**y)->id);
}

/* Returns the slots of the runs, sorted. NULL: out of memory. */
static struct tree_run *const **sorted_slots(struct tree_run *const *all, size_t count, struct arena *a)
{
    struct tree_run *const **sorted = arena_get(a, (count + 1) * sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = &all[i];
    if (sorted && count)
        qsort(sorted, count, sizeof *sorted, order_slots);
    return sorted;
}

static struct tree_run *const *find_slot(struct tree_run *const *const *sorted, size_t count, const char *id)
{
    struct tree_run key = {0}, *at = &key, *const *slot = &at;
    if (!id || !record_is_id(str_of(id)))
        return NULL;
    memcpy(key.id, id, sizeof key.id);
    struct tree_run *const *const *found = bsearch(&slot, sorted, count, sizeof *sorted, order_slots);
    return found ? *found : NULL;
}

void stale_mark_all(const struct folder *tree, struct tree_run *const *all, size_t count, const struct corrections *corrections,
                    struct arena *a)
{
    struct tree_run *const **sorted = corrections->chosen_count && count ? sorted_slots(all, count, a) : NULL;
    bool *done = sorted ? arena_get(a, count) : NULL;
    for (size_t i = 0; done && i < corrections->chosen_count; i++) {
        struct tree_run *const *child = find_slot(sorted, count, corrections->chosen[i].root);
        const char *parent = child ? tree_file(tree, *child, "tags/mlflow.parentRunId", 64, a) : NULL;
        struct tree_run *const *at = parent ? find_slot(sorted, count, corrections_shown(corrections, parent)) : NULL;
        if (!at || done[at - all])
            continue;
        done[at - all] = true;
        (*at)->annotated = stale_marked(tree, *at, corrections, (*at)->annotated, a);
    }
}

size_t stale_mark_deleted(const struct folder *tree, struct tree_run *const *all, size_t count, const struct corrections *corrections,
                          struct arena *a, size_t *ret_places)
{
    struct tree_run *const **sorted = NULL;
    size_t n = 0;
    for (size_t i = 0; i < count && !a->failed; i++) {
        const char *parent = all[i]->lifecycle && strcmp(all[i]->lifecycle, "deleted") == 0
                                 ? tree_file(tree, all[i], "tags/mlflow.parentRunId", 64, a)
                                 : NULL;
        if (!parent || (!sorted && !(sorted = sorted_slots(all, count, a))))
            continue;
        struct tree_run *const *at = find_slot(sorted, count, corrections_shown(corrections, parent));
        if (!at || stale_reason(*at))
            continue;
        (*at)->annotated = stale_marked(tree, *at, corrections, (*at)->annotated, a);
        ret_places[n++] = (size_t)(at - all);
    }
    return n;
}

void stale_unmark_others(struct tree_run *const *all, size_t count, struct arena *a)
{
    static const struct tree_entry unmark = {.key = STALE_TAG};
    for (size_t i = 0; i < count; i++)
        if (!stale_reason(all[i]))
            all[i]->annotated = annotation_merge(all[i]->annotated, &unmark, a);
}

const char *stale_reason(const struct tree_run *run)
{
    const struct tree_entry *mark = tree_annotated_tag(run, STALE_TAG);
    return mark ? mark->value.p : NULL;
}

void stale_note(FILE *notes, const struct tree_run *run)
{
    const char *reason = stale_reason(run);
    const char *child = reason && str_ends(str_of(reason), STALE_DELETED_END) ? strchr(reason, '(') : NULL;
    if (child) /* retract computes the statistics again */
        fprintf(notes, "benchwrap: %s; hint: benchwrap retract --why TEXT %.8s\n", reason, child + 1);
    else if (reason)
        fprintf(notes, "benchwrap: %s; hint: benchwrap reparse %.8s\n", reason, run->id);
}

void stale_notes(FILE *notes, const struct tree_run *const *list, size_t n)
{
    enum { NAMED_MAX = 3 };
    size_t stale = 0;
    for (size_t i = 0; i < n; i++)
        if (stale_reason(list[i]) && stale++ < NAMED_MAX)
            stale_note(notes, list[i]);
    if (stale > NAMED_MAX)
        fprintf(notes, "benchwrap: %zu more parent run%s with such statistics\n", stale - NAMED_MAX, str_plural(stale - NAMED_MAX));
}
