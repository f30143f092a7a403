/* plots.h: a run as SVG: histograms of latencies, the run in time, the curve of a saturation
 * sweep. */
#ifndef LLMLOAD_PLOTS_H
#define LLMLOAD_PLOTS_H
#include "benchmarks/native/llmload/engine.h"

/* Writes ttft.svg, itl.svg, tpot.svg, e2el.svg (those that have values), time.svg and, where tokens
 * came, tokens.svg into dir, which it makes if need be. -1: err. */
int plots_write(const char *dir, const struct outcome *o, const char *title, struct err *err);

/* One level of a sweep. NaN: not known. */
struct saturation_point {
    double load; /* requests per second that were offered, or streams */
    double requests_per_s, tokens_per_s, ttft_ms, ttft_p99_ms, itl_ms, goodput_per_s;
};
/* saturation.svg: requests per second over load; saturation-tokens.svg: output tokens per second;
 * saturation-latency.svg: median and p99 TTFT, mean ITL. load_label: "offered requests/s" or
 * "streams". -1: err. */
int plots_saturation(const char *dir, const struct saturation_point *points, size_t n, const char *load_label, const char *title, struct err *err);
#endif
