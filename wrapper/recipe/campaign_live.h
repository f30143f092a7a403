/* campaign_live.h: what a campaign does at present, in the file live.json of its folder: services that are up, and the results so
 * far. The monitor and `recipe status` read it. */
#ifndef RECIPE_CAMPAIGN_LIVE_H
#define RECIPE_CAMPAIGN_LIVE_H
#include "recipe/campaign.h"

enum { CAMPAIGN_LIVE_MAX = 16 << 20 /* bytes */ };

/* Writes the file again. */
void campaign_live_write(struct campaign *c);
/* Adds the results of a run, which the next write contains. */
void campaign_live_add(struct campaign *c, const struct series_repetition *run);
#endif
