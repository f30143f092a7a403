/* charts.h: charts of runs: the values and their places, for `benchwrap plot`, reports and pages.
 *
 * Each function appends its charts to a list. Everything is in the arena of the rows. -1 with err:
 * the rows cannot be plotted so, and the error states why. */
#ifndef REPORT_CHARTS_H
#define REPORT_CHARTS_H
#include "report/rows.h"

struct chart_list {
    struct chart *list;
    size_t count, room;
};

/* Values over the time of their runs, a line for each value of fields[1]; with the range in which each value was expected after those before it,
 * and the change points. reference: two ends of a band of accepted values, NaN: none; NULL: both. */
int charts_history(struct plotted_rows *p, const double reference[2], const char *note, struct chart_list *to, struct err *err);
/* Adds a chart with a box for each value of fields[1], or each operand. */
int charts_groups(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err);
/* Adds a chart of the metric over fields[0], with a curve for each value of fields[1]. */
int charts_sweep(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err);
/* The metric over the numbers of fields[0], with the ideal line, and the efficiency. A param or tag
 * "scaling" of the runs states whether total work is fixed ("strong") or work per unit ("weak"), or
 * by the amount of work, fields[2]. See scaling.h. */
int charts_scaling(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err);
/* Adds a chart of the metric as colour over fields[0] and fields[2]. */
int charts_heatmap(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err);
/* Adds a chart of two metrics, with those points that no other one is better than in both. */
int charts_pareto(struct plotted_rows *p, const char *note, struct chart_list *to, struct err *err);

/* Of runs that are read (params, metrics, tags): the quantiles of a latency, a line for each run. detail: that of one run, where the caller has it; else
 * NULL. `wanted`: "read.clat"; NULL: the first metric with percentiles. */
int charts_latency(struct runs *runs, struct tree_run *const *list, size_t n, const struct json *detail, const char *wanted, struct arena *a,
                   struct chart_list *to, struct err *err);
/* Adds a chart of a metric over its steps (a table of sizes), with a curve for each run. `wanted`
 * NULL: the first metric with such steps. */
int charts_steps(struct runs *runs, struct tree_run *const *list, size_t n, const struct json *detail, const char *wanted, struct arena *a,
                 struct chart_list *to, struct err *err);
/* Adds a chart with the samples of a metric over the time of the run, with its phases. `wanted`
 * NULL: the first sampled one. */
int charts_samples(struct runs *runs, const struct tree_run *run, const char *wanted, struct arena *a, struct chart_list *to, struct err *err);
/* Adds a chart with the mean of a series on each node, and names outliers. `wanted` NULL: the first
 * series. */
int charts_nodes(struct runs *runs, const struct tree_run *run, const char *wanted, struct arena *a, struct chart_list *to, struct err *err);

/* Sets ret[] to the band of the reference that judged the newest row, for charts_history. Both NaN:
 * none did. */
void charts_reference(const struct plotted_rows *p, double ret[2]);

/* For the parts: returns ", which did not finish (FAILED)" in the arena; "": the run finished. */
const char *charts_unfinished(const struct tree_run *run, struct arena *a);
/* For the parts: returns the samples in this order, which need not be that of the file, in the
 * arena. NULL: out of memory. */
const struct tree_sample *charts_sorted_samples(const struct tree_entry *e, int (*order)(const void *a, const void *b), struct arena *a);
/* For the parts: appends a chart with the metric's axes. NULL: out of memory. */
struct chart *charts_add(struct chart_list *to, struct arena *a);
struct chart_axis charts_axis(const struct plotted_metric *m);
/* Sets the chart's note on rows that are left out: "2 runs that did not finish, 1 without
 * write.bw". lacking: rows without the fact of that name. */
void charts_left(const struct plotted_rows *p, size_t lacking, const char *fact, struct chart *c);
/* Returns the different texts of a field, sorted and NULL-terminated. Rows without it are not among
 * them. */
const char **charts_values(const struct plotted_rows *p, size_t field, size_t *ret_n);
/* Median and range of the first metric of the rows that fit; a text NULL: any fits. */
struct charted_point {
    double median, low, high; /* NaN: no row fits */
    size_t n;
};
struct charted_point charts_point(const struct plotted_rows *p, const char *x, const char *group, const char *y);
/* Returns how many rows have a value, but not the field. */
size_t charts_without(const struct plotted_rows *p, size_t field);
/* Returns whether all texts are numbers. *ret_log, *ret_two: whether logarithms, of powers of two,
 * suit them. */
bool charts_numeric(const char *const *values, size_t n, bool *ret_log, bool *ret_two);
#endif
