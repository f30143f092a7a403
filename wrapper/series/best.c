/* best.c: the best point of a sweep: its values differ from those of each other point by the test of `benchwrap compare`. */
#include "base/change.h"
#include "series/figures.h"

#include <stdlib.h>
#include <string.h>

/* One metric of a sweep: the point with the best median, and how the other points differ from it. */
struct contest {
    struct series_figure *best; /* NULL: the metric has no direction, or one point alone */
    struct change *change; /* n of them, in the array of all */
    size_t n;
};

static bool is_better(const struct series_figure *a, const struct series_figure *b)
{
    return a->direction == DIR_HIGHER ? a->stats.median > b->stats.median : a->stats.median < b->stats.median;
}

/* Adds the contest of the metric that begins at `first`. Returns how many entries of `changes` it
 * has filled. */
static size_t contest_add(struct series_figure *first, struct contest *ret, struct change *changes)
{
    *ret = (struct contest){.best = first->direction == DIR_NONE ? NULL : first, .change = changes};
    for (struct series_figure *f = first; f && ret->best; f = f->next)
        if (strcmp(f->key, first->key) == 0 && is_better(f, ret->best))
            ret->best = f;
    for (struct series_figure *f = first; f && ret->best; f = f->next)
        if (f != ret->best && strcmp(f->key, first->key) == 0)
            change_of(f->values, f->stats.n, ret->best->values, ret->best->stats.n, &changes[ret->n++]);
    return ret->n;
}

static bool begins_metric(const struct series_figure *figures, const struct series_figure *f)
{
    while (figures != f && strcmp(figures->key, f->key) != 0)
        figures = figures->next;
    return figures == f;
}

/* Marks the best points of the headline metrics, or of all others; each of the two groups is
 * corrected for its number of tests, as in a comparison. False: out of memory. */
static bool contests_decide(struct series_figure *figures, bool headline, struct contest *contests, struct change *changes,
                            struct change **list)
{
    size_t metrics = 0, n = 0;
    for (struct series_figure *f = figures; f; f = f->next)
        if (f->headline == headline && begins_metric(figures, f))
            n += contest_add(f, &contests[metrics++], changes + n);
    for (size_t i = 0; i < n; i++)
        list[i] = &changes[i];
    if (!changes_correct(list, n))
        return false;
    for (size_t i = 0; i < metrics; i++) {
        bool best = contests[i].best && contests[i].n;
        for (size_t k = 0; k < contests[i].n; k++)
            best = best && contests[i].change[k].sure;
        if (contests[i].best)
            contests[i].best->best = best;
    }
    return true;
}

bool series_mark_best(struct series_figure *figures)
{
    size_t n = 0;
    for (const struct series_figure *f = figures; f; f = f->next)
        n++;
    struct contest *contests = calloc(n + 1, sizeof *contests);
    struct change *changes = calloc(n + 1, sizeof *changes), **list = calloc(n + 1, sizeof *list);
    bool good = contests && changes && list && contests_decide(figures, true, contests, changes, list) &&
                contests_decide(figures, false, contests, changes, list);
    free(contests);
    free(changes);
    free(list);
    return good;
}
