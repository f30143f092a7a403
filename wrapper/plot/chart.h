/* chart.h: a chart as data: axes, series of marks, guides. chart_svg.h and chart_text.h draw it.
 *
 * Values that are not finite, or not positive on an axis of logarithms, are left out; lines have a gap there. A line of more
 * points than the drawing has places for is reduced to the minimum and maximum of each place. Everything is borrowed. */
#ifndef PLOT_CHART_H
#define PLOT_CHART_H
#include <stdbool.h>
#include <stddef.h>

enum chart_mark {
    CHART_LINE,     /* through (x, y) */
    CHART_POINTS,   /* a mark at each (x, y) */
    CHART_CURVE,    /* a line with a mark at each point */
    CHART_STEPS,    /* y from x to x2 */
    CHART_BARS,     /* from x to x2, as high as y: the bins of a histogram */
    CHART_SPANS,    /* from x to x2 in lane y (0 is the lowest): a timeline */
    CHART_BAND,     /* the area between y and y2 over x */
    CHART_WHISKERS, /* a line from y to y2 at x: the range of a value */
    CHART_IDEAL,    /* a dashed line through (x, y) without a colour of its own: what would be ideal */
    CHART_BOX,      /* the values x of a group in lane y[0]: a dot each, with box (quartiles) and median */
    CHART_CELLS,    /* a rectangle for each (x, y), both indexes of names, coloured by y2: a heat map */
};

struct chart_series {
    const char *name; /* for the legend; NULL: none */
    enum chart_mark mark;
    const double *x, *x2, *y, *y2; /* [n]; x2 for steps, bars and spans, y2 for bands, whiskers and cells */
    size_t n;
    const char *const *labels; /* [n] or NULL: what a point is; NULL: nothing */
    bool named;                /* labels are next to their points, not only under the pointer */
    bool muted;                /* drawn without a colour of its own */
    int like;                  /* 1 + the index of the series whose colour it has; 0: its own */
};

enum chart_better { CHART_NEITHER, CHART_HIGHER, CHART_LOWER };
struct chart_axis {
    const char *label; /* what it shows, without unit: "write.bw" */
    const char *unit;  /* as people write it: "MiB/s"; NULL or "": none */
    enum chart_better better;
    bool log;  /* logarithms */
    bool two;  /* with log: powers of two, for sizes and counts */
    bool zero; /* begins at zero (not with log) */
    bool time; /* milliseconds since 1970, shown as dates in UTC */
    bool nines; /* quantiles below 1, spread towards 1: 50 %, 90 %, 99 % … */
    const char *const *names; /* [count]: the places 0, 1 … have names instead of numbers */
    size_t count;
};

enum chart_guide_kind {
    CHART_REFERENCE, /* a line across, such as a reference value */
    CHART_RANGE,     /* an area across, from at to `to`, such as a band of accepted values */
    CHART_MARK,      /* a line upwards at x, such as a quantile */
    CHART_CHANGE,    /* a line upwards at x, such as a change point */
    CHART_PHASE,     /* an area upwards from x = at to `to`, such as a phase of a run */
};
struct chart_guide {
    enum chart_guide_kind kind;
    double at, to;
    const char *label; /* NULL: none */
};

struct chart {
    const char *title, *note; /* note: smaller, below the title; NULL: none */
    struct chart_axis x, y;
    struct chart_axis shade; /* of cells: what the colour shows */
    const struct chart_series *series;
    size_t count;
    const struct chart_guide *guides;
    size_t guide_count;
    size_t left_out;        /* values that the caller has left out, with those that are NaN in the series where left_why is set */
    const char *left_why;   /* "2 runs did not finish, 1 without write.bw"; NULL: no words */
};

/* Returns how many values the drawing does not show: those that the caller left out, and those that are no
 * numbers or that no axis can show. */
size_t chart_left_out(const struct chart *c);
#endif
