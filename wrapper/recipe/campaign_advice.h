/* campaign_advice.h: what the results of a campaign suggest to change, in words. */
#ifndef RECIPE_CAMPAIGN_ADVICE_H
#define RECIPE_CAMPAIGN_ADVICE_H
#include "series/figures.h"

#include <stdio.h>

/* The value of a run that has the mean use of its GPUs in percent. */
#define ADVICE_GPU_BUSY "gpu.busy_percent"

/* Prints, for a numeric axis of the sweep, from which value on the headline metric grows little, or
 * that it still grows at the largest one; points whose first run differs from the others; and of
 * the best point, whether the server's KV cache or the GPUs limit it. `figures`: those of
 * series_figures for the notes. False: out of memory; then the lines so far are printed. */
bool campaign_advice_print(const struct series_notes *notes, const struct series_figure *figures, FILE *out);
#endif
