/* engine.h: runs one load: threads with an epoll loop each, from the first request to the end of
 * the drain. */
#ifndef LLMLOAD_ENGINE_H
#define LLMLOAD_ENGINE_H
#include "benchmarks/native/llmload/load.h"

/* Bounds of durations of requests that are counted while a load is made. */
enum { LIVE_LATENCIES = 15 };
extern const double live_latencies_s[LIVE_LATENCIES];

/* Counts while the load runs, of all of the run, warm-up included. */
struct live_counts {
    double elapsed_s;
    enum phase phase;
    bool draining;
    uint64_t sent, completed, failed, in_flight, tokens, chunks, dropped;
    double ttft_s, itl_s, e2el_s; /* mean of what arrived since the last call; NaN: nothing */
    double rate; /* requests completed per second since the last call */
    uint64_t latency[LIVE_LATENCIES + 1]; /* completed requests by duration: up to each bound, and longer ones */
    double latency_sum_s;
};

struct engine_hooks {
    void (*begin)(void *context, const struct load *load); /* before each run: counts begin at 0 again; NULL */
    /* Before the first request of each run. requests: how many measured ones it can have; 0: not known. NULL. */
    void (*ready)(void *context, const struct load *load, double requests);
    double every_s; /* how often tick is called; 0: 1 s */
    void (*tick)(void *context, const struct live_counts *l); /* on the main thread; NULL */
    bool (*stop)(void *context); /* called with each tick: true ends the run early (server dead …); NULL */
    void *context;
    int64_t start_at_ns; /* CLOCK_MONOTONIC; 0: now (agents agree on a time) */
};

/* The result of one run. */
struct outcome {
    struct metrics m;
    struct live_counts last; /* the counts at the end */
    char schedule_hash[65]; /* SHA-256 of the schedule (open loop) or of what determines it (closed loop) */
    uint64_t schedule_length;
    uint64_t indexes; /* the indexes of all requests are below this */
    const char *trace_kind; /* "azure" …; NULL: no trace */
    double offered_rate; /* of the schedule's measured part, requests per second; 0: closed loop */
    double arrivals, expected, expected_sd; /* of struct schedule */
    char trouble[300]; /* the first error on the client's side; "": none */
    bool incomplete; /* a file besides the result could not be written; trouble states why */
    unsigned threads;
    bool kernel_stamps; /* arrivals are the kernel's */
    double wall_s, steal_percent; /* hypervisor steal over the run; -1: not known on this machine */
    int64_t begin_ns, begin_wall_ms;
    int signal; /* that ended it early; 0: none */
    const char *why_early; /* in words; NULL: it was complete */
};

/* Runs the load. sinks: a chain, or NULL. -1: nothing was sent (err); a run whose requests failed
 * is a result, not an error. Free with outcome_deinit. */
int engine_run(struct outcome *ret, const struct load *load, const struct prompt_source *prompts, struct result_sink *sinks,
               const struct engine_hooks *hooks, struct err *err);
void outcome_deinit(struct outcome *o);
/* From a signal handler or another thread: the run ends now, with what it has. */
void engine_stop(int signal);
/* What engine_stop was called with; -1: 0; 0: it was not. */
int engine_signal(void);
#endif
