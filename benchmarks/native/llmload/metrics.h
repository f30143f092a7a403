/* metrics.h: the aggregate of a run: histograms, counts, throughput in time. One per worker while
 * it runs; merged afterwards, also between agents. */
#ifndef LLMLOAD_METRICS_H
#define LLMLOAD_METRICS_H
#include "base/json_out.h"
#include "benchmarks/native/llmload/hdr.h"
#include "benchmarks/native/llmload/result.h"

enum metric {
#define METRIC(id, key, unit, scale, definition) METRIC_##id,
#include "benchmarks/native/llmload/metrics.def"
#undef METRIC
    METRICS
};
struct load_metric_row {
    const char *key, *unit, *definition;
    double scale;
};
extern const struct load_metric_row metric_rows[METRICS];

/* Throughput in time, buckets of equal width from the run's start; when there are too many,
 * neighbours are joined and the width is doubled. */
enum { SERIES_MAX = 4096 };
struct series_bucket {
    uint32_t sent, completed, failed, good;
    uint64_t tokens, chunks, in_flight_ns;
};
struct load_series {
    struct series_bucket *b;
    size_t n;
    int64_t width_ns;
};

/* An objective of --goodput; 0: none. Every one must hold. */
struct objectives {
    int64_t ttft_ns, itl_ns, tpot_ns, e2el_ns;
};

struct metrics {
    struct hdr h[METRICS];
    double itl_sum_ns; /* of all gaps, shared stamps too */
    double itl_unknown_ns; /* by how much that sum may be wrong: late reads brought first or last tokens */
    uint64_t itl_all, itl_shared; /* gaps; those left out of the percentiles */
    uint64_t itl_late; /* of the shared ones: the client was late, the server did not send them together */
    uint64_t first_unknown,
        last_unknown; /* completed requests whose first, last token came in a read of several, too late for an exact time */
    uint64_t reads, reads_late; /* of measured replies; those more than 10 ms after the bytes came */
    uint64_t sends_late; /* arrivals that the client itself started more than 10 ms behind */
    uint64_t stamps_refused; /* impossible kernel stamps: the clock was set */
    uint64_t ended[PHASES][ENDINGS]; /* requests by phase and ending */
    uint64_t short_answers, good; /* measured ones */
    uint64_t several, in_one_piece; /* complete answers with several choices; those not streamed though that was requested */
    uint64_t good_unknown; /* not good by the stamps of late reads, but perhaps by the true times */
    uint64_t status[600]; /* measured replies by HTTP status */
    uint64_t input_tokens, output_tokens, cached_tokens, reasoning_tokens, chunks, events, bytes; /* of completed measured requests */
    uint64_t cached_known, cached_of; /* requests of which the server reported cached_tokens, and the tokens of their prompts */
    uint64_t input_source[TOKENS_SOURCES], output_source[TOKENS_SOURCES];
    uint64_t scheduled, dropped, late; /* arrivals of the window: all; never sent (cap, end); sent more than 10 ms behind */
    uint64_t reconnects, connections;
    int64_t first_send_ns, last_end_ns; /* measured: first actual send, last completion; CLOCK_MONOTONIC */
    int64_t window_begin_ns, window_end_ns; /* the measurement window; end 0: until the last request */
    uint64_t in_flight_max; /* highest number of requests in flight, all of the run */
    struct load_series series; /* all of the run, from series_begin_ns */
    int64_t series_begin_ns;
    uint64_t window_tokens; /* tokens (chunks, where the server does not report them) that arrived within the window, of all requests */
    uint64_t window_in_flight_ns; /* by time: all requests' time in flight within the window; by count: that of measured ones */
    uint64_t sent; /* requests sent within the window, whatever their phase; by count: measured ones */
    int64_t last_send_ns; /* of those */
    uint64_t window_completed; /* requests that completed within the window */
    uint64_t events_all, reads_all; /* all of the run, for the client's cost per event */
    uint64_t queued_ns; /* that the workers waited for a processor; 0 too where the kernel does not count it */
    double cpu_s; /* of the workers */
    char first_error[ENDINGS][160]; /* the first message of each kind of ending */
};

/* The bucket of a time since the series' begin. */
struct series_bucket *series_at(struct load_series *s, int64_t since_ns);
/* A request was in flight from … to (since the series' begin). */
void series_in_flight(struct load_series *s, int64_t from_ns, int64_t to_ns);

/* The counters that simply add up. */
#define METRICS_SUMS(SUM)                                                                                                                  \
    SUM(itl_all)                                                                                                                           \
    SUM(itl_shared)                                                                                                                        \
    SUM(itl_late)                                                                                                                          \
    SUM(first_unknown)                                                                                                                     \
    SUM(last_unknown)                                                                                                                      \
    SUM(reads)                                                                                                                             \
    SUM(reads_late)                                                                                                                        \
    SUM(sends_late)                                                                                                                        \
    SUM(stamps_refused)                                                                                                                    \
    SUM(short_answers)                                                                                                                     \
    SUM(good)                                                                                                                              \
    SUM(good_unknown)                                                                                                                      \
    SUM(several)                                                                                                                           \
    SUM(in_one_piece)                                                                                                                      \
    SUM(input_tokens)                                                                                                                      \
    SUM(output_tokens)                                                                                                                     \
    SUM(cached_tokens)                                                                                                                     \
    SUM(cached_known)                                                                                                                      \
    SUM(cached_of)                                                                                                                         \
    SUM(reasoning_tokens)                                                                                                                  \
    SUM(chunks)                                                                                                                            \
    SUM(events)                                                                                                                            \
    SUM(bytes)                                                                                                                             \
    SUM(scheduled)                                                                                                                         \
    SUM(dropped)                                                                                                                           \
    SUM(late)                                                                                                                              \
    SUM(reconnects)                                                                                                                        \
    SUM(connections)                                                                                                                       \
    SUM(window_tokens)                                                                                                                     \
    SUM(window_completed)                                                                                                                  \
    SUM(window_in_flight_ns)                                                                                                               \
    SUM(sent)                                                                                                                              \
    SUM(events_all)                                                                                                                        \
    SUM(reads_all)                                                                                                                         \
    SUM(queued_ns)

int metrics_init(struct metrics *m, struct err *err);
void metrics_deinit(struct metrics *m);
/* Adds `from`, which stays unchanged. */
void metrics_merge(struct metrics *into, const struct metrics *from);
/* Counts a finished request (histograms: only phase measure and not failed). */
void metrics_take(struct metrics *m, const struct request_result *r);
/* Measured requests that are complete (ok, empty), and those that failed. */
uint64_t metrics_completed(const struct metrics *m);
/* Returns how many measured requests have failed. */
uint64_t metrics_failed(const struct metrics *m);
/* For agents: everything as one JSON object, and back (added to `into`). */
void metrics_print(const struct metrics *m, const char *key, struct json_out *j);
int metrics_read(struct metrics *into, const struct json *from, struct err *err);
#endif
