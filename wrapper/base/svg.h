/* svg.h: a chart as one SVG document: lines, points, steps, bars and spans over two axes, readable on light and dark pages. */
#ifndef BASE_SVG_H
#define BASE_SVG_H
#include "base/buf.h"

enum svg_mark {
    SVG_LINE,   /* through (x, y); a value that is not finite leaves a gap */
    SVG_POINTS, /* a dot at each (x, y) */
    SVG_STEPS,  /* y from x to x2, which is the next x but at gaps and at the end */
    SVG_BARS,   /* from x to x2, as high as y: a histogram's bins */
    SVG_SPANS,  /* from x to x2, in lane y (0 is the lowest): a timeline */
};

struct svg_series {
    const char *name; /* for the legend; NULL: none */
    enum svg_mark mark;
    const double *x, *x2, *y; /* [n]; x2 for steps, bars and spans alone */
    size_t n;
};

struct svg_axis {
    const char *label; /* with the unit: "latency (ms)" */
    bool log;          /* decades; values <= 0 are left out */
    bool zero;         /* begins at zero (not with log) */
};

struct svg_chart {
    const char *title, *note; /* note: a smaller line below the title; NULL: none */
    struct svg_axis x, y;
    const struct svg_series *series;
    size_t count;
};

/* Appends the document. Values that are not finite are left out; points that fall onto the last drawn one too (a million samples do not make
 * a file of megabytes). A chart without any value says "no values". Text is foreign: escaped, made valid UTF-8. Errors stick in `to`. */
void svg_write_chart(struct buf *to, const struct svg_chart *chart);
#endif
