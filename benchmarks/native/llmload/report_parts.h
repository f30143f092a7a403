/* report_parts.h: what the JSON and the table of a run share. */
#ifndef LLMLOAD_REPORT_PARTS_H
#define LLMLOAD_REPORT_PARTS_H
#include "base/json_out.h"
#include "benchmarks/native/llmload/report.h"
#include "benchmarks/native/llmload/steady.h"

enum { REPORT_POINTS = 5, REPORT_TABLE_POINTS = 4 /* p50 to p99 */ };
struct report_point {
    const char *name;
    double p;
};
extern const struct report_point report_points[REPORT_POINTS];
extern const char report_percentile_definition[];

/* Signs that the client itself was late, each as a share; above CLIENT_LATE_SHARE the client was
 * the bottleneck. */
enum client_sign { CLIENT_FIRST, CLIENT_LAST, CLIENT_GAPS, CLIENT_READS, CLIENT_SENDS, CLIENT_STEAL, CLIENT_SIGNS };
#define CLIENT_LATE_SHARE 0.01
struct client_lateness {
    double share[CLIENT_SIGNS];
    double waited; /* share of their time that the threads waited for a processor; 0 too where the kernel does not count it */
    bool is_late;
};
/* Computes the shares that show whether the client was late, and whether one is above
 * CLIENT_LATE_SHARE. */
void report_client(struct client_lateness *ret, const struct outcome *o);
/* "the client was the bottleneck: 12 % of the first tokens …" */
void report_client_say(const struct client_lateness *c, struct buf *to);

/* What a reader must know of the result, a sentence a line. */
enum { REPORT_WARNINGS_MAX = 1 << 16 };
struct report_derived;
void report_warnings(const struct load_report *r, const struct report_derived *d, struct buf *to);
/* "6 requests are too few for p90, p95 and p99 …": the percentiles of the table that so many
 * requests cannot have; nothing where they are enough. */
void report_foresee(const struct load *l, double requests, struct buf *to);
/* "  ! SENTENCE", broken at the screen's width */
void report_warning_lines(const struct screen *screen, struct str warnings, struct buf *to);
void report_warning_list(struct str warnings, struct json_out *j); /* the member "warnings" */

struct report_derived {
    double seconds; /* first actual send to last completion of measured requests */
    double window_s; /* measurement window; NaN: by count */
    double cached_share; /* of the prompts' tokens that came from the server's cache; NaN: not reported */
    double sent_rate; /* requests per second that were really sent; NaN: fewer than two */
    double surplus; /* share of arrivals by which the schedule exceeds the rate; NaN: no rate */
    uint64_t completed, failed, cancelled, unfinished;
    double due; /* requests that should have been answered: failed, unfinished and dropped ones too */
    double good_share; /* of those; NaN: none */
    double concurrency, peak_tokens, cpu_us_per_event, reads_per_event;
    bool has_steady, has_objectives;
    bool has_rates; /* the measured part is long enough for rates, or has enough completed requests */
    struct steady steady;
    struct client_lateness client;
};
/* Computes what the reports derive from the result. Values that are not known are NAN. */
void report_derive(struct report_derived *ret, const struct load_report *r);
/* When the measured part began and ended, by CLOCK_MONOTONIC; 0: it did not begin. */
void report_window_ns(const struct outcome *o, const struct report_derived *d, double *ret_from_ns, double *ret_to_ns);
/* Returns count a second of the measured part. NaN: too few requests in too short a time. */
double report_per_second(const struct report_derived *d, double count);
/* Returns the mean of a metric in its unit. NaN: no samples, or times that are not known could change it by more than
 * 1 %. */
double report_mean(const struct metrics *m, int metric);
/* Returns the source of most counts, and whether others were used too. */
enum token_source report_source(const uint64_t counts[TOKENS_SOURCES], bool *ret_mixed);
struct listing;
void report_figure(struct buf *to, double v); /* four significant digits, whole numbers without a point; not finite: "-" */
void report_cell(struct listing *l, double v); /* the same as a cell; not finite: none */
void report_details(const struct load_report *r, const struct report_derived *d, const struct screen *screen, struct buf *to);
void report_definitions(const struct screen *screen, struct buf *to);
#endif
