/* chart_svg_marks.h: the series of a chart as SVG elements: their points, lines, bars, boxes, cells and labels. Used by chart_svg.c alone. */
#ifndef PLOT_CHART_SVG_MARKS_H
#define PLOT_CHART_SVG_MARKS_H
#include "base/buf.h"
#include "plot/chart.h"
#include "plot/chart_scale.h"

enum {
    CHART_SVG_COLOURS = 7, /* and forms of marks and dashes; then they repeat */
    CHART_SVG_RIGHT = 22, /* pixels right of the plotting area */
    CHART_SVG_LABELS_MAX = 60, /* labels next to points */
};
/* Text of 11 pixels: the mean width of its characters, in pixels. */
static const double chart_svg_char_width = 6.1;

/* A chart while it is drawn. Lengths are in pixels, from the upper left corner. */
struct chart_drawing {
    struct buf *to;
    const struct chart *c;
    struct chart_scale x, y;
    struct chart_ticks x_ticks, y_ticks;
    double left, right, top, bottom, height; /* the plotting area, and the total height */
    size_t tips; /* points with a text under the pointer, up to now */
    bool any; /* there are values */
    struct chart_label_box {
        double x, y, w, h;
    } labels[CHART_SVG_LABELS_MAX];
    size_t label_count;
};

/* All functions append to the buffer, where errors stick. */

/* Appends an escaped text. class NULL: none; anchor: start, middle or end; max: characters, the rest is cut. */
void chart_svg_text(struct buf *to, const char *class, double x, double y, const char *anchor, const char *text, size_t max);
/* Returns the width of a text, in pixels, estimated from the number of its characters. */
double chart_svg_width(const char *text);
/* Returns the number of the colour of a series, from 0; index: of the series in its chart. */
size_t chart_svg_colour(const struct chart_series *s, size_t index);
/* Appends the class that sets the colour of a series. kind: f for fill, s for stroke. */
void chart_svg_class(struct buf *to, const struct chart_series *s, size_t index, char kind);
/* Appends the path data of a mark of radius r around a place. form: a colour's number, each has its own. */
void chart_svg_mark(struct buf *to, size_t form, double x, double y, double r);
/* Stores in `to` the colour for a part from 0 to 1, "#rrggbb", from dark blue to yellow: its lightness grows
 * with the part, so that it reads in grey as well. Returns whether it is dark. */
bool chart_svg_shade(double part, char to[8]);
/* Determines the limits of what the colours of cells show. Returns false where no cell can be
 * drawn. */
bool chart_svg_shade_limits(const struct chart *c, const struct chart_series *s, double *low, double *high);
/* Draws a series; index: in its chart. */
void chart_svg_series(struct chart_drawing *d, const struct chart_series *s, size_t index);
/* Draws the labels of a series' points, where they cover no other label. */
void chart_svg_labels(struct chart_drawing *d, const struct chart_series *s);
#endif
