/* search.h: finds the highest rate at which enough requests meet the objectives, from runs whose
 * results are random.
 *
 * Rates are the ones that were really sent. A run whose share is too low only as the binomial
 * distribution allows at 5 % counts half. The bounds are the rates that the fewest runs contradict.
 * A run near the bound that met by accident would make them too high: each bound is checked by
 * fresh runs, of which the sum of their requests decides. A bound that its check contradicts
 * moves. */
#ifndef LLMLOAD_SEARCH_H
#define LLMLOAD_SEARCH_H
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of one run. */
struct search_trial {
    double sent_rate, offered_rate; /* requests per second, really sent and scheduled */
    uint64_t good, due; /* requests that met all objectives, and all that should have */
    double spread; /* standard deviation of the number of arrivals over all seeds, as a share of it */
    bool is_late; /* the client was, so much that a miss shows nothing */
    bool is_over; /* no further run is possible */
};
/* Runs the load at this rate with a fresh seed. -1: err. */
typedef int search_try(void *context, double level, struct search_trial *ret, struct err *err);

struct rate_search {
    double share; /* of the requests that must meet all objectives */
    double begin, least; /* rate to begin with; rates below `least` are not tried */
    /* results */
    double rate, missed; /* the highest that was met, as really sent, and the lowest that was missed; 0: none */
    const char *why; /* why the answer is not known; NULL: found */
};

/* Returns whether so few good ones are no accident (below 5 %) if the true share were at least
 * this. */
bool search_is_missed(uint64_t good, uint64_t due, double share);
/* Returns the fewest requests of which all must be good before the share is certain (95 %). */
uint64_t search_least(double share);
/* Returns the share by which the rate that was found may be wrong, since runs of random arrivals
 * differ, by their search_trial.spread: 95 % of the answers are closer. The short ones are mostly too high,
 * since each run begins with an empty queue. */
double search_uncertainty(double spread);
/* Runs levels by try_level until the rate is known, or the search stops with the reason in s->why.
 * Returns 0, or -1 where try_level fails. */
int search_run(struct rate_search *s, search_try *try_level, void *context, struct err *err);
#endif
