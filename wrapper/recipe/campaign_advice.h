/* campaign_advice.h: what the results of a campaign suggest to change, in words. */
#ifndef RECIPE_CAMPAIGN_ADVICE_H
#define RECIPE_CAMPAIGN_ADVICE_H
#include "series/figures.h"

#include <stdio.h>

/* Prints, for a numeric axis of the sweep, from which value on the headline metric grows little, or that it still grows at
 * the greatest one; and points whose first run differs from the others. figures: series_figures of the notes. False: out of
 * memory; then the lines so far are printed. */
bool campaign_advice_print(const struct series_notes *notes, const struct series_figure *figures, FILE *out);
#endif
