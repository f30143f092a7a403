/* search.c: the highest rate that meets the objectives; see search.h. */
#include "benchmarks/native/llmload/search.h"

#include <math.h>

enum {
    DOUBLINGS = 16,
    STEPS = 60,
    LATE_TRIES = 3,
    CHECK_RUNS = 5,
    CHECK_CLEAN = 3 /* runs of one kind that suffice */,
    CHECK_MOST = 10,
    CHECK_SUMS = 10
};
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

double search_uncertainty(double spread)
{
    return 2.5 * spread; /* from simulations of queues with 400 to 5000 arrivals a run: tests/unit/llmload/search.c */
}

/* A run's word on one rate. */
struct search_word {
    double rate, weight; /* weight: 1; 1/2 for a miss that may be an accident */
    bool is_met;
};

/* Fresh runs at one rate, which was chosen before any of them: all of them count. */
struct search_check {
    double rate;
    unsigned runs, missed; /* missed: runs below the share */
    uint64_t good, due;
    uint64_t met_good, met_due; /* of the runs that were not below it */
};

struct search_state {
    struct rate_search *s;
    struct search_check check;
    bool is_vague; /* a check had too few requests for runs that differ so much */
    double floor, ceiling; /* rates that checks have shown to be met, to be missed; 0, INFINITY: none */
    struct search_word words[STEPS];
    size_t n;
    unsigned runs; /* with a result */
    unsigned late; /* runs of the rate that is tried, of a client that was late */
    unsigned empty; /* runs without a request */
};

/* The result of the checks counts before that of a single run. */
static bool word_is_met(const struct search_state *g, const struct search_word *w)
{
    return w->rate <= g->floor || (w->is_met && w->rate < g->ceiling);
}

/* Computes the bounds that the fewest runs contradict: the highest rate that met the goal and the
 * lowest that missed it, 0 where there is none. Of several equal ones the highest counts: a server
 * shows no good run by accident. */
static void find_bounds(const struct search_state *g, double *ret_met, double *ret_missed)
{
    double least = INFINITY;
    *ret_met = *ret_missed = 0;
    for (size_t i = 0; i <= g->n; i++) { /* below all, and just above each rate */
        double bound = i < g->n ? g->words[i].rate : 0, cost = 0, low = 0, high = INFINITY;
        for (size_t k = 0; k < g->n; k++) {
            const struct search_word *w = &g->words[k];
            bool below = w->rate <= bound;
            bool is_met = word_is_met(g, w);
            cost += is_met != below ? w->weight : 0;
            low = is_met && below ? fmax(low, w->rate) : low;
            high = !is_met && !below ? fmin(high, w->rate) : high;
        }
        if (cost < least || (cost == least && low > *ret_met)) {
            least = cost;
            *ret_met = low, *ret_missed = isfinite(high) ? high : 0;
        }
    }
    *ret_met = fmax(*ret_met, g->floor);
    *ret_missed = isfinite(g->ceiling) && (!(*ret_missed > 0) || *ret_missed > g->ceiling) ? g->ceiling : *ret_missed;
}

enum check_result { CHECK_GOES_ON, CHECK_MET, CHECK_MISSED };

/* Are a few runs bad, and the others so good that no burst of arrivals explains it? Then the
 * machine has disturbed those. */
static bool is_disturbed(const struct search_check *c, double share)
{
    enum { MARGIN = 4 };
    return c->missed * 3 <= c->runs && MARGIN * (double)(c->met_due - c->met_good) <= (1 - share) * (double)c->met_due;
}

/* Runs of the same rate differ by more than the binomial distribution predicts, since bursts make
 * queues: their sum decides. Where a few runs are bad, or where they are short, more runs are
 * needed. */
static enum check_result check_verdict(const struct search_check *c, double share)
{
    bool is_met = (double)c->good >= share * (double)c->due, is_mixed = c->missed > 0 && c->missed < c->runs;
    if (c->missed >= CHECK_CLEAN && c->missed * 2 > c->runs && search_is_missed(c->good, c->due, share))
        return CHECK_MISSED;
    if (c->runs >= CHECK_CLEAN && c->good == c->due)
        return CHECK_MET;
    if (c->runs < CHECK_RUNS || (is_mixed && c->runs < CHECK_MOST && (!is_met || c->due < CHECK_SUMS * search_least(share))))
        return CHECK_GOES_ON;
    return is_met || is_disturbed(c, share) ? CHECK_MET : CHECK_MISSED;
}

/* Begins the check of a rate that the search has found; returns the rate. */
static double begin_check(struct search_state *g, double rate)
{
    g->check = (struct search_check){.rate = rate};
    return rate;
}

/* Returns the rate to try next: between the highest one that met the goal and the lowest one that
 * missed it. 0: these are close enough, and both were checked, so the search ends. */
static double next_level(struct search_state *g)
{
    double met = g->s->rate, missed = g->s->missed;
    if (g->check.rate > 0)
        return g->check.rate;
    if (!(met > 0) && !(missed > 0))
        return g->s->begin;
    if (!(missed > 0))
        return met * 2;
    if (!(met > 0))
        return missed / 2;
    if (missed / met > PRECISION)
        return sqrt(met * missed);
    return g->floor < met ? begin_check(g, met) : g->ceiling > missed ? begin_check(g, missed) : 0;
}

/* Adds a run to the check of a rate, and updates floor or ceiling once the check has a verdict. */
static void note_check(struct search_state *g, const struct search_trial *t)
{
    struct search_check *c = &g->check;
    double share = g->s->share;
    c->runs++;
    c->good += t->good;
    c->due += t->due;
    bool is_met = (double)t->good >= share * (double)t->due;
    c->missed += !is_met;
    c->met_good += is_met ? t->good : 0;
    c->met_due += is_met ? t->due : 0;
    enum check_result verdict = check_verdict(c, share);
    if (verdict == CHECK_GOES_ON)
        return;
    if (c->missed > 0 && c->missed < c->runs && c->due < CHECK_SUMS * search_least(share))
        g->is_vague = true;
    if (verdict == CHECK_MET) {
        g->floor = fmax(g->floor, c->rate);
        g->ceiling = g->ceiling > g->floor ? g->ceiling : INFINITY;
    } else {
        g->ceiling = fmin(g->ceiling, c->rate);
        g->floor = g->floor < g->ceiling ? g->floor : 0;
    }
    c->rate = 0;
}

/* Adds a run to the search. A run that the client sent too late, or without requests, does not
 * count. */
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
    g->runs++;
    if (g->check.rate > 0)
        note_check(g, t);
    else
        g->words[g->n++] = (struct search_word){rate > 0 ? rate : level, is_clear ? 1 : 0.5, is_met};
    find_bounds(g, &g->s->rate, &g->s->missed);
}

int search_run(struct rate_search *s, search_try *try_level, void *context, struct err *err)
{
    struct search_state g = {.s = s, .ceiling = INFINITY};
    for (double level; (level = next_level(&g)) > 0;) {
        struct search_trial t = {0};
        if (level < s->least || level < s->begin / (1 << DOUBLINGS))
            return 0;
        if (g.runs >= STEPS || level > s->begin * (1 << DOUBLINGS)) {
            s->why = g.runs >= STEPS ? "the runs contradict each other" : "no rate was too high";
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
    if (g.is_vague)
        s->why = "the runs vary too much for their length (--duration)";
    return 0;
}
