/* chart_scale.h: places of values: limits and ticks of an axis, for drawings of any kind. */
#ifndef PLOT_CHART_SCALE_H
#define PLOT_CHART_SCALE_H
#include "base/buf.h"
#include "plot/chart.h"

/* One direction of a drawing: values low … high are drawn at from … to. */
struct chart_scale {
    const struct chart_axis *axis;
    double low, high, from, to;
};
struct chart_ticks {
    double at[64];
    size_t n;
    double step; /* of a linear axis; 0: another one */
};

/* Sets both scales for all values of the chart, with limits that can be drawn. ticks: their requested
 * number. False: it has no value, or limits that no double holds. */
bool chart_scales(const struct chart *c, int x_ticks, int y_ticks, struct chart_scale *ret_x, struct chart_scale *ret_y);
/* Returns whether the axis can show the value. */
bool chart_is_drawable(const struct chart_axis *axis, double v);
/* Returns whether all that the point needs can be drawn. */
bool chart_point_drawable(const struct chart *c, const struct chart_series *s, size_t i);
/* Returns the place of a value that the axis can show; outside from … to for one outside of the limits. */
double chart_scale_position(const struct chart_scale *s, double v);
/* Sets about `wanted` ticks at round values within the limits, at most 64. */
void chart_scale_ticks(const struct chart_scale *s, int wanted, struct chart_ticks *ret);
/* Appends the text of a tick; the names of an axis are cut to `max` characters. */
void chart_tick_text(const struct chart_scale *s, const struct chart_ticks *ticks, double v, size_t max, struct buf *to);
/* Appends "write.bw, MiB/s (higher is better)". */
void chart_axis_text(const struct chart_axis *axis, struct buf *to);
/* Appends "3 values left out: without the metric"; nothing where there are none. */
void chart_left_text(const struct chart *c, struct buf *to);

/* A line with at most four points for each place: first, minimum, maximum and last of consecutive
 * points in one place. */
struct chart_path {
    double *x, *y; /* positions; NaN: a gap. Freed by chart_path_deinit */
    size_t n;
};
/* Makes the line of a series through (x, y), reduced where it has more than four points for each place.
 * places: how many the drawing has across. False: out of memory. */
bool chart_path_of(const struct chart *c, const struct chart_series *s, const double *y, const struct chart_scale *sx, const struct chart_scale *sy,
                   size_t places, struct chart_path *ret);
void chart_path_deinit(struct chart_path *path);

/* Median, quartiles and whiskers (the farthest values within 1.5 times the distance of the quartiles) of a box. */
struct chart_box {
    double median, low, high, from, to;
    size_t n;
};
/* Calculates the box of a series. False: it has no value, or out of memory. */
bool chart_box_of(const struct chart *c, const struct chart_series *s, struct chart_box *ret);
#endif
