/* campaign_changes.h: what has changed since earlier executions of a campaign. */
#ifndef RECIPE_CAMPAIGN_CHANGES_H
#define RECIPE_CAMPAIGN_CHANGES_H
#include "recipe/campaign.h"

/* Lists all programs and images of the recipe, with their hashes, in the state's arena. 0; -1 with
 * err: out of memory, or a signal. */
int campaign_changes_collect(struct campaign *c, struct campaign_program **ret, struct err *err);
/* Returns whether the point is not measured again. Once the campaign is over, an invalid one may be. */
bool campaign_is_finished(const struct campaign *c, const struct campaign_point *p);
/* Compares the recipe and these programs (NULL: none) with those of the finished points. 0; -1 with
 * err: a finished point would be measured differently today, and neither --resume nor --new is given. */
int campaign_changes_check(struct campaign *c, struct campaign_program *now, struct err *err);
#endif
