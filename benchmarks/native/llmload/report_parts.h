/* report_parts.h: what the JSON and the table of a run share. */
#ifndef LLMLOAD_REPORT_PARTS_H
#define LLMLOAD_REPORT_PARTS_H
#include "benchmarks/native/llmload/report.h"
#include "benchmarks/native/llmload/steady.h"

enum { REPORT_POINTS = 5 };
struct report_point {
    const char *name;
    double p;
};
extern const struct report_point report_points[REPORT_POINTS];
extern const char report_percentile_definition[];

struct derived {
    double seconds; /* first actual send to last completion of measured requests */
    double window_s; /* measurement window; NaN: by count */
    uint64_t completed, failed, cancelled, unfinished;
    double good_share; /* of all that should have been answered: failed, unfinished and dropped ones too; NaN: none */
    double concurrency, peak_tokens, cpu_us_per_event, reads_per_event;
    bool has_steady, has_objectives;
    struct steady steady;
};
void report_derive(struct derived *ret, const struct report *r);
double report_per_second(double count, double seconds); /* NaN: no time */
double report_mean(const struct metrics *m, int metric); /* in its unit; NaN: no samples */
/* The source most counts came from, and whether others were used too. */
enum token_source report_source(const uint64_t counts[TOKENS_SOURCES], bool *ret_mixed);
struct listing;
void report_figure(struct buf *to, double v); /* four significant digits, whole numbers without a point; not finite: "-" */
void report_cell(struct listing *l, double v); /* the same as a cell; not finite: none */
void report_details(const struct report *r, const struct derived *d, const struct screen *screen, struct buf *to);
void report_definitions(const struct screen *screen, struct buf *to);
#endif
