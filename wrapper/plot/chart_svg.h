/* chart_svg.h: a chart as SVG: light and dark, in colours that colour-blind readers distinguish, with marks and dashes that differ in grey. */
#ifndef PLOT_CHART_SVG_H
#define PLOT_CHART_SVG_H
#include "base/buf.h"
#include "plot/chart.h"

/* Appends a complete SVG document. Text is foreign and escaped. A chart without values has a text
 * instead. Errors stick in `to`. */
void chart_svg(struct buf *to, const struct chart *c);
/* Draws several charts, one below the other, as one document. */
void chart_svg_list(struct buf *to, const struct chart *list, size_t n);
/* Draws a chart as chart_svg does, but as an element of an HTML page, whose style has the rules of
 * chart_svg_style. */
void chart_svg_inline(struct buf *to, const struct chart *c);
/* Appends the rules of CSS that all charts need. */
void chart_svg_style(struct buf *to);
#endif
