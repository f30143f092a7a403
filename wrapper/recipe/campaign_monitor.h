/* campaign_monitor.h: the process that samples the nodes, the services and the user's own numbers while a campaign with the key
 * `monitoring` runs, and writes or pushes the samples. */
#ifndef RECIPE_CAMPAIGN_MONITOR_H
#define RECIPE_CAMPAIGN_MONITOR_H
#include "recipe/campaign.h"

/* Starts it, if the recipe has the key. -1 with err: nothing is monitored. */
int campaign_monitor_begin(struct campaign_monitor *ret, struct campaign *c, struct err *err);
/* Requests its end, after its last push; does not wait. */
void campaign_monitor_stop(struct campaign_monitor *m);
/* Waits for that end. Reports what it could not do. */
void campaign_monitor_end(struct campaign_monitor *m, struct campaign *c);
/* The mean of the samples of a series of `monitoring.custom` between two times; NAN: there is none. */
double campaign_custom_mean(struct campaign *c, const char *name, int64_t from_ms, int64_t to_ms);
/* Records the means of all of them over a point, as metrics custom.NAME whose step is the point's number. */
void campaign_custom_record(struct campaign *c, const struct campaign_point *p, size_t number);
#endif
