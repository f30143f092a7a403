/* causes.c: which recorded facts may explain a difference of results. */
#include "history/causes.h"
#include "history/run_lines.h"

#include "base/array.h"
#include "runs/inherit.h"
#include "runs/inputs.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const struct cause_row {
    const char *pattern;
    struct cause_class is;
} cause_rows[] = {
#define CAUSE(pattern, name, rank, own) {pattern, {name, rank, own}},
#include "history/causes.def"
#undef CAUSE
};

struct cause_class cause_class_of(enum fact_kind kind, const char *key, const char *source)
{
    if (kind == FACT_PARAM && source && inputs_matter(key, source, NULL) && !inputs_of_machine(key))
        return (struct cause_class){"parameter", 9, true};
    for (size_t i = 0; i < sizeof cause_rows / sizeof *cause_rows; i++)
        if (fnmatch(cause_rows[i].pattern, key, 0) == 0)
            return cause_rows[i].is;
    if (kind == FACT_PARAM && inputs_matter(key, source, NULL))
        return (struct cause_class){"parameter", 9, true};
    return kind == FACT_PARAM ? (struct cause_class){"machine", 3, true} : (struct cause_class){"tag", 0, true};
}

/* ---- changes between runs ---- */

struct change_list {
    struct cause_change *list;
    size_t count, capacity;
    struct arena *a;
};

static const struct tree_entry *side_entry(struct tree_run *const *side, size_t i, bool tag, const char *key)
{
    return runs_entry(tag ? side[i]->tags : side[i]->params, key);
}

/* Returns whether all runs of one side agree. */
static bool side_agrees(struct tree_run *const *side, size_t n, bool tag, const char *key, const struct tree_entry **ret)
{
    *ret = side_entry(side, 0, tag, key);
    for (size_t i = 1; i < n; i++) {
        const struct tree_entry *e = side_entry(side, i, tag, key);
        if (!e != !*ret || (e && !str_eq(e->value, (*ret)->value)))
            return false;
    }
    return true;
}

/* Adds the fact to the list where each side has one value for it (or lacks it) and the two differ.
 * Facts that are no cause, and keys that the list has, are ignored. Out of memory: the arena has
 * failed. */
static void add_cause_change(struct change_list *to, bool tag, const char *key, struct tree_run *const *before, size_t n_before,
                             struct tree_run *const *after, size_t n_after)
{
    const struct tree_entry *x, *y;
    struct cause_class is = cause_class_of(tag ? FACT_TAG : FACT_PARAM, key, NULL);
    if (!is.rank || !side_agrees(before, n_before, tag, key, &x) || !side_agrees(after, n_after, tag, key, &y))
        return;
    if (!x == !y && (!x || str_eq(x->value, y->value)))
        return;
    for (size_t i = 0; i < to->count; i++)
        if (strcmp(to->list[i].key, key) == 0)
            return;
    if (ARRAY_FITS_IN(to->a, to->list, to->capacity, to->count + 1))
        to->list[to->count++] = (struct cause_change){.key = key,
                                                      .is = is,
                                                      .before = x ? arena_dup(to->a, x->value.p, x->value.n) : NULL,
                                                      .after = y ? arena_dup(to->a, y->value.p, y->value.n) : NULL};
}

static int by_rank(const void *a, const void *b)
{
    const struct cause_change *x = a, *y = b;
    int class = strcmp(x->is.name, y->is.name);
    return x->is.rank != y->is.rank ? y->is.rank - x->is.rank : class ? class : strcmp(x->key, y->key);
}

/* Adds the lines of an artifact to the params of the run. */
static void add_lines(const struct runs *runs, struct tree_run *run, enum run_lines of, struct arena *a)
{
    char key[LINE_KEY_MAX];
    struct str rest = run_lines_read(runs, run, of, a), value, text;
    for (size_t n; (n = run_lines_next(of, &rest, key, &value, &text));) {
        struct tree_entry *e = ARENA_NEW(a, struct tree_entry);
        const char *copy = e ? arena_dup(a, key, n) : NULL;
        if (!copy)
            return;
        *e = (struct tree_entry){.key = copy, .value = value, .next = run->params};
        run->params = e;
    }
}

static bool have_lines(const struct runs *runs, struct tree_run **side, size_t n, enum run_lines of, struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        if (!run_lines_read(runs, side[i], of, a).n)
            return false;
    return true;
}

/* Compares lines only where both runs have the artifact. */
static void add_common_lines(const struct runs *runs, struct tree_run **x, size_t n_x, struct tree_run **y, size_t n_y, struct arena *a)
{
    for (int of = 0; of < LINES_KINDS; of++) {
        if (!have_lines(runs, x, n_x, (enum run_lines)of, a) || !have_lines(runs, y, n_y, (enum run_lines)of, a))
            continue;
        for (size_t i = 0; i < n_x + n_y; i++)
            add_lines(runs, i < n_x ? x[i] : y[i - n_x], (enum run_lines)of, a);
    }
}

/* Loads the runs of a side with params and tags. *n is their number, which becomes less by the runs that
 * were deleted since the listing. */
static struct tree_run **read_side(struct runs *runs, const struct tree_run *const *side, size_t *n, struct arena *a, struct err *err)
{
    struct tree_run **ret = arena_get(a, (*n + 1) * sizeof *ret);
    size_t kept = 0;
    for (size_t i = 0; ret && i < *n; i++) {
        int got = runs_find_listed(runs, side[i], TREE_PARAMS | TREE_TAGS, a, &ret[kept], err);
        if (got < 0)
            return NULL;
        if (got)
            continue;
        inherit_params(runs, ret[kept++], a);
    }
    *n = kept;
    return ret;
}

int cause_changes(struct runs *runs, const struct tree_run *const *before, size_t n_before, const struct tree_run *const *after,
                  size_t n_after, struct arena *a, struct cause_change **ret, size_t *ret_count, struct err *err)
{
    struct change_list list = {.a = a};
    struct tree_run **x = read_side(runs, before, &n_before, a, err), **y = x ? read_side(runs, after, &n_after, a, err) : NULL;
    *ret = NULL;
    *ret_count = 0;
    if (!y)
        return a->failed ? err_memory(err, "the causes") : -1;
    if (!n_before || !n_after) /* nothing to compare: all runs of a side were deleted */
        return 0;
    add_common_lines(runs, x, n_before, y, n_after, a);
    for (int tag = 0; tag < 2; tag++)
        for (int side = 0; side < 2; side++)
            for (const struct tree_entry *e = tag ? (side ? y : x)[0]->tags : (side ? y : x)[0]->params; e; e = e->next)
                add_cause_change(&list, tag, e->key, x, n_before, y, n_after);
    if (list.count)
        qsort(list.list, list.count, sizeof *list.list, by_rank);
    *ret = list.list;
    *ret_count = list.count;
    return a->failed ? err_memory(err, "the causes") : 0;
}
