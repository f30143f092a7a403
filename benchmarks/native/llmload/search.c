/* search.c: the highest rate that meets the objectives; see search.h. */
#include "benchmarks/native/llmload/search.h"

#include <math.h>

enum { DOUBLINGS = 16, STEPS = 40, LATE_TRIES = 3, CONFIRMED_MET = 2, CONFIRMED_MISSED = 3 /* runs near the bounds */ };
#define PRECISION 1.03 /* a search ends when the lowest rate that was missed is at most so much above the highest that was met */
#define CHANCE 0.05

bool search_is_missed(uint64_t good, uint64_t due, double share)
{
    double n = (double)due, bad = (double)(due - good), p = 1 - share, below = 0;
    if (good >= due)
        return false;
    if (!(p > 0))
        return true;
    for (double k = 0; k < bad && below < 1 - CHANCE; k++)
        below += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
    return 1 - below < CHANCE;
}

uint64_t search_least(double share)
{
    return share < 1 ? (uint64_t)ceil(log(CHANCE) / log(share)) : 1;
}

/* A run's word on one rate. */
struct word {
    double rate, weight; /* weight: 1; 1/2 for a miss that may be an accident */
    bool is_met;
};

struct search_state {
    struct search *s;
    struct word words[STEPS];
    size_t n;
    unsigned late; /* runs of the rate that is tried, of a client that was late */
    unsigned empty; /* runs without a request */
};

/* The bounds that the fewest runs contradict; of several the highest: a server gives no good run by accident, a machine many a bad one. */
static void find_bounds(const struct search_state *g, double *ret_met, double *ret_missed)
{
    double least = INFINITY;
    *ret_met = *ret_missed = 0;
    for (size_t i = 0; i <= g->n; i++) { /* below all, and just above each rate */
        double bound = i < g->n ? g->words[i].rate : 0, cost = 0, low = 0, high = INFINITY;
        for (size_t k = 0; k < g->n; k++) {
            const struct word *w = &g->words[k];
            bool below = w->rate <= bound;
            cost += w->is_met != below ? w->weight : 0;
            low = w->is_met && below ? fmax(low, w->rate) : low;
            high = !w->is_met && !below ? fmin(high, w->rate) : high;
        }
        if (cost < least || (cost == least && low > *ret_met)) {
            least = cost;
            *ret_met = low, *ret_missed = isfinite(high) ? high : 0;
        }
    }
}

/* What the runs say that were no further from a bound than the precision. */
static double weight_at(const struct search_state *g, double bound, bool is_met)
{
    double sum = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->words[i].is_met == is_met && g->words[i].rate <= bound * PRECISION && g->words[i].rate >= bound / PRECISION)
            sum += g->words[i].weight;
    return sum;
}

/* The rate to try next; 0: the bounds are close and confirmed. */
static double next_level(const struct search_state *g)
{
    double met = g->s->rate, missed = g->s->missed;
    if (!(met > 0) && !(missed > 0))
        return g->s->begin;
    if (!(missed > 0))
        return met * 2;
    if (!(met > 0))
        return missed / 2;
    if (missed / met > PRECISION)
        return sqrt(met * missed);
    return weight_at(g, met, true) < CONFIRMED_MET ? met : weight_at(g, missed, false) < CONFIRMED_MISSED ? missed : 0;
}

static void note_word(struct search_state *g, double level, const struct search_trial *t)
{
    double share = g->s->share;
    bool is_met = t->due && (double)t->good >= share * (double)t->due;
    bool is_slow = t->is_late && t->sent_rate < level / PRECISION; /* the client cannot send so fast */
    g->late = (t->is_late && !is_met) || is_slow ? g->late + 1 : 0;
    g->empty += !t->due;
    if ((t->is_late && !is_met) || !t->due)
        return;
    double offered = fmax(t->offered_rate, t->sent_rate), rate = is_met ? t->sent_rate : offered;
    bool is_clear = is_met || search_is_missed(t->good, t->due, share);
    g->words[g->n++] = (struct word){rate > 0 ? rate : level, is_clear ? 1 : 0.5, is_met};
    find_bounds(g, &g->s->rate, &g->s->missed);
}

int search_run(struct search *s, search_try *try_level, void *context, struct err *err)
{
    struct search_state g = {.s = s};
    for (double level; (level = next_level(&g)) > 0;) {
        struct search_trial t = {0};
        if (level < s->least || level < s->begin / (1 << DOUBLINGS))
            return 0;
        if (g.n == STEPS || level > s->begin * (1 << DOUBLINGS)) {
            s->why = g.n == STEPS ? "the runs contradict each other" : "no rate was too high";
            return 0;
        }
        if (try_level(context, level, &t, err) < 0)
            return -1;
        if (t.is_over) {
            s->why = "the run ended early";
            return 0;
        }
        note_word(&g, level, &t);
        if (g.late == LATE_TRIES || g.empty == STEPS) {
            s->why = g.late == LATE_TRIES ? "the client was late" : "the runs have no request";
            return 0;
        }
    }
    return 0;
}
