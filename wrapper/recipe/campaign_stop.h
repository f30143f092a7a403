/* campaign_stop.h: end a campaign: the process that executes it, here or in a job, or the record that one has left open. */
#ifndef RECIPE_CAMPAIGN_STOP_H
#define RECIPE_CAMPAIGN_STOP_H
#include "recipe/campaign_state.h"

#include <stdio.h>

/* Ends the process that executes the campaign, and waits for it: by a signal on this host, by the scheduler where
 * the campaign was submitted. Cancels a submitted job that has not begun. Where nothing is executed, publishes the
 * record of an interrupted execution. spools: where its spool may be, NULL at the end. 0; -1 with err. */
int campaign_stop(const char *folder, const char *const *spools, FILE *out, struct err *err);
#endif
