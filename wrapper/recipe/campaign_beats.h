/* campaign_beats.h: signs of life of the nodes of an allocation. A point does not wait for a node that
 * is lost, even if Slurm has not noticed the loss. */
#ifndef RECIPE_CAMPAIGN_BEATS_H
#define RECIPE_CAMPAIGN_BEATS_H
#include "recipe/campaign.h"

/* Starts a process that receives signs of life from all nodes, by one step of Slurm. Without Slurm, or
 * with `node_timeout: 0`, does nothing. 0; -1 with err: the process could not be started. */
int campaign_beats_begin(struct campaign *c, struct err *err);
/* Which node is lost, in words: it was silent for `node_timeout`. Does not wait. In the campaign's
 * arena; NULL: no node is lost. */
const char *campaign_beats_lost(struct campaign *c);
/* Why the point must end: a signal, or a lost node. A lost node is no failure of the point, but
 * ends the campaign as SIGTERM does: the point is measured again in another allocation. NULL: it
 * continues. */
const char *campaign_beats_cancelled(struct campaign *c);
/* Requests the end of the process and its step; does not wait. */
void campaign_beats_stop(struct campaign *c);
/* Waits until both have ended. */
void campaign_beats_end(struct campaign *c);

/* What runs on each node: prints a line "beat NODE" at each interval, until its standard input ends
 * or `out` cannot be written. */
void campaign_beats_print(double interval_s, FILE *out);
#endif
