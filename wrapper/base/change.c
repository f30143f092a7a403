/* change.c: whether two groups of values show a change; see change.h. */
#include "base/change.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

void change_of(const double *a, size_t na, const double *b, size_t nb, struct change *ret)
{
    *ret = (struct change){.known = false};
    ret->known = stats_ratio(a, na, b, nb, &ret->ratio, &ret->low, &ret->high);
    if (ret->known)
        ret->p = stats_ratio_p(a, na, b, nb);
}

bool change_is_outside(const struct change *c)
{
    return c->known && (c->low > 1 || c->high < 1);
}

bool changes_correct(struct change *const *changes, size_t n)
{
    double *p = calloc(n + 1, sizeof *p);
    bool *sure = calloc(n + 1, sizeof *sure), good = p && sure;
    size_t known = 0, at = 0;
    for (size_t i = 0; good && i < n; i++)
        if (changes[i]->known && !isnan(changes[i]->p))
            p[known++] = changes[i]->p;
    good = good && stats_holm(p, known, CHANGE_LEVEL, sure);
    for (size_t i = 0; good && i < n; i++)
        changes[i]->sure = changes[i]->known && (isnan(changes[i]->p) || sure[at++]) && change_is_outside(changes[i]);
    free(p);
    free(sure);
    return good;
}
