/* campaign_alerts.h: lines of logs/alerts.log are printed, and sent as messages by exporters, while the campaign runs. */
#ifndef RECIPE_CAMPAIGN_ALERTS_H
#define RECIPE_CAMPAIGN_ALERTS_H
#include "recipe/campaign.h"

/* Finds the exporters that logs.notify names. 0; -1 with err: there is none of such a name, it sends no
 * messages (ERR_INPUT), or out of memory. */
int campaign_alerts_begin(struct campaign *c, struct err *err);
/* Prints new lines, and starts a process that sends them where the one before has ended, at most one in
 * 10 s. A message that cannot be sent is reported and lost. Waits for nothing. */
void campaign_alerts_poll(struct campaign *c);
/* After the end of the logger: the same for the last lines, and waits for their delivery at most so many milliseconds. */
void campaign_alerts_end(struct campaign *c, int wait_ms);
#endif
