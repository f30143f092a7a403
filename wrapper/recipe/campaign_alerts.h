/* campaign_alerts.h: lines of logs/alerts.log are printed, and sent as messages by exporters, while the campaign runs. */
#ifndef RECIPE_CAMPAIGN_ALERTS_H
#define RECIPE_CAMPAIGN_ALERTS_H
#include "recipe/campaign.h"

/* Finds the exporters that logs.notify names. 0; -1 with ERR_USAGE: there is none of such a name, or it sends no messages. */
int campaign_alerts_begin(struct campaign *c, struct err *err);
/* Prints new lines, and starts a process that sends them where the one before has ended. Waits for nothing. */
void campaign_alerts_poll(struct campaign *c);
/* After the end of the logger: the same for the last lines, and waits for their delivery at most so many milliseconds. */
void campaign_alerts_end(struct campaign *c, int wait_ms);
#endif
