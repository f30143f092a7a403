/* campaign_beats.h: signs of life of the nodes of an allocation. A node that is lost holds no point, though Slurm has not noticed. */
#ifndef RECIPE_CAMPAIGN_BEATS_H
#define RECIPE_CAMPAIGN_BEATS_H
#include "recipe/campaign.h"

/* Starts a process that receives signs of life from all nodes, by one step of Slurm. Nothing without Slurm, or with `node_timeout: 0`. 0; -1
 * with err: it could not be started. */
int campaign_beats_begin(struct campaign *c, struct err *err);
/* Why a node is lost: it was silent for `node_timeout`. Waits for nothing. In the campaign's arena; NULL: none is. */
const char *campaign_beats_lost(struct campaign *c);
/* Requests the end of the process and its step; does not wait. */
void campaign_beats_stop(struct campaign *c);
/* Waits until they have ended. */
void campaign_beats_end(struct campaign *c);

/* What runs on each node: a line "beat NODE" at each interval, until the input ends or nobody reads. */
void campaign_beats_print(double interval_s, FILE *out);
#endif
