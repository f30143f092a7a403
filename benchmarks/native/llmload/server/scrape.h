/* scrape.h: a thread that reads the service's own metrics on the run's clock, and checks that the
 * service still answers. */
#ifndef LLMLOAD_SCRAPE_H
#define LLMLOAD_SCRAPE_H
#include "base/json_out.h"
#include "benchmarks/native/llmload/engine.h"

#include <sys/types.h>

struct scrape;

struct scrape_config {
    double every_s; /* 0: no metrics are read */
    const char *url; /* of the metrics; NULL: /metrics of the load's first address */
    const char *file; /* JSON lines; NULL */
    pid_t pid; /* of the server; 0: not known */
};
/* Reads once, then starts the thread. Metrics that cannot be read are no error: the result names
 * the reason. The load must live longer. */
int scrape_start(struct scrape **ret, const struct load *load, const struct scrape_config *config, struct err *err);
/* Called with the engine's ticks. true: the server is gone (its process ended, or nothing has
 * succeeded while connections are refused three times in a row): the run should end. Never
 * waits. */
bool scrape_gone(struct scrape *s, const struct live_counts *l);
/* Reads once more and ends the thread. */
void scrape_stop(struct scrape *s);
void scrape_free(struct scrape *s); /* NULL is allowed */
/* `,"server_metrics":{name:{…}},…`: means and extremes of gauges, the run's difference of counters.
 * After scrape_stop. */
void scrape_json(const struct scrape *s, struct json_out *j);
/* Returns the run's difference of a counter ("generation_tokens"), after scrape_stop. NaN: the server has none, or the
 * reading before or after the load failed. */
double scrape_counted(const struct scrape *s, const char *name);
/* The energy that the service counted between two times of CLOCK_MONOTONIC: the mean power between the first
 * and the last change of its counter in that time, multiplied by the time. NaN: the service has no such counter
 * or was restarted, fewer than three changes, or these span less than four fifths of the time. */
double scrape_energy_J(const struct scrape *s, double from_ns, double to_ns);
const char *scrape_why_gone(const struct scrape *s); /* NULL: it is not */
#endif
