/* steady.h: the part of a run in which the load was steady. */
#ifndef LLMLOAD_STEADY_H
#define LLMLOAD_STEADY_H
#include "benchmarks/native/llmload/engine.h"

struct steady {
    double from_s, to_s; /* since the run's begin */
    double reference; /* concurrency that counts as full: the closed loop's, else the highest mean of a bucket */
    double requests_per_s, tokens_per_s, concurrency; /* within it */
    bool enough; /* at least max(10 s, a tenth of the run) */
};
/* Finds the longest stretch of the measured window with at least 95 % of the reference in flight.
 * Returns false where there is none. */
bool steady_find(struct steady *ret, const struct load *load, const struct outcome *o);
/* The uncertainty of a mean rate, from this run alone: half of its 95 % interval, as a share of the
 * mean, by the spread of the window's tenths. NaN: the window is shorter than a second, or none of
 * it came. */
enum steady_rate { STEADY_REQUESTS, STEADY_TOKENS, STEADY_GOOD };
double steady_uncertainty(const struct outcome *o, enum steady_rate which);
/* Returns the most tokens that arrived within one second. NaN: the run was shorter. */
double steady_peak_tokens(const struct outcome *o);
#endif
