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
/* The longest stretch of the measured window with at least 95 % of the reference in flight. false: there is none. */
bool steady_find(struct steady *ret, const struct load *load, const struct outcome *o);
/* Mean number of requests in flight over the window; NaN: not known. */
double steady_mean_concurrency(const struct outcome *o);
/* Most tokens that arrived within one second. */
double steady_peak_tokens(const struct outcome *o);
#endif
