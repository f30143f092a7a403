/* duplicates.c: report runs that share what two measurements never share: id, values, times or
 * output; and parents and corrections that lead in a circle. */
#include "check/index.h"

#include <stdlib.h>

enum {
    MEETINGS = 256, /* maximum of published runs read for one duration, and of runs compared for equal values */
    CHAIN_MAX = 64 /* steps from child to parent, or from a correction to its target */
};

/* ---- orders ---- */

static int published_first(const struct index_run *x, const struct index_run *y)
{
    return x->published != y->published ? (x->published ? -1 : 1) : strcmp(x->path, y->path);
}

static int by_index_id(const void *a, const void *b)
{
    const struct index_run *x = a, *y = b;
    int c = strcmp(x->id, y->id);
    return c ? c : published_first(x, y);
}

static int by_values(const void *a, const void *b)
{
    const struct index_run *x = a, *y = b;
    int c = strcmp(x->values, y->values);
    return c ? c : published_first(x, y);
}

/* Orders runs with a stored output by its hash, before those without one; of equal ones a published
 * run comes first. */
static int by_output(const void *a, const void *b)
{
    const struct index_run *x = a, *y = b;
    int c = x->has_output != y->has_output ? (x->has_output ? -1 : 1) : memcmp(x->output, y->output, sizeof x->output);
    return c ? c : published_first(x, y);
}

/* Does one run name the other as its parent or target, or do both correct the same run? */
static bool is_related_run(const struct index_run *x, const struct index_run *y)
{
    return strcmp(x->amends, y->id) == 0 || strcmp(y->amends, x->id) == 0 || strcmp(x->parent, y->id) == 0 ||
           strcmp(y->parent, x->id) == 0 || (*x->amends && strcmp(x->amends, y->amends) == 0);
}

static void report_duplicate_ids(struct check_state *k)
{
    struct check_index *s = k->seen;
    qsort(s->list, s->count, sizeof *s->list, by_index_id);
    for (size_t i = 1; i < s->count; i++) {
        const struct index_run *x = &s->list[i], *y = &s->list[i - 1];
        if (strcmp(x->id, y->id) == 0 && strcmp(x->path, y->path) != 0 && !x->published)
            check_found(k, CHECK_ID_KNOWN, x->path, 0, "the id is that of %s, too", y->path);
    }
}

static int by_wall(const void *a, const void *b)
{
    const struct index_run *x = a, *y = b;
    return x->wall != y->wall ? (x->wall < y->wall ? -1 : 1) : published_first(x, y);
}

/* Reads the values of published runs that took exactly as long as a new one: they may be the same. */
static void read_equally_long(struct check_state *k)
{
    struct check_index *s = k->seen;
    qsort(s->list, s->count, sizeof *s->list, by_wall);
    for (size_t i = 0, end; i < s->count; i = end) {
        for (end = i + 1; end < s->count && s->list[end].wall == s->list[i].wall; end++)
            ;
        if (!s->list[i].wall || s->list[end - 1].published) /* published ones come first */
            continue;
        for (size_t n = i; n < end && n - i < MEETINGS && s->list[n].published; n++)
            index_read_published(k, &s->list[n]);
    }
}

static bool same_index_values(const struct index_run *x, const struct index_run *y)
{
    return x->has_values && strcmp(x->values, y->values) == 0;
}

/* Returns a run before x in the list that has the same values and is not related to it. NULL:
 * there is none, or x is related to one of them (a correction of a correction). */
static const struct index_run *find_copied_run(const struct index_run *x, size_t before)
{
    const struct index_run *from = NULL;
    for (size_t back = 1; back <= before && back <= MEETINGS && same_index_values(x, x - back); back++) {
        const struct index_run *y = x - back;
        if (is_related_run(x, y))
            return NULL;
        if (strcmp(x->id, y->id) != 0)
            from = y;
    }
    return from;
}

/* Reports each new run whose metrics have the values of another run that is not related to it.
 * Reads values of published runs that took as long as a new one. Leaves the list sorted by
 * values. */
static void report_duplicate_values(struct check_state *k)
{
    struct check_index *s = k->seen;
    read_equally_long(k);
    qsort(s->list, s->count, sizeof *s->list, by_values);
    for (size_t i = 1; i < s->count; i++) {
        const struct index_run *x = &s->list[i], *from = x->published ? NULL : find_copied_run(x, i);
        if (from)
            check_found(k, CHECK_COPY, x->path, 0, "every value of its metrics is that of %s", from->path);
    }
}

static int by_times(const void *a, const void *b)
{
    const struct index_run *x = a, *y = b;
    int c = x->has_times != y->has_times ? (x->has_times ? -1 : 1) : strcmp(x->times, y->times);
    return c ? c : published_first(x, y);
}

static bool same_times(const struct index_run *x, const struct index_run *y)
{
    return x->has_times && y->has_times && strcmp(x->times, y->times) == 0;
}

/* Reports the same measurement under a second id, where only the run's own values differ.
 * report_duplicate_values has reported runs of the same values. */
static void report_duplicate_times(struct check_state *k)
{
    struct check_index *s = k->seen;
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].marked)
            index_read_published(k, &s->list[i]);
    qsort(s->list, s->count, sizeof *s->list, by_times);
    for (size_t i = 1, first = 0; i < s->count; i++) {
        const struct index_run *x = &s->list[i], *y = &s->list[first];
        if (!same_times(x, y)) {
            first = i;
            continue;
        }
        bool siblings = *x->parent && strcmp(x->parent, y->parent) == 0;
        if (!x->published && strcmp(x->id, y->id) != 0 && !same_index_values(x, y) && !is_related_run(x, y) && !siblings)
            check_found(k, x->imported && y->imported ? CHECK_COPY_OUTPUT : CHECK_COPY, x->path, 0,
                        "every time and rate that its program measured is that of %s", y->path);
    }
}

/* ---- circles ---- */

const struct index_run *index_find(const struct check_index *s, const char *id)
{
    size_t low = 0, high = s->count; /* sorted by id */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = strcmp(s->list[mid].id, id);
        if (c == 0)
            return &s->list[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* Returns whether the chain of parents, or of amended runs, leads back to x. */
static bool chain_has_cycle(const struct check_index *s, const struct index_run *x, bool parents)
{
    const struct index_run *at = x;
    for (int i = 0; i < CHAIN_MAX && at && *(parents ? at->parent : at->amends); i++) {
        at = index_find(s, parents ? at->parent : at->amends);
        if (at && strcmp(at->id, x->id) == 0)
            return true;
    }
    return false;
}

/* Requires the list sorted by id. */
static void report_circles(struct check_state *k)
{
    struct check_index *s = k->seen;
    for (size_t i = 0; i < s->count; i++) {
        const struct index_run *x = &s->list[i];
        if (!x->published && *x->parent && strcmp(x->parent, x->id) != 0 && chain_has_cycle(s, x, true))
            check_found(k, CHECK_PARENT, x->path, 0, "its parents lead back to itself");
        if (!x->published && *x->amends && strcmp(x->amends, x->id) != 0 && chain_has_cycle(s, x, false))
            check_found(k, CHECK_AMENDS, x->path, 0, "what it amends leads back to itself");
    }
}

static bool same_output(const struct index_run *x, const struct index_run *y)
{
    return x->has_output && y->has_output && memcmp(x->output, y->output, sizeof x->output) == 0;
}

/* Reports each new run whose output is that of a run that is not related to it. Leaves out those
 * of the same values, which report_duplicate_values has reported. */
static void report_duplicate_outputs(struct check_state *k)
{
    struct check_index *s = k->seen;
    qsort(s->list, s->count, sizeof *s->list, by_output);
    for (size_t i = 1, first = 0; i < s->count; i++) {
        struct index_run *x = &s->list[i], *y = &s->list[first];
        if (!same_output(x, y)) {
            first = i;
            continue;
        }
        if (x->published || strcmp(x->id, y->id) == 0)
            continue;
        index_read_published(k, y);
        if (x->measured && !same_index_values(x, y) && !same_times(x, y) && !is_related_run(x, y) &&
            !(*x->parent && strcmp(x->parent, y->parent) == 0))
            check_found(k, CHECK_COPY_OUTPUT, x->path, 0, "its output is byte by byte that of %s", y->path);
    }
}

void check_duplicates(struct check_state *k)
{
    struct check_index *s = k->seen;
    if (!s || s->count < 2)
        return;
    report_duplicate_ids(k);
    report_circles(k);
    check_stale_parents(k);
    report_duplicate_values(k);
    report_duplicate_times(k);
    report_duplicate_outputs(k);
    if (s->failed)
        check_found(k, CHECK_LIMIT, "mlruns", 0, "out of memory for the comparison of all runs with each other");
}
