/* chart_text.h: a chart in characters, for a terminal. */
#ifndef PLOT_CHART_TEXT_H
#define PLOT_CHART_TEXT_H
#include "base/screen.h"
#include "plot/chart.h"

/* Appends the chart, as wide as the screen (100 columns at most). Series differ by their marks, not by colours. Text is foreign and made harmless.
 * Errors stick in `to`. */
void chart_text(struct buf *to, const struct chart *c, const struct screen *screen);
#endif
